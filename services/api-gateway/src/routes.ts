import { type Operation, operationList, placesOf } from '@ponte/contracts'
import { type Logger, reader } from '@ponte/service-kit'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { auditHandlers } from './account/audit-routes'
import { auditTrail } from './account/audit-trail'
import type { AccountDeps } from './account/changes'
import { keyHandlers } from './account/key-routes'
import { mailHandlers } from './account/mail-routes'
import { memberHandlers } from './account/member-routes'
import { merchantHandlers } from './account/merchant-routes'
import { payoutHandlers } from './account/payout-routes'
import { sessionHandlers } from './account/session-routes'
import { shownSecret } from './account/shown-secret'
import { waitingHandlers } from './account/waiting-routes'
import { brandingHandlers } from './branding/branding-routes'
import { checkoutHandlers } from './checkout/checkout-routes'
import type { LiveCheckout } from './checkout/live-checkout'
import { callerIn, termsIn } from './credentials/credentials'
import { customerHandlers } from './customers/erase-route'
import type { Handlers } from './edge/handlers'
import { jsonBody } from './edge/json-body'
import { withOtherMethods } from './edge/methods'
import { explanationHandlers } from './explanation/explanation-route'
import { type GuardDeps, guarding } from './guards'
import { overviewHandlers } from './overview/overview-route'
import { forwarding, type Owners } from './owners/forwarding'
import type { Owner } from './owners/owner'
import { ping } from './ping'

export interface RouteDeps extends GuardDeps, Omit<AccountDeps, 'orders'> {
  owners: Owners
  /** Of the networks beside the first. */
  otherListeners: readonly Owner[]
  live: LiveCheckout
  logger: Logger
  /** Answered before everything else. */
  local?: Router
  docs: Router
  pages: Router
}

/** Every route: its credential, its limit, and who answers, as the table of operations has them. */
export function routes(deps: RouteDeps): Router {
  const { owners } = deps
  const account = { ...deps, orders: owners.orders }
  const trail = auditTrail(deps)
  const handlers: Handlers & Record<string, unknown> = {
    ping: (_asked, req, res) => ping(req, res),
    ...overviewHandlers(owners, deps.now),
    ...explanationHandlers(deps),
    ...customerHandlers(owners, trail),
    ...merchantHandlers(account),
    ...payoutHandlers(account),
    ...brandingHandlers(account),
    ...keyHandlers(account),
    ...memberHandlers(account),
    ...waitingHandlers(account),
    ...sessionHandlers(account),
    ...mailHandlers(account),
    ...auditHandlers(deps.store),
    ...checkoutHandlers(owners, deps.otherListeners, deps.live),
  }
  const toOwner = {
    owners,
    trail,
    callerIn,
    shownSecret: (res: Response, operation: Operation) => shownSecret(deps, res, operation),
    memberIds: async (res: Response) => (await deps.store.members.list(termsIn(res).merchant_id)).map(({ userId }) => userId),
    isByKey: (res: Response) => res.locals.credential === 'api_key',
    isMailing: deps.isMailing,
  }
  const guards = guarding(deps)
  const router = Router()
  if (deps.local) router.use(deps.local)
  for (const [id, operation] of operationList) {
    if (operation.credentials.includes('internal') || (operation.owner === 'sandbox' && !owners.sandbox)) continue
    const handler = Object.hasOwn(handlers, id) ? answering(operation, handlers[id] as AnyHandler) : null
    for (const place of placesOf(operation)) {
      router[operation.method](place.path, ...guards(operation, place), handler ?? forwarding(toOwner, operation, place))
    }
  }
  router.use(deps.docs)
  router.use(deps.pages)
  return withOtherMethods(router)
}

type AnyHandler = (asked: object, req: Request, res: Response) => unknown

function answering(operation: Operation, handler: AnyHandler): RequestHandler {
  const read = reader(operation)
  return (req, res) => {
    const working = (async () => void (await handler(read(req, operation.method === 'get' ? undefined : jsonBody(req)), req, res)))()
    res.locals.work = working
    return working
  }
}
