import { formatUsdc } from '@ponte/contracts'
import { Router } from 'express'
import { z } from 'zod'
import type { Store } from './store'

const LIMIT_MAX = 1_000

const query = z.strictObject({
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(100),
  below_block: z.coerce.bigint().min(0n).optional(),
})

/** What the platform's operator may look at, on the port that is never published: money that settles nothing, newest first, with the reason. */
export function operatorRoutes(store: Store): Router {
  const router = Router()
  router.get('/unmatched', async (req, res) => {
    const asked = query.safeParse(req.query)
    if (!asked.success) return void res.status(400).json({ detail: `limit is 1 to ${LIMIT_MAX}, below_block a block number.` })
    const rows = await store.unmatchedBelow(asked.data.below_block ?? null, asked.data.limit)
    res.json({
      object: 'list',
      data: rows.map(row => ({
        ...{ payment_id: row.id, reason: row.reason, status: row.status, memo: row.memo, amount: formatUsdc(row.shareUnits) },
        ...{ merchant_address: row.merchantAddress, payer_address: row.payerAddress, router_address: row.routerAddress },
        ...{ token_address: row.tokenAddress, chain_id: row.chainId, tx_hash: row.txHash },
        ...{ block_number: Number(row.blockNumber), block_time: row.blockTime.toISOString() },
      })),
    })
  })
  return router
}
