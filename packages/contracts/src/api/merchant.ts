import { z } from 'zod'
import { address, id, text, timestamp, usdcAmount, usdcAmountInput } from '../fields'
import { livemode } from '../mode'
import { chainIds, networkNumber, payoutAddresses } from './network'

export const apiKey = z.string().regex(/^sk_(live|test)_[0-9a-f]{64}$/)

export const displayName = text(120).meta({ example: 'Padaria Estrela' })
export const webhookUrl = text(2048).meta({ description: 'http(s) URL without credentials', example: 'https://example.com/webhooks' })

export const createMerchant = z.strictObject({
  display_name: displayName,
  webhook_url: webhookUrl.nullish(),
  payout_address: address.nullish(),
})
export type CreateMerchant = z.infer<typeof createMerchant>

export const merchantQuery = z.strictObject({ secrets: z.enum(['hidden'], 'must be hidden').optional() })

/** Body of `PATCH /api/v1/merchants/me`; absent fields stay, `null` clears. */
export const updateMerchant = z.strictObject({
  display_name: displayName.optional(),
  webhook_url: webhookUrl.nullable().optional(),
  payout_address: address.nullable().optional(),
  payout_addresses: z
    .record(networkNumber, address.nullable())
    .optional()
    .meta({
      description:
        'Another payout address for one network, by its number, for a contract wallet that stands there alone; null for that of all others again. One at a time, and each waits as another `payout_address` does',
      example: { '137': '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' },
    }),
  payment_tolerance: usdcAmountInput.nullable().optional().meta({
    description: 'By how much USDC a new order may be short and still count as paid; null for a cent and at most 1 % of the order',
    example: '1.00',
  }),
  refund_approval_above: usdcAmountInput.nullable().optional().meta({
    description: 'Above this sum of USDC the refunds of an order take two members; null for never',
    example: '500.00',
  }),
  chain_ids: chainIds.nullable().optional().meta({
    description:
      'The networks that new orders may be paid on, of those of `GET /networks`; the first of these is always one. Null for all, also those that follow later',
  }),
})
export type UpdateMerchant = z.infer<typeof updateMerchant>

/** A change of the payout address that waits. Body of the merchant's `pending_payout_change`. */
export const payoutChange = z.object({
  id,
  payout_address: address,
  chain_id: z.int().optional().meta({ description: 'The network that it is for; absent for all but those for which another one is named' }),
  requested_at: timestamp,
  requested_by: z.string().meta({ description: '`sub` of the user; another owner can approve it' }),
  activates_at: timestamp.meta({
    description: 'From then on new orders are paid out to it; a signature, or the approval of another owner, brings it forward',
  }),
  is_signed: z.boolean(),
  is_approved: z.boolean().meta({ description: 'Another owner agreed' }),
  message: z.string().meta({
    description: 'What the key of the new address signs (EIP-191, `personal_sign`)',
    example: 'Ponte: pay my orders out to this address.',
  }),
})

const signature = z.string().regex(/^0x[0-9a-fA-F]{130}$/, 'must be 0x and 65 bytes in hex')
const signatureExample = `0x${'1b'.repeat(65)}`

export const signPayoutChange = z.strictObject({
  signature: signature.meta({ description: 'Of `message`, by the key of the new address', example: signatureExample }),
})

export const signPayoutAddress = z.strictObject({
  signature: signature.meta({ description: 'Of `payout_proof.message`, by the key of the payout address', example: signatureExample }),
})

/** That the key of the payout address in force signed it for this merchant. */
const payoutProof = z.object({
  message: z.string().meta({
    description: 'What the key signed, or signs (EIP-191, `personal_sign`)',
    example: 'Ponte: my orders are paid out to this address.',
  }),
  signature: signature.nullable().meta({ description: 'Null while nothing is signed' }),
  signed_at: timestamp.nullable(),
})

const webhookSecret = z.string().meta({ example: `whsec_${'0123456789abcdef'.repeat(4)}` })

export const merchant = z
  .object({
    object: z.literal('merchant'),
    id,
    livemode: livemode.optional(),
    display_name: displayName,
    webhook_url: webhookUrl.nullable(),
    webhook_secret: webhookSecret
      .nullable()
      .meta({ description: 'Keys the signature of every delivery; null unless the login is fresh and may replace it' }),
    pending_webhook_secret: z.string().nullable(),
    pending_webhook_secret_activates_at: timestamp.nullable(),
    payout_address: address.nullable(),
    payout_addresses: payoutAddresses
      .optional()
      .meta({ description: 'Networks whose new orders are paid out to another address, by number; only where one was ever named' }),
    payout_proof: payoutProof
      .nullable()
      .optional()
      .meta({ description: 'The signature of the key of `payout_address`, for exchanges that ask for it; null without an address' }),
    pending_payout_change: payoutChange.nullable().meta({ description: 'A change that waits; anyone of yours can cancel it' }),
    payment_tolerance: usdcAmount.nullable().optional().meta({
      description: 'By how much a new order may be short and still count as paid, at most a tenth of it; null for a cent and at most 1 %',
    }),
    refund_approval_above: usdcAmount.nullable().optional().meta({
      description:
        'Above this sum the refunds of an order take two members: one asks or approves, another one approves or signs; null for never',
    }),
    chain_ids: z
      .array(z.int())
      .nullable()
      .optional()
      .meta({ description: 'The networks that new orders may be paid on; null for all of `GET /networks`' }),
    created_at: timestamp,
    updated_at: timestamp,
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: 'Merchant' })
export type MerchantBody = z.infer<typeof merchant>

/** With another key, which is shown once. */
export const merchantWithNewKey = merchant.extend({
  api_key: apiKey.meta({ description: 'Shown once; only its hash is kept', example: `sk_live_${'0123456789abcdef'.repeat(4)}` }),
})
/** With its first key and its first secret. */
export const merchantWithKey = merchantWithNewKey.extend({
  webhook_secret: webhookSecret.meta({ description: 'Keys the signature of every delivery' }),
})
export type MerchantWithKeyBody = z.infer<typeof merchantWithKey>
