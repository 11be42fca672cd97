import { type ChainPayment, formatUsdc, type NewEvent } from '@ponte/contracts'
import type { PaymentTerms, SeenPayment } from './logs/payment-received'

export type PaymentState = 'detected' | 'confirmed' | 'orphaned'

/**
 * A payment of one chain. Transaction and ordinal identify it for ever: block and log index move in a reorganisation, and its terms never
 * change under the same ordinal. `revision` counts what was said about it.
 */
export interface Payment extends SeenPayment {
  ordinal: number
  blockTime: number
  state: PaymentState
  revision: number
}

/** What is said about a payment, in the order it is said. */
export interface Fact {
  type: 'payment.detected' | 'payment.confirmed' | 'payment.orphaned'
  payment: Payment
}

/** Payments as they are to be written, and the facts that go with them. */
export interface Change {
  payments: Payment[]
  facts: Fact[]
}

/** A node shows a transaction in one block that our chain has in another: one of the two answers is wrong. */
export class ContradictionError extends Error {
  override name = 'ContradictionError'
}

export type TimedPayment = SeenPayment & { blockTime: number }

/**
 * Takes in what a stretch of chain shows. `known` are the payments of the same transactions that we have already: orphaned ones come back under
 * their ordinal, and a transaction that paid something else in its new block gets new ordinals for that. What is deep enough already is
 * confirmed at first sight, and not told as detected before. Throws ContradictionError.
 */
export function include(seen: readonly TimedPayment[], known: readonly Payment[], isConfirmed: (blockNumber: number) => boolean): Change {
  const change: Change = { payments: [], facts: [] }
  const knownByTx = new Map<string, Payment[]>()
  for (const payment of known) knownByTx.set(payment.txHash, [...(knownByTx.get(payment.txHash) ?? []), payment])
  const taken = new Set<Payment>()
  // Ordinals count on within a transaction, whose payments stand together.
  let txHash = ''
  let next = 0
  for (const one of seen.toSorted(byPlace)) {
    const ours = knownByTx.get(one.txHash)
    if (one.txHash !== txHash) {
      txHash = one.txHash
      next = ours?.reduce((highest, payment) => Math.max(highest, payment.ordinal + 1), 0) ?? 0
    }
    const before = ours?.find(payment => !taken.has(payment) && sameTerms(payment, one))
    if (before) taken.add(before)
    if (before && before.state !== 'orphaned') {
      if (before.blockHash === one.blockHash) continue
      throw new ContradictionError(`transaction ${one.txHash} is in block ${before.blockHash} and in block ${one.blockHash}`)
    }
    const payment = placed(one, before?.ordinal ?? next++, before?.revision ?? 0)
    const confirmed = isConfirmed(one.blockNumber)
    if (!confirmed || payment.deposit !== null) say(change, payment, 'detected')
    if (confirmed) say(change, payment, 'confirmed')
    change.payments.push(payment)
  }
  return change
}

/** Field by field: while catching up this runs for every payment, and copying by spread costs several times more. */
const placed = (one: TimedPayment, ordinal: number, revision: number): Payment => ({
  router: one.router,
  memo: one.memo,
  merchant: one.merchant,
  payer: one.payer,
  share: one.share,
  fee: one.fee,
  deposit: one.deposit,
  txHash: one.txHash,
  logIndex: one.logIndex,
  blockNumber: one.blockNumber,
  blockHash: one.blockHash,
  blockTime: one.blockTime,
  ordinal,
  state: 'orphaned',
  revision,
})

/** Confirms payments that are detected; the others stay as they are. */
export function confirm(payments: readonly Payment[]): Change {
  return turn(payments, 'confirmed', payment => payment.state === 'detected')
}

/** Says of every payment that is part of the chain that it is not any more. */
export function orphan(payments: readonly Payment[]): Change {
  return turn(payments, 'orphaned', payment => payment.state !== 'orphaned')
}

export const merge = (...changes: readonly Change[]): Change => ({
  payments: changes.flatMap(change => change.payments),
  facts: changes.flatMap(change => change.facts),
})

function turn(payments: readonly Payment[], state: PaymentState, concerns: (payment: Payment) => boolean): Change {
  const change: Change = { payments: [], facts: [] }
  for (const before of payments.filter(concerns).toSorted(byPlace)) {
    const payment = { ...before }
    say(change, payment, state)
    change.payments.push(payment)
  }
  return change
}

function say(change: Change, payment: Payment, state: PaymentState): void {
  payment.state = state
  // Of a transfer to a deposit address nobody hears that it is confirmed: its sweep is the payment.
  if (state === 'confirmed' && payment.deposit !== null) return
  payment.revision += 1
  change.facts.push({ type: `payment.${state}`, payment })
}

/** The order of the chain. */
export const byPlace = (a: SeenPayment, b: SeenPayment) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex

const sameTerms = (a: PaymentTerms, b: PaymentTerms) =>
  a.memo === b.memo &&
  a.merchant === b.merchant &&
  a.payer === b.payer &&
  a.share === b.share &&
  a.fee === b.fee &&
  a.router === b.router &&
  a.deposit === b.deposit

/** The transfers that a payment out of a deposit address stands for: what had come there before it. */
export const sweptBy = (sweep: Payment, transfers: readonly Payment[]): Payment[] =>
  transfers.filter(one => one.deposit === sweep.payer && one.state !== 'orphaned' && byPlace(one, sweep) < 0)

export interface Telling {
  chainId: number
  token: string
  /** The last number used on this chain. */
  sequence: number
  checksum(address: string): string
  /** Everything that came to the deposit addresses of which these facts speak. */
  transfers: readonly Payment[]
}

/** Facts as events, numbered on from `sequence`. */
export function toEvents(facts: readonly Fact[], telling: Telling): NewEvent[] {
  return facts.map(({ type, payment }, index) => ({ type, data: toData(payment, telling, telling.sequence + index + 1) }))
}

function toData(payment: Payment, { chainId, token, checksum, transfers }: Telling, sequence: number): ChainPayment {
  const data: ChainPayment = {
    payment_id: idOf(chainId, payment),
    sequence,
    revision: payment.revision,
    chain_id: chainId,
    router_address: checksum(payment.router),
    token_address: checksum(token),
    memo: payment.memo,
    merchant_address: checksum(payment.merchant),
    payer_address: checksum(payment.payer),
    merchant_share: formatUsdc(payment.share),
    fee: formatUsdc(payment.fee),
    tx_hash: payment.txHash,
    block_number: payment.blockNumber,
    block_hash: payment.blockHash,
    block_time: toTime(payment.blockTime),
  }
  const swept = transfers.length === 0 ? [] : sweptBy(payment, transfers)
  const last = swept.at(-1)
  if (!last) return data
  return { ...data, replaces: swept.map(one => idOf(chainId, one)), sent_time: toTime(last.blockTime) }
}

const idOf = (chainId: number, { txHash, ordinal }: Payment) => `${chainId}:${txHash}:${ordinal}`

let spelt = { seconds: 0, time: new Date(0).toISOString() }
/** Payments of one block follow each other and share its time, which is dear to spell. */
function toTime(seconds: number): string {
  if (spelt.seconds !== seconds) spelt = { seconds, time: new Date(seconds * 1_000).toISOString() }
  return spelt.time
}
