import { histories } from '../chain'
import { nothing, storyOf } from '../explorer'
import { walkOrders } from '../order'
import { wideOrders } from '../scopes'

// Every history of an order, by the service's own rules: prints states, transitions and the shortest path to each violation.

test.each(wideOrders)(
  '%s',
  (what, scope, commands) => {
    const cpu = process.cpuUsage()
    const total = nothing()
    const count = walkOrders(histories(scope), commands, total)
    console.log(`${count} histories. ${storyOf(`order: ${what}`, total, process.cpuUsage(cpu).user / 1_000_000)}`)
    expect([...total.violations.keys()]).toEqual([])
    expect(total.isComplete).toBe(true)
  },
  600_000,
)
