import { histories } from './chain'
import { nothing, storyOf } from './explorer'
import { walkOrders } from './order'
import type { OrderWalk } from './scopes'

/** Tests that walk every history of an order, by the service's own rules, and print states, transitions and the shortest path to each violation. */
export function walksAll(scopes: readonly OrderWalk[]): void {
  test.each(scopes)(
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
}
