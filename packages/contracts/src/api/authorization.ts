import { z } from 'zod'
import { address, id, txHash, usdcAmount } from '../fields'

const seconds = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

/**
 * Body of `POST /api/v1/checkout/:order_id/authorization`: a payer's EIP-3009 signature of `ReceiveWithAuthorization` over the order's token, to
 * its router, with the nonce keccak256(abi.encode(memo, merchant, salt)). It cannot be redirected.
 */
export const authorizePayment = z.strictObject({
  payer_address: address.meta({ description: 'Who signed and pays; needs no native coin' }),
  chain_id: z
    .int()
    .min(1)
    .optional()
    .meta({ description: 'The network of `payment.networks` that it is signed for; the first one by default', example: 137 }),
  amount: z
    .string()
    .regex(/^\d{1,12}(\.\d{1,6})?$/, 'must be USDC with at most six decimals, for example "27.675277"')
    .refine(text => /[1-9]/.test(text), 'must be above zero')
    .meta({ description: 'The signed `value`; at most what is `due`', example: '27.675277' }),
  valid_after: seconds.default(0).meta({ description: 'The signed `validAfter`, Unix seconds', example: 0 }),
  valid_before: seconds.meta({
    description: "The signed `validBefore`, Unix seconds; at least a minute ahead, and at most the order's `expires_at`",
    example: 1_795_000_000,
  }),
  salt: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/, 'must be 0x and 64 lower-case hex characters')
    .meta({
      description:
        'Part of the signed `nonce`: of two signatures of an account with the same salt only one can be paid. Take `usdc_amount` in units of 0.000001 USDC, and one more for each payment by the router that the account has made for the order there, as 32 bytes. After a signature that failed another salt is refused.',
      example: `0x${(27_675_277).toString(16).padStart(64, '0')}`,
    }),
  signature: z
    .string()
    .regex(/^0x([0-9a-fA-F]{2}){65,1024}$/, 'must be 0x and 65 to 1,024 bytes in hex')
    .meta({ description: '65 bytes; a contract wallet may need more', example: `0x${'1b'.repeat(65)}` }),
})
export type AuthorizePayment = z.infer<typeof authorizePayment>

export const authorizationStatus = z.enum(['accepted', 'submitted', 'paid', 'failed'])

/** Its answer 202. The same signature sent again answers how far it has come. */
export const paymentAuthorization = z
  .object({
    object: z.literal('authorization'),
    order_id: id,
    payer_address: address,
    amount: usdcAmount,
    status: authorizationStatus,
    tx_hash: txHash.nullable(),
    detail: z.string().meta({ description: 'One sentence of what happens next' }),
  })
  .meta({ id: 'PaymentAuthorization' })
/** The last signature for an order, as its checkout shows it. */
export const checkoutAuthorization = z.object({
  status: authorizationStatus,
  amount: usdcAmount,
  tx_hash: txHash.nullable(),
  valid_before: z.int().meta({ description: 'Unix seconds; the token refuses it from then on' }),
  reason: z.string().nullable().meta({ description: 'Why it failed', example: 'reverted' }),
  chain_id: z.int().optional().meta({ description: 'Only where the order has `networks`' }),
})

export type PaymentAuthorizationBody = z.infer<typeof paymentAuthorization>
