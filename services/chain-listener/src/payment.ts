import { byPlace, type PaymentTerms, type SeenPayment } from './logs/payment-received'

export type PaymentState = 'detected' | 'confirmed' | 'orphaned'

/**
 * A row of the chain's ledger: a router payment, a transfer to a deposit address, or a sweep. Transaction and ordinal identify it for ever: block
 * and log index move in a reorganisation, and its terms never change under the same ordinal. `revision` is the number of the last event published
 * about it, 0 before the first: it grows also where the rows of later events were lost with a database.
 */
export interface Payment extends SeenPayment {
  ordinal: number
  blockTime: number
  state: PaymentState
  revision: number
}

/** A transition that is published. A sweep is not published before it is confirmed. */
export interface Fact {
  type: `payment.${PaymentState}` | 'sweep.confirmed' | 'sweep.orphaned'
  payment: Payment
}

/** Rows as they are to be written, and the facts that go with them. */
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
 * Takes in what some blocks show. `known` are the rows of the same transactions that we have already: orphaned ones come back under their
 * ordinal, and a transaction that paid something else in its new block gets new ordinals for that. What is deep enough already is confirmed at
 * first sight, and not published as detected before. Throws ContradictionError.
 */
export function include(seen: readonly TimedPayment[], known: readonly Payment[], isConfirmed: (blockNumber: number) => boolean): Change {
  const change: Change = { payments: [], facts: [] }
  const knownByTx = new Map<string, Payment[]>()
  for (const payment of known) knownByTx.set(payment.txHash, [...(knownByTx.get(payment.txHash) ?? []), payment])
  const taken = new Set<Payment>()
  // Ordinals count on within a transaction, whose rows stand together.
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
    become(change, payment, isConfirmed(one.blockNumber) ? 'confirmed' : 'detected')
  }
  return change
}

/** Field by field: while catching up this runs for every payment, and copying by spread costs several times more. */
const placed = (one: TimedPayment, ordinal: number, revision: number): Payment => ({
  kind: one.kind,
  router: one.router,
  memo: one.memo,
  merchant: one.merchant,
  payer: one.payer,
  amount: one.amount,
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

/** Confirms rows that are detected; the others stay as they are. */
export function confirm(payments: readonly Payment[]): Change {
  return turn(payments, 'confirmed', payment => payment.state === 'detected')
}

/** Every row that was part of the chain is not any more. */
export function orphan(payments: readonly Payment[]): Change {
  return turn(payments, 'orphaned', payment => payment.state !== 'orphaned')
}

/** Gives each payment the number of the event about it, counted on from the last that was given. */
export function assignRevisions({ facts }: Change, sequence: number): void {
  for (const [index, { payment }] of facts.entries()) payment.revision = Math.max(payment.revision, sequence + index) + 1
}

export const merge = (...changes: readonly Change[]): Change => ({
  payments: changes.flatMap(change => change.payments),
  facts: changes.flatMap(change => change.facts),
})

function turn(payments: readonly Payment[], state: PaymentState, concerns: (payment: Payment) => boolean): Change {
  const change: Change = { payments: [], facts: [] }
  for (const before of payments.filter(concerns).toSorted(byPlace)) become(change, { ...before }, state)
  return change
}

function become(change: Change, payment: Payment, state: PaymentState): void {
  const type = factOf(payment, state)
  payment.state = state
  change.payments.push(payment)
  if (type) change.facts.push({ type, payment })
}

function factOf({ kind, state: before }: Payment, state: PaymentState): Fact['type'] | undefined {
  if (kind !== 'sweep') return `payment.${state}`
  if (state === 'confirmed') return 'sweep.confirmed'
  return state === 'orphaned' && before === 'confirmed' ? 'sweep.orphaned' : undefined
}

const sameTerms = (a: PaymentTerms, b: PaymentTerms) =>
  a.kind === b.kind &&
  a.memo === b.memo &&
  a.merchant === b.merchant &&
  a.payer === b.payer &&
  a.amount === b.amount &&
  a.router === b.router &&
  a.deposit === b.deposit
