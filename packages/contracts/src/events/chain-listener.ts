import { z } from 'zod'
import { recoveryFailure } from '../api/recovery'
import { address, id, memo, timestamp, txHash, usdcAmount } from '../fields'

/** A log of the chain, by which money moved. `chain_id`, `block_hash` and `log_index` identify it. */
const watchedLog = z.object({
  block_number: z.int().min(0),
  block_hash: txHash,
  block_time: timestamp,
  log_index: z.int().min(0),
  tx_hash: txHash,
  memo,
  router_address: address,
  token_address: address,
  merchant_address: address,
  /** Caller of the router, or `from` of the transfer's log; the zero address for a mint. */
  payer_address: address,
  /** Gross: what left the payer, platform fee included. */
  amount: usdcAmount,
})

/** The memo of what no order can have asked for: no router takes it. */
export const NO_MEMO = '0'.repeat(64)

/**
 * Money that left a payer: a `PaymentReceived` of a watched router (`router`), or an ERC-20 transfer to a deposit address (`transfer`). A plain transfer to a
 * payout address, which no router moved, is a `transfer` under `NO_MEMO` and the zero address as router.
 */
export const blockPayment = watchedLog.extend({
  kind: z.enum(['router', 'transfer']),
  is_confirmed: z.boolean(),
  /** Where a transfer went, a deposit address or a payout address; null for a router payment. */
  deposit_address: address.nullable(),
})
export type BlockPayment = z.infer<typeof blockPayment>

/** A `PaymentReceived` whose payer is the deposit address of its memo and merchant: it moves transfers on and is never a payment. Confirmed only. */
export const blockSweep = watchedLog.extend({
  deposit_address: address,
  /** The fee that was taken, 0 where the token refused its receiver; absent or null when an earlier release read the log. */
  fee: usdcAmount.nullish(),
})
export type BlockSweep = z.infer<typeof blockSweep>

/** Identifies a payment or sweep on every chain. */
export const paymentId = (chainId: number, { block_hash, log_index }: { block_hash: string; log_index: number }): string =>
  `${chainId}:${block_hash}:${log_index}`
/** The chain that the id of a payment or sweep names; null in ids of early releases, which knew one chain. */
export const chainIdOf = (id: string): number | null => Number(/^(\d+):/.exec(id)?.[1] ?? Number.NaN) || null

/**
 * One step of the scan. Published by chain-listener. Consumed by orders, in any order and more than once.
 * `generation` is the listener's history: a greater one is newer, and of what an older one knew nothing is known. `lease` is the marker of the lease
 * under which this was published. `version` counts the steps of a generation: of two statements about one block the greater holds. `since` is the
 * first block of the generation's contiguous chain of confirmed blocks.
 */
export const chainBlocks = z.object({
  chain_id: z.int(),
  generation: id,
  lease: id,
  version: z.int().min(1),
  /** Leases of this generation that have ended, and the last version of each: what a reader saw beyond that is of a future that was lost. Newest first. */
  earlier: z.array(z.object({ lease: id, version: z.int().min(0) })),
  since: z.int().min(0),
  head: z.int().min(0),
  /** These blocks are confirmed now, `to` at `time`: what is watched in them is in this event, and nothing else is. */
  advanced: z.object({ from: z.int().min(0), to: z.int().min(0), time: timestamp }).nullable(),
  /** Blocks of earlier statements that are no part of the chain any more. */
  gone: z.array(txHash),
  payments: z.array(blockPayment),
  sweeps: z.array(blockSweep),
  /**
   * Orders that are read without a gap up to and including `through`, in this generation: all their payments up to it are in this event, those above
   * it in the events that advance. -1: not any more, until a later version names it again.
   */
  watched: z.array(z.object({ order_id: id, through: z.int().min(-1) })),
  /**
   * Events with the rest of the payments that this one states of a block or an order, where they are too many for one: it is taken after all of them. Absent
   * else, and in events of an earlier release.
   */
  parts: z.array(id).optional(),
})
export type ChainBlocks = z.infer<typeof chainBlocks>

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
  /** Undefined in events of the release before. */
  generation: id.optional(),
  revision: z.int().min(1),
  order_id: id,
  memo,
  merchant_address: address,
  deposit_address: address,
  reason: depositBlockReason.nullable(),
})
export type DepositBlocked = z.infer<typeof depositBlocked>

