import { z } from 'zod'
import { brlAmount, description, externalRef, id, memo, metadata } from '../fields'
import { merchantTerms } from '../internal-api'
import { compactData, paidData } from '../webhook'
import { ownedBy } from './orders'

/**
 * Published by subscriptions. Consumed by orders, which creates the order with this id and memo (idempotent by id).
 * `terms` are the newest the requester knew; orders uses its own copy where that is newer.
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
})
export type ChargeRequested = z.infer<typeof chargeRequested>

/** Published by subscriptions. Consumed by webhook-dispatcher. `order` is the paid order's payload. */
export const subscriptionCharged = z.object({ ...ownedBy, subscription_id: id, charges_done: z.int(), order: paidData })

/** Published by subscriptions. Consumed by webhook-dispatcher, and by orders on cancellation: the open unpaid order goes too. */
export const subscriptionClosed = z.object({ ...ownedBy, open_order_id: id.nullable(), subscription: compactData })

/**
 * Published by subscriptions. Consumed by orders: another order of the same period was paid, so this one is no longer owed. While nothing is
 * paid towards it, it is cancelled; money that comes all the same is a duplicate.
 */
export const orderSuperseded = z.object({ ...ownedBy, subscription_id: id, order_id: id })
