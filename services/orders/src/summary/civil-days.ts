const DAY_MS = 86_400_000

export interface CivilDay {
  /** `2026-11-20`. */
  date: string
  start: Date
  /** Exclusive: the start of the day after. */
  end: Date
}

/** The civil days of a time zone from one date to another, both included, with the instants at which they begin and end. */
export function civilDays(from: string, to: string, timezone: string): CivilDay[] {
  const dates: string[] = []
  for (let at = Date.parse(from); at <= Date.parse(to) + DAY_MS; at += DAY_MS) dates.push(new Date(at).toISOString().slice(0, 10))
  const starts = dates.map(date => startOf(date, timezone))
  return dates.slice(0, -1).flatMap((date, index) => {
    const [start, end] = [starts[index], starts[index + 1]]
    return start && end ? [{ date, start, end }] : []
  })
}

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

const dateAt = (at: number, timezone: string): string => new Date(at + offsetMs(at, timezone)).toISOString().slice(0, 10)

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
