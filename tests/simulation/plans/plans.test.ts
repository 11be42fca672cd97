import { orderRules } from '@ponte/orders'
import { subscriptionRules } from '@ponte/subscriptions'
import { bugs } from './bugs'
import { differences, openAfterEnd } from './oracle'
import { createWorld, type Rules } from './world'

// Plans are played with the services' own transitions, in memory: merchants change everything at any moment, orders and subscriptions are away for days,
// rates and payout addresses come and go, messages are late, shuffled and repeated, payments are part, late, double or reorganised away.

const RULES: Rules = { subscriptions: subscriptionRules, orders: orderRules }
const YEARS = Number(process.env.PONTE_PLAN_YEARS ?? 2_000)
const YEARS_PER_BUG = 200

function play(seed: number, rules: Rules) {
  const world = createWorld(seed, rules)
  const found = new Set<string>()
  world.play(365, () => {
    for (const difference of openAfterEnd(world)) found.add(difference)
  })
  world.calm()
  return { found: [...found, ...differences(world)].map(difference => `seed ${seed}: ${difference}`), counts: world.counts }
}

it(`${YEARS} years of plans, each with its own faults, end as the oracle states`, () => {
  const totals: Record<string, number> = {}
  const found: string[] = []
  for (let seed = 1; seed <= YEARS; seed += 1) {
    const year = play(seed, RULES)
    found.push(...year.found)
    for (const [name, by] of Object.entries(year.counts)) totals[name] = (totals[name] ?? 0) + by
  }
  console.info(`${YEARS} plan-years: ${JSON.stringify(totals)}`)
  expect(found.slice(0, 20)).toEqual([])
}, 300_000)

it.each(Object.entries(bugs))('the oracle finds a fault put back: %s', (_, putBack) => {
  const rules = putBack(RULES)
  const isFound = Array.from({ length: YEARS_PER_BUG }, (_, n) => n + 1).some(seed => play(seed, rules).found.length > 0)
  expect(isFound).toBe(true)
})
