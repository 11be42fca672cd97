import { z } from 'zod'
import { address, memo, timestamp, txHash, usdcAmount } from '../fields'

/**
 * One `PaymentReceived` of a router we watch, or one transfer to a deposit address, which stays `detected` until a sweep replaces it. Published by chain-listener. Consumed by orders.
 * `payment_id` is `chain:transaction:ordinal`, the same after a reorg; `revision` grows with each thing said about that payment, so that
 * the newest wins in any order of arrival; `sequence` numbers all payment events of a chain without a gap, so that a reader of
 * `chain.advanced` knows whether it has seen all that came before.
 */
export const chainPayment = z.object({
  payment_id: z.string(),
  sequence: z.int().min(1),
  revision: z.int().min(1),
  chain_id: z.int(),
  router_address: address,
  token_address: address,
  memo,
  merchant_address: address,
  payer_address: address,
  merchant_share: usdcAmount,
  fee: usdcAmount,
  tx_hash: txHash,
  block_number: z.int(),
  block_hash: z.string(),
  block_time: timestamp,
  /** A sweep stands for these transfers to the deposit address: while it is part of the chain they do not count beside it. */
  replaces: z.array(z.string()).optional(),
  /** When the last of those transfers was mined: the payer paid then, however late we swept. */
  sent_time: timestamp.optional(),
})
export type ChainPayment = z.infer<typeof chainPayment>

/**
 * How far the confirmed chain has come. Published by chain-listener (throttled). Consumed by orders, so that expiry may proceed.
 * `sequence` is the last payment event published up to that point: expiry waits until all of them are known.
 */
export const chainAdvanced = z.object({
  chain_id: z.int(),
  confirmed_block: z.int(),
  confirmed_time: timestamp,
  head_block: z.int(),
  sequence: z.int().min(0),
})
export type ChainAdvanced = z.infer<typeof chainAdvanced>
