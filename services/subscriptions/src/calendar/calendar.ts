import { DateTime, IANAZone } from 'luxon'

/** The calendar of a plan: where its periods begin. Civil time in an IANA zone, always reckoned from the anchor (docs/money.md#subscriptions). */

export type Interval = 'day' | 'week' | 'month' | 'year'

export interface Schedule {
  interval: Interval
  intervalCount: number
  timezone: string
  /** The first period that this schedule reckons, and the instant at which it begins. */
  firstIndex: number
  firstAt: Date
  /** Civil date and time, without a zone, that every later boundary is counted from: `2026-01-31T23:30:00.000`. */
  anchor: string
  /** Distance of the first boundary behind the anchor, in days or months, when the schedule continues an older one. */
  offset: number
}

const UNIT = {
  day: { days: 1 },
  week: { days: 7 },
  month: { months: 1 },
  year: { months: 12 },
} as const satisfies Record<Interval, { days: number } | { months: number }>

/** No plan is kept for so long: what would begin later begins then, and is a date that the interface holds. */
const LAST_MS = Date.parse('2999-12-31T23:59:59.999Z')
const AVERAGE_MS = { day: 86_400_000, week: 604_800_000, month: 2_629_746_000, year: 31_556_952_000 } as const
const DAY_MS = 86_400_000

export function openSchedule(plan: { interval: Interval; intervalCount: number; timezone: string; startAt: Date }): Schedule {
  const { interval, intervalCount, timezone, startAt } = plan
  return { interval, intervalCount, timezone, firstIndex: 0, firstAt: startAt, anchor: civilTime(startAt, timezone), offset: 0 }
}

/**
 * The schedule from its period `index` on with another interval, count or zone. That period begins when it would have begun anyway.
 * Months keep counting from the old anchor, so that a plan of the 31st whose change falls on 28 February still means the 31st.
 */
export function reschedule(
  schedule: Schedule,
  change: Partial<Pick<Schedule, 'interval' | 'intervalCount' | 'timezone'>>,
  index: number,
): Schedule {
  const next = { ...schedule, ...change, firstIndex: index, firstAt: boundary(schedule, index) }
  const keepsAnchor = inMonths(schedule) ? inMonths(next) : !inMonths(next) && next.timezone === schedule.timezone
  if (keepsAnchor) return { ...next, offset: distance(schedule, index) }
  return { ...next, anchor: civilTime(next.firstAt, next.timezone), offset: 0 }
}

/**
 * The instant at which period `index` begins. A day that the month lacks becomes its last; a civil time that the zone skips becomes the first
 * instant after the gap; one that it repeats is taken the first time. Throws RangeError for a period before the schedule's first.
 */
export function boundary(schedule: Schedule, index: number): Date {
  if (index < schedule.firstIndex) throw new RangeError(`The schedule begins with period ${schedule.firstIndex}, not ${index}.`)
  if (index === schedule.firstIndex) return schedule.firstAt
  const known = reckoned.get(schedule) ?? new Map<number, number>()
  reckoned.set(schedule, known)
  const at = known.get(index) ?? reckon(schedule, index).getTime()
  known.set(index, at)
  return new Date(at)
}

/** Zones are slow to ask, and one decision asks for the same boundary many times. */
const reckoned = new WeakMap<Schedule, Map<number, number>>()

function reckon(schedule: Schedule, index: number): Date {
  const steps = distance(schedule, index)
  const civil = DateTime.fromISO(schedule.anchor, { zone: 'utc' }).plus(inMonths(schedule) ? { months: steps } : { days: steps })
  if (!(civil.toMillis() < LAST_MS)) return new Date(LAST_MS)
  return instant(civil.toMillis(), IANAZone.create(schedule.timezone))
}

/** The period that `at` lies in; one less than the schedule's first when it has not begun. */
export function periodAt(schedule: Schedule, at: Date): number {
  const { firstIndex, firstAt, interval, intervalCount } = schedule
  if (at < firstAt) return firstIndex - 1
  const guess = Math.floor((at.getTime() - firstAt.getTime()) / (AVERAGE_MS[interval] * intervalCount))
  let index = firstIndex + Math.max(0, guess)
  while (index > firstIndex && boundary(schedule, index) > at) index -= 1
  while (at.getTime() < LAST_MS && boundary(schedule, index + 1) <= at) index += 1
  return index
}

const inMonths = (schedule: Pick<Schedule, 'interval'>) => 'months' in UNIT[schedule.interval]

function distance(schedule: Schedule, index: number): number {
  const unit = UNIT[schedule.interval]
  const step = ('months' in unit ? unit.months : unit.days) * schedule.intervalCount
  return schedule.offset + (index - schedule.firstIndex) * step
}

const civilTime = (at: Date, timezone: string): string => DateTime.fromJSDate(at, { zone: timezone }).toFormat("yyyy-MM-dd'T'HH:mm:ss.SSS")

/** The instant at which clocks of the zone show a civil time, given as if it were UTC. */
function instant(civilMs: number, zone: IANAZone): Date {
  // No zone is further than a day from UTC, so these two are the offsets on either side of any change that could matter here.
  const [before, after] = [zone.offset(civilMs - DAY_MS) * 60_000, zone.offset(civilMs + DAY_MS) * 60_000]
  const candidates = [civilMs - before, civilMs - after].filter(ms => ms + zone.offset(ms) * 60_000 === civilMs)
  return new Date(candidates.length > 0 ? Math.min(...candidates) : endOfGap(civilMs - after, civilMs - before, zone))
}

/** The first millisecond in `(low, high]` that has the offset of `high`: where the clocks jumped. */
function endOfGap(low: number, high: number, zone: IANAZone): number {
  const offset = zone.offset(high)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (zone.offset(middle) === offset) high = middle
    else low = middle
  }
  return high
}
