import type { PaymentTerms, Place, SeenPayment } from './logs/payment-received'

export type PaymentState = 'detected' | 'confirmed' | 'orphaned'
export type TimedPayment = SeenPayment & { blockTime: number }

/** A row of the chain's ledger: a router payment, a transfer to a deposit address, or a sweep. Block hash and log index identify it. */
export interface Payment extends TimedPayment {
  state: PaymentState
}

/** A node shows a log or transaction in another way than our chain has it: one of the two answers is wrong. */
export class ContradictionError extends Error {
  override name = 'ContradictionError'
}

/** Rows for what some blocks show; those up to `line` are confirmed at first sight. */
export const include = (seen: readonly TimedPayment[], line: number): Payment[] =>
  seen.map(one => placed(one, one.blockNumber <= line ? 'confirmed' : 'detected'))

/**
 * Of what blocks show that we have passed, the rows that are new or become confirmed; `known` are the live rows of these blocks. Throws
 * ContradictionError.
 */
export function includeAgain(seen: readonly TimedPayment[], known: readonly Payment[], line: number): Payment[] {
  const rows = new Map(known.map(payment => [placeOf(payment), payment]))
  const blocks = new Map(known.map(({ txHash, blockHash }) => [txHash, blockHash]))
  return include(seen, line).filter(one => {
    const before = rows.get(placeOf(one))
    if ((before && !sameTerms(before, one)) || (blocks.get(one.txHash) ?? one.blockHash) !== one.blockHash)
      throw new ContradictionError(`transaction ${one.txHash} is in block ${one.blockHash}, and otherwise in the books`)
    return before?.state !== 'confirmed' && before?.state !== one.state
  })
}

/** Transfers to these addresses that were seen in blocks below the line, and are not among what nodes agree on there. */
export function unseen(known: readonly Payment[], seen: readonly TimedPayment[], subjects: readonly string[], line: number): Payment[] {
  const shown = new Set(seen.map(placeOf))
  const isOf = ({ kind, state, deposit, blockNumber }: Payment) =>
    kind === 'transfer' && state === 'detected' && blockNumber <= line && deposit !== null && subjects.includes(deposit)
  return known.filter(payment => isOf(payment) && !shown.has(placeOf(payment)))
}

export const become = (payments: readonly Payment[], state: PaymentState): Payment[] => payments.map(payment => placed(payment, state))

const placeOf = ({ blockHash, logIndex }: Place) => `${blockHash} ${logIndex}`

/** Field by field: while catching up this runs for every payment, and copying by spread costs several times more. */
const placed = (one: TimedPayment, state: PaymentState): Payment => ({
  kind: one.kind,
  router: one.router,
  memo: one.memo,
  merchant: one.merchant,
  payer: one.payer,
  amount: one.amount,
  fee: one.fee,
  deposit: one.deposit,
  txHash: one.txHash,
  logIndex: one.logIndex,
  blockNumber: one.blockNumber,
  blockHash: one.blockHash,
  blockTime: one.blockTime,
  state,
})

const sameTerms = (a: PaymentTerms & Place, b: PaymentTerms & Place) =>
  a.kind === b.kind &&
  a.txHash === b.txHash &&
  a.memo === b.memo &&
  a.merchant === b.merchant &&
  a.payer === b.payer &&
  a.amount === b.amount &&
  (a.fee === b.fee || a.fee === null || b.fee === null) &&
  a.router === b.router &&
  a.deposit === b.deposit
