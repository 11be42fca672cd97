import { isSealed } from '@ponte/payment-router'
import type { Block, Position } from '../logs/block'
import type { HeaderRules } from '../logs/header-rules'
import { MalformedLogError, toNumber } from '../logs/payment-received'
import { RpcError } from '../rpc/error'
import type { Call, Node } from '../rpc/node'
import { DistrustError } from '../rpc/pool'

/** A block with what is not kept of it. */
export interface Header extends Block {
  bloom: string
  receiptsRoot: string
  /** It hashes to the hash that it names. */
  isSealed: boolean
  /** A byte of a log costs eight: it bounds how large the receipts can be. */
  gasUsed: number
  transactions: readonly unknown[]
}

const hex = (number: number) => `0x${number.toString(16)}`
export const blockCall = (number: number | 'latest'): Call => ({
  method: 'eth_getBlockByNumber',
  params: [typeof number === 'number' ? hex(number) : number, false],
})
export const chainCall: Call = { method: 'eth_chainId', params: [] }

const HASH = /^0x[0-9a-f]{64}$/

/** A header, or undefined for a block that the node does not have. Throws MalformedLogError on one that cannot be. */
export function toHeader(value: unknown, rules: HeaderRules): Header | undefined {
  const header = toClaim(value, rules)
  if (!header) return undefined
  if (header.time > rules.latestTime())
    throw new MalformedLogError(`the node sent block ${header.number} with a time that lies ahead: ${header.time}`)
  // A header proves its content by its hash: one that does not hash to it is worth nothing, even if other nodes send the same.
  if (rules.header && !header.isSealed)
    throw new MalformedLogError(`the node sent block ${header.number} with fields that do not hash to ${header.hash}`)
  return header
}

/** The same before it is judged. */
function toClaim(value: unknown, rules: Pick<HeaderRules, 'header'>): Header | undefined {
  if (value === null || value === undefined) return undefined
  const raw = value as Record<string, unknown>
  const { number, hash, parentHash, timestamp, logsBloom, receiptsRoot, gasUsed, transactions } = raw
  if (typeof hash !== 'string' || typeof parentHash !== 'string' || !HASH.test(hash) || !HASH.test(parentHash))
    throw new MalformedLogError('the node sent a block without hashes')
  const hashes = Array.isArray(transactions) ? transactions : []
  if (!hashes.every(one => typeof one === 'string'))
    throw new MalformedLogError('the node sent a block with transactions that are no hashes')
  return {
    number: toNumber(number),
    hash,
    parentHash,
    time: toNumber(timestamp),
    bloom: typeof logsBloom === 'string' ? logsBloom : '0x',
    receiptsRoot: String(receiptsRoot),
    isSealed: rules.header !== null && isSealed(raw, rules.header),
    gasUsed: Number(gasUsed),
    transactions: hashes,
  }
}

export const toBlock = ({ number, hash, parentHash, time }: Header): Block => ({ number, hash, parentHash, time })

/** Turns an answer that cannot be into distrust of the node. */
export async function strictly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof MalformedLogError) throw new DistrustError('wrong_answer', error.message)
    throw error
  }
}

export function demandChain({ chainId }: HeaderRules, answer: unknown): void {
  const theirs = toNumber(answer)
  if (theirs !== chainId) throw new DistrustError('wrong_chain', `the node is of chain ${theirs}, not ${chainId}`)
}

export const demandHeader = (value: unknown, number: number, rules: HeaderRules): Header => demandNumber(toHeader(value, rules), number)

function demandNumber(header: Header | undefined, number: number): Header {
  if (!header) throw new RpcError('beyond_head', `the node has no block ${number} yet`)
  if (header.number !== number) throw new DistrustError('wrong_answer', `the node sent block ${header.number} for block ${number}`)
  return header
}

/** Throws MalformedLogError when a block is older than the one before it. */
export function demandAscending(before: Position, headers: readonly Block[]): void {
  let last = before.time instanceof Date ? before.time.getTime() / 1_000 : before.time
  for (const { number, time } of headers) {
    if (typeof last === 'number' && time < last)
      throw new MalformedLogError(`the node sent block ${number} with a time before its parent's`)
    last = time
  }
}

/** The node's head, and its block at our position (undefined when it has none, or when we stand before the first block). */
export const fetchHead = (node: Node, rules: HeaderRules, position: Position): Promise<{ head: Header; at: Header | undefined }> =>
  strictly(async () => {
    const calls = [chainCall, blockCall('latest'), ...(position.number < 0 ? [] : [blockCall(position.number)])]
    const { results } = await node.ask(calls)
    demandChain(rules, results[0])
    const head = toHeader(results[1], rules)
    if (!head) throw new DistrustError('wrong_answer', 'the node has no latest block')
    return { head, at: toHeader(results[2], rules) }
  })

export const fetchHeader = (node: Node, rules: HeaderRules, number: number): Promise<Header> =>
  strictly(async () => demandHeader((await node.ask([blockCall(number)])).results[0], number, rules))

/** Headers in one request. */
export const HEADERS_AT_ONCE = 50

/** Headers as a node claims them, for a vote: those that do not hash to their hashes, or lie ahead, are worth nothing there. */
export const fetchClaims = (node: Node, rules: HeaderRules, numbers: readonly number[]): Promise<(Header & { isWorthless: boolean })[]> =>
  strictly(async () => {
    const { results } = await node.ask(numbers.map(blockCall))
    return numbers.map((number, index) => {
      const header = demandNumber(toClaim(results[index], rules), number)
      return { ...header, isWorthless: header.time > rules.latestTime() || (rules.header !== null && !header.isSealed) }
    })
  })

export async function fetchHeaders(node: Node, rules: HeaderRules, numbers: readonly number[]): Promise<Header[]> {
  const { results } = await node.ask(numbers.map(blockCall))
  return numbers.map((number, index) => demandHeader(results[index], number, rules))
}
