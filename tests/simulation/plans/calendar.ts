import type { Amendment } from './merchant'

/** The oracle's own calendar: civil days of a few zones, with their changes of the clocks written out, and no library of the services. */

const [HOUR, DAY] = [3_600_000, 86_400_000]
/** In days, or in months. */
const STEP = { day: { days: 1 }, week: { days: 7 }, month: { months: 1 }, year: { months: 12 } } as const

/** Since when clocks show so many hours more than UTC. */
const CLOCKS: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  UTC: [[0, 0]],
  'America/New_York': [
    [0, -5],
    [Date.UTC(2026, 2, 8, 7), -4],
    [Date.UTC(2026, 10, 1, 6), -5],
    [Date.UTC(2027, 2, 14, 7), -4],
    [Date.UTC(2027, 10, 7, 6), -5],
    [Date.UTC(2028, 2, 12, 7), -4],
    [Date.UTC(2028, 10, 5, 6), -5],
  ],
  'Europe/Berlin': [
    [0, 1],
    [Date.UTC(2026, 2, 29, 1), 2],
    [Date.UTC(2026, 9, 25, 1), 1],
    [Date.UTC(2027, 2, 28, 1), 2],
    [Date.UTC(2027, 9, 31, 1), 1],
    [Date.UTC(2028, 2, 26, 1), 2],
    [Date.UTC(2028, 9, 29, 1), 1],
  ],
  'Australia/Sydney': [
    [0, 11],
    [Date.UTC(2026, 3, 4, 16), 10],
    [Date.UTC(2026, 9, 3, 16), 11],
    [Date.UTC(2027, 3, 3, 16), 10],
    [Date.UTC(2027, 9, 2, 16), 11],
    [Date.UTC(2028, 3, 1, 16), 10],
    [Date.UTC(2028, 8, 30, 16), 11],
  ],
  'Australia/Lord_Howe': [
    [0, 11],
    [Date.UTC(2026, 3, 4, 15), 10.5],
    [Date.UTC(2026, 9, 3, 15, 30), 11],
    [Date.UTC(2027, 3, 3, 15), 10.5],
    [Date.UTC(2027, 9, 2, 15, 30), 11],
    [Date.UTC(2028, 3, 1, 15), 10.5],
    [Date.UTC(2028, 8, 30, 15, 30), 11],
  ],
}
export const ZONES = Object.keys(CLOCKS)

interface Terms {
  interval: keyof typeof STEP
  intervalCount: number
  timezone: string
}

/** Terms that hold from a period on, which begins at `at`; later ones are counted from a civil time, `passed` steps before this one. */
interface Stretch extends Terms {
  period: number
  at: number
  civil: number
  passed: number
}

export interface Calendar {
  beginOf(period: number): number
  periodAt(at: number): number
}

/** The calendar of a plan as its merchant has changed it until now; without a schedule any moment belongs to any period. */
export function calendarOf(
  first: (Terms & { firstAt: Date }) | null,
  amendments: readonly { at: number; amendment: Amendment }[],
): Calendar {
  if (first === null) return { beginOf: period => (period > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY), periodAt: () => 0 }
  const opening = stretch(first, 0, first.firstAt.getTime())
  const stretches = [opening]
  const beginOf = (period: number): number => {
    const known = stretches.findLast(({ period: from }) => from <= period) ?? opening
    return period === known.period ? known.at : instant(known.timezone, civilAfter(known, passedAt(known, period)))
  }
  const periodAt = (at: number): number => {
    let period = stretches.findLast(each => each.at <= at)?.period ?? -1
    while (period >= 0 && beginOf(period + 1) <= at) period += 1
    return period
  }
  for (const { at, amendment } of amendments) {
    const { interval, intervalCount, timezone } = amendment
    if ((interval ?? intervalCount ?? timezone) === undefined) continue
    const now = stretches.at(-1) ?? opening
    const period = Math.max(periodAt(at) + 1, now.period)
    const terms = {
      interval: interval ?? now.interval,
      intervalCount: intervalCount ?? now.intervalCount,
      timezone: timezone ?? now.timezone,
    }
    const next = stretch(terms, period, beginOf(period))
    // Days go on from where they were in the same zone, and months in any, so that the 31st stays the 31st behind a February.
    const goesOn = inMonths(now) === inMonths(next) && (inMonths(now) || now.timezone === next.timezone)
    if (now.period === period) stretches.pop()
    stretches.push(goesOn ? { ...next, civil: now.civil, passed: passedAt(now, period) } : next)
  }
  return { beginOf, periodAt }
}

const stretch = (terms: Terms, period: number, at: number): Stretch => ({
  ...{ interval: terms.interval, intervalCount: terms.intervalCount, timezone: terms.timezone },
  ...{ period, at, civil: at + offsetAt(terms.timezone, at), passed: 0 },
})

const inMonths = ({ interval }: Terms) => 'months' in STEP[interval]

function passedAt({ interval, intervalCount, period: from, passed }: Stretch, period: number): number {
  const step = STEP[interval]
  return passed + (period - from) * intervalCount * ('months' in step ? step.months : step.days)
}

/** A day that the month lacks is its last. */
function civilAfter(known: Stretch, steps: number): number {
  const { civil } = known
  if (!inMonths(known)) return civil + steps * DAY
  const from = new Date(civil)
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + steps]
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, Math.min(from.getUTCDate(), last)) + (civil % DAY)
}

/** When clocks show this: the first of two times, and the end of the gap where they skip it. */
export function instant(zone: string, civil: number): number {
  const clocks = CLOCKS[zone] ?? []
  for (const [index, [since, hours]] of clocks.entries()) {
    const until = clocks[index + 1]?.[0] ?? Number.POSITIVE_INFINITY
    // What is not shown before `until` is shown later, or is skipped at `until`.
    if (civil - hours * HOUR < until) return Math.max(since, civil - hours * HOUR)
  }
  return civil
}

const offsetAt = (zone: string, at: number): number => (CLOCKS[zone]?.findLast(([since]) => since <= at)?.[1] ?? 0) * HOUR
