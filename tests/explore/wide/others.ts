import { addUp, explore, nothing, storyOf, type Walk } from '../explorer'
import { payoutModel } from '../payout'
import { periodModel } from '../period'
import { refundModel } from '../refund'
import { wideInsider, widePayout, widePlan, wideRefunds } from '../scopes'

// The same of a plan, of refunds and of the payout address.

function plans(): Walk {
  const total = nothing()
  for (const whenUnpaid of ['leave', 'pause', 'cancel'] as const)
    for (const unpaidPeriodsMax of [1, 2])
      for (const maxPeriods of [null, 1]) addUp(total, explore(periodModel({ ...widePlan, whenUnpaid, unpaidPeriodsMax, maxPeriods })))
  return total
}

test.each<[string, () => Walk]>([
  ['a plan of two periods', plans],
  ['two refunds to two payees', () => explore(refundModel(wideRefunds))],
  ['a payout address with a thief among three', () => explore(payoutModel(widePayout))],
  ['a payout address with a thief who is an owner and has a session of another', () => explore(payoutModel(wideInsider))],
])(
  '%s',
  (what, walked) => {
    const cpu = process.cpuUsage()
    const walk = walked()
    console.log(storyOf(what, walk, process.cpuUsage(cpu).user / 1_000_000))
    expect([...walk.violations.keys()]).toEqual([])
    expect(walk.isComplete).toBe(true)
  },
  600_000,
)
