import { formatUsdc, paymentId } from '@ponte/contracts'
import { Router } from 'express'
import { z } from 'zod'
import type { Payment } from '../payment'
import type { Difference } from '../store/differences'
import { type Reconcile, SPAN_MAX } from './job'

const block = z.coerce.number().int().min(0)
const span = z
  .strictObject({ from_block: block, to_block: block })
  .refine(({ from_block, to_block }) => from_block <= to_block, 'no blocks')
const query = z
  .strictObject({ from_block: block, to_block: block })
  .refine(({ from_block, to_block }) => to_block - from_block < SPAN_MAX, 'too many blocks')

/** For operators, on the inner port only: the payments in a range of blocks, and where they and the chain differ. */
export function reconcileRoutes(chainId: number, { compareRange, request, pending, addresses }: Reconcile, wake: () => void): Router {
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
  router.get('/reconcile/addresses', async (req, res) => {
    const after = z.uuid().optional().safeParse(req.query.after)
    if (!after.success) return void res.status(400).json({ detail: 'after is the id of an order.' })
    const { next, differences } = await addresses(after.data)
    res.json({ next, differences: differences.map(toDifference) })
  })
  router.post('/rescan', async (req, res) => {
    const asked = span.safeParse(req.query)
    if (!asked.success) return void res.status(400).json({ detail: 'from_block and to_block name the blocks to be read again.' })
    await request(asked.data.from_block, asked.data.to_block)
    wake()
    res.status(202).json({ ...asked.data, pending: await pending() })
  })
  router.get('/rescan', async (_req, res) => {
    res.json({ pending: await pending() })
  })
  return router
}

const toPayment = (chainId: number, payment: Payment) => ({
  payment_id: paymentId(chainId, { block_hash: payment.blockHash, log_index: payment.logIndex }),
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
