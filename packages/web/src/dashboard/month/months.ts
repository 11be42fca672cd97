import { BOOKS_ZONE } from '../../due-day'

const monthOf = (year: number, month: number): string => new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 7)

/** The civil month there: `2026-11`. */
export function monthAt(at: Date): string {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone: BOOKS_ZONE, year: 'numeric', month: '2-digit' }).formatToParts(at)
  const part = (type: string) => parts.find(each => each.type === type)?.value ?? ''
  return `${part('year')}-${part('month')}`
}

export const monthAfter = (month: string, by: number): string => monthOf(Number(month.slice(0, 4)), Number(month.slice(5)) - 1 + by)

export function daysOf(month: string): { from: string; to: string } {
  const last = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0))
  return { from: `${month}-01`, to: last.toISOString().slice(0, 10) }
}

/** The instants between which it lies: since 2019 clocks there are three hours behind UTC all year. */
export const instantsOf = (month: string): { at_gte: string; at_lt: string } => ({
  at_gte: `${month}-01T03:00:00.000Z`,
  at_lt: `${monthAfter(month, 1)}-01T03:00:00.000Z`,
})

/** The same of the civil year that a month is in. */
export const yearOf = (month: string): { at_gte: string; at_lt: string } => ({
  at_gte: `${month.slice(0, 4)}-01-01T03:00:00.000Z`,
  at_lt: `${Number(month.slice(0, 4)) + 1}-01-01T03:00:00.000Z`,
})

/** Duties of a month by law, as of the day on which it was read. */
export interface Duty {
  /** The first month that it holds for. */
  since: string
  limitCentavos: bigint
  source: string
  url: string
  read: string
}
export const DUTIES: readonly Duty[] = [
  {
    since: '2026-07',
    limitCentavos: 3_500_000n,
    source: 'IN RFB nº 2.291/2025, art. 5º, II, c, § 3º',
    url: 'https://www.lex.com.br/instrucao-normativa-rfb-no-2-291-de-14-de-novembro-de-2025',
    read: '2026-11-22',
  },
]

export const dutyOf = (month: string): Duty | undefined => DUTIES.findLast(({ since }) => since <= month)
