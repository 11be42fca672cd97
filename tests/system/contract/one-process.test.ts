import { type System, startAll } from '@ponte/all-in-one'
import { startWorld, type World } from '../../world'
import { systemContract } from './system-contract'

let world: World
let system: System
beforeAll(async () => {
  world = await startWorld()
  system = await startAll(world.place, { logger: world.logger })
}, 60_000)
afterAll(async () => {
  await system?.stop()
  await world?.stop()
})

describe('the five in one process', () => systemContract(() => ({ world, gatewayUrl: system.gatewayUrl })))
