import type { SeenPayment } from './payment-log'

/** A majority of the end points from three on; with one or two there is nobody to settle a disagreement, and one suffices. */
export const quorumOf = (urls: number, configured: number | undefined) =>
  Math.min(urls, configured ?? (urls >= 3 ? Math.floor(urls / 2) + 1 : 1))

/** The same text for the same payments up to the same block, whoever read them in whatever order. */
export function digest(lastHash: string, payments: readonly SeenPayment[]): string {
  const lines = payments.map(p =>
    [p.blockNumber, p.logIndex, p.blockHash, p.txHash, p.router, p.memo, p.merchant, p.payer, p.share, p.fee, p.deposit].join(' '),
  )
  return [lastHash, ...lines.sort()].join('\n')
}

/** The answer that at least `quorum` gave; a quorum of half or less takes the most frequent one. */
export function tally(answers: readonly string[], quorum: number): string | undefined {
  const counts = new Map<string, number>()
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  const [best] = [...counts].sort(([, a], [, b]) => b - a)
  return best && best[1] >= quorum ? best[0] : undefined
}
