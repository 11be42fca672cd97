import { bugs } from './bugs'
import { playPlan, RULES } from './play-plan'

const PLANS_PER_BUG = 200
/** A payer in time who loses the plan is found sooner, and by that. */
const PLANS_TO_DUNNING = 50

it.each(Object.entries(bugs))('the oracle finds a fault put back: %s', (name, putBack) => {
  const rules = putBack(RULES)
  const isDunning = name.includes('who paid in time')
  const plans = Array.from({ length: isDunning ? PLANS_TO_DUNNING : PLANS_PER_BUG }, (_, n) => n + 1)
  const isFound = plans.some(seed => playPlan(seed, rules).found.some(found => !isDunning || found.includes('for want of payment, though')))
  expect(isFound).toBe(true)
})
