import { type System, startAll } from '@ponte/all-in-one'
import { createMerchant, startWorld, type World } from './world'

export let world: World
export let system: System
export let merchant: Awaited<ReturnType<typeof createMerchant>>

/** The five in one process, in a world of their own, for all tests of a file; with a merchant unless the file makes its own. */
export function runSystem({
  world: options,
  merchant: wanted = true,
  ...settings
}: Parameters<typeof startAll>[1] & { world?: Parameters<typeof startWorld>[0]; merchant?: boolean } = {}): void {
  beforeAll(async () => {
    world = await startWorld(options)
    system = await startAll(world.place, { logger: world.logger, ...settings })
    if (wanted) merchant = await createMerchant(world, system.gatewayUrl)
  }, 180_000)
  afterAll(async () => {
    await system?.stop()
    await world?.stop()
  })
}
