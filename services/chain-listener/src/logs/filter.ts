import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { byPlace } from '../payment'
import type { Call } from '../rpc/node'
import { bloomBits, mayContain } from './bloom'
import { decodePayment, MalformedLogError, type RawLog, type SeenPayment } from './payment-received'
import { type Deposit, decodeTransfer, TRANSFER_TOPIC, topicOf } from './transfer'

/** What is looked for, on which chain. Addresses are lower-case. */
export interface Watch {
  chainId: number
  routers: readonly string[]
  token: string
  /** Deposit addresses, by address; there are more of them from turn to turn. */
  deposits: ReadonlyMap<string, Deposit>
}

/** A range by number, or one block by hash. */
export type Range = { fromBlock: string; toBlock: string } | { blockHash: string }

/** Addresses in one filter: nodes take a thousand at most. */
const TOPICS_AT_ONCE = 500

/**
 * Asks for everything watched. One block is asked for all transfers of the token, whatever the number of addresses, so that an answer
 * without any can be held against the block's bloom; a range for those to our addresses alone.
 */
export function logsCalls({ routers, token, deposits }: Watch, range: Range): Call[] {
  const call = (address: string | readonly string[], topics: readonly unknown[]): Call => ({
    method: 'eth_getLogs',
    params: [{ ...range, address, topics }],
  })
  const calls = routers.length > 0 ? [call(routers, [PAYMENT_RECEIVED_TOPIC])] : []
  if (deposits.size === 0) return calls
  if ('blockHash' in range) return [...calls, call(token, [TRANSFER_TOPIC])]
  const topics = [...deposits.keys()].map(topicOf)
  for (let first = 0; first < topics.length; first += TOPICS_AT_ONCE)
    calls.push(call(token, [TRANSFER_TOPIC, null, topics.slice(first, first + TOPICS_AT_ONCE)]))
  return calls
}

/** The answers to that, decoded and in the chain's order. Throws MalformedLogError. */
export function toPayments(answers: readonly unknown[], watch: Watch): SeenPayment[] {
  const [routers, ...transfers] = watch.routers.length > 0 ? answers.map(toLogs) : [[], ...answers.map(toLogs)]
  const seen = (routers ?? []).map(decodePayment)
  const foreign = seen.find(({ router }) => !watch.routers.includes(router))
  if (foreign) throw new MalformedLogError(`the node sent a log of ${foreign.router}, which nobody asked for`)
  for (const log of transfers.flat()) {
    const transfer = decodeTransfer(log, watch.token, watch.deposits)
    if (transfer) seen.push(transfer)
  }
  seen.sort(byPlace)
  const twice = seen.find((one, index) => index > 0 && byPlace(one, seen[index - 1] ?? one) === 0)
  if (twice) throw new MalformedLogError(`the node sent log ${twice.logIndex} of block ${twice.blockNumber} twice`)
  return seen
}

/** True when an answer about one block is empty although the block's bloom says that there may well be such logs. */
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
