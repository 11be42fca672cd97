import { z } from 'zod'
import { brlAmount, externalRef, id, memo, timestamp, txHash, usdcAmount } from './fields'

/** The bodies a merchant receives: exactly `{ type, data }`. Specification, Events. */

export const webhookType = z.enum([
  'order.paid',
  'order.underpaid',
  'order.expired',
  'order.cancelled',
  'subscription.charged',
  'subscription.cancelled',
  'subscription.expired',
])
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

/** `tx_hash` is the payment that left the order short; `paid_at` is when it was noticed. */
export const underpaidData = paidData.extend({ expected: usdcAmount, received: usdcAmount })
export type UnderpaidData = z.infer<typeof underpaidData>

export const compactData = z.object({ id, external_ref: externalRef.nullable() })
export type CompactData = z.infer<typeof compactData>

export const webhookBodies = {
  'order.paid': z.strictObject({ type: z.literal('order.paid'), data: paidData }),
  'order.underpaid': z.strictObject({ type: z.literal('order.underpaid'), data: underpaidData }),
  'order.expired': z.strictObject({ type: z.literal('order.expired'), data: compactData }),
  'order.cancelled': z.strictObject({ type: z.literal('order.cancelled'), data: compactData }),
  'subscription.charged': z.strictObject({ type: z.literal('subscription.charged'), data: paidData }),
  'subscription.cancelled': z.strictObject({ type: z.literal('subscription.cancelled'), data: compactData }),
  'subscription.expired': z.strictObject({ type: z.literal('subscription.expired'), data: compactData }),
} satisfies Record<WebhookType, z.ZodType>
