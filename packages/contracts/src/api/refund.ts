import { z } from 'zod'
import { address, email, id, text, timestamp, txHash, usdcAmount, usdcAmountInput } from '../fields'
import { mailLanguage } from './account/mail'
import { quotedTxHash } from './explanation'
import { chainIdInput } from './network'

export const refundStatus = z
  .enum(['awaiting_destination', 'awaiting_signature', 'awaiting_funds', 'submitted', 'confirmed', 'cancelled'])
  .meta({
    description:
      '`awaiting_signature`: your wallet has to sign. `submitted`: signed, so the money may move at any moment. `awaiting_funds`: the same, and your wallet ' +
      'holds too little. `confirmed`: it has gone back. `cancelled`: it will not.',
  })
export type RefundStatusName = z.infer<typeof refundStatus>

const part = {
  amount: usdcAmountInput
    .refine(digits => /[1-9]/.test(digits), 'must be above zero')
    .optional()
    .meta({ description: 'USDC; without it and without `surplus`, all that may still go back', example: '5.00' }),
  surplus: z.literal(true).optional().meta({ description: 'What the order does not take of the money that came for it' }),
  reason: text(500).meta({ description: 'For your own records', example: 'The customer sent it back' }),
}
const namesOne = ({ amount, surplus }: { amount?: string | undefined; surplus?: true | undefined }) =>
  amount === undefined || surplus === undefined
const ONE = { path: ['surplus'], message: 'goes without amount: name one of them, or neither for all that may still go back' }

export const createRefund = z
  .strictObject({
    ...part,
    payee_address: address
      .optional()
      .meta({ description: 'Who gets it. Needed unless the payer signed the payment, which proves the address' }),
    chain_id: chainIdInput.optional().meta({
      description: 'The network on which it goes back, of those of the order; without it the one on which most came',
      example: 8453,
    }),
  })
  .refine(namesOne, ONE)
export type CreateRefund = z.infer<typeof createRefund>

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
    approved_by: z.string().nullable().optional().meta({ description: '`sub` of the other member who approved it first' }),
    approved_at: timestamp.nullable().optional(),
    needs_approval: z.boolean().optional().meta({
      description:
        'It waits for a signature, which is taken once two different members took part: who asked, who approved, who brings it. A key is none. By `refund_approval_above` as it is now',
    }),
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
    network: z.string().optional().meta({ description: 'On which it goes back; only where the order has `networks`' }),
    chain_id: z.int().optional().meta({ description: 'Only where the order has `networks`' }),
  })
  .meta({ id: 'Refund' })
export type RefundBody = z.infer<typeof refund>

export const createRefundClaim = z
  .strictObject({
    ...part,
    email: email.optional().meta({
      description:
        'Of the payer. An address is then taken from who also has the code that goes there by mail. Forgotten once the claim is over',
      example: 'cliente@example.com',
    }),
  })
  .refine(namesOne, ONE)
export type CreateRefundClaim = z.infer<typeof createRefundClaim>

export const refundClaimStatus = z.enum(['open', 'claimed', 'expired', 'cancelled']).meta({
  description:
    '`open`: its link takes an address. `claimed`: the payer has named one, and a refund to it waits for your signature. `expired`: no address was named in time.',
})
export type RefundClaimStatusName = z.infer<typeof refundClaimStatus>

export const refundClaim = z
  .object({
    object: z.literal('refund_claim'),
    id,
    order_id: id,
    status: refundClaimStatus,
    amount: usdcAmount.meta({ description: 'What comes back by it, to the last unit' }),
    reason: z.string(),
    url: z.string().nullable().meta({
      description:
        'For the payer alone: any holder of it who knows the payment can name an address. Null in lists, and once it is of no use',
    }),
    email: z.string().nullable().meta({
      description: 'Where a code goes that naming an address takes. Null where none was given, in lists, and once the claim is over',
    }),
    requested_by: z.string().nullable().meta({ description: '`sub` of the user who made it; null for a key' }),
    created_at: timestamp,
    expires_at: timestamp,
    claimed_at: timestamp.nullable(),
    tx_hash: txHash.nullable().meta({ description: 'The payment that the payer named as theirs' }),
    refund_id: id.nullable(),
    cancelled_at: timestamp.nullable(),
  })
  .meta({ id: 'RefundClaim' })
export type RefundClaimBody = z.infer<typeof refundClaim>

export const claimRefund = z.strictObject({
  payee_address: address.meta({
    description: 'A wallet of your own on this network, and never the address of an exchange that you did not take from its page',
  }),
  chain_id: chainIdInput.optional().meta({
    description: 'The network that you were shown; where the refund is made on another one by now, nothing is done',
    example: 8453,
  }),
  tx_hash: quotedTxHash.meta({ description: 'Of the payment, as your wallet or exchange shows it, or the link of a block explorer to it' }),
  amount: usdcAmountInput.meta({
    description: 'What arrived by it, to the last digit, as an explorer of the network shows it',
    example: '27.675277',
  }),
  code: z
    .string()
    .regex(/^\d{6}$/, 'must be six digits')
    .optional()
    .meta({ description: 'Needed where `email_hint` is not null: the code that was mailed last', example: '402913' }),
})
export type ClaimRefund = z.infer<typeof claimRefund>

export const requestRefundCode = z.strictObject({
  language: mailLanguage.default('pt').meta({ description: 'Of the mail' }),
})

/** A claim as its payer sees it, who has the link. */
export const payerRefund = z
  .object({
    object: z.literal('payer_refund'),
    status: z
      .enum([...refundClaimStatus.options, 'submitted', 'confirmed'])
      .meta({ description: '`claimed`: the merchant has to sign. `submitted`: it is on its way. `confirmed`: it has come' }),
    merchant_name: z.string(),
    description: z.string().nullable(),
    amount: usdcAmount.meta({ description: 'What comes, to the last unit: no fee is taken of it' }),
    network: z.string(),
    chain_id: z.int(),
    token_address: address,
    expires_at: timestamp,
    email_hint: z.string().nullable().meta({
      description: 'Where the code goes that naming an address takes; never the whole of it. Null where none is wanted',
      example: 'c…@example.com',
    }),
    code_available_at: timestamp.nullable().meta({
      description:
        'From when on a code is mailed when it is asked for. Null where none is wanted, and where as many were asked for as there may be',
    }),
    payee_address: address.nullable(),
    tx_hash: txHash.nullable().meta({ description: 'The transaction by which it came' }),
  })
  .meta({ id: 'PayerRefund' })
export type PayerRefundBody = z.infer<typeof payerRefund>

export const refundList = z.object({
  object: z.literal('list'),
  data: z.array(refund),
  claims: z.array(refundClaim),
  came: usdcAmount.meta({ description: 'What of the money that came may go back at most, platform fee included' }),
  platform_fee: usdcAmount.meta({ description: 'What the platform took of it. It does not go back: a full refund costs you so much' }),
  promised: usdcAmount.meta({ description: 'What has gone back, and what still may' }),
  returnable: usdcAmount.meta({ description: '`came` less `promised`' }),
  surplus: usdcAmount.meta({ description: 'What of it the order does not take: the amount of a refund with `surplus`' }),
})
export type RefundListBody = z.infer<typeof refundList>
