import { type Block, links, type Position } from '../logs/block'
import { demandAdmitted, isDoubtful, logsCalls, type SeenLogs, toSeenLogs, type Watch } from '../logs/filter'
import { MalformedLogError, type Place } from '../logs/payment-received'
import { type Deposit, type SeenTransfer, toDeposits, withoutMoved } from '../logs/transfer'
import type { TimedPayment } from '../payment'
import {
  blockCall,
  chainCall,
  demandAscending,
  demandChain,
  demandHeader,
  fetchHeaders,
  HEADERS_AT_ONCE,
  type Header,
  strictly,
  toBlock,
  toHeader,
} from '../proof/header'
import { fetchWatched, isTooWide } from '../proof/receipts'
import { RpcError } from '../rpc/error'
import type { Call, Node } from '../rpc/node'
import { DistrustError } from '../rpc/pool'
import { asFarAsBorne } from '../rpc/range-limit'

/** The deposit addresses among the recipients of some transfers. */
export type FindDeposits = (transfers: readonly SeenTransfer[]) => Promise<ReadonlyMap<string, Deposit>>

export interface TimedLogs {
  payments: TimedPayment[]
  transfers: (SeenTransfer & { blockTime: number })[]
}

/** Blocks, read and checked: they link to where we stood, and all their logs are there. */
export interface BlockBatch extends TimedLogs {
  /** The blocks read one by one, or the last one of a finalized range. */
  blocks: Block[]
  finalized: boolean
  count: number
  head: number
  headTime: number
  bytes: number
  ms: number
}

/** Our position is not part of the node's chain any more. */
export class ForkedError extends Error {
  override name = 'ForkedError'
}

const hex = (number: number) => `0x${number.toString(16)}`

/** A header that admits logs which the node does not show: perhaps it has not indexed them yet. */
export interface EmptyLogs {
  header: Header
  seen: SeenLogs
}
export type VerifyEmptyLogs = (empty: readonly EmptyLogs[]) => Promise<void>

/**
 * Reads blocks one by one: headers that link from our position, then the logs of each by its hash, so that a node that lags or changes its
 * mind cannot answer for other blocks than those. The head that was just seen is not asked for again. `verifyEmptyLogs` throws when an empty
 * answer must not be believed.
 */
export const fetchBlocks = (
  node: Node,
  watch: Watch,
  from: Position,
  to: number,
  head: Header,
  verifyEmptyLogs: VerifyEmptyLogs,
): Promise<BlockBatch> =>
  strictly(() =>
    asFarAsBorne(node.range('blocks'), { from: from.number + 1, to }, async end => {
      const startedAt = performance.now()
      const numbers = Array.from({ length: end - from.number }, (_, index) => from.number + 1 + index)
      const single = numbers.length === 1 && head.number === numbers[0]
      const headers = single ? [head] : await fetchHeaders(node, watch, numbers)
      if (!links(from, headers)) throw new ForkedError(`block ${from.number + 1} does not follow ours`)
      demandAscending(from, headers)
      const { answers, bytes } = await askByHash(node, watch, headers)
      const logs: TimedLogs = { payments: [], transfers: [] }
      const doubtful: EmptyLogs[] = []
      for (const [index, header] of headers.entries()) {
        const answer = answers[index] ?? []
        const seen = toSeenLogs(answer, watch)
        if (placesOf(seen).some(place => place.blockHash !== header.hash || place.blockNumber !== header.number))
          throw new DistrustError('wrong_answer', `the node sent logs of another block for ${header.hash}`)
        demandAdmitted(header.bloom, seen, watch.token)
        if (isDoubtful(answer, header.bloom, watch)) doubtful.push({ header, seen })
        for (const payment of seen.payments) logs.payments.push({ ...payment, blockTime: header.time })
        for (const transfer of seen.transfers) logs.transfers.push({ ...transfer, blockTime: header.time })
      }
      if (doubtful.length > 0) await verifyEmptyLogs(doubtful)
      const blocks = headers.map(toBlock)
      const ms = performance.now() - startedAt
      return { ...logs, blocks, count: blocks.length, finalized: false, head: head.number, headTime: head.time, bytes, ms }
    }),
  )

