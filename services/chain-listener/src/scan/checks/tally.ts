import type { Block } from '../../logs/block'
import { byPlace, type SeenPayment } from '../../logs/payment-received'
import type { Header } from '../../proof/header'

export const headOf = ({ hash, time }: Pick<Block, 'hash' | 'time'>) => `${hash} ${time}`

const lineOf = (p: SeenPayment) =>
  [
    ...[p.blockNumber, p.logIndex, p.blockHash, p.blockTime, p.txHash, p.kind, p.router, p.memo, p.merchant, p.payer, p.amount],
    ...[p.fee, p.deposit],
  ].join(' ')

/**
 * The header that enough nodes name. Any word counts for a hash; the header itself is one that hashes to it, or, on a chain without such headers, one that
 * enough nodes show with the same time.
 */
export function agreedHeader(claims: readonly (Header & { isWorthless: boolean })[], quorum: number): Header | undefined {
  const honest = claims.filter(({ isWorthless }) => !isWorthless)
  const hashed = ({ hash, transactions }: Header) => `${hash} ${transactions}`
  const winner = tally(claims.map(hashed), quorum)
  const sealed = honest.find(header => header.isSealed && hashed(header) === winner)
  if (sealed) return sealed
  const timed = (header: Header) => `${headOf(header)} ${header.transactions}`
  const unsealed = honest.filter(({ isSealed }) => !isSealed)
  const agreed = tally(unsealed.map(timed), quorum)
  return unsealed.find(header => timed(header) === agreed)
}

/** The same text for the same payments, at the same times, whichever node read them in whatever order. */
export const linesOf = (payments: readonly SeenPayment[]): string => payments.map(lineOf).sort().join('\n')

export function areSame(payments: readonly SeenPayment[], others: readonly SeenPayment[]): boolean {
  const sorted = payments.toSorted(byPlace)
  return sorted.length === others.length && sorted.every((one, index) => isSame(one, others[index] ?? one))
}

// Field by field: while catching up this runs for every payment.
const isSame = (a: SeenPayment, b: SeenPayment) =>
  a === b ||
  (a.blockNumber === b.blockNumber &&
    a.logIndex === b.logIndex &&
    a.blockHash === b.blockHash &&
    a.blockTime === b.blockTime &&
    a.txHash === b.txHash &&
    a.kind === b.kind &&
    a.router === b.router &&
    a.memo === b.memo &&
    a.merchant === b.merchant &&
    a.payer === b.payer &&
    a.amount === b.amount &&
    a.fee === b.fee &&
    a.deposit === b.deposit)

/** The same for payments up to the same block. */
export const digest = (last: Pick<Block, 'hash' | 'time'>, payments: readonly SeenPayment[]): string =>
  `${headOf(last)}\n${linesOf(payments)}`

/** The answer that at least `quorum` gave; a quorum of half or less takes the most frequent one. */
export function tally(answers: readonly string[], quorum: number): string | undefined {
  const counts = new Map<string, number>()
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  const [best] = [...counts].sort(([, a], [, b]) => b - a)
  return best && best[1] >= quorum ? best[0] : undefined
}
