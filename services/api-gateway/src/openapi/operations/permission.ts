import { PERMISSIONS, type Permission } from '@ponte/contracts'

/** What a path is about: its first word after `/api/v1` and `/merchants/me`, also as a file. */
const RESOURCES: Readonly<Record<string, string>> = {
  '': 'merchant',
  branding: 'merchant',
  merchant: 'merchant',
  orders: 'orders',
  attention: 'orders',
  summary: 'orders',
  overview: 'orders',
  subscriptions: 'subscriptions',
  events: 'events',
  deliveries: 'deliveries',
  'webhook-endpoints': 'endpoints',
  audit: 'audit',
  'payout-changes': 'payout',
  members: 'members',
  invitations: 'members',
  'api-keys': 'keys',
  'rotate-key': 'keys',
  'rotate-webhook-secret': 'secrets',
  'activate-webhook-secret': 'secrets',
}
/** To see them is to be able to use them, or to know how to. */
const WRITTEN_ONLY = ['payout', 'keys', 'secrets']

/** What a route needs; null where a user needs no merchant. Throws for a path that is about nothing known: name it here, and in contracts. */
export function permissionOf(method: string, path: string): Permission | null {
  if (path === '/api/v1/merchants' || path === '/api/v1/invitations/accept') return null
  // More members than may ask for a change can stop one.
  if (path.endsWith('/payout-changes/:id/cancel')) return 'merchant:write'
  // What reaches their own mailbox, every member decides.
  if (path.endsWith('/merchants/me/mail')) return 'merchant:read'
  const [, resource = ''] = path.replace(/^\/api\/v1(\/merchants\/me)?|\.csv$/g, '').split('/')
  const name = RESOURCES[resource] ?? resource
  const wanted = `${name}:${method === 'get' && !WRITTEN_ONLY.includes(name) ? 'read' : 'write'}`
  const permission = PERMISSIONS.find(known => known === wanted)
  if (!permission) throw new Error(`${method} ${path} needs ${wanted}, which no permission is called.`)
  return permission
}
