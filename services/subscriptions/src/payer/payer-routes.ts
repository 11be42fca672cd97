import { ApiError, operations } from '@ponte/contracts'
import { retryConflicts, serve } from '@ponte/service-kit'
import type { Router } from 'express'
import type { OrderWaits } from '../api/order-wait'
import { CHARGES_SHOWN } from '../api/subscription-body'
import { mint } from '../scheduler'
import { isConflict, type Store } from '../store'
import { charge } from '../subscription/charges'
import type { Subscription } from '../subscription/subscription'
import { payerBody } from './payer-body'
import { payerDue } from './payer-due'

export interface PayerRouteDeps {
  store: Store
  orderWaits: OrderWaits
  orderWaitMs: number
  publicUrl: string
  now: () => Date
}

/** A payer with the link of a subscription sees it, and has the due order opened. Callers are verified before. */
export function payerRoutes(router: Router, { store, orderWaits, orderWaitMs, publicUrl, now }: PayerRouteDeps): void {
  const found = async (payerToken: string): Promise<Subscription> => {
    const subscription = await store.subscriptions.findByPayerToken(payerToken)
    if (!subscription) throw new ApiError('not_found', 'There is no such subscription; check the link.')
    return subscription
  }
  const shown = async (payerToken: string) => {
    const subscription = await found(payerToken)
    const { display_name: merchantName } = await store.merchants.find(subscription.merchantId)
    const charges = await store.subscriptions.latestCharges(subscription.id, CHARGES_SHOWN)
    return payerBody(subscription, { merchantName, publicUrl, at: now(), charges })
  }

  serve(router, operations.getPayerSubscription, async ({ params }, _req, res) => void res.json(await shown(params.payer_token)))

  serve(router, operations.askForOrder, async ({ params: { payer_token: payerToken } }, _req, res) => {
    const orderId = await retryConflicts(async () => {
      const subscription = await found(payerToken)
      const at = now()
      if (!payerDue(subscription, at)?.canBeAsked) return null
      const terms = await store.merchants.find(subscription.merchantId)
      if (terms.payout_address === null) return null
      const { attempt, outcome: _, ...change } = charge(subscription, at, mint(at))
      await store.subscriptions.commit(change, {}, terms)
      return attempt.orderId
    }, isConflict)
    if (orderId !== null) await orderWaits.wait(orderId, orderWaitMs)
    res.json(await shown(payerToken))
  })
}
