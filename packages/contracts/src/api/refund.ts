import { z } from 'zod'
import { address, id, text, timestamp, txHash, usdcAmount, usdcAmountInput } from '../fields'

export const refundStatus = z
  .enum(['awaiting_destination', 'awaiting_signature', 'awaiting_funds', 'submitted', 'confirmed', 'cancelled'])
  .meta({
    description:
      '`awaiting_signature`: your wallet has to sign. `submitted`: signed, so the money may move at any moment. `awaiting_funds`: the same, and your wallet ' +
      'holds too little. `confirmed`: it has gone back. `cancelled`: it will not.',
  })
export type RefundStatusName = z.infer<typeof refundStatus>

/** Body of `POST /api/v1/orders/:id/refunds`. */
export const createRefund = z
  .strictObject({
    amount: usdcAmountInput
      .refine(digits => /[1-9]/.test(digits), 'must be above zero')
      .optional()
      .meta({ description: 'USDC; without it and without `surplus`, all that may still go back', example: '5.00' }),
    surplus: z.literal(true).optional().meta({ description: 'What the order does not take of the money that came for it' }),
    payee_address: address
      .optional()
      .meta({ description: 'Who gets it. Needed unless the payer signed the payment, which proves the address' }),
    reason: text(500).meta({ description: 'For your own records', example: 'The customer sent it back' }),
  })
  .refine(({ amount, surplus }) => amount === undefined || surplus === undefined, {
    path: ['surplus'],
    message: 'goes without amount: name one of them, or neither for all that may still go back',
  })
export type CreateRefund = z.infer<typeof createRefund>

/** Body of `POST /api/v1/refunds/:id/signature`. */
export const signRefund = z.strictObject({
  valid_before: z.int().min(0).max(Number.MAX_SAFE_INTEGER).meta({
    description: 'The signed `validBefore`, Unix seconds; at least a minute and at most a day ahead',
    example: 1_795_000_000,
  }),
  signature: z
    .string()
    .regex(/^0x[0-9a-fA-F]{130}$/, 'must be 0x and 65 bytes in hex')
    .meta({ description: 'Of `typed_data` by the key of `from_address`', example: `0x${'1b'.repeat(65)}` }),
})
export type SignRefund = z.infer<typeof signRefund>

const refundTypedData = z.object({
  domain: z.object({ name: z.string(), version: z.string(), chainId: z.int(), verifyingContract: address }),
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  message: z.object({
    from: address,
    to: address,
    value: z.string(),
    validAfter: z.string(),
    validBefore: z.string(),
    nonce: txHash,
  }),
})

/** Money that goes back from the merchant's wallet. */
export const refund = z
  .object({
    object: z.literal('refund'),
    id,
    order_id: id,
    status: refundStatus,
    amount: usdcAmount,
    payee_address: address,
    from_address: address.meta({ description: 'Your wallet: the payout address that the money of the order went to' }),
    reason: z.string(),
    requested_by: z.string().nullable().meta({ description: '`sub` of the user who asked for it; null for a key' }),
    nonce: txHash.meta({ description: 'Bound to refund, payee and amount: the token takes one signature of them, once' }),
    valid_before: z.int().nullable().meta({
      description:
        'Unix seconds. While a signature may still move the money: until the confirmed chain has passed this. Null when none may, or its end is not known',
    }),
    typed_data: refundTypedData.nullable().meta({
      description:
        'EIP-712, for `eth_signTypedData_v4` of your wallet. Null while nothing may be signed or the chain cannot be asked, and in lists',
    }),
    tx_hash: txHash.nullable(),
    created_at: timestamp,
    confirmed_at: timestamp.nullable().meta({ description: 'Time of the block in which the money went back' }),
    cancelled_at: timestamp.nullable(),
  })
  .meta({ id: 'Refund' })
export type RefundBody = z.infer<typeof refund>

/** Answer of `GET /api/v1/orders/:id/refunds`. */
export const refundList = z.object({
  object: z.literal('list'),
  data: z.array(refund),
  came: usdcAmount.meta({ description: 'What of the money that came may go back at most, platform fee included' }),
  platform_fee: usdcAmount.meta({ description: 'What the platform took of it. It does not go back: a full refund costs you so much' }),
  promised: usdcAmount.meta({ description: 'What has gone back, and what still may' }),
  returnable: usdcAmount.meta({ description: '`came` less `promised`' }),
  surplus: usdcAmount.meta({ description: 'What of it the order does not take: the amount of a refund with `surplus`' }),
})
export type RefundListBody = z.infer<typeof refundList>
