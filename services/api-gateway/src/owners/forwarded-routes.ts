import { id as idSchema, periodIndexInPath } from '@ponte/contracts'
import { parseRequest } from '@ponte/service-kit'
import { type RequestHandler, type Response, Router } from 'express'
import { z } from 'zod'
import { callerIn } from '../credentials'
import { type ForwardedAnswer, forward } from './forward'
import { forwardStream } from './forward-stream'
import type { Owner } from './owner'
import { actionOf, fieldsOf, type RequestedChange } from './recorded'

type OwnerName = 'orders' | 'subscriptions' | 'webhook-dispatcher'
/** The chain listener need not be there. */
export type Owners = Record<OwnerName, Owner> & { 'chain-listener'?: Owner }

/** Writes a change that an owner is asked for to the audit log, and answers what is to be called with the owner's answer. */
export type AuditTrail = (change: RequestedChange, res: Response) => Promise<(answer: ForwardedAnswer) => Promise<void>>

interface ForwardedRoute {
  method: 'get' | 'post' | 'patch' | 'delete'
  path: string
  credential: 'api_key' | 'session'
  owner: OwnerName
  /** The collection that a 201 adds to. */
  creates: 'orders' | 'subscriptions' | 'deliveries' | 'webhook-endpoints' | undefined
}

const pathNames = z.object({ id: idSchema.optional(), period_index: periodIndexInPath.optional() })

const route = (
  line: string,
  credential: ForwardedRoute['credential'],
  owner: OwnerName,
  creates?: ForwardedRoute['creates'],
): ForwardedRoute => {
  const [method, path] = line.split(' ')
  if ((method !== 'get' && method !== 'post' && method !== 'patch' && method !== 'delete') || !path) throw new Error(`Not a route: ${line}`)
  return { method, path, credential, owner, creates }
}

