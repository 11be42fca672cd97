import type { AddressPolicy } from '@ponte/contracts'
import type { Logger } from '@ponte/service-kit'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import {
  auditRoutes,
  auditTrail,
  keyRoutes,
  mailRoutes,
  memberRoutes,
  merchantRoutes,
  own,
  payoutRoutes,
  requireMembership,
} from './account'
import { brandingRoutes } from './branding'
import { checkoutRoutes, type LiveCheckout, PAYERS_PATHS } from './checkout'
import { rememberTerms, requireApiKey, requirePermission, requireSession, type SessionTokens, termsIn, userIn } from './credentials'
import { knownQuery, neededPermission } from './documented'
import { type Concurrency, createPresence, limitCaller, limitConcurrency, type Verdict } from './limits'
import { type PayoutGuard, termsOf } from './merchant'
import { withOtherMethods } from './methods'
import { INTERFACE_VERSION } from './openapi'
import { overviewRoute } from './overview'
import { forwardedRoutes, isLongAnswer, type Owners } from './owners'
import { ping } from './ping'
import type { Store } from './store'

export interface RouteDeps {
  store: Store
  owners: Owners
  tokens: SessionTokens
  live: LiveCheckout
  takeCaller(bucket: string): Promise<Verdict>
  /** The same for changes of accounts. */
  takeChange(bucket: string): Promise<Verdict>
  /** Counts requests for a change that changed nothing. */
  countUnchanged(bucket: string, count: number): Verdict
  /** Bounds per merchant in this replica. */
  concurrency: { reads: Concurrency; longAnswers: Concurrency; writes: Concurrency }
  now: () => Date
  sealKeys: readonly string[]
  freshLoginMs: number
  payoutGuard: PayoutGuard
  isMailing: boolean
  webhooks: AddressPolicy
  logger: Logger
  /** Answered before everything else. */
  local?: Router
  docs: Router
  pages: Router
}

/** Every route: its credential, its limit, and the service that answers. */
export function routes(deps: RouteDeps): Router {
  const { store, owners, tokens, live, takeCaller, concurrency, now } = deps
  const router = Router()
  if (deps.local) router.use(deps.local)
  const merchantId = (res: Response) => termsIn(res).merchant_id
  const presence = createPresence(() => now().getTime())
  const limited = (limit: Concurrency) => limitConcurrency(limit, presence, merchantId)
  const turns = { reads: limited(concurrency.reads), longAnswers: limited(concurrency.longAnswers), writes: limited(concurrency.writes) }
  const isRead = ({ method }: Request) => method === 'GET' || method === 'HEAD'
  const turnOf = (req: Request) => {
    if (!isRead(req)) return turns.writes
    return isLongAnswer(req) ? turns.longAnswers : turns.reads
  }
  const turn: RequestHandler = (req, res, next) => turnOf(req)(req, res, next)
  const allowed = requirePermission(neededPermission)
  const apiKey = [
    requireApiKey(store.apiKeys.terms),
    limitCaller(takeCaller, res => `merchant:${merchantId(res)}`),
    allowed,
    knownQuery,
    turn,
  ]
  const member = requireMembership(store, req => neededPermission(req) !== null)
  const session = [requireSession(tokens), limitCaller(takeCaller, res => `user:${userIn(res).id}`), knownQuery, member, allowed]
  const sessionMerchant: RequestHandler = async (req, res, next) => {
    rememberTerms(res, termsOf(await own(store, res)))
    turn(req, res, next)
  }
  router.get('/ping', knownQuery, ping)
  router.use('/api', (_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('Ponte-Version', INTERFACE_VERSION)
    next()
  })
  router.get('/api/v1/merchants/me/overview', ...session, sessionMerchant, overviewRoute(owners, now))
  const limitChanges = limitCaller(deps.takeChange, res => `changes:${userIn(res).id}`)
  const changing: RequestHandler = (req, res, next) => (isRead(req) ? next() : limitChanges(req, res, next))
  const account = { ...deps, orders: owners.orders, session: [...session, changing], apiKey }
  router.use(merchantRoutes(account))
  router.use(payoutRoutes(account))
  router.use(brandingRoutes(account, knownQuery))
  const credentials = { api_key: apiKey, session: [...session, sessionMerchant] }
  router.use(keyRoutes(account))
  router.use(memberRoutes(account))
  router.use(mailRoutes(account))
  router.use(auditRoutes(store, credentials))
  router.use(forwardedRoutes(owners, credentials, auditTrail(deps)))
  router.use(PAYERS_PATHS, (_req, _res, next) => {
    presence.note('payers')
    next()
  })
  router.use(checkoutRoutes(owners, live, knownQuery))
  router.use(deps.docs)
  router.use(deps.pages)
  return withOtherMethods(router)
}
