import type { Watch } from '../logs/filter'
import { MalformedLogError } from '../logs/payment-received'
import { answersOfReceipts, type RawReceipt, toReceipts } from '../logs/receipts'
import { RpcError } from '../rpc/error'
import type { Node } from '../rpc/node'
import type { RawLog } from '../rpc/raw-log'
import type { Header } from './header'

const RECEIPTS_AT_ONCE = 50

export const isTooWide = (error: unknown): error is RpcError => error instanceof RpcError && error.kind === 'too_wide'

/**
 * The receipts of a block's transactions, asked for by their hashes: for a block that is too full for one answer. What a node bears then is decided
 * by its largest transaction alone. Throws MalformedLogError when they are not those of this block, and RpcError `too_wide` when one is larger than an
 * answer may be, or all of them are larger than `bytesMax`.
 */
export async function fetchReceipts(node: Node, header: Header, bytesMax: number): Promise<RawReceipt[]> {
  const all: RawReceipt[] = []
  let total = 0
  for await (const { receipts, bytes } of receiptParts(node, header)) {
    all.push(...receipts)
    total += bytes
    if (total > bytesMax) throw new RpcError('too_wide', `the receipts of block ${header.number} are larger than ${bytesMax} bytes`)
  }
  return all
}

/** A block's watched logs, as answers to `logsCalls`. The rest of its receipts, which may be any size, is not kept. */
export async function fetchWatched(node: Node, header: Header, watch: Watch): Promise<RawLog[][]> {
  let watched = answersOfReceipts([], header, watch)
  let logIndex = 0
  for await (const { receipts } of receiptParts(node, header)) {
    const more = answersOfReceipts(receipts, header, watch, logIndex)
    watched = watched.map((logs, index) => logs.concat(more[index] ?? []))
    logIndex += receipts.reduce((count, { logs }) => count + logs.length, 0)
  }
  return watched
}

async function* receiptParts(
  node: Node,
  { hash, number, transactions }: Header,
): AsyncGenerator<{ receipts: RawReceipt[]; bytes: number }> {
  for (let first = 0, size = RECEIPTS_AT_ONCE; first < transactions.length; ) {
    const some = transactions.slice(first, first + size)
    const part = await askReceipts(node, some).catch((error: unknown) => {
      if (!isTooWide(error) || some.length === 1) throw error
      return undefined
    })
    if (!part) {
      size = Math.floor(some.length / 2)
      continue
    }
    const isForeign = ({ blockHash, transactionHash }: RawReceipt, index: number) => blockHash !== hash || transactionHash !== some[index]
    if (part.receipts.some(isForeign)) throw new MalformedLogError(`the node sent receipts of another block for block ${number}`)
    yield part
    first += some.length
  }
}

async function askReceipts(node: Node, transactions: readonly unknown[]): Promise<{ receipts: RawReceipt[]; bytes: number }> {
  const { results, bytes } = await node.ask(
    transactions.map(transaction => ({ method: 'eth_getTransactionReceipt', params: [transaction] })),
  )
  return { receipts: toReceipts(results), bytes }
}
