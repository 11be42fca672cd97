import { z } from 'zod'
import { address, brlAmount, externalRef, id, memo, timestamp, txHash, usdcAmount } from './fields'

/** The bodies a merchant receives: exactly `{ type, data }`. Specification, Events. */

/** The kinds of the specification: all that a merchant's `webhook_url` ever receives. */
export const SPECIFIED_EVENTS = [
  'order.paid',
  'order.underpaid',
  'order.expired',
  'order.cancelled',
  'subscription.charged',
  'subscription.cancelled',
  'subscription.expired',
] as const

/** Sent only to endpoints that chose them; everyone can pull them. */
export const OPT_IN_EVENTS = [
  'order.overpaid',
  'order.paid_late',
  'order.paid_after_cancel',
  'order.duplicate',
  'order.settled',
  'order.accepted',
  'payment.unmatched',
  'payment.attached',
  'refund.created',
  'refund.confirmed',
  'refund.failed',
  'subscription.order_issued',
  'subscription.upcoming',
  'subscription.past_due',
  'subscription.paused',
  'subscription.resumed',
  'account.changed',
] as const

/** Sent by a merchant to one endpoint to try it. */
export const TEST_EVENT = 'endpoint.test'

export const webhookType = z.enum([...SPECIFIED_EVENTS, ...OPT_IN_EVENTS, TEST_EVENT])
export type WebhookType = z.infer<typeof webhookType>

export const paidData = z.object({
  id,
  subscription_id: id.nullable(),
  external_ref: externalRef.nullable(),
  brl_amount: brlAmount,
  usdc_amount: usdcAmount,
  tx_hash: txHash,
  memo,
  paid_at: timestamp,
})
export type PaidData = z.infer<typeof paidData>

/** `tx_hash` is the payment that left the order short, or came besides or after what it asked for; `paid_at` is when it was noticed. */
export const underpaidData = paidData.extend({ expected: usdcAmount, received: usdcAmount })

export const compactData = z.object({ id, external_ref: externalRef.nullable() })

/** `settlement_tx_hash` is the transaction with which the last of the order's payments reached the payout address. */
export const settledData = paidData.extend({ settlement_tx_hash: txHash, payout_address: address, settled_at: timestamp })

/** The merchant accepted what came as payment in full; `given_away` is what of `usdc_amount` has not come. */
export const acceptedData = underpaidData.extend({ accepted_at: timestamp, reason: z.string(), given_away: usdcAmount })

export const mismatchReason = z.enum([
  'unknown_memo',
  'wrong_chain',
  'wrong_router',
  'wrong_token',
  'wrong_recipient',
  'zero_amount',
  'amount_out_of_range',
])
export type MismatchReason = z.infer<typeof mismatchReason>

/** A confirmed payment to the merchant's payout address that counts for no order. */
export const unmatchedData = z.object({
  id: z.string().meta({ description: 'Names the payment: chain, transaction and its place there' }),
  reason: mismatchReason,
  kind: z.enum(['router', 'transfer']),
  chain_id: z.int(),
  token_address: address,
  tx_hash: txHash,
  memo,
  amount: usdcAmount,
  payer_address: address,
  merchant_address: address,
  block_time: timestamp,
})
export type UnmatchedData = z.infer<typeof unmatchedData>

/** A payment without an order counts for one by the merchant's word; `reason` is theirs. */
export const attachedData = unmatchedData
  .omit({ reason: true })
  .extend({ order_id: id, external_ref: externalRef.nullable(), reason: z.string(), attached_at: timestamp })
export type AttachedData = z.infer<typeof attachedData>

/** Money that is to go back from the merchant's wallet; `id` is the refund's. */
export const refundData = z.object({ id, order_id: id, external_ref: externalRef.nullable(), amount: usdcAmount, payee_address: address })

/** A confirmed block shows that the money has gone back. */
export const refundConfirmedData = refundData.extend({ tx_hash: txHash, confirmed_at: timestamp })

/** The authorization is void: the wallet cancelled it on the chain, or it expired by the confirmed chain's time. Another signature may be brought. */
export const refundFailedData = refundData.extend({
  failure_code: z.enum(['authorization_cancelled', 'authorization_expired']),
  failed_at: timestamp,
})

