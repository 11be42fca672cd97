import type { Amendment } from './merchant'

/** The oracle's own calendar: civil days of a few zones, with their changes of the clocks written out, and no library of the services. */

const [HOUR, DAY] = [3_600_000, 86_400_000]
const DAYS = { day: 1, week: 7, month: Number.NaN, year: Number.NaN }

/** Since when clocks show so many hours more than UTC. */
const CLOCKS: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  UTC: [[0, 0]],
  'America/New_York': [
    [0, -5],
    [Date.UTC(2026, 2, 8, 7), -4],
    [Date.UTC(2026, 10, 1, 6), -5],
    [Date.UTC(2027, 2, 14, 7), -4],
    [Date.UTC(2027, 10, 7, 6), -5],
  ],
  'Europe/Berlin': [
    [0, 1],
    [Date.UTC(2026, 2, 29, 1), 2],
    [Date.UTC(2026, 9, 25, 1), 1],
    [Date.UTC(2027, 2, 28, 1), 2],
    [Date.UTC(2027, 9, 31, 1), 1],
  ],
  'Australia/Sydney': [
    [0, 11],
    [Date.UTC(2026, 3, 4, 16), 10],
    [Date.UTC(2026, 9, 3, 16), 11],
    [Date.UTC(2027, 3, 3, 16), 10],
    [Date.UTC(2027, 9, 2, 16), 11],
  ],
}
export const ZONES = Object.keys(CLOCKS)

interface Terms {
  interval: keyof typeof DAYS
  intervalCount: number
  timezone: string
}

/** Terms that hold from a period on, which begins at `at`. */
interface Stretch extends Terms {
  period: number
  at: number
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
  const opening: Stretch = { ...first, period: 0, at: first.firstAt.getTime() }
  const stretches = [opening]
  const beginOf = (period: number): number => {
    const { at, timezone, interval, intervalCount, period: from } = stretches.findLast(stretch => stretch.period <= period) ?? opening
    const civil = at + offsetAt(timezone, at) + (period - from) * DAYS[interval] * intervalCount * DAY
    return civil - offsetAt(timezone, civil - offsetAt(timezone, civil))
  }
  const periodAt = (at: number): number => {
    let period = stretches.findLast(stretch => stretch.at <= at)?.period ?? -1
    while (period >= 0 && beginOf(period + 1) <= at) period += 1
    return period
  }
  for (const { at, amendment } of amendments) {
    const { interval, intervalCount, timezone } = amendment
    if ((interval ?? intervalCount ?? timezone) === undefined) continue
    const now = stretches.at(-1) ?? opening
    const period = Math.max(periodAt(at) + 1, now.period)
    const next = {
      interval: interval ?? now.interval,
      intervalCount: intervalCount ?? now.intervalCount,
      timezone: timezone ?? now.timezone,
    }
    const begin = beginOf(period)
    if (now.period === period) stretches.pop()
    stretches.push({ ...next, period, at: begin })
  }
  return { beginOf, periodAt }
}

const offsetAt = (zone: string, at: number): number => (CLOCKS[zone]?.findLast(([since]) => since <= at)?.[1] ?? 0) * HOUR
