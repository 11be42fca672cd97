import { type ChainForms, formsOf, supportedChains } from '@ponte/payment-router'
import type { DataFee } from './rpc/data-fee'

export interface ChainProfile extends ChainForms {
  /** Usual time between two blocks. */
  blockMs: number
  /** No deeper reorganisation is followed. */
  windowS: number
  /** Blocks until a payment is confirmed. */
  confirmations: number
  dataFee: DataFee
}

type Pace = Omit<ChainProfile, keyof ChainForms>

const ethereum: Pace = {
  blockMs: 12_000,
  windowS: 1_536,
  confirmations: 12,
  dataFee: 'none',
}
// A sequencer's blocks are as good as its word until they are in Ethereum, some minutes later.
const opStack: Pace = { ...ethereum, blockMs: 2_000, windowS: 600, confirmations: 15, dataFee: 'op' }
const arbitrum: Pace = { ...ethereum, blockMs: 250, windowS: 600, confirmations: 120, dataFee: 'arbitrum' }
const polygon: Pace = { ...ethereum, blockMs: 2_000, windowS: 600, confirmations: 64 }
// A block that is accepted is final.
const avalanche: Pace = { ...ethereum, blockMs: 1_000, windowS: 60, confirmations: 4 }

/** Every chain that is supported. */
const paces: Readonly<Record<number, Pace>> = {
  1: ethereum,
  10: opStack,
  137: polygon,
  8453: opStack,
  42161: arbitrum,
  43114: avalanche,
  43113: avalanche,
  80002: polygon,
  84532: opStack,
  421614: arbitrum,
  11155111: ethereum,
  11155420: opStack,
}

/** A developer's own chain is like Ethereum, with a block whenever there is something in it. */
const development: Pace = { ...ethereum, blockMs: 1_000, windowS: 128 }

export const profileOf = (chainId: number): ChainProfile => ({
  ...(paces[chainId] ?? (supportedChains[chainId] ? ethereum : development)),
  ...formsOf(chainId),
})

/** The blocks within a chain's window of reorganisations. */
export const windowBlocks = ({ windowS, blockMs }: ChainProfile): number => Math.ceil((windowS * 1_000) / blockMs)
