const PARTS = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/

/** A moment an ISO 8601 duration later; months and years by the calendar in UTC, the last day of the month where it has no such day. */
export function later(from: Date, duration: string): Date {
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] =
    PARTS.exec(duration)
      ?.slice(1)
      .map(part => Number(part ?? 0)) ?? []
  const moved = new Date(from)
  const day = moved.getUTCDate()
  moved.setUTCDate(1)
  moved.setUTCMonth(moved.getUTCMonth() + 12 * years + months)
  const daysInMonth = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate()
  moved.setUTCDate(Math.min(day, daysInMonth))
  return new Date(moved.getTime() + (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1_000)
}
