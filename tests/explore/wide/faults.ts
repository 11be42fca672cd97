import { explore, nothing, storyOf, type Walk } from '../explorer'
import { walkOrders } from '../order'
import { orderFaults, scopeOf } from '../order-faults'
import { payoutModel } from '../payout'
import { payoutFaults } from '../payout-faults'
import { periodModel } from '../period'
import { periodFaults } from '../period-faults'
import { refundFaults, refundModel } from '../refund'
import { smallPayout, smallPlan, smallRefunds } from '../scopes'
import { strangersFaults } from '../strangers-faults'

// Each fault that is put back, with how often what it must be called is found, and the shortest story of it.

/** Some faults have states without end: twenty thousand are enough to count. */
const BOUNDS = { statesMax: 20_000 }

const all: [about: string, what: string, finds: RegExp, walked: () => Walk][] = [
  ...Object.entries(orderFaults).map(([what, fault]): (typeof all)[number] => [
    'an order',
    what,
    fault.finds,
    () => {
      const walk = nothing()
      walkOrders([fault.history], scopeOf(fault), walk, fault.rules)
      return walk
    },
  ]),
  ...Object.entries(periodFaults).map(([what, { rules, finds, ...scope }]): (typeof all)[number] => [
    'a plan',
    what,
    finds,
    () => explore(periodModel({ ...smallPlan, ...scope }, rules)),
  ]),
  ...Object.entries(payoutFaults).map(([what, { rules, scope = smallPayout, finds }]): (typeof all)[number] => [
    'owners',
    what,
    finds,
    () => explore(payoutModel(scope, rules), { stopsAtFault: true }),
  ]),
  ...refundFaults.map(({ what, view, finds }): (typeof all)[number] => [
    'refunds',
    what,
    finds,
    () => explore(refundModel({ ...smallRefunds, lifeS: 2 }, undefined, view), BOUNDS),
  ]),
]

test.each(all)(
  '%s: %s',
  (about, what, finds, walked) => {
    const cpu = process.cpuUsage()
    const walk = walked()
    const found = [...walk.violations].filter(([fault]) => finds.test(fault))
    const others = walk.violations.size - found.length
    console.log(
      `${storyOf(`put back: ${about}: ${what}`, { ...walk, violations: new Map(found) }, process.cpuUsage(cpu).user / 1_000_000)}\n${others} other violations`,
    )
    expect(found).not.toEqual([])
    for (const [, { count, path }] of found) expect([count > 0, path.length > 0]).toEqual([true, true])
  },
  600_000,
)

test.each(strangersFaults)(
  'invented by a stranger: %s',
  (what, { walk, finds }) => {
    const cpu = process.cpuUsage()
    const found = walk()
    console.log(storyOf(`put back: ${what}`, found, process.cpuUsage(cpu).user / 1_000_000))
    expect([...found.violations.keys()].join()).toMatch(finds)
  },
  600_000,
)
