import { formatUsdc } from '@ponte/contracts'
import { Router } from 'express'
import { z } from 'zod'
import { differencesOf } from './reconcile/compare'
import type { Store } from './store'

const LIMIT_MAX = 1_000
const BLOCKS_MAX = 5_000

const query = z.strictObject({
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(100),
  below_block: z.coerce.bigint().min(0n).optional(),
})

const block = z.coerce.number().int().min(0)
const span = z
  .strictObject({ from_block: block, to_block: block, chain_id: z.coerce.number().optional() })
  .refine(({ from_block, to_block }) => to_block - from_block < BLOCKS_MAX, 'too many blocks')

/**
 * What the platform's operator may look at, on the port that is never published: money that counts for no order, newest first, with the reason; and
 * what the books have of a range of blocks of one network, the first by default. Amounts are gross.
 */
export function operatorRoutes(store: Store, chainIds: readonly number[], due: () => Promise<void>): Router {
  const router = Router()
  // For a clock that was moved: what waits for a look every few seconds has it at once.
  router.post('/due', async (_req, res) => {
    await due()
    res.json({})
  })
  router.get('/unmatched', async (req, res) => {
    const asked = query.safeParse(req.query)
    if (!asked.success) return void res.status(400).json({ detail: `limit is 1 to ${LIMIT_MAX}, below_block a block number.` })
    const rows = await store.unmatched.below(asked.data.below_block ?? null, asked.data.limit)
    res.json({
      object: 'list',
      data: rows.map(row => ({
        payment_id: row.id,
        kind: row.kind,
        reason: row.reason,
        status: row.status,
        memo: row.memo,
        amount: formatUsdc(row.exactUnits === null ? row.grossUnits : BigInt(row.exactUnits.toFixed())),
        merchant_address: row.merchantAddress,
        deposit_address: row.depositAddress,
        payer_address: row.payerAddress,
        router_address: row.routerAddress,
        token_address: row.tokenAddress,
        chain_id: row.chainId,
        tx_hash: row.txHash,
        block_number: Number(row.blockNumber),
        block_time: row.blockTime.toISOString(),
      })),
    })
  })
  router.get('/reconcile', async (req, res) => {
    const asked = span.safeParse(req.query)
    if (!asked.success) return void res.status(400).json({ detail: `from_block and to_block name at most ${BLOCKS_MAX} blocks.` })
    const { from_block, to_block, chain_id: chainId = chainIds[0] } = asked.data
    if (chainId === undefined || !chainIds.includes(chainId))
      return void res.status(400).json({ detail: `chain_id is one of ${chainIds.join(', ')}.` })
    const booked = await store.books.between(chainId, from_block, to_block)
    const orderIds = [...new Set(booked.flatMap(({ order_id }) => order_id ?? []))]
    const differences = (await store.orders.counted(orderIds)).flatMap(counted => differencesOf(counted, store.chain.viewOf(counted.order)))
    res.json({
      from_block,
      to_block,
      payments: booked.map(({ id, gross_units, block_number, ...row }) => ({
        payment_id: id,
        ...row,
        amount: formatUsdc(BigInt(gross_units)),
        block_number: Number(block_number),
      })),
      differences: differences.map(({ orderId, kind, detail }) => ({ order_id: orderId, kind, detail })),
    })
  })
  return router
}
