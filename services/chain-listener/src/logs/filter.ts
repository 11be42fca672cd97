import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import type { Call } from '../rpc/node'
import type { RawLog } from '../rpc/raw-log'
import { bloomBits, mayContain } from './bloom'
import { byPlace, decodePayment, MalformedLogError, type Place, type SeenPayment } from './payment-received'
import { decodeTransfer, type SeenTransfer, TRANSFER_TOPIC, topicOf } from './transfer'

/** What is read, on which chain. Addresses are lower-case. */
export interface Watch {
  chainId: number
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
  const payments = inOrder(fromRouters.map(decodePayment))
  const foreign = payments.find(({ router }) => !routers.includes(router))
  if (foreign) throw new MalformedLogError(`the node sent a log of ${foreign.router}, which is not watched`)
  return { payments, transfers: inOrder(fromToken.flat().map(log => decodeTransfer(log, token))) }
}

function inOrder<Seen extends Place>(seen: Seen[]): Seen[] {
  seen.sort(byPlace)
  const twice = seen.find((one, index) => index > 0 && byPlace(one, seen[index - 1] ?? one) === 0)
  if (twice) throw new MalformedLogError(`the node sent log ${twice.logIndex} of block ${twice.blockNumber} twice`)
  return seen
}

/** True when an answer about one block is empty although the block's bloom admits such logs. */
export function isDoubtful(answers: readonly unknown[], bloom: string, { routers, token }: Watch): boolean {
  const [fromRouters, transfers] = answers.map(toLogs)
  const admits = (address: string, topic: string) => mayContain(bloom, bitsOf(address)) && mayContain(bloom, bitsOf(topic))
  if (fromRouters?.length === 0 && routers.some(router => admits(router, PAYMENT_RECEIVED_TOPIC))) return true
  return transfers?.length === 0 && admits(token, TRANSFER_TOPIC)
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
  return answer as RawLog[]
}
