import { comingDates } from './period-dates'

const days = (dates: Date[]) => dates.map(date => date.toISOString().slice(0, 10))
const of = { timezone: 'America/Sao_Paulo', count: 1, periods: 3 }

test('months are counted from the anchor and clamped to their end', () => {
  const dates = comingDates({ ...of, startAt: '2026-01-31T15:00:00.000Z', nextAt: '2026-02-28T15:00:00.000Z', interval: 'month' })
  expect(days(dates)).toEqual(['2026-02-28', '2026-03-31', '2026-04-30'])
})

test('a date is the one of the subscription’s time zone', () => {
  const dates = comingDates({ ...of, startAt: '2026-01-01T01:00:00.000Z', nextAt: '2026-01-08T01:00:00.000Z', interval: 'week' })
  expect(days(dates)).toEqual(['2026-01-07', '2026-01-14', '2026-01-21'])
})
