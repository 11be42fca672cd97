import { z } from 'zod'
import { address, memo, txHash, usdcAmount } from '../fields'
import { pageQuery } from './list'

/** Blocks of one checkpoint. A checkpoint ends before a multiple of it, so that all installations of a chain cut it in the same places. */
export const CHECKPOINT_BLOCKS = 1_000

const hash = (description: string) => txHash.meta({ description, example: `0x${'7d'.repeat(32)}` })
const block = z.int().min(0)

export const checkpointLog = z.object({
  block_number: block,
  block_hash: hash('Of its block'),
  tx_hash: txHash,
  log_index: z.int(),
  router_address: address,
  memo,
  merchant_address: address,
  payer_address: address.meta({ description: 'The deposit address where the router swept one' }),
  merchant_share: usdcAmount,
  fee: usdcAmount,
})
export type CheckpointLogBody = z.infer<typeof checkpointLog>

/** A hash over what was booked of some blocks and over the checkpoint before it (docs/chain.md#checkpoints). It is never changed. */
export const checkpoint = z.object({
  object: z.literal('checkpoint'),
  chain_id: z.int(),
  token_address: address,
  router_addresses: z.array(address).meta({ description: 'The routers whose logs were read; their logs alone are in it' }),
  from_block: block,
  to_block: block,
  block_hash: hash('Of `to_block`'),
  payments: z.int().meta({ description: 'Logs `PaymentReceived` of these blocks that were booked: payments and sweeps' }),
  late: z.array(checkpointLog).meta({ description: 'Logs of earlier blocks that no earlier checkpoint has' }),
  gone: z.array(checkpointLog).meta({ description: 'Logs that an earlier checkpoint has and that a deep reorganisation took away' }),
  previous_hash: hash('Of the checkpoint before; zeros in the first one'),
  hash: hash('SHA-256 of all of the above'),
})
export type CheckpointBody = z.infer<typeof checkpoint>

/** Answer of `GET /api/v1/chain/checkpoints`; `next_after` is where the next request begins, also when there was nothing. */
export const checkpointList = z.object({
  object: z.literal('list'),
  data: z.array(checkpoint),
  has_more: z.boolean(),
  next_after: z.int().nullable().meta({ description: 'Send it as `after` to go on; null before the first checkpoint' }),
})
export type CheckpointListBody = z.infer<typeof checkpointList>

/** Query of `GET /api/v1/chain/checkpoints`: oldest first. */
export const listCheckpoints = z.strictObject({
  limit: pageQuery.limit,
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the to_block of a checkpoint')
    .transform(Number)
    .optional(),
})
export type ListCheckpoints = z.infer<typeof listCheckpoints>
