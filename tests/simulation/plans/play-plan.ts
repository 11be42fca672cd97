import { orderRules } from '@ponte/orders'
import { subscriptionRules } from '@ponte/subscriptions'
import { differences, openAfterEnd, openTwice } from './oracle'
import { createWorld, type Rules } from './world'

export const RULES: Rules = { subscriptions: subscriptionRules, orders: orderRules }

/** A year of one plan, and what the oracle found wrong with it. */
export function playYear(seed: number, rules: Rules) {
  const world = createWorld(seed, rules)
  const found = new Set<string>()
  world.play(365, () => {
    for (const difference of [...openAfterEnd(world), ...openTwice(world)]) found.add(difference)
  })
  world.calm()
  return { found: [...found, ...differences(world)].map(difference => `seed ${seed}: ${difference}`), counts: world.counts }
}
