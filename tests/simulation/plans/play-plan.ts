import { orderRules } from '@ponte/orders'
import { subscriptionRules } from '@ponte/subscriptions'
import { differences, openAfterEnd, openTwice } from './oracle'
import { createWorld, type Rules } from './world'

export const RULES: Rules = { subscriptions: subscriptionRules, orders: orderRules }

/** The history of one plan, of a year at most: what the oracle found wrong with it, and for how many days the plan lived. */
export function playPlan(seed: number, rules: Rules) {
  const world = createWorld(seed, rules)
  const found = new Set<string>()
  const days = world.play(() => {
    for (const difference of [...openAfterEnd(world), ...openTwice(world)]) found.add(difference)
  })
  world.calm()
  return { days, found: [...found, ...differences(world)].map(difference => `seed ${seed}: ${difference}`), counts: world.counts }
}
