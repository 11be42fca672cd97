import type { SubscriptionBody } from '@ponte/contracts'

type Interval = NonNullable<SubscriptionBody['interval']>

/** A civil date as UTC midnight, so that no daylight saving touches it. */
const civil = (year: number, month: number, day: number) => new Date(Date.UTC(year, month, day))

/**
 * The civil dates of the coming periods, always counted from the anchor: 31 January, 28 February, 31 March. For showing only; what is issued
 * and when is the service's word (`next_charge_at`).
 */
export function comingDates(of: {
  startAt: string
  timezone: string
  interval: Interval
  count: number
  nextAt: string
  periods: number
}): Date[] {
  const anchor = dateIn(of.startAt, of.timezone)
  const next = dateIn(of.nextAt, of.timezone).getTime()
  const dates: Date[] = []
  for (let period = 0; dates.length < of.periods && period < 5000; period += 1) {
    const date = boundary(anchor, of.interval, of.count * period)
    if (date.getTime() >= next) dates.push(date)
  }
  return dates
}

function boundary(anchor: Date, interval: Interval, steps: number): Date {
  const [year, month, day] = [anchor.getUTCFullYear(), anchor.getUTCMonth(), anchor.getUTCDate()]
  if (interval === 'day') return civil(year, month, day + steps)
  if (interval === 'week') return civil(year, month, day + 7 * steps)
  const months = month + (interval === 'year' ? 12 * steps : steps)
  const last = civil(year, months + 1, 0).getUTCDate()
  return civil(year, months, Math.min(day, last))
}

function dateIn(iso: string, timeZone: string): Date {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(new Date(iso)).split('-').map(Number)
  return civil(parts[0] ?? 0, (parts[1] ?? 1) - 1, parts[2] ?? 1)
}
