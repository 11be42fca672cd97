import { bugs } from './bugs'
import { playYear, RULES } from './year'

const YEARS_PER_BUG = 200
/** A payer in time who loses the plan is found sooner. */
const YEARS_TO_DUNNING = 50

it.each(Object.entries(bugs))('the oracle finds a fault put back: %s', (name, putBack) => {
  const rules = putBack(RULES)
  const isFound = Array.from({ length: name.includes('who paid in time') ? YEARS_TO_DUNNING : YEARS_PER_BUG }, (_, n) => n + 1).some(
    seed => playYear(seed, rules).found.length > 0,
  )
  expect(isFound).toBe(true)
})
