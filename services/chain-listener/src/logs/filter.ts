import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import type { Call } from '../rpc/node'
import type { RawLog } from '../rpc/raw-log'
import { bloomBits, mayContain } from './bloom'
import type { HeaderRules } from './header-rules'
import { byPlace, decodePayment, MalformedLogError, type Place, type SeenPayment } from './payment-received'
import { decodeTransfer, type SeenTransfer, TRANSFER_TOPIC, topicOf } from './transfer'

/** Addresses are lower-case. */
export interface Watch extends HeaderRules {
  routers: readonly string[]
  token: string
  /** Which transfers of the token: all, none, or those to some addresses. */
  transfers: 'all' | 'none' | readonly string[]
}

/** A range by number, or one block by hash. */
export type Range = { fromBlock: string; toBlock: string } | { blockHash: string }

/** Everything a node has that is watched, in the chain's order. */
export interface SeenLogs {
  payments: SeenPayment[]
  transfers: SeenTransfer[]
}

/** Addresses in one filter: nodes take a thousand at most. */
const TOPICS_AT_ONCE = 500

export function logsCalls({ routers, token, transfers }: Watch, range: Range): Call[] {
  const call = (address: string | readonly string[], topics: readonly unknown[]): Call => ({
    method: 'eth_getLogs',
    params: [{ ...range, address, topics }],
  })
  const calls = routers.length > 0 ? [call(routers, [PAYMENT_RECEIVED_TOPIC])] : []
  if (transfers === 'none') return calls
  if (transfers === 'all') return [...calls, call(token, [TRANSFER_TOPIC])]
  for (let first = 0; first < transfers.length; first += TOPICS_AT_ONCE)
    calls.push(call(token, [TRANSFER_TOPIC, null, transfers.slice(first, first + TOPICS_AT_ONCE).map(topicOf)]))
  return calls
}

/** The answers to `logsCalls`, decoded. Throws MalformedLogError. */
export function toSeenLogs(answers: readonly unknown[], { routers, token }: Watch): SeenLogs {
  const [fromRouters = [], ...fromToken] = routers.length > 0 ? answers.map(toLogs) : [[], ...answers.map(toLogs)]
  // Before it is decoded: what is derived from a router's address is kept.
  const foreign = fromRouters.find(({ address }) => !routers.includes(address.toLowerCase()))
  if (foreign) throw new MalformedLogError(`the node sent a log of ${foreign.address}, which is not watched`)
  const payments = inOrder(fromRouters.map(decodePayment))
  const transfers = inOrder(fromToken.flat().map(log => decodeTransfer(log, token)))
  // One place of a block has one log, of a router or of the token.
  inOrder<Place>([...payments, ...transfers])
  return { payments, transfers }
}

function inOrder<Seen extends Place>(seen: Seen[]): Seen[] {
  seen.sort(byPlace)
  const twice = seen.find((one, index) => index > 0 && byPlace(one, seen[index - 1] ?? one) === 0)
  if (twice) throw new MalformedLogError(`the node sent log ${twice.logIndex} of block ${twice.blockNumber} twice`)
  return seen
}

/** `0x` and 2,048 bits. */
const BLOOM_LENGTH = 514
const admits = (bloom: string, address: string, topic: string) => mayContain(bloom, bitsOf(address)) && mayContain(bloom, bitsOf(topic))

/** True when an answer about one block is empty although the block's bloom admits such logs. */
export function isDoubtful(answers: readonly unknown[], bloom: string, { routers, token }: Watch): boolean {
  const [fromRouters, transfers] = answers.map(toLogs)
  if (fromRouters?.length === 0 && routers.some(router => admits(bloom, router, PAYMENT_RECEIVED_TOPIC))) return true
  return transfers?.length === 0 && admits(bloom, token, TRANSFER_TOPIC)
}

/** A header without a bloom excludes nothing. */
const excludes = (bloom: string, address: string, topic: string) => bloom.length === BLOOM_LENGTH && !admits(bloom, address, topic)

/** Whether a block with this bloom can hold this payment. */
export const admitsPayment = (bloom: string, { kind, router }: Pick<SeenPayment, 'kind' | 'router'>, { token }: Watch): boolean =>
  kind === 'transfer' ? !excludes(bloom, token, TRANSFER_TOPIC) : !excludes(bloom, router, PAYMENT_RECEIVED_TOPIC)

/** Throws MalformedLogError when the bloom of their block excludes one of these logs. */
export function demandAdmitted(bloom: string, { payments, transfers }: SeenLogs, token: string): void {
  const foreign = payments.find(({ router }) => excludes(bloom, router, PAYMENT_RECEIVED_TOPIC))
  const excluded = foreign ?? (transfers.length > 0 && excludes(bloom, token, TRANSFER_TOPIC) ? transfers[0] : undefined)
  if (excluded)
    throw new MalformedLogError(`the bloom of block ${excluded.blockNumber} excludes log ${excluded.logIndex} that the node sent`)
}

const known = new Map<string, number[]>()
/** Of the few contracts and events that are watched, whose hashes never change. */
function bitsOf(item: string): number[] {
  const bits = known.get(item) ?? bloomBits(item)
  known.set(item, bits)
  return bits
}

function toLogs(answer: unknown): RawLog[] {
  if (!Array.isArray(answer)) throw new MalformedLogError('the node sent no list of logs')
  if (!answer.every(isLog)) throw new MalformedLogError('the node sent something among logs that is none')
  return answer as RawLog[]
}

const isLog = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  ['address', 'data', 'transactionHash', 'blockHash'].every(name => typeof Reflect.get(value, name) === 'string') &&
  Array.isArray(Reflect.get(value, 'topics'))
