import { z } from 'zod'
import { explanation } from './api/explanation'
import { payerLink } from './api/link'
import { payoutAddresses } from './api/network'
import { checkout } from './api/order'
import { ApiError } from './errors'
import { address, id, memo, timestamp, txHash, usdcAmount } from './fields'

/** A merchant's terms as the gateway knows them now; a higher version is newer. */
export const merchantTerms = z.object({
  merchant_id: id,
  version: z.int().min(1),
  display_name: z.string(),
  payout_address: address.nullable(),
  /** By how much new orders may be short and still count as paid; null where the merchant chose nothing. Absent from a service of the release before. */
  payment_tolerance: usdcAmount.nullable().optional(),
  /** Above this sum the refunds of an order take two members; null for never. Absent from a service of the release before. */
  refund_approval_above: usdcAmount.nullable().optional(),
  /** The networks that new orders may be paid on; null for all. Absent from a service of the release before. */
  chain_ids: z.array(z.int()).nullable().optional(),
  /** The networks on which they are paid at another address. Absent where none was ever named, and from a service of the release before. */
  payout_addresses: payoutAddresses.optional(),
})
export type MerchantTerms = z.infer<typeof merchantTerms>

/**
 * What the gateway's 30-second token to an owner carries about the caller (docs/interface.md#authentication).
 * `checkout` is a payer with a link: it may read one order's payer view and nothing else.
 */
export const caller = z.discriminatedUnion('kind', [
  // Owners show only what the gateway grants: a gateway of the release before grants nothing. `user_id` is absent where a key is used.
  z.object({
    ...{ kind: z.literal('merchant'), terms: merchantTerms, may_see_secrets: z.boolean().optional(), user_id: z.string().optional() },
    /** Users who belong to the merchant at this moment, for operations that judge by them. */
    member_ids: z.array(z.string()).optional(),
  }),
  z.object({ kind: z.literal('checkout') }),
])
export type Caller = z.infer<typeof caller>

/** `sub` of the user who calls; null where a key is used. */
export const userIdOf = (from: Caller): string | null => (from.kind === 'merchant' ? (from.user_id ?? null) : null)

/** Users who belong to the merchant who calls; undefined from a gateway of the release before. */
export const membersOf = (from: Caller): readonly string[] | undefined => (from.kind === 'merchant' ? from.member_ids : undefined)

/** The terms of the merchant who calls. Throws `forbidden` for a payer. */
export function termsOf(from: Caller): MerchantTerms {
  if (from.kind !== 'merchant') throw new ApiError('forbidden', 'A payer may read the checkout of an order and nothing else.')
  return from.terms
}

/** Most orders in one question about live pages. */
const LIVE_CHECKOUTS_MAX = 200

/** Body of `POST /api/v1/checkouts` at orders, which the gateway asks for live pages; no client reaches it. */
export const askCheckouts = z.strictObject({ ids: z.array(id).min(1).max(LIVE_CHECKOUTS_MAX) })

/** Its answer: those that are there, in any order, each with the merchant whose page it is. */
export const liveCheckouts = z.object({ data: z.array(z.object({ merchant_id: id, checkout })) })
export type LiveCheckouts = z.infer<typeof liveCheckouts>

/** Answer of `GET /api/v1/payer/link-pages/:payer_token` at orders, which the gateway asks for the preview of a link; no client reaches it. */
export const linkPage = z.object({ merchant_id: id, link: payerLink })
export type LinkPage = z.infer<typeof linkPage>

const units = z.string().regex(/^\d{1,78}$/)

/** A transaction as enough nodes show it: its transfers of tokens and of the network's coin (null), and its payments and sweeps of routers. */
export const transactionFacts = z.strictObject({
  chain_id: z.int(),
  status: z.enum(['not_found', 'pending', 'reverted', 'mined']),
  /** Blocks from its own to the one that enough nodes have come to. */
  depth: z.int(),
  block_time: timestamp.nullable(),
  transfers: z.array(z.strictObject({ token_address: address.nullable(), to_address: address, units })),
  payments: z.array(
    z.strictObject({ token_address: address, router_address: address, memo, merchant_address: address, units, is_sweep: z.boolean() }),
  ),
})
export type TransactionFacts = z.infer<typeof transactionFacts>

/** Body of `POST /api/v1/orders/:order_id/explanation` at orders: without `transaction` it answers by its books alone, which may not suffice. */
export const askExplanation = z.strictObject({ tx_hash: txHash, transaction: transactionFacts.optional() })
export type AskExplanation = z.infer<typeof askExplanation>

export const explained = z.object({ explanation: explanation.nullable(), deposit_address: address.nullable() })
export type Explained = z.infer<typeof explained>
