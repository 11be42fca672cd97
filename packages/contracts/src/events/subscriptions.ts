import { z } from 'zod'
import { brlAmount, description, externalRef, id, memo, metadata, timestamp } from '../fields'
import { merchantTerms } from '../internal-api'
import { compactData, issuedData, paidData, pastDueData, upcomingData } from '../webhook'
import { ownedBy } from './orders'

/** A customer, and when the merchant named it: what was named before it was erased is not brought back by a message that comes late. */
export const namedCustomer = z.object({
  name: z.string().nullable(),
  email: z.string().nullable(),
  tax_id: z.string().nullable(),
  resident: z.boolean().nullable(),
  given_at: timestamp,
})
export type NamedCustomer = z.infer<typeof namedCustomer>

/**
 * Published by subscriptions. Consumed by orders, which creates the order with this id and memo (idempotent by id).
 * `terms` are the newest the requester knew; orders uses its own copy where that is newer. Answered by `order.created`, `order.waiting` or `order.refused`.
 */
export const chargeRequested = z.object({
  order_id: id,
  memo,
  subscription_id: id,
  terms: merchantTerms,
  brl_amount: brlAmount,
  external_ref: externalRef.nullable(),
  description: description.nullable(),
  metadata,
  expires_in: z.int(),
  /** The instant at which the order ends, whenever it is opened. Past it nothing opens. Absent from a publisher of the release before. */
  expires_at: timestamp.optional(),
  /** Of the subscription at that moment. The one event that has it: its order is made of nothing else. */
  customer: namedCustomer.optional(),
})
export type ChargeRequested = z.infer<typeof chargeRequested>

/**
 * Published by subscriptions. Consumed by webhook-dispatcher and, where it has `accepted`, by orders. `order` is the paid order's payload. `accepted`: the
 * merchant counts what came for the period as its payment, so this order, which none of the others takes the place of, is accepted; who did it, null for a key.
 */
export const subscriptionCharged = z.object({
  ...ownedBy,
  subscription_id: id,
  charges_done: z.int(),
  order: paidData,
  accepted: z.object({ by: z.string().nullable() }).optional(),
})

/**
 * Published by subscriptions. Consumed by webhook-dispatcher, and by orders: every open order of an ended subscription is closed once no money counts
 * for it. `open_order_id` is the newest of `open_order_ids`, which a publisher of the release before leaves out.
 */
export const subscriptionClosed = z.object({
  ...ownedBy,
  open_order_id: id.nullable(),
  open_order_ids: z.array(id).optional(),
  subscription: compactData,
})
export type SubscriptionClosed = z.infer<typeof subscriptionClosed>

/**
 * Published by subscriptions. Consumed by orders: another order of the same period was paid, so this one is no longer owed. While nothing is
 * paid towards it, it is cancelled; money that comes all the same is a duplicate. With `is_replaced` the merchant's new terms take its place instead:
 * money that counts for it is the period's payment. `deducted_brl_amount`: of what came for it, the part that the paid order did not ask for any more.
 */
export const orderSuperseded = z.object({
  ...ownedBy,
  subscription_id: id,
  order_id: id,
  is_replaced: z.boolean().optional(),
  deducted_brl_amount: brlAmount.optional(),
})

/** Published by subscriptions. Consumed by webhook-dispatcher, for endpoints that chose them. */
export const subscriptionOrderIssued = z.object({ ...ownedBy, subscription: issuedData })
export const subscriptionUpcoming = z.object({ ...ownedBy, subscription: upcomingData })
export const subscriptionPastDue = z.object({ ...ownedBy, subscription: pastDueData })
export const subscriptionResumed = z.object({ ...ownedBy, subscription: compactData })
