import { Temporal } from '@js-temporal/polyfill'
import fc from 'fast-check'
import { boundary, type Interval, openSchedule, periodAt, reschedule, type Schedule } from './calendar'

const plan = (start: string, interval: Interval, intervalCount = 1, timezone = 'America/Sao_Paulo') =>
  openSchedule({ interval, intervalCount, timezone, startAt: new Date(start) })
const civil = (schedule: Schedule, index: number) =>
  Temporal.Instant.fromEpochMilliseconds(boundary(schedule, index).getTime())
    .toZonedDateTimeISO(schedule.timezone)
    .toPlainDateTime()
    .toString({ smallestUnit: 'minute' })

/** The same question put to another library, which knows gaps and overlaps by itself. */
function byTemporal(start: string, interval: Interval, intervalCount: number, timezone: string, index: number): Date {
  const from = Temporal.Instant.from(start)
  if (index === 0) return new Date(from.epochMilliseconds)
  const count = index * intervalCount
  const wanted = from
    .toZonedDateTimeISO(timezone)
    .toPlainDateTime()
    .add({ day: { days: count }, week: { weeks: count }, month: { months: count }, year: { years: count } }[interval], {
      overflow: 'constrain',
    })
  const earlier = wanted.toZonedDateTime(timezone, { disambiguation: 'earlier' })
  if (earlier.toPlainDateTime().equals(wanted)) return new Date(earlier.epochMilliseconds)
  const gap = earlier.getTimeZoneTransition('next')
  if (!gap) throw new Error('A civil time is missing without a change of clocks.')
  return new Date(gap.epochMilliseconds)
}

/** No plan begins a period later. */
const LAST = new Date('2999-12-31T23:59:59.999Z')