const periodIndex = z.int().min(0).meta({ description: 'The period, counted from 0' })

/** A period's order is there: its payer can be sent the link. */
export const issuedData = compactData.extend({
  period_index: periodIndex,
  order_id: id,
  brl_amount: brlAmount,
  usdc_amount: usdcAmount,
  checkout_url: z.string(),
  expires_at: timestamp,
})

/** The next period that asks for money begins soon. */
export const upcomingData = compactData.extend({ period_index: periodIndex, charge_at: timestamp, brl_amount: brlAmount })

/** A period's order ended unpaid. */
export const pastDueData = compactData.extend({ period_index: periodIndex, missing_brl_amount: brlAmount })
/** A change of the merchant's own account: its payout address, keys, secret or members. Names of what changed, never a secret. */
export const accountData = z.object({
  id: id.meta({ description: 'Of the entry in the audit log' }),
  action: z.string().meta({ example: 'merchant.update' }),
  changed: z.array(z.string()).meta({ example: ['pending_payout_change'] }),
  user_id: z.string(),
  created_at: timestamp,
  payout_change: z
    .object({ id, payout_address: address, chain_id: z.int().optional(), activates_at: timestamp })
    .nullable()
    .meta({ description: 'The change of the payout address that waits now' }),
})

export const testData = z.object({ id, message: z.string() })

export const webhookBodies = {
  'order.paid': z.strictObject({ type: z.literal('order.paid'), data: paidData }),
  'order.underpaid': z.strictObject({ type: z.literal('order.underpaid'), data: underpaidData }),
  'order.expired': z.strictObject({ type: z.literal('order.expired'), data: compactData }),
  'order.cancelled': z.strictObject({ type: z.literal('order.cancelled'), data: compactData }),
  'subscription.charged': z.strictObject({ type: z.literal('subscription.charged'), data: paidData }),
  'subscription.cancelled': z.strictObject({ type: z.literal('subscription.cancelled'), data: compactData }),
  'subscription.expired': z.strictObject({ type: z.literal('subscription.expired'), data: compactData }),
  'order.overpaid': z.strictObject({ type: z.literal('order.overpaid'), data: underpaidData }),
  'order.paid_late': z.strictObject({ type: z.literal('order.paid_late'), data: underpaidData }),
  'order.paid_after_cancel': z.strictObject({ type: z.literal('order.paid_after_cancel'), data: underpaidData }),
  'order.duplicate': z.strictObject({ type: z.literal('order.duplicate'), data: underpaidData }),
  'order.settled': z.strictObject({ type: z.literal('order.settled'), data: settledData }),
  'order.accepted': z.strictObject({ type: z.literal('order.accepted'), data: acceptedData }),
  'payment.unmatched': z.strictObject({ type: z.literal('payment.unmatched'), data: unmatchedData }),
  'payment.attached': z.strictObject({ type: z.literal('payment.attached'), data: attachedData }),
  'refund.created': z.strictObject({ type: z.literal('refund.created'), data: refundData }),
  'refund.confirmed': z.strictObject({ type: z.literal('refund.confirmed'), data: refundConfirmedData }),
  'refund.failed': z.strictObject({ type: z.literal('refund.failed'), data: refundFailedData }),
  'subscription.order_issued': z.strictObject({ type: z.literal('subscription.order_issued'), data: issuedData }),
  'subscription.upcoming': z.strictObject({ type: z.literal('subscription.upcoming'), data: upcomingData }),
  'subscription.past_due': z.strictObject({ type: z.literal('subscription.past_due'), data: pastDueData }),
  'subscription.paused': z.strictObject({ type: z.literal('subscription.paused'), data: compactData }),
  'subscription.resumed': z.strictObject({ type: z.literal('subscription.resumed'), data: compactData }),
  'account.changed': z.strictObject({ type: z.literal('account.changed'), data: accountData }),
  [TEST_EVENT]: z.strictObject({ type: z.literal(TEST_EVENT), data: testData }),
} satisfies Record<WebhookType, z.ZodType>
