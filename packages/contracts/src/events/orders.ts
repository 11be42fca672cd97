import { z } from 'zod'
import { order } from '../api/order'
import { brlAmount, id } from '../fields'
import { compactData, paidData, settledData, underpaidData, unmatchedData } from '../webhook'

/** Whose event this is, and the merchant version it was decided under: a reader with an older copy waits. */
export const ownedBy = { merchant_id: id, merchant_version: z.int().min(1) }

/**
 * Published by orders. Consumed by subscriptions (the answer to a charge) and chain-listener (which deposit addresses to watch). The address was
 * known to no one before block `watch_from_block`: a backfill begins there. 0 when the head was unknown. `merchant_is_contract` is true when a
 * contract stood at the payout address: where that contract is missing, a sweep would pay an address that no one may control.
 */
export const orderCreated = z.object({
  ...ownedBy,
  // An order that was just made has none, whatever their form is in another version.
  order: order.omit({ payments: true }),
  watch_from_block: z.int().min(0).optional(),
  merchant_is_contract: z.boolean().optional(),
})

/** Published by orders. Consumed by subscriptions (with a `subscription_id`: it becomes `subscription.charged`), webhook-dispatcher and api-gateway (without). */
export const orderPaid = z.object({ ...ownedBy, order: paidData })

/** Published by orders. Consumed by webhook-dispatcher. */
export const orderUnderpaid = z.object({ ...ownedBy, order: underpaidData })

/** Published by orders. Consumed by subscriptions and webhook-dispatcher. */
export const orderClosed = z.object({ ...ownedBy, subscription_id: id.nullable(), order: compactData })

/**
 * Published by orders, when money came besides or after what an order asked for (`overpaid`, `paid_late`, `paid_after_cancel`, `duplicate`).
 * Consumed by webhook-dispatcher.
 */
export const orderSurplus = z.object({ ...ownedBy, order: underpaidData })

/** Published by orders: all that was paid for the order has reached the payout address. Consumed by webhook-dispatcher. */
export const orderSettled = z.object({ ...ownedBy, order: settledData })

/** Published by orders. Consumed by webhook-dispatcher: merchants know it as `payment.unmatched`. */
export const paymentUnmatched = z.object({ ...ownedBy, payment: unmatchedData })

/** Published by orders, without outbox: whatever a payer or merchant can see changed. Consumed by api-gateway for live pages. */
export const orderChanged = z.object({ merchant_id: id, order_id: id })

/** Of which requested order of which subscription an answer speaks. */
const answered = { ...ownedBy, subscription_id: id, order_id: id }

/** Published by orders. Consumed by subscriptions: the order that was asked for is opened later, once the reason is gone. */
export const orderWaiting = z.object({ ...answered, reason: z.string() })

/** Published by orders. Consumed by subscriptions: the order that was asked for was never opened and never will be. */
export const orderRefused = z.object({ ...answered, reason: z.string() })

/**
 * Published by orders. Consumed by subscriptions: money is confirmed for an order that is not paid, or no longer. The largest `revision` stands.
 * `missing_brl_amount` is what would make it complete, zero when all came, but late. `order` is what `order.paid` would hold, null when all money was
 * taken away by a reorganisation.
 */
export const orderReceived = z.object({
  ...answered,
  revision: z.int().min(1),
  missing_brl_amount: brlAmount,
  order: paidData.nullable(),
})
export type OrderReceived = z.infer<typeof orderReceived>

/**
 * Published by orders for a subscription's order. Consumed by subscriptions: what the order shows from now on, as in its body. The largest `revision` stands.
 */
export const orderUpdated = z.object({
  ...answered,
  revision: z.int().min(1),
  state: order.pick({ status: true, exception: true, received: true, tx_hash: true, paid_at: true, cancelled_at: true }).extend({
    payment_uri: order.shape.payment.shape.payment_uri,
  }),
})
export type OrderUpdated = z.infer<typeof orderUpdated>
