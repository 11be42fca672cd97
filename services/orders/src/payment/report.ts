import { type BlockPayment, type BlockSweep, type ChainBlocks, NO_MEMO, parseUsdc, paymentId } from '@ponte/contracts'
import type { Payment, Target } from './payment'

/** A payment as the listener reports it, and where it went. */
export interface Report {
  payment: Payment
  memo: string
  target: Target
}

/** A plain transfer to a payout address: it stands in the ledger, and there is nothing to do about it. */
export const isDirect = ({ memo }: { memo: string }): boolean => memo === NO_MEMO

const logOf = (blocks: ChainBlocks, log: BlockSweep | BlockPayment) => ({
  id: paymentId(blocks.chain_id, log),
  grossUnits: parseUsdc(log.amount),
  payerAddress: log.payer_address,
  txHash: log.tx_hash,
  blockHash: log.block_hash,
  blockNumber: BigInt(log.block_number),
  blockTime: new Date(log.block_time),
  logIndex: log.log_index,
  generation: blocks.generation,
  version: blocks.version,
})

const placeOf = ({ chain_id }: ChainBlocks, log: BlockSweep | BlockPayment) => ({
  chainId: chain_id,
  routerAddress: log.router_address,
  tokenAddress: log.token_address,
  merchantAddress: log.merchant_address,
})

export const reportsOf = (blocks: ChainBlocks): Report[] =>
  blocks.payments.map(log => {
    const payment: Payment = {
      ...logOf(blocks, log),
      kind: log.kind,
      status: log.is_confirmed ? 'confirmed' : 'detected',
      depositAddress: log.deposit_address,
    }
    const { depositAddress, grossUnits } = payment
    return { payment, memo: log.memo, target: { ...placeOf(blocks, log), depositAddress, grossUnits } }
  })

export const sweepsOf = (blocks: ChainBlocks) =>
  blocks.sweeps.map(log => ({
    ...logOf(blocks, log),
    ...placeOf(blocks, log),
    memo: log.memo,
    depositAddress: log.deposit_address,
    feeUnits: log.fee ? parseUsdc(log.fee) : null,
    status: 'confirmed' as const,
  }))
