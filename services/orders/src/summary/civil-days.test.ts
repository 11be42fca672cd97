import fc from 'fast-check'
import { civilDays } from './civil-days'

const starts = (from: string, to: string, timezone: string) => civilDays(from, to, timezone).map(({ start }) => start.toISOString())

test('days begin at the midnight of their zone', () => {
  expect(starts('2026-11-20', '2026-11-21', 'America/Sao_Paulo')).toEqual(['2026-11-20T03:00:00.000Z', '2026-11-21T03:00:00.000Z'])
  expect(starts('2026-11-20', '2026-11-20', 'Pacific/Kiritimati')).toEqual(['2026-11-19T10:00:00.000Z'])
})

test('a day whose clock was set forward or back is as long as it was', () => {
  const hours = (from: string, timezone: string) =>
    civilDays(from, from, timezone).map(({ start, end }) => (end.getTime() - start.getTime()) / 3_600_000)
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
      const [first, second] = civilDays(from, new Date(Date.parse(from) + 86_400_000).toISOString().slice(0, 10), zone)
      expect(first?.end).toEqual(second?.start)
      const hours = (Number(first?.end) - Number(first?.start)) / 3_600_000
      expect(hours).toBeGreaterThanOrEqual(23)
      expect(hours).toBeLessThanOrEqual(25)
    }),
  )
})
