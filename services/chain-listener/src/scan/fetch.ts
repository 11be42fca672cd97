import { type Block, links, type Position } from '../logs/block'
import { demandAdmitted, isDoubtful, logsCalls, type SeenLogs, toSeenLogs, type Watch } from '../logs/filter'
import { MalformedLogError, type Place } from '../logs/payment-received'
import { type Deposit, type SeenTransfer, toDeposits } from '../logs/transfer'
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

/** The deposit addresses among the recipients of some transfers. */
export type FindDeposits = (transfers: readonly SeenTransfer[]) => Promise<ReadonlyMap<string, Deposit>>

/** What some blocks have of what is watched, with the times of their blocks. */
export interface TimedLogs {
  payments: TimedPayment[]
  transfers: (SeenTransfer & { blockTime: number })[]
}

/** Blocks, read and checked: they link to where we stood, and all their logs are there. */
export interface BlockBatch extends TimedLogs {
  /** The blocks read one by one, or the last one of a finalized range. */
  blocks: Block[]
  finalized: boolean
  /** How many blocks were read. */
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

/** These headers admit logs, and the node shows none: perhaps it has not indexed them yet. */
export type VerifyEmptyLogs = (headers: readonly Header[]) => Promise<void>

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
  strictly(async () => {
    const startedAt = performance.now()
    const numbers = Array.from({ length: to - from.number }, (_, index) => from.number + 1 + index)
    const single = numbers.length === 1 && head.number === numbers[0]
    const headers = single ? [head] : await fetchHeaders(node, watch, numbers)
    if (!links(from, headers)) throw new ForkedError(`block ${from.number + 1} does not follow ours`)
    demandAscending(from, headers)
    const { answers, bytes } = await askByHash(node, watch, headers)
    const logs: TimedLogs = { payments: [], transfers: [] }
    const doubtful: Header[] = []
    for (const [index, header] of headers.entries()) {
      const answer = answers[index] ?? []
      const seen = toSeenLogs(answer, watch)
      if (placesOf(seen).some(place => place.blockHash !== header.hash || place.blockNumber !== header.number))
        throw new DistrustError('wrong_answer', `the node sent logs of another block for ${header.hash}`)
      demandAdmitted(header.bloom, seen, watch.token)
      if (isDoubtful(answer, header.bloom, watch)) doubtful.push(header)
      for (const payment of seen.payments) logs.payments.push({ ...payment, blockTime: header.time })
      for (const transfer of seen.transfers) logs.transfers.push({ ...transfer, blockTime: header.time })
    }
    if (doubtful.length > 0) await verifyEmptyLogs(doubtful)
    const blocks = headers.map(toBlock)
    const ms = performance.now() - startedAt
    return { ...logs, blocks, count: blocks.length, finalized: false, head: head.number, headTime: head.time, bytes, ms }
  })

/** What a node has in each of these blocks, asked for by their hashes. */
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
 * Reads a range that lies deeper than the reorganisation window by number: its ends, the head and its logs in one request to one node.
 * It is believed when the node's head is far enough beyond, the first block links to ours, and every log lies inside.
 */
export const fetchFinalized = (node: Node, watch: Watch, from: Position, to: number, window: number): Promise<BlockBatch> =>
  strictly(async () => {
    const first = from.number + 1
    const calls = [chainCall, blockCall('latest'), blockCall(first), blockCall(to)]
    const { results, bytes, ms, logs: seen } = await askWithLogs(node, watch, { from: first, to }, calls)
    const [chainId, latest, start, end] = results
    demandChain(watch, chainId)
    const head = toHeader(latest, watch)
    if (!head || head.number < to + window) throw new RpcError('beyond_head', `the node's head is ${head?.number}, too near to ${to}`)
    const next = demandHeader(start, first, watch)
    if (!links(from, [next])) throw new ForkedError(`block ${first} does not follow ours`)
    const last = demandHeader(end, to, watch)
    demandAscending(from, [next, last])
    const logs = await timed(node, watch, inside(seen, first, to, last.hash))
    return { ...logs, blocks: [toBlock(last)], count: to - from.number, finalized: true, head: head.number, headTime: head.time, bytes, ms }
  })

/**
 * Reads a range that the scan has passed, for routers and deposit addresses that it did not know then. It is believed when the node still has
 * our block at our position, so that everything below belongs to the chain we follow.
 */
export const fetchBackfill = (
  node: Node,
  watch: Watch,
  from: number,
  to: number,
  position: Position,
): Promise<TimedLogs & { last: Block; count: number; bytes: number; ms: number }> =>
  strictly(async () => {
    const calls = [chainCall, blockCall(position.number), blockCall(to)]
    const { results, bytes, ms, logs: seen } = await askWithLogs(node, watch, { from, to }, calls)
    const [chainId, ours, end] = results
    demandChain(watch, chainId)
    if (demandHeader(ours, position.number, watch).hash !== position.hash)
      throw new ForkedError(`block ${position.number} is not ours any more`)
    const last = toBlock(demandHeader(end, to, watch))
    const logs = await timed(node, watch, inside(seen, from, to, last.hash))
    return { ...logs, last, count: to - from + 1, bytes, ms }
  })

/**
 * What a node has in a range, for comparing: its last block, and the payments with the times of their blocks, read in as many pieces as the node bears.
 * No position of ours is asked of it.
 */
export const fetchRange = async (
  node: Node,
  watch: Watch,
  { from, to }: { from: number; to: number },
  findDeposits: FindDeposits,
): Promise<{ last: Block; payments: TimedPayment[] }> => {
  try {
    return await fetchPiece(node, watch, { from, to }, findDeposits)
  } catch (error) {
    if (!isTooWide(error) || from >= to) throw error
    const middle = Math.floor((from + to) / 2)
    const lower = await fetchRange(node, watch, { from, to: middle }, findDeposits)
    const upper = await fetchRange(node, watch, { from: middle + 1, to }, findDeposits)
    return { last: upper.last, payments: [...lower.payments, ...upper.payments] }
  }
}

const fetchPiece = (node: Node, watch: Watch, range: { from: number; to: number }, findDeposits: FindDeposits) =>
  strictly(async () => {
    const { results, logs } = await askWithLogs(node, watch, range, [chainCall, blockCall(range.to)])
    demandChain(watch, results[0])
    const last = toBlock(demandHeader(results[1], range.to, watch))
    const seen = inside(logs, range.from, range.to, last.hash)
    const payments = [...seen.payments, ...toDeposits(seen.transfers, await findDeposits(seen.transfers))]
    return { last, payments: (await timed(node, watch, { payments, transfers: [] })).payments }
  })

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
