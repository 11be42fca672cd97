import type { DossierTransaction } from '@ponte/contracts'
import type { RawReceipt } from '@ponte/payment-router'
import type { JsonRpcProvider } from 'ethers'
import type { ChainReader } from './chain-reader'
import {
  type BlockToProve,
  type ChainForms,
  isOnRecord,
  NotProvenError,
  proveTransactions,
  type RawBlock,
  toReceipts,
} from './receipt-proof'

const RECEIPTS_AT_ONCE = 20

/** Asks the nodes in turn until one proves the block's transactions. Rejects where none does. */
export const readProofs = (reader: ChainReader, forms: ChainForms, block: BlockToProve): Promise<DossierTransaction[]> =>
  reader.ask(async provider => {
    const raw: RawBlock | null = await provider.send('eth_getBlockByNumber', [`0x${block.number.toString(16)}`, false])
    if (!isOnRecord(raw, block)) throw new NotProvenError(`the node has another block ${block.number} than ${block.hash}, or none`)
    return proveTransactions(block, raw, forms.header === null ? null : await receiptsOf(provider, block, raw), forms)
  })

/** Where a node cannot give a block's receipts at once it may give each by itself. */
async function receiptsOf(provider: JsonRpcProvider, { hash }: BlockToProve, { transactions }: RawBlock): Promise<RawReceipt[]> {
  const whole: unknown = await provider.send('eth_getBlockReceipts', [hash]).catch(() => null)
  if (whole !== null) return toReceipts(whole)
  const hashes = Array.isArray(transactions) ? transactions : []
  const all: unknown[] = []
  for (let first = 0; first < hashes.length; first += RECEIPTS_AT_ONCE) {
    const some = hashes.slice(first, first + RECEIPTS_AT_ONCE)
    all.push(...(await Promise.all(some.map(one => provider.send('eth_getTransactionReceipt', [one])))))
  }
  return toReceipts(all)
}