/**
 * In which blocks payout addresses are watched: from `watch_from` on, and not from `watch_until` on, where so much comes that it is no merchant's. Published by
 * chain-listener when it is asked for an address, when that changes, and again every day. Consumed by orders; of two statements that of the greater generation
 * and revision holds.
 */
export const payoutWatched = z.object({
  chain_id: z.int(),
  generation: id,
  payouts: z
    .array(z.object({ address, revision: z.int().min(1), watch_from: z.int().min(0), watch_until: z.int().min(0).nullable() }))
    .min(1),
})
export type PayoutWatched = z.infer<typeof payoutWatched>

/**
 * A payer's signature that the relayer took, and what became of it: `accepted` and `submitted` are coming, `paid` and `failed` are ends. Published by
 * chain-listener's relayer. Consumed by orders: what is coming is not due. `attempt` counts the signatures of an order, `revision` the states of
 * one; the newest of the listener's generation, attempt and revision wins in any order of arrival. All that may still come is published again in each generation.
 */
export const authorizationChanged = z.object({
  chain_id: z.int(),
  /** Undefined in events of the release before. */
  generation: id.optional(),
  order_id: id,
  attempt: z.int().min(0),
  revision: z.int().min(1),
  status: z.enum(['accepted', 'submitted', 'paid', 'failed']),
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
 * What enough nodes have at a confirmed block about the nonce of a refund: `end` is null while the token has it neither used nor cancelled there. Published by
 * chain-listener when that changes, when the block is at or past `valid_before`, and when it is asked. Consumed by orders; of two statements that
 * of the greater generation and revision holds. The terms are as orders gave them: one that has lost a refund learns by them that its signature may live.
 */
export const refundObserved = z.object({
  chain_id: z.int(),
  generation: id,
  revision: z.int().min(1),
  refund_id: id,
  order_id: id,
  from_address: address,
  payee_address: address,
  amount: usdcAmount,
  nonce: txHash,
  watch_from: z.int().min(0),
  valid_before: z.int().nullable(),
  block_number: z.int().min(0),
  block_time: timestamp,
  /** Of `from_address` at that block; null where it was not asked for. */
  wallet_balance: usdcAmount.nullable(),
  end: z
    .object({
      kind: z.enum(['transferred', 'cancelled']),
      tx_hash: txHash,
      log_index: z.int().min(0),
      block_number: z.int().min(0),
      block_time: timestamp,
    })
    .nullable(),
})
export type RefundObserved = z.infer<typeof refundObserved>

/**
 * The outcome of a recovery: `end` by the router's own log at a confirmed block, as enough nodes show it, or why it is not tried any more; neither while it is pending.
 * Published by chain-listener when that changes and when it is asked. Consumed by orders; of two statements that of the greater generation and revision holds.
 */
export const recoveryObserved = z.object({
  chain_id: z.int(),
  generation: id,
  revision: z.int().min(1),
  recovery_id: id,
  order_id: id,
  token_address: address,
  end: z
    .object({
      tx_hash: txHash,
      block_number: z.int().min(0),
      block_time: timestamp,
      /** In the token's smallest units. */
      units: z.string(),
    })
    .nullable(),
  failure_code: recoveryFailure.nullable(),
})
export type RecoveryObserved = z.infer<typeof recoveryObserved>

/**
 * What the listener has confirmed in spans of blocks, in sums: how many payments and sweeps, and the MD5 of their lines in byte order, joined by line
 * feeds. A line is id, kind, memo, gross units and block number, with a space between. Published by chain-listener every minute for its newest blocks.
 * Consumed by orders, which notices by it what has not arrived. `generation` is the listener's history of that moment.
 */
export const chainAudited = z.object({
  chain_id: z.int(),
  generation: id,
  spans: z.array(z.object({ from_block: z.int(), to_block: z.int(), count: z.int(), digest: z.string() })).min(1),
})
export type ChainAudited = z.infer<typeof chainAudited>
