import { isDepositAddress, PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import type { RawLog } from '../rpc/raw-log'

/**
 * `router`: a payer paid through the router. `transfer`: a payer sent the token to a deposit address. `sweep`: the router moved what lay at a
 * deposit address on to the merchant, which is no payment.
 */
export type PaymentKind = 'router' | 'transfer' | 'sweep'

/** The same wherever on the chain a payment stands. Addresses are lower-case, amounts gross and in token units. */
export interface PaymentTerms {
  kind: PaymentKind
  router: string
  memo: string
  merchant: string
  payer: string
  amount: bigint
  /** The fee within the amount, as the log has it: a sweep takes none that is refused. Null for a transfer, and for a log that an earlier release read. */
  fee: bigint | null
  /** The deposit address that was paid or swept; null for a router payment. */
  deposit: string | null
}

export interface Place {
  txHash: string
  logIndex: number
  blockNumber: number
  blockHash: string
  blockTime: number | undefined
}

/** One `PaymentReceived`, or one transfer to a deposit address, seen in one block. */
export interface SeenPayment extends PaymentTerms, Place {}

/** The node's answer cannot come from our contract. */
export class MalformedLogError extends Error {
  override name = 'MalformedLogError'
}

const WORD = /^0x[0-9a-f]{64}$/
const TWO_WORDS = /^0x[0-9a-f]{128}$/
const ADDRESS_WORD = /^0x0{24}[0-9a-f]{40}$/
const ADDRESS = /^0x[0-9a-f]{40}$/
const QUANTITY = /^0x[0-9a-f]{1,13}$/
const ZERO = /^0x0*$/

/** Decodes a log of a PaymentRouter by hand, which is many times faster than an ABI decoder. Throws MalformedLogError. */
export function decodePayment(log: RawLog): SeenPayment {
  const [topic, memo, merchant, payer, ...more] = log.topics
  if (topic !== PAYMENT_RECEIVED_TOPIC || memo === undefined || merchant === undefined || payer === undefined || more.length > 0)
    throw new MalformedLogError(`the log's topics are not those of PaymentReceived: ${log.topics.join()}`)
  if (!WORD.test(memo) || !ADDRESS_WORD.test(merchant) || !ADDRESS_WORD.test(payer) || !TWO_WORDS.test(log.data))
    throw new MalformedLogError(`the log is not a PaymentReceived: ${log.topics.join()} ${log.data.slice(0, 200)}`)
  if (ZERO.test(memo) || ZERO.test(merchant)) throw new MalformedLogError('no router pays for a zero memo or to the zero address')
  const router = log.address.toLowerCase()
  if (!ADDRESS.test(router)) throw new MalformedLogError(`the log has no address: ${router}`)
  const place = placeOf(log)
  const from = `0x${payer.slice(26)}`
  const terms = { router, memo: memo.slice(2), merchant: `0x${merchant.slice(26)}` }
  const isSweep = isSweepOf(terms, from)
  const fee = BigInt(`0x${log.data.slice(66)}`)
  return {
    kind: isSweep ? 'sweep' : 'router',
    router,
    memo: terms.memo,
    merchant: terms.merchant,
    payer: from,
    amount: BigInt(log.data.slice(0, 66)) + fee,
    fee,
    deposit: isSweep ? from : null,
    // Field by field: while catching up this runs for every payment, and copying by spread costs several times more.
    txHash: place.txHash,
    logIndex: place.logIndex,
    blockNumber: place.blockNumber,
    blockHash: place.blockHash,
    blockTime: place.blockTime,
  }
}

const KEPT = 10_000
const sweeps = new Map<string, { router: string; merchant: string; payer: string; isSweep: boolean }>()
/** Two hashes, kept by memo: a node shows a log, its receipt holds it, and other nodes show it again. */
function isSweepOf(terms: Pick<PaymentTerms, 'router' | 'memo' | 'merchant'>, payer: string): boolean {
  const { router, memo, merchant } = terms
  const before = sweeps.get(memo)
  if (before?.payer === payer && before.merchant === merchant && before.router === router) return before.isSweep
  const isSweep = isDepositAddress(terms, payer)
  if (sweeps.size >= KEPT) sweeps.clear()
  sweeps.set(memo, { router, merchant, payer, isSweep })
  return isSweep
}

/** Where a log stands. Throws MalformedLogError. */
export function placeOf(log: RawLog): Place {
  if (!WORD.test(log.transactionHash) || !WORD.test(log.blockHash) || log.removed === true)
    throw new MalformedLogError('the log is not part of a block')
  return {
    txHash: log.transactionHash,
    logIndex: toLogIndex(log.logIndex),
    blockNumber: toNumber(log.blockNumber),
    blockHash: log.blockHash,
    blockTime: log.blockTimestamp === undefined || log.blockTimestamp === null ? undefined : toNumber(log.blockTimestamp),
  }
}

/** No block has as many; the database would refuse more. */
const LOG_INDEX_MAX = 2 ** 31 - 1
function toLogIndex(quantity: unknown): number {
  const index = toNumber(quantity)
  if (index > LOG_INDEX_MAX) throw new MalformedLogError(`no block has a log ${index}`)
  return index
}

/** A quantity of JSON-RPC as a number. Throws MalformedLogError when it is none, or too large to be exact. */
export function toNumber(quantity: unknown): number {
  if (typeof quantity !== 'string' || !QUANTITY.test(quantity)) throw new MalformedLogError(`not a quantity: ${String(quantity)}`)
  return Number.parseInt(quantity, 16)
}

export const byPlace = (a: Place, b: Place) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex
