import type { Payment, TimedPayment } from './payment'

/** A majority of the end points from three on; with one or two there is nobody to settle a disagreement, and one suffices. */
export const quorumOf = (urls: number, configured: number | undefined) =>
  Math.min(urls, configured ?? (urls >= 3 ? Math.floor(urls / 2) + 1 : 1))

/** The same text for the same payments in the same blocks, whoever read them in whatever order. */
export function digest(payments: readonly (Payment | TimedPayment)[]): string {
  return payments
    .map(p => [p.blockNumber, p.logIndex, p.blockHash, p.txHash, p.router, p.memo, p.merchant, p.payer, p.share, p.fee].join(' '))
    .sort()
    .join('\n')
}
