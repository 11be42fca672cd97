import { formatUsdc } from '@ponte/contracts'
import { Router } from 'express'
import { z } from 'zod'
import type { Payment } from '../payment'
import type { Difference } from './compare'
import { type Reconcile, SPAN_MAX } from './job'

const block = z.coerce.number().int().min(0)
const query = z
  .strictObject({ from_block: block, to_block: block })
  .refine(({ from_block, to_block }) => to_block - from_block < SPAN_MAX, 'too many blocks')

/** For operators, on the inner port only: the payments in a range of blocks, and where they and the chain differ. */
export function reconcileRoutes(chainId: number, { compareRange }: Reconcile): Router {
  const router = Router()
  router.get('/reconcile', async (req, res) => {
    const asked = query.safeParse(req.query)
    if (!asked.success) return void res.status(400).json({ detail: `from_block and to_block name at most ${SPAN_MAX} blocks.` })
    const { from_block, to_block } = asked.data
    const { confirmed, to, payments, differences } = await compareRange(from_block, to_block)
    res.json({
      ...{ chain_id: chainId, from_block, to_block: to, confirmed_block: confirmed },
      payments: payments.map(payment => toPayment(chainId, payment)),
      differences: differences.map(toDifference),
    })
  })
  return router
}

const toPayment = (chainId: number, payment: Payment) => ({
  payment_id: `${chainId}:${payment.txHash}:${payment.ordinal}`,
  kind: payment.kind,
  status: payment.state,
  memo: payment.memo,
  amount: formatUsdc(payment.amount),
  tx_hash: payment.txHash,
  block_number: payment.blockNumber,
  deposit_address: payment.deposit,
})

const toDifference = ({ kind, txHash, logIndex, blockNumber, memo, detail }: Difference) => ({
  ...{ kind, tx_hash: txHash, log_index: logIndex, block_number: blockNumber, memo, detail },
})
