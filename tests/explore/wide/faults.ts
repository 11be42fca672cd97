import { explore, nothing, storyOf, type Walk } from '../explorer'
import { walkOrders } from '../order'
import { orderFaults, scopeOf } from '../order-faults'
import { outboxFaults, outboxModel } from '../outbox'
import { payoutModel } from '../payout'
import { payoutFaults } from '../payout-faults'
import { periodModel } from '../period'
import { periodFaults } from '../period-faults'
import { byOurClock, refundModel } from '../refund'
import { smallOutbox, smallPayout, smallPlan, smallRefunds } from '../scopes'

// Each fault that is put back, with how often it is found and the shortest story of it.

const all: [string, () => Walk][] = [
  ...Object.entries(orderFaults).map(([what, fault]): [string, () => Walk] => [
    what,
    () => {
      const walk = nothing()
      walkOrders([fault.history], scopeOf(fault), walk, fault.rules)
      return walk
    },
  ]),
  ...Object.entries(periodFaults).map(([what, { rules, finds: _, ...scope }]): [string, () => Walk] => [
    what,
    () => explore(periodModel({ ...smallPlan, ...scope }, rules)),
  ]),
  ...Object.entries(payoutFaults).map(([what, { rules, scope = smallPayout }]): [string, () => Walk] => [
    what,
    () => explore(payoutModel(scope, rules), { stopsAtFault: true }),
  ]),
  ...Object.entries(outboxFaults).map(([what, { rules }]): [string, () => Walk] => [what, () => explore(outboxModel(smallOutbox, rules))]),
  [
    'a signature is void by our clock',
    () => explore(refundModel({ ...smallRefunds, lifeS: 2 }, undefined, byOurClock), { statesMax: 100_000 }),
  ],
]

test.each(all)(
  '%s',
  (what, walked) => {
    const cpu = process.cpuUsage()
    const walk = walked()
    console.log(storyOf(`put back: ${what}`, walk, process.cpuUsage(cpu).user / 1_000_000))
    expect(walk.violations.size).toBeGreaterThan(0)
  },
  600_000,
)