describe('boundary n of a plan, from the anchor and never from the boundary before', () => {
  const SP = 'America/Sao_Paulo'
  const vectors: [name: string, start: string, interval: Interval, count: number, zone: string, index: number, expected: string][] = [
    ['29 January, common year', '2026-01-29T12:00:00Z', 'month', 1, SP, 1, '2026-02-28T12:00:00Z'],
    ['30 January, common year', '2026-01-30T12:00:00Z', 'month', 1, SP, 1, '2026-02-28T12:00:00Z'],
    ['31 January, common year', '2026-01-31T12:00:00Z', 'month', 1, SP, 1, '2026-02-28T12:00:00Z'],
    ['31 January does not drift to the 28th', '2026-01-31T12:00:00Z', 'month', 1, SP, 2, '2026-03-31T12:00:00Z'],
    ['31 January in a month of 30', '2026-01-31T12:00:00Z', 'month', 1, SP, 3, '2026-04-30T12:00:00Z'],
    ['31 January, a year on', '2026-01-31T12:00:00Z', 'month', 1, SP, 12, '2027-01-31T12:00:00Z'],
    ['29 January, leap year', '2028-01-29T12:00:00Z', 'month', 1, SP, 1, '2028-02-29T12:00:00Z'],
    ['31 January, leap year', '2028-01-31T12:00:00Z', 'month', 1, SP, 1, '2028-02-29T12:00:00Z'],
    ['29 February by the year', '2028-02-29T12:00:00Z', 'year', 1, SP, 1, '2029-02-28T12:00:00Z'],
    ['29 February by the year, the next leap year', '2028-02-29T12:00:00Z', 'year', 1, SP, 4, '2032-02-29T12:00:00Z'],
    ['29 February by four years', '2028-02-29T12:00:00Z', 'year', 4, SP, 2, '2036-02-29T12:00:00Z'],
    ['29 February by the month', '2028-02-29T12:00:00Z', 'month', 1, SP, 12, '2029-02-28T12:00:00Z'],
    ['31 August by quarters: November', '2026-08-31T12:00:00Z', 'month', 3, SP, 1, '2026-11-30T12:00:00Z'],
    ['31 August by quarters: February', '2026-08-31T12:00:00Z', 'month', 3, SP, 2, '2027-02-28T12:00:00Z'],
    ['31 August by quarters: May', '2026-08-31T12:00:00Z', 'month', 3, SP, 3, '2027-05-31T12:00:00Z'],
    ['31 August by half years in a leap year', '2027-08-31T12:00:00Z', 'month', 6, SP, 1, '2028-02-29T12:00:00Z'],
    ['23:30 local is tomorrow in UTC: the 31st stays the 31st', '2026-02-01T02:30:00Z', 'month', 1, SP, 2, '2026-04-01T02:30:00Z'],
    ['23:30 local is tomorrow in UTC: February', '2026-02-01T02:30:00Z', 'month', 1, SP, 1, '2026-03-01T02:30:00Z'],
    ['a year boundary by the month', '2026-12-31T12:00:00Z', 'month', 1, SP, 2, '2027-02-28T12:00:00Z'],
    ['a year boundary by the day', '2026-12-31T12:00:00Z', 'day', 1, SP, 1, '2027-01-01T12:00:00Z'],
    ['a year boundary by the week', '2026-12-28T12:00:00Z', 'week', 1, SP, 1, '2027-01-04T12:00:00Z'],
    ['a leap day by the day', '2028-02-28T12:00:00Z', 'day', 1, SP, 1, '2028-02-29T12:00:00Z'],
    ['clocks go forward: 09:00 in New York stays 09:00', '2026-03-01T14:00:00Z', 'month', 1, 'America/New_York', 1, '2026-04-01T13:00:00Z'],
    ['clocks go back: 09:00 in New York stays 09:00', '2026-10-15T13:00:00Z', 'month', 1, 'America/New_York', 1, '2026-11-15T14:00:00Z'],
    ['a civil day may have 23 hours', '2026-03-07T17:00:00Z', 'day', 1, 'America/New_York', 1, '2026-03-08T16:00:00Z'],
    ['02:30 that the clocks skip: the end of the gap', '2026-03-07T07:30:00Z', 'day', 1, 'America/New_York', 1, '2026-03-08T07:00:00Z'],
    ['the day after a gap is 02:30 again', '2026-03-07T07:30:00Z', 'day', 1, 'America/New_York', 2, '2026-03-09T06:30:00Z'],
    ['01:30 that comes twice: the first', '2026-10-31T05:30:00Z', 'day', 1, 'America/New_York', 1, '2026-11-01T05:30:00Z'],
    ['midnight that Brazil used to skip', '2018-11-03T03:00:00Z', 'day', 1, SP, 1, '2018-11-04T03:00:00Z'],
    ['Brazil gave up daylight saving in 2019', '2018-12-15T11:00:00Z', 'year', 1, SP, 1, '2019-12-15T12:00:00Z'],
    ['a gap of half an hour', '2026-10-02T15:45:00Z', 'day', 1, 'Australia/Lord_Howe', 1, '2026-10-03T15:30:00Z'],
    ['a whole day that Samoa skipped', '2011-12-29T22:00:00Z', 'day', 1, 'Pacific/Apia', 1, '2011-12-30T10:00:00Z'],
    [
      'a zone that changed its rules: Turkey stayed on summer time',
      '2015-12-01T09:00:00Z',
      'year',
      1,
      'Europe/Istanbul',
      1,
      '2016-12-01T08:00:00Z',
    ],
    [
      'a zone ahead of UTC: 01:00 on the 1st is still the 31st there',
      '2026-01-31T15:00:00Z',
      'month',
      1,
      'Asia/Tokyo',
      1,
      '2026-02-28T15:00:00Z',
    ],
    ['UTC itself', '2026-01-31T00:00:00Z', 'month', 1, 'UTC', 13, '2027-02-28T00:00:00Z'],
  ]
  it.each(vectors)('%s', (_name, start, interval, count, zone, index, expected) => {
    expect(boundary(plan(start, interval, count, zone), index)).toEqual(new Date(expected))
    expect(byTemporal(start, interval, count, zone, index)).toEqual(new Date(expected))
  })

  it.each(Array.from({ length: 12 }, (_, count) => count + 1))('every %i months from 31 January', count => {
    const schedule = plan('2026-02-01T02:30:00Z', 'month', count)
    for (let index = 1; index <= 24; index += 1) {
      expect(boundary(schedule, index)).toEqual(byTemporal('2026-02-01T02:30:00Z', 'month', count, SP, index))
    }
  })

  it('agrees with Temporal for any anchor, zone, interval, count and index', () => {
    const zones = [
      'America/Sao_Paulo',
      'America/New_York',
      'Europe/London',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'Africa/Casablanca',
      'Pacific/Apia',
    ]
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1990-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
        fc.constantFrom<Interval>('day', 'week', 'month', 'year'),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 120 }),
        (start, interval, count, zone, index) => {
          const at = boundary(plan(start.toISOString(), interval, count, zone), index)
          const theirs = byTemporal(start.toISOString(), interval, count, zone, index)
          expect(at).toEqual(theirs < LAST ? theirs : LAST)
        },
      ),
      { numRuns: 250 },
    )
  })
})

