import { bugs } from './bugs'
import { playYear, RULES } from './year'

const YEARS_PER_BUG = 200

it.each(Object.entries(bugs))('the oracle finds a fault put back: %s', (_, putBack) => {
  const rules = putBack(RULES)
  const isFound = Array.from({ length: YEARS_PER_BUG }, (_, n) => n + 1).some(seed => playYear(seed, rules).found.length > 0)
  expect(isFound).toBe(true)
})
