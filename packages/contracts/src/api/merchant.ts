import { z } from 'zod'
import { address, id, text, timestamp } from '../fields'

export const apiKey = z.string().regex(/^sk_live_[0-9a-f]{64}$/)

export const displayName = text(120).meta({ example: 'Padaria Estrela' })
export const webhookUrl = text(2048).meta({ description: 'http(s) URL without credentials', example: 'https://example.com/webhooks' })

/** Body of `POST /api/v1/merchants`. */
export const createMerchant = z.strictObject({
  display_name: displayName,
  webhook_url: webhookUrl.nullish(),
  payout_address: address.nullish(),
})
export type CreateMerchant = z.infer<typeof createMerchant>

/** Body of `PATCH /api/v1/merchants/me`; absent fields stay, `null` clears. */
export const updateMerchant = z.strictObject({
  display_name: displayName.optional(),
  webhook_url: webhookUrl.nullable().optional(),
  payout_address: address.nullable().optional(),
})
export type UpdateMerchant = z.infer<typeof updateMerchant>

export const merchant = z
  .object({
    object: z.literal('merchant'),
    id,
    display_name: displayName,
    webhook_url: webhookUrl.nullable(),
    webhook_secret: z
      .string()
      .meta({ description: 'Keys the signature of every delivery', example: `whsec_${'0123456789abcdef'.repeat(4)}` }),
    pending_webhook_secret: z.string().nullable(),
    pending_webhook_secret_activates_at: timestamp.nullable(),
    payout_address: address.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: 'Merchant' })
export type MerchantBody = z.infer<typeof merchant>

export const merchantWithKey = merchant.extend({
  api_key: apiKey.meta({ description: 'Shown once; only its hash is kept', example: `sk_live_${'0123456789abcdef'.repeat(4)}` }),
})