describe('the period that an instant lies in', () => {
  it('has not begun before the start', () => {
    expect(periodAt(plan('2026-01-31T12:00:00Z', 'month'), new Date('2026-01-31T11:59:59.999Z'))).toBe(-1)
  })

  it('begins with its boundary and ends a millisecond before the next, for any plan', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2000-01-01'), max: new Date('2035-01-01'), noInvalidDate: true }),
        fc.constantFrom<Interval>('day', 'week', 'month', 'year'),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom('America/Sao_Paulo', 'America/New_York', 'Australia/Lord_Howe'),
        fc.integer({ min: 0, max: 200 }),
        (start, interval, count, zone, index) => {
          const schedule = plan(start.toISOString(), interval, count, zone)
          fc.pre(boundary(schedule, index + 1) < LAST)
          expect(periodAt(schedule, boundary(schedule, index))).toBe(index)
          expect(periodAt(schedule, new Date(boundary(schedule, index + 1).getTime() - 1))).toBe(index)
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('a schedule that was changed', () => {
  const monthly = plan('2026-01-31T12:00:00Z', 'month')

  it('leaves the boundary at which the change begins where it was', () => {
    const changes = [
      { intervalCount: 3 },
      { interval: 'week' as const },
      { timezone: 'Asia/Tokyo' },
      { interval: 'year' as const, intervalCount: 2 },
    ]
    for (const change of changes) expect(boundary(reschedule(monthly, change, 5), 5)).toEqual(boundary(monthly, 5))
  })

  it('still means the 31st when the change falls on 28 February', () => {
    const quarterly = reschedule(monthly, { intervalCount: 3 }, 1)
    expect([1, 2, 3, 4].map(index => civil(quarterly, index))).toEqual([
      '2026-02-28T09:00',
      '2026-05-31T09:00',
      '2026-08-31T09:00',
      '2026-11-30T09:00',
    ])
  })

  it('keeps the civil time when the zone of a monthly plan changes', () => {
    const moved = reschedule(monthly, { timezone: 'Europe/Lisbon' }, 1)
    expect(boundary(moved, 1)).toEqual(new Date('2026-02-28T12:00:00Z'))
    expect(civil(moved, 2)).toBe('2026-03-31T09:00')
  })

  it('counts weeks from the day of the change', () => {
    const weekly = reschedule(monthly, { interval: 'week' }, 1)
    expect([1, 2, 3].map(index => civil(weekly, index))).toEqual(['2026-02-28T09:00', '2026-03-07T09:00', '2026-03-14T09:00'])
  })

  it('survives two changes of the same period', () => {
    const once = reschedule(monthly, { intervalCount: 3 }, 1)
    expect(reschedule(once, { intervalCount: 1 }, 1)).toEqual(reschedule(monthly, {}, 1))
  })

  it('never begins two periods in the wrong order, whatever is changed and when', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true }),
        fc.constantFrom<Interval>('day', 'week', 'month', 'year'),
        fc.constantFrom<Interval>('day', 'week', 'month', 'year'),
        fc.constantFrom('Pacific/Kiritimati', 'Etc/GMT+12', 'America/New_York'),
        fc.constantFrom('Pacific/Kiritimati', 'Etc/GMT+12', 'America/Sao_Paulo'),
        fc.integer({ min: 0, max: 60 }),
        (start, interval, nextInterval, zone, nextZone, index) => {
          const changed = reschedule(plan(start.toISOString(), interval, 1, zone), { interval: nextInterval, timezone: nextZone }, index)
          for (let n = index; n < index + 4; n += 1) expect(boundary(changed, n + 1) > boundary(changed, n)).toBe(true)
        },
      ),
      { numRuns: 150 },
    )
  })
})
