import type { AuditEntryBody } from '@ponte/contracts'

interface ChangeTexts {
  roles: Readonly<Record<string, string>>
  scopeNames: Readonly<Record<string, string>>
  audit: { names: Readonly<Record<string, string>> }
}

/** Fields, a role, or a key's scopes of an audit entry, in words. */
export const changesIn = (changed: readonly string[], { roles, scopeNames, audit }: ChangeTexts): string[] =>
  changed.map(name => {
    const role = /^role:(.*)$/.exec(name)?.[1]
    return (role === undefined ? (audit.names[name] ?? scopeNames[name]) : roles[role]) ?? name
  })

const PAGES: Readonly<Record<string, string>> = { order: '/orders', subscription: '/subscriptions', delivery: '/deliveries' }

/** Where what an entry is about can be seen; null when it has no page. */
export function pageOf({ action, target }: Pick<AuditEntryBody, 'action' | 'target'>): string | null {
  const page = PAGES[action.split('.')[0] ?? '']
  return page === undefined || target === null ? null : `${page}/${target}`
}
