import { ApiError, id as idSchema } from '@ponte/contracts'
import { parseRequest, retryConflicts } from '@ponte/service-kit'
import { type Request, Router } from 'express'
import { z } from 'zod'
import { CHARGES_SHOWN, type OrderWaits } from '../api'
import { mint } from '../scheduler'
import { isConflict, type Store } from '../store'
import { charge, type Subscription } from '../subscription'
import { payerBody } from './payer-body'
import { payerDue } from './payer-due'

export interface PayerRouteDeps {
  store: Store
  orderWaits: OrderWaits
  orderWaitMs: number
  publicUrl: string
  now: () => Date
}

const path = z.object({ payer_token: idSchema })
const nothing = z.strictObject({})
const BASE = '/api/v1/payer/subscriptions/:payer_token'

/** What a payer with the link of a subscription may do: see it, and have the order opened that is due. Its callers are verified before. */
export function payerRoutes({ store, orderWaits, orderWaitMs, publicUrl, now }: PayerRouteDeps): Router {
  const router = Router()
  const found = async (req: Request): Promise<Subscription> => {
    const { payer_token } = parseRequest(path, req.params, 'path')
    parseRequest(nothing, req.query, 'query')
    const subscription = await store.subscriptions.findByPayerToken(payer_token)
    if (!subscription) throw new ApiError('not_found', 'There is no such subscription; check the link.')
    return subscription
  }
  const shown = async (req: Request) => {
    const subscription = await found(req)
    const { display_name: merchantName } = await store.merchants.find(subscription.merchantId)
    const charges = await store.subscriptions.latestCharges(subscription.id, CHARGES_SHOWN)
    return payerBody(subscription, { merchantName, publicUrl, at: now(), charges })
  }

  router.get(BASE, async (req, res) => void res.json(await shown(req)))

  router.post(`${BASE}/order`, async (req, res) => {
    parseRequest(nothing, req.body, 'body')
    const orderId = await retryConflicts(async () => {
      const subscription = await found(req)
      if (!payerDue(subscription, now())?.canBeAsked) return null
      const terms = await store.merchants.find(subscription.merchantId)
      if (terms.payout_address === null) return null
      const { attempt, outcome: _, ...change } = charge(subscription, now(), mint())
      await store.subscriptions.commit(change, {}, terms)
      return attempt.orderId
    }, isConflict)
    if (orderId !== null) await orderWaits.wait(orderId, orderWaitMs)
    res.json(await shown(req))
  })
  return router
}
