import fc from 'fast-check'
import { civilPeriods, monthStart } from './civil-days'

const starts = (from: string, to: string, timezone: string) => civilPeriods(from, to, timezone).map(({ start }) => start.toISOString())

test('days begin at the midnight of their zone', () => {
  expect(starts('2026-11-20', '2026-11-21', 'America/Sao_Paulo')).toEqual(['2026-11-20T03:00:00.000Z', '2026-11-21T03:00:00.000Z'])
  expect(starts('2026-11-20', '2026-11-20', 'Pacific/Kiritimati')).toEqual(['2026-11-19T10:00:00.000Z'])
})

test('a day whose clock was set forward or back is as long as it was', () => {
  const hours = (from: string, timezone: string) =>
    civilPeriods(from, from, timezone).map(({ start, end }) => (end.getTime() - start.getTime()) / 3_600_000)
  expect(hours('2026-03-08', 'America/New_York')).toEqual([23])
  expect(hours('2026-11-01', 'America/New_York')).toEqual([25])
  // Midnight itself was skipped in São Paulo: the day began at one o'clock.
  expect(starts('2018-11-04', '2018-11-04', 'America/Sao_Paulo')).toEqual(['2018-11-04T03:00:00.000Z'])
  expect(hours('2018-11-04', 'America/Sao_Paulo')).toEqual([23])
})

test('days follow one another without a gap, in every zone', () => {
  const zones = [
    'UTC',
    'America/Sao_Paulo',
    'Asia/Kathmandu',
    'Pacific/Apia',
    'Africa/Casablanca',
    'Australia/Lord_Howe',
    'Atlantic/Azores',
  ]
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20_000 }), fc.constantFrom(...zones), (day, zone) => {
      const from = new Date(Date.UTC(2015, 0, 1) + day * 86_400_000).toISOString().slice(0, 10)
      const [first, second] = civilPeriods(from, new Date(Date.parse(from) + 86_400_000).toISOString().slice(0, 10), zone)
      expect(first?.end).toEqual(second?.start)
      const hours = (Number(first?.end) - Number(first?.start)) / 3_600_000
      expect(hours).toBeGreaterThanOrEqual(23)
      expect(hours).toBeLessThanOrEqual(25)
    }),
  )
})

test('weeks begin on Monday, months on the first, and both end with the range', () => {
  const dates = (from: string, to: string, by: 'week' | 'month') => civilPeriods(from, to, 'America/Sao_Paulo', by).map(({ date }) => date)
  expect(dates('2026-11-19', '2026-12-01', 'week')).toEqual(['2026-11-19', '2026-11-23', '2026-11-30'])
  expect(dates('2026-11-22', '2026-11-23', 'week')).toEqual(['2026-11-22', '2026-11-23'])
  expect(dates('2026-11-19', '2027-02-01', 'month')).toEqual(['2026-11-19', '2026-12-01', '2027-01-01', '2027-02-01'])
  expect(civilPeriods('2028-02-01', '2028-02-29', 'America/Sao_Paulo', 'month')).toEqual([
    { date: '2028-02-01', start: new Date('2028-02-01T03:00:00Z'), end: new Date('2028-03-01T03:00:00Z') },
  ])
})

test.each([
  ['2026-11-01T02:59:59.999Z', '2026-10-01T03:00:00.000Z'],
  ['2026-11-01T03:00:00.000Z', '2026-11-01T03:00:00.000Z'],
  ['2028-03-01T02:59:59.999Z', '2028-02-01T03:00:00.000Z'],
  ['2028-02-29T12:00:00.000Z', '2028-02-01T03:00:00.000Z'],
  ['2027-01-01T02:30:00.000Z', '2026-12-01T03:00:00.000Z'],
  // In summer time, which Brazil had until 2019.
  ['2018-12-01T02:00:00.000Z', '2018-12-01T02:00:00.000Z'],
])('at %s the month of São Paulo began at %s', (at, start) => {
  expect(monthStart(new Date(at), 'America/Sao_Paulo').toISOString()).toBe(start)
})
