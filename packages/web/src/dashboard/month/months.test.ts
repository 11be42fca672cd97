import { daysOf, dutyOf, instantsOf, monthAfter, monthAt } from './months'

test.each([
  ['2026-12-01T02:59:59.999Z', '2026-11'],
  ['2026-12-01T03:00:00.000Z', '2026-12'],
  ['2027-01-01T00:00:00.000Z', '2026-12'],
  ['2028-03-01T02:59:59.999Z', '2028-02'],
])('at %s the books are of %s', (at, month) => {
  expect(monthAt(new Date(at))).toBe(month)
})

test('months have their days, over leap years and ends of years', () => {
  expect(daysOf('2028-02')).toEqual({ from: '2028-02-01', to: '2028-02-29' })
  expect(daysOf('2026-02').to).toBe('2026-02-28')
  expect(instantsOf('2026-12')).toEqual({ at_gte: '2026-12-01T03:00:00.000Z', at_lt: '2027-01-01T03:00:00.000Z' })
  expect([monthAfter('2026-01', -1), monthAfter('2026-12', 1)]).toEqual(['2025-12', '2027-01'])
})

test('a duty holds from its first month on', () => {
  expect(dutyOf('2026-06')).toBeUndefined()
  expect(dutyOf('2026-07')?.limitCentavos).toBe(3_500_000n)
})
