import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { bloomBits } from './bloom'
import { byPlace } from './payment'
import { decodePayment, MalformedLogError, type RawLog, type SeenPayment } from './payment-log'
import type { Call } from './rpc'

/** What is looked for, on which chain. Addresses are lower-case. */
export interface Watch {
  chainId: number
  routers: readonly string[]
  /** The bits in a block's bloom without which it has no payment: one set per router. */
  bits: readonly (readonly number[])[]
}

export const watchOf = (chainId: number, routers: readonly string[]): Watch => ({
  chainId,
  routers,
  bits: routers.map(router => [...bloomBits(router), ...bloomBits(PAYMENT_RECEIVED_TOPIC)]),
})

/** Asks for the payments of a range or of one block. */
export function logsCall(watch: Watch, range: Record<string, string>): Call {
  return { method: 'eth_getLogs', params: [{ ...range, address: watch.routers, topics: [PAYMENT_RECEIVED_TOPIC] }] }
}

/** A node's answer to that, decoded and in the chain's order. Throws MalformedLogError. */
export function toPayments(value: unknown, watch: Watch): SeenPayment[] {
  if (!Array.isArray(value)) throw new MalformedLogError('the node sent no list of logs')
  const seen = value.map(log => decodePayment(log as RawLog)).sort(byPlace)
  const twice = seen.find((one, index) => index > 0 && byPlace(one, seen[index - 1] ?? one) === 0)
  if (twice) throw new MalformedLogError(`the node sent log ${twice.logIndex} of block ${twice.blockNumber} twice`)
  const foreign = seen.find(({ router }) => !watch.routers.includes(router))
  if (foreign) throw new MalformedLogError(`the node sent a log of ${foreign.router}, which nobody asked for`)
  return seen
}
