import type { DossierTransaction } from '@ponte/contracts'
import { type ChainProfile, coveredReceipts, proofOfReceipt, type RawReceipt, sealedHeader } from '@ponte/payment-router'
import { hexlify } from 'ethers'

/** By which a chain's blocks hash. */
export type ChainForms = Pick<ChainProfile, 'header' | 'receipts'>

/** Thrown where what a node shows is not what is on record, or does not hash to it: it proves nothing. */
export class NotProvenError extends Error {
  override name = 'NotProvenError'
}

/** A block that is on record, and which of its transactions are to be proven. */
export interface BlockToProve {
  number: number
  hash: string
  transactions: readonly string[]
}

/** A block as a node sends it; nothing of it is believed. */
export type RawBlock = Record<string, unknown>

const HASH = /^0x[0-9a-f]{64}$/

/** True when a node's header is the block on record, by its hash. */
export function isOnRecord(raw: RawBlock | null, { number, hash }: BlockToProve): raw is RawBlock {
  return raw !== null && raw.hash === hash && Number(raw.number) === number
}

/** Proofs of a block's transactions; null ones on a chain whose headers cannot be held against their hashes. Throws NotProvenError. */
export function proveTransactions(
  block: BlockToProve,
  raw: RawBlock,
  receipts: readonly RawReceipt[] | null,
  forms: ChainForms,
): DossierTransaction[] {
  const header = forms.header === null ? undefined : sealedHeader(raw, forms.header)
  const time = new Date(Number(raw.timestamp) * 1_000)
  const rowOf = (txHash: string, proof: DossierTransaction['proof']): DossierTransaction => ({
    ...{ tx_hash: txHash, block_number: block.number, block_hash: block.hash, block_time: time.toISOString(), proof },
  })
  if (forms.header === null || receipts === null) return block.transactions.map(hash => rowOf(hash, null))
  if (!header) throw new NotProvenError(`the fields of block ${block.number} do not hash to ${block.hash}`)
  const covered = coveredReceipts(receipts, String(raw.receiptsRoot), forms.receipts)
  if (!covered) throw new NotProvenError(`the receipts of block ${block.number} do not hash to the root in its header`)
  const hashes = Array.isArray(raw.transactions) ? raw.transactions : []
  return block.transactions.map(hash => {
    const index = hashes.indexOf(hash)
    const found = index < 0 || covered[index]?.transactionHash !== hash ? undefined : proofOfReceipt(covered, index, forms.receipts)
    if (!found) throw new NotProvenError(`block ${block.number} has no receipt of ${hash}`)
    const first = covered.slice(0, index).reduce((count, { logs }) => count + logs.length, 0)
    return rowOf(hash, {
      ...{ header: hexlify(header), receipt_index: index, receipt: hexlify(found.receipt), nodes: found.nodes.map(node => hexlify(node)) },
      first_log_index: first,
    })
  })
}

/** A node's answer as a list of receipts. Throws NotProvenError on anything else. */
export function toReceipts(value: unknown): RawReceipt[] {
  const isReceipt = (one: unknown) => {
    const { logs, transactionHash, cumulativeGasUsed, logsBloom } = Object(one)
    return (
      Array.isArray(logs) && HASH.test(String(transactionHash)) && typeof cumulativeGasUsed === 'string' && typeof logsBloom === 'string'
    )
  }
  if (!Array.isArray(value) || !value.every(isReceipt)) throw new NotProvenError('the node sent no list of receipts')
  return value
}
