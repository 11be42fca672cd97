import { MalformedLogError } from '../logs/payment-received'
import { type RawReceipt, toReceipts } from '../logs/receipts'
import { RpcError } from '../rpc/error'
import type { Node } from '../rpc/node'
import type { Header } from './header'

const RECEIPTS_AT_ONCE = 50

export const isTooWide = (error: unknown): error is RpcError => error instanceof RpcError && error.kind === 'too_wide'

/**
 * The receipts of a block's transactions, asked for by their hashes: for a block that is too full for one answer. What a node bears then is decided
 * by its largest transaction alone. Throws MalformedLogError when they are not those of this block, and RpcError `too_wide` when one is larger than an
 * answer may be, or all of them are larger than `bytesMax`.
 */
export async function fetchReceipts(
  node: Node,
  { hash, number, transactions }: Header,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<RawReceipt[]> {
  const receipts: RawReceipt[] = []
  let total = 0
  for (let first = 0, size = RECEIPTS_AT_ONCE; first < transactions.length; ) {
    const some = transactions.slice(first, first + size)
    try {
      const { results, bytes } = await node.ask(some.map(transaction => ({ method: 'eth_getTransactionReceipt', params: [transaction] })))
      receipts.push(...toReceipts(results))
      first += some.length
      total += bytes
    } catch (error) {
      if (!isTooWide(error) || some.length === 1) throw error
      size = Math.floor(some.length / 2)
    }
    if (total > bytesMax) throw new RpcError('too_wide', `the receipts of block ${number} are larger than ${bytesMax} bytes`)
  }
  const isForeign = ({ blockHash, transactionHash }: RawReceipt, index: number) =>
    blockHash !== hash || transactionHash !== transactions[index]
  if (receipts.some(isForeign)) throw new MalformedLogError(`the node sent receipts of another block for block ${number}`)
  return receipts
}
