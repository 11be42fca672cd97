import { listener } from './listener'
import { startOrders } from './setup'

export let system: Awaited<ReturnType<typeof startOrders>>
export let chain: ReturnType<typeof listener>

/** The service and a listener on its bus, for all tests of a file. */
export function runOrders(...settings: Parameters<typeof startOrders>): void {
  beforeAll(async () => {
    system = await startOrders(...settings)
    chain = listener(system.bus)
  })
  afterAll(() => system?.stop())
}
