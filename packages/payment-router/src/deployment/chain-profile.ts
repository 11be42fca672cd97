import type { HeaderForm } from '../proof/header'
import type { ReceiptForm } from '../proof/receipts'

export interface ChainProfile {
  /** The form of its headers; null when they cannot be held against their hashes, so that nodes are voted on. */
  header: HeaderForm | null
  receipts: ReceiptForm
  /** Usual time between two blocks. */
  blockMs: number
  /** No deeper reorganisation is followed. */
  windowS: number
  /** Blocks until a payment is confirmed. */
  confirmations: number
  /** The contract that prices a transaction's data on the chain below. */
  dataFee: 'none' | 'op' | 'arbitrum'
  /** A payer's fee in usual hours is less than so many dollars. */
  usualFeeUsd: string
}

// 110,000 gas (README) at 10 gwei and 1,600 dollars. Of a transfer of USDC, a third of that gas, estimates by the nodes of 30 June 2026 were
// 0.00007 dollars on OP Mainnet, 0.0004 on Base, 0.001 on Polygon and 0.0013 on Arbitrum One.
export const ethereum: ChainProfile = {
  header: 'ethereum',
  receipts: 'ethereum',
  blockMs: 12_000,
  windowS: 1_536,
  confirmations: 12,
  dataFee: 'none',
  usualFeeUsd: '2.00',
}
const cheap = { ...ethereum, usualFeeUsd: '0.01' }
// A sequencer's blocks are as good as its word until they are in Ethereum, some minutes later.
export const opStack: ChainProfile = { ...cheap, receipts: 'op', blockMs: 2_000, windowS: 600, confirmations: 15, dataFee: 'op' }
export const arbitrum: ChainProfile = {
  ...cheap,
  receipts: 'arbitrum',
  blockMs: 250,
  windowS: 600,
  confirmations: 120,
  dataFee: 'arbitrum',
}
export const polygon: ChainProfile = { ...cheap, receipts: 'polygon', blockMs: 2_000, windowS: 600, confirmations: 64 }
// A block that is accepted is final.
export const avalanche: ChainProfile = { ...cheap, header: 'avalanche', blockMs: 1_000, windowS: 60, confirmations: 4 }
/** A developer's own chain is like Ethereum, with a block whenever there is something in it. */
export const development: ChainProfile = { ...ethereum, blockMs: 1_000, windowS: 128 }
