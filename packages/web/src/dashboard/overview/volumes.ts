import type { SummaryBody } from '@ponte/contracts'
import { parseBrl } from '@ponte/contracts/money'

export type Day = SummaryBody['periods'][number]

const dateOf = (at: Date): string =>
  `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`

/** The civil days of a span that ends with the day of `now`, in the time zone of this browser. */
export function spanOf(now: Date, days: number): { from: string; to: string } {
  return { from: dateOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - days + 1)), to: dateOf(now) }
}

/** Height of a period's bar, in centavos: none where more was taken back than came. */
export const heightUnits = ({ brl_amount }: Pick<Day, 'brl_amount'>): bigint => (brl_amount.startsWith('-') ? 0n : parseBrl(brl_amount))

/** Where the axis of a chart ends: 1, 2 or 5 times a power of ten reais that no day goes beyond. In centavos. */
export function scaleTop(days: readonly Pick<Day, 'brl_amount'>[]): bigint {
  const most = days.map(heightUnits).reduce((top, amount) => (amount > top ? amount : top), 0n)
  for (let unit = 100_00n; ; unit *= 10n) {
    const top = [1n, 2n, 5n].map(times => times * unit).find(level => level >= most)
    if (top) return top
  }
}
