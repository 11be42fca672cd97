import { dueDay, endOfDueDay } from '../../due-day'
import { dueOf } from './due'

/** In São Paulo, wherever the test runs. */
const at = (day: number, hour = 12, minute = 0) => new Date(Date.UTC(2026, 10, day, hour + 3, minute))

test.each([
  ['undated', null, at(10)],
  ['ahead', at(11, 0, 0), at(10, 23, 59)],
  ['today', at(10, 23, 59), at(10, 0, 0)],
  ['today', at(10, 0, 0), at(10, 23, 59)],
  ['past', at(10, 23, 59), at(11, 0, 0)],
  ['past', at(10), new Date(2027, 10, 10)],
] as const)('is %s for an invoice due at %s, at %s', (due, dueAt, now) => {
  expect(dueOf({ due_at: dueAt?.toISOString() ?? null }, now)).toBe(due)
})

test('the day that a merchant chose is the one that everyone reads', () => {
  expect(endOfDueDay('2026-11-30')).toBe('2026-12-01T02:59:59.999Z')
  expect(dueDay(endOfDueDay('2026-11-30'), 'pt')).toBe('30 de nov. de 2026')
})
