import { dueOf } from './due'

const at = (day: number, hour = 12, minute = 0) => new Date(2026, 10, day, hour, minute)

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
