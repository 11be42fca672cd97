const DAY_MS = 86_400_000

export type PeriodUnit = 'day' | 'week' | 'month'

/** A civil day, week or month, or as much of it as lies in a range. */
export interface CivilPeriod {
  /** Its first day: `2026-11-20`. */
  date: string
  start: Date
  /** Exclusive: the start of the period after. */
  end: Date
}

/** The civil periods of a time zone from one date to another, both included, with the instants at which they begin and end. */
export function civilPeriods(from: string, to: string, timezone: string, by: PeriodUnit = 'day'): CivilPeriod[] {
  const dates: string[] = []
  for (let date = from; date <= to; date = nextDate(date, by)) dates.push(date)
  const bounds = [...dates, dateOf(Date.parse(to) + DAY_MS)].map(date => startOf(date, timezone))
  return dates.flatMap((date, index) => {
    const [start, end] = [bounds[index], bounds[index + 1]]
    return start && end ? [{ date, start, end }] : []
  })
}

/** When the civil month began in which an instant lies. */
export const monthStart = (at: Date, timezone: string): Date => startOf(`${dateAt(at.getTime(), timezone).slice(0, 7)}-01`, timezone)

function nextDate(date: string, by: PeriodUnit): string {
  const at = new Date(date)
  if (by === 'month') return dateOf(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1))
  const daysToMonday = (8 - at.getUTCDay()) % 7 || 7
  return dateOf(at.getTime() + (by === 'week' ? daysToMonday : 1) * DAY_MS)
}

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The first instant of a civil date: midnight, or the hour that a clock set forward at midnight begins with. */
function startOf(date: string, timezone: string): Date {
  const midnight = Date.parse(date)
  const offsets = [midnight - DAY_MS, midnight + DAY_MS].map(near => offsetMs(near, timezone))
  const candidates = offsets.map(offset => midnight - offset).filter(at => dateAt(at, timezone) === date)
  return new Date(Math.min(...(candidates.length > 0 ? candidates : offsets.map(offset => midnight - offset))))
}

/** By how much the zone's clock is ahead of UTC at an instant. */
function offsetMs(at: number, timezone: string): number {
  const part = Object.fromEntries(
    clock(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
  return Date.UTC(year, month - 1, day, hour, minute, second) - at
}

const dateAt = (at: number, timezone: string): string => dateOf(at + offsetMs(at, timezone))

const clock = (timeZone: string) =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