/** By their hashes, so that a reorganisation between two calls cannot mix two chains. */
async function askByHash(node: Node, watch: Watch, headers: readonly Header[]): Promise<{ answers: unknown[][]; bytes: number }> {
  const calls = headers.map(({ hash }) => logsCalls(watch, { blockHash: hash }))
  const each = calls[0]?.length ?? 0
  try {
    const { results, bytes } = await node.ask(calls.flat())
    return { answers: calls.map((_, index) => results.slice(index * each, (index + 1) * each)), bytes }
  } catch (error) {
    const [header, ...others] = headers
    if (!isTooWide(error) || !header || others.length > 0) throw error
    return { answers: [await fetchWatched(node, header, watch)], bytes: 0 }
  }
}

/**
 * Asks for blocks, the last of them the end of a range, and for the logs of that range, in one request. A single block whose logs the node refuses
 * because they are too many is read from the receipts of its transactions.
 */
async function askWithLogs(node: Node, watch: Watch, { from, to }: { from: number; to: number }, calls: readonly Call[]) {
  const range = { fromBlock: hex(from), toBlock: hex(to) }
  try {
    const { results, bytes, ms } = await node.ask([...calls, ...logsCalls(watch, range)])
    return { results, bytes, ms, logs: toSeenLogs(results.slice(calls.length), watch) }
  } catch (error) {
    if (!isTooWide(error) || from < to) throw error
    const { results, ...answer } = await node.ask(calls)
    const header = demandHeader(results.at(-1), to, watch)
    return { results, ...answer, logs: toSeenLogs(await fetchWatched(node, header, watch), watch) }
  }
}

/** Whether a node shows, in any of these blocks, what their blooms admit. */
export const logsMatchBloom = (node: Node, watch: Watch, headers: readonly Header[]): Promise<boolean> =>
  strictly(async () => {
    const { answers } = await askByHash(node, watch, headers)
    return headers.some(({ bloom }, index) => !isDoubtful(answers[index] ?? [], bloom, watch))
  })

/**
 * Reads blocks that lie deeper than the reorganisation window by number, as many as the node bears: their ends, the head and their logs in one question.
 * They are believed when the node's head is far enough beyond, the first one links to ours, and every log lies inside.
 */
export const fetchFinalized = (node: Node, watch: Watch, from: Position, to: number, window: number): Promise<BlockBatch> =>
  strictly(() => {
    const first = from.number + 1
    return asFarAsBorne(node.range('logs'), { from: first, to }, async end => {
      const calls = [chainCall, blockCall('latest'), blockCall(first), blockCall(end)]
      const { results, bytes, ms, logs: seen } = await askWithLogs(node, watch, { from: first, to: end }, calls)
      const [chainId, latest, start, last] = results
      demandChain(watch, chainId)
      const head = toHeader(latest, watch)
      if (!head || head.number < end + window) throw new RpcError('beyond_head', `the node's head is ${head?.number}, too near to ${end}`)
      const next = demandHeader(start, first, watch)
      if (!links(from, [next])) throw new ForkedError(`block ${first} does not follow ours`)
      const block = demandHeader(last, end, watch)
      demandAscending(from, [next, block])
      const logs = await timed(node, watch, inside(seen, first, end, block.hash))
      return {
        ...logs,
        blocks: [toBlock(block)],
        count: end - from.number,
        finalized: true,
        head: head.number,
        headTime: head.time,
        bytes,
        ms,
      }
    })
  })

/** The cost of an answer to a node differs from logs of some recipients to all logs. */
export const questionOf = ({ transfers }: Watch) => (typeof transfers === 'string' ? ('logs' as const) : ('transfers' as const))

/**
 * Reads blocks that the scan has passed, as many as the node bears, for routers and deposit addresses that it did not know then. They are believed when
 * the node still has our block at our position, so that everything below belongs to the chain we follow.
 */
