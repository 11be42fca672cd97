import { type RequestHandler, Router } from 'express'
import { checkoutRoutes } from './checkout-routes'
import { rememberTerms, requireApiKey, requireSession, termsIn, userIn } from './credentials'
import { forwarding, type Owners } from './forwarded-routes'
import { limitCaller } from './limits'
import type { Live } from './live'
import { termsOf } from './merchant'
import { merchantRoutes, own } from './merchant-routes'
import { overviewRoute } from './overview-route'
import { ping } from './ping'
import type { Verdict } from './rate-limit'
import type { SessionTokens } from './session-token'
import type { Store } from './store'

export interface RouteDeps {
  store: Store
  owners: Owners
  tokens: SessionTokens
  live: Live
  takeCaller(bucket: string): Promise<Verdict>
  now: () => Date
  sealKey: string
  docs: Router
  pages: Router
}

/** Who is calling, and who answers. */
export function routes({ store, owners, tokens, live, takeCaller, now, sealKey, docs, pages }: RouteDeps): Router {
  const router = Router()
  const apiKey = [requireApiKey(store.termsByKey), limitCaller(takeCaller, res => `merchant:${termsIn(res).merchant_id}`)]
  const session = [requireSession(tokens), limitCaller(takeCaller, res => `user:${userIn(res)}`)]
  const sessionMerchant: RequestHandler = async (_req, res, next) => {
    rememberTerms(res, termsOf(await own(store, userIn(res))))
    next()
  }
  router.get('/ping', ping)
  router.use('/api', (_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store')
    next()
  })
  router.get('/api/v1/merchants/me/overview', ...session, sessionMerchant, overviewRoute(owners, now))
  router.use(merchantRoutes({ store, now, sealKey, session }))
  router.use(forwarding(owners, { api_key: apiKey, session: [...session, sessionMerchant] }))
  router.use(checkoutRoutes(owners, live))
  router.use(docs)
  router.use(pages)
  return router
}
