import type { HeaderForm } from './header'
import type { ReceiptForm } from './receipts'

/** Forms of a chain's headers and receipts, by which its blocks hash. */
export interface ChainForms {
  /** The form of its headers; null when they cannot be held against their hashes, so that nodes are voted on. */
  header: HeaderForm | null
  receipts: ReceiptForm
}

const ethereum: ChainForms = { header: 'ethereum', receipts: 'ethereum' }
const opStack: ChainForms = { header: 'ethereum', receipts: 'op' }
const arbitrum: ChainForms = { header: 'ethereum', receipts: 'arbitrum' }
const polygon: ChainForms = { header: 'ethereum', receipts: 'polygon' }
const avalanche: ChainForms = { header: 'avalanche', receipts: 'ethereum' }

const forms: Readonly<Record<number, ChainForms>> = {
  10: opStack,
  137: polygon,
  8453: opStack,
  42161: arbitrum,
  43114: avalanche,
  43113: avalanche,
  80002: polygon,
  84532: opStack,
  421614: arbitrum,
  11155420: opStack,
}

/** Of a supported chain, or of a developer's own, which is like Ethereum. */
export const formsOf = (chainId: number): ChainForms => forms[chainId] ?? ethereum