export const fetchBackfill = (
  node: Node,
  watch: Watch,
  { from, to }: { from: number; to: number },
  position: Position,
): Promise<TimedLogs & { last: Block; bytes: number; ms: number }> =>
  strictly(() =>
    asFarAsBorne(node.range(questionOf(watch)), { from, to }, async end => {
      const calls = [chainCall, blockCall(position.number), blockCall(end)]
      const { results, bytes, ms, logs: seen } = await askWithLogs(node, watch, { from, to: end }, calls)
      const [chainId, ours, last] = results
      demandChain(watch, chainId)
      if (demandHeader(ours, position.number, watch).hash !== position.hash)
        throw new ForkedError(`block ${position.number} is not ours any more`)
      const block = toBlock(demandHeader(last, end, watch))
      return { ...(await timed(node, watch, inside(seen, from, end, block.hash))), last: block, bytes, ms }
    }),
  )

/**
 * What a node has in a range, for comparing: its last block, and the payments with the times of their blocks, read in as many pieces as the node bears.
 * No position of ours is asked of it.
 */
export async function fetchRange(
  node: Node,
  watch: Watch,
  { from, to }: { from: number; to: number },
  findDeposits: FindDeposits,
): Promise<{ last: Block; payments: TimedPayment[] }> {
  const payments: TimedPayment[] = []
  for (let next = from; ; ) {
    const piece = await fetchPiece(node, watch, { from: next, to }, findDeposits)
    payments.push(...piece.payments)
    if (piece.last.number >= to) return { last: piece.last, payments }
    next = piece.last.number + 1
  }
}

const fetchPiece = (node: Node, watch: Watch, { from, to }: { from: number; to: number }, findDeposits: FindDeposits) =>
  strictly(() =>
    asFarAsBorne(node.range(questionOf(watch)), { from, to }, async end => {
      const { results, bytes, ms, logs } = await askWithLogs(node, watch, { from, to: end }, [chainCall, blockCall(end)])
      demandChain(watch, results[0])
      const last = toBlock(demandHeader(results[1], end, watch))
      const seen = inside(logs, from, end, last.hash)
      const payments = withoutMoved([...seen.payments, ...toDeposits(seen.transfers, await findDeposits(seen.transfers))])
      return { last, payments: (await timed(node, watch, { payments, transfers: [] })).payments, bytes, ms }
    }),
  )

const placesOf = ({ payments, transfers }: SeenLogs): Place[] => [...payments, ...transfers]

/** The logs, all of which lie in these blocks. */
function inside(logs: SeenLogs, first: number, last: number, lastHash: string): SeenLogs {
  const wrong = placesOf(logs).find(
    ({ blockNumber, blockHash }) => blockNumber < first || blockNumber > last || (blockNumber === last && blockHash !== lastHash),
  )
  if (wrong) throw new MalformedLogError(`the node sent a log of block ${wrong.blockNumber} for blocks ${first} to ${last}`)
  return logs
}

const isTimed = <Seen extends Place>(one: Seen): one is Seen & { blockTime: number } => one.blockTime !== undefined

/** Older nodes do not send the time in a log: then the headers are asked for, and must be those of the logs. */
async function timed(node: Node, watch: Watch, { payments, transfers }: SeenLogs): Promise<TimedLogs> {
  if (payments.every(isTimed) && transfers.every(isTimed)) return { payments, transfers }
  const untimed = [
    ...new Set(
      placesOf({ payments, transfers })
        .filter(one => !isTimed(one))
        .map(({ blockNumber }) => blockNumber),
    ),
  ]
  const headers = new Map<number, Block>()
  for (let start = 0; start < untimed.length; start += HEADERS_AT_ONCE) {
    for (const block of await fetchHeaders(node, watch, untimed.slice(start, start + HEADERS_AT_ONCE))) headers.set(block.number, block)
  }
  const withTime = <Seen extends Place>(one: Seen): Seen & { blockTime: number } => {
    if (isTimed(one)) return one
    const header = headers.get(one.blockNumber)
    if (header?.hash !== one.blockHash) throw new DistrustError('wrong_answer', `block ${one.blockNumber} changed while it was read`)
    return { ...one, blockTime: header.time }
  }
  return { payments: payments.map(withTime), transfers: transfers.map(withTime) }
}
