import { z } from 'zod'
import { authorizationStatus } from '../api/authorization'
import { address, id, memo, timestamp, txHash, usdcAmount } from '../fields'

/** Where something stands on the chain. The block's time is the chain's; `log_index` is the log's place in that block. */
const position = {
  chain_id: z.int(),
  tx_hash: txHash,
  block_number: z.int(),
  block_hash: z.string(),
  block_time: timestamp,
}

/**
 * Money that left a payer for an order: a `PaymentReceived` of a watched router (`router`), or an ERC-20 transfer to a deposit address (`transfer`).
 * Published by chain-listener. Consumed by orders.
 * `payment_id` is `chain:transaction:ordinal`, the same after a reorg. `revision` grows with each event about that payment, so the newest wins in
 * any order of arrival. `sequence` numbers all events of a chain (payments, sweeps, deposits) without a gap, so a reader of `chain.advanced` knows
 * whether it has read all that came before.
 */
export const chainPayment = z.object({
  ...position,
  payment_id: z.string(),
  sequence: z.int().min(1),
  revision: z.int().min(1),
  kind: z.enum(['router', 'transfer']),
  router_address: address,
  token_address: address,
  memo,
  merchant_address: address,
  /** Where a transfer went; null for a router payment. */
  deposit_address: address.nullable(),
  /** Who paid the router, or `from` of the transfer's log; the zero address for a mint. */
  payer_address: address,
  /** Gross: what left the payer, platform fee included. */
  amount: usdcAmount,
  log_index: z.int().min(0),
})
export type ChainPayment = z.infer<typeof chainPayment>

/**
 * A `PaymentReceived` whose payer is the deposit address of its memo and merchant: it moves transfers on and is never a payment. Published by
 * chain-listener when it is confirmed, and `orphaned` only when it had been published as confirmed. Consumed by orders, for `settlement`.
 */
export const chainSweep = z.object({
  ...position,
  sweep_id: z.string(),
  sequence: z.int().min(1),
  revision: z.int().min(1),
  router_address: address,
  token_address: address,
  memo,
  merchant_address: address,
  deposit_address: address,
  /** Gross: what left the deposit address. */
  amount: usdcAmount,
  log_index: z.int().min(0),
})
export type ChainSweep = z.infer<typeof chainSweep>

/**
 * From now on the scan reads the deposit addresses of these orders in every block, and everything before was read: all their earlier payments have
 * lower sequences. Published by chain-listener, one event for a step of its scan; again for the same order is harmless. An order with a deposit
 * address expires only once it is synced, so the addresses that were watched before this event existed are published too. Consumed by orders.
 */
export const depositSynced = z.object({
  chain_id: z.int(),
  sequence: z.int().min(1),
  order_ids: z.array(id).min(1),
})
export type DepositSynced = z.infer<typeof depositSynced>

export const depositBlockReason = z.enum([
  'payout_address_blocked',
  'payout_contract_missing',
  'fee_receiver_blocked',
  'token_paused',
  'sweep_refused',
])

/** Why what lies at a deposit address cannot be swept; null when it can be again. Published by chain-listener. Consumed by orders. */
export const depositBlocked = z.object({
  chain_id: z.int(),
  sequence: z.int().min(1),
  revision: z.int().min(1),
  order_id: id,
  memo,
  merchant_address: address,
  deposit_address: address,
  reason: depositBlockReason.nullable(),
})
export type DepositBlocked = z.infer<typeof depositBlocked>

/**
 * A payer's signature that the relayer took, and what became of it: `accepted` and `submitted` are coming, `paid` and `failed` are ends. Published by
 * chain-listener's relayer. Consumed by orders: what is coming is not due. `attempt` counts the signatures of an order, `revision` the states of
 * one; the newest of both wins in any order of arrival.
 */
export const authorizationChanged = z.object({
  chain_id: z.int(),
  order_id: id,
  attempt: z.int().min(0),
  revision: z.int().min(1),
  status: authorizationStatus,
  payer_address: address,
  amount: usdcAmount,
  /** Unix seconds; the token refuses it from then on. */
  valid_before: z.int(),
  tx_hash: txHash.nullable(),
  /** Why it failed, in a word. */
  reason: z.string().nullable(),
})
export type AuthorizationChanged = z.infer<typeof authorizationChanged>

/**
 * How far the confirmed chain has come. Published by chain-listener (throttled). Consumed by orders, so that expiry may proceed.
 * `sequence` is the last event published up to that point: expiry waits until all of them are known.
 */
export const chainAdvanced = z.object({
  chain_id: z.int(),
  confirmed_block: z.int(),
  confirmed_time: timestamp,
  head_block: z.int(),
  sequence: z.int().min(0),
})
export type ChainAdvanced = z.infer<typeof chainAdvanced>

/**
 * What the listener has confirmed in spans of blocks, in sums: how many payments and sweeps, and the MD5 of their lines in byte order, joined by line
 * feeds. A line is id, kind, memo, gross units and block number, with a space between. Published by chain-listener every minute for its newest blocks.
 * Consumed by orders, which notices by it what has not arrived. `sequence` is the last event published when the sums were made.
 */
export const chainAudited = z.object({
  chain_id: z.int(),
  sequence: z.int().min(0),
  spans: z.array(z.object({ from_block: z.int(), to_block: z.int(), count: z.int(), digest: z.string() })).min(1),
})
export type ChainAudited = z.infer<typeof chainAudited>