/** Who may call what, and who answers (docs/interface.md#authentication). What stands under `/merchants/me` is the same resource for the dashboard's user. */
const named: readonly ForwardedRoute[] = [
  route('post /api/v1/orders', 'api_key', 'orders', 'orders'),
  route('get /api/v1/orders', 'api_key', 'orders'),
  route('get /api/v1/orders/:id', 'api_key', 'orders'),
  route('post /api/v1/orders/:id/cancel', 'api_key', 'orders'),
  route('get /api/v1/orders.csv', 'api_key', 'orders'),
  route('get /api/v1/attention', 'api_key', 'orders'),
  route('get /api/v1/attention.csv', 'api_key', 'orders'),
  route('post /api/v1/attention/:id/handle', 'api_key', 'orders'),
  route('post /api/v1/attention/:id/reopen', 'api_key', 'orders'),
  route('post /api/v1/subscriptions', 'api_key', 'subscriptions', 'subscriptions'),
  route('get /api/v1/subscriptions', 'api_key', 'subscriptions'),
  route('get /api/v1/subscriptions.csv', 'api_key', 'subscriptions'),
  route('get /api/v1/subscriptions/:id', 'api_key', 'subscriptions'),
  route('patch /api/v1/subscriptions/:id', 'api_key', 'subscriptions'),
  route('post /api/v1/subscriptions/:id/charge', 'api_key', 'subscriptions', 'orders'),
  route('post /api/v1/subscriptions/:id/cancel', 'api_key', 'subscriptions'),
  route('post /api/v1/subscriptions/:id/charges/:period_index/accept', 'api_key', 'subscriptions'),
  route('get /api/v1/events', 'api_key', 'webhook-dispatcher'),
  route('get /api/v1/events/:id', 'api_key', 'webhook-dispatcher'),
  route('post /api/v1/merchants/me/orders', 'session', 'orders', 'orders'),
  route('get /api/v1/merchants/me/orders', 'session', 'orders'),
  route('get /api/v1/merchants/me/orders/:id', 'session', 'orders'),
  route('post /api/v1/merchants/me/orders/:id/cancel', 'session', 'orders'),
  route('get /api/v1/merchants/me/summary', 'session', 'orders'),
  route('get /api/v1/merchants/me/orders.csv', 'session', 'orders'),
  route('get /api/v1/merchants/me/attention', 'session', 'orders'),
  route('get /api/v1/merchants/me/attention.csv', 'session', 'orders'),
  route('post /api/v1/merchants/me/attention/:id/handle', 'session', 'orders'),
  route('post /api/v1/merchants/me/attention/:id/reopen', 'session', 'orders'),
  route('post /api/v1/merchants/me/subscriptions', 'session', 'subscriptions', 'subscriptions'),
  route('get /api/v1/merchants/me/subscriptions', 'session', 'subscriptions'),
  route('get /api/v1/merchants/me/subscriptions.csv', 'session', 'subscriptions'),
  route('get /api/v1/merchants/me/subscriptions/:id', 'session', 'subscriptions'),
  route('post /api/v1/merchants/me/subscriptions/:id/charge', 'session', 'subscriptions', 'orders'),
  route('post /api/v1/merchants/me/subscriptions/:id/cancel', 'session', 'subscriptions'),
  route('post /api/v1/merchants/me/subscriptions/:id/charges/:period_index/accept', 'session', 'subscriptions'),
  route('get /api/v1/merchants/me/events', 'session', 'webhook-dispatcher'),
  route('get /api/v1/merchants/me/events/:id', 'session', 'webhook-dispatcher'),
  route('get /api/v1/merchants/me/deliveries', 'session', 'webhook-dispatcher'),
  route('get /api/v1/merchants/me/deliveries.csv', 'session', 'webhook-dispatcher'),
  route('get /api/v1/merchants/me/deliveries/:id', 'session', 'webhook-dispatcher'),
  route('post /api/v1/merchants/me/deliveries/replay', 'session', 'webhook-dispatcher'),
  route('post /api/v1/merchants/me/deliveries/:id/replay', 'session', 'webhook-dispatcher', 'deliveries'),
  route('get /api/v1/merchants/me/webhook-endpoints', 'session', 'webhook-dispatcher'),
  route('post /api/v1/merchants/me/webhook-endpoints', 'session', 'webhook-dispatcher', 'webhook-endpoints'),
  route('get /api/v1/merchants/me/webhook-endpoints/:id', 'session', 'webhook-dispatcher'),
  route('patch /api/v1/merchants/me/webhook-endpoints/:id', 'session', 'webhook-dispatcher'),
  route('delete /api/v1/merchants/me/webhook-endpoints/:id', 'session', 'webhook-dispatcher'),
  route('post /api/v1/merchants/me/webhook-endpoints/:id/rotate-secret', 'session', 'webhook-dispatcher'),
  route('post /api/v1/merchants/me/webhook-endpoints/:id/activate-secret', 'session', 'webhook-dispatcher'),
  route('post /api/v1/merchants/me/webhook-endpoints/:id/test', 'session', 'webhook-dispatcher', 'deliveries'),
]

/** What was only for sessions, named keys may do too, each by its scope. */
const BY_KEY = /^\/api\/v1\/merchants\/me\/(deliveries(\.csv)?|webhook-endpoints|summary)(\/|$)/
const routes = named.flatMap((one): ForwardedRoute[] =>
  BY_KEY.test(one.path) ? [one, { ...one, path: one.path.replace('/merchants/me', ''), credential: 'api_key' }] : [one],
)

/** Routes whose answer belongs to an owner. `credentials` leaves the merchant's terms in `res.locals.terms`. */
export function forwardedRoutes(
  owners: Owners,
  credentials: Record<ForwardedRoute['credential'], RequestHandler[]>,
  trail: AuditTrail,
): Router {
  const router = Router()
  for (const { method, path, credential, owner, creates } of routes) {
    const action = actionOf({ method, path, credential })
    const ownerPath = path.replace('/merchants/me', '')
    const createdIn = creates && `/api/v1${credential === 'session' ? '/merchants/me' : ''}/${creates}`
    router[method](path, ...credentials[credential], async (req, res) => {
      // Only a valid id and number are put into the owner's path, so that no input can leave its route.
      const { id = '', period_index: period } = parseRequest(pathNames, req.params, 'path')
      const path = ownerPath.replace(':id', id).replace(':period_index', `${period}`)
      const caller = callerIn(res)
      if (path.endsWith('.csv')) await forwardStream(owners[owner], caller, path, req, res)
      else {
        const change = action && { action, changed: fieldsOf(req.body), target: id || null }
        await forward(owners[owner], caller, path, req, res, { createdIn, ...(change ? { onAnswer: await trail(change, res) } : {}) })
      }
    })
  }
  return router
}
