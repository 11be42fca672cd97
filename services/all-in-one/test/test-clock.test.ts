import { silentLogger } from '@ponte/service-kit'
import { createClock } from '../src/sandbox/clock'

/** Something is due in every minute. */
const busy = { due: async () => null, hurry: async () => 60, idle: async () => undefined }

test('a move of any number of steps ends where it was to', async () => {
  const clock = createClock({ chains: [], logger: silentLogger })
  const to = new Date(clock.now().getTime() + 34 * 3_600_000)
  await clock.advance(to, busy)
  expect(clock.now().getTime()).toBeGreaterThanOrEqual(to.getTime())
})

test('a stop ends a move after the step that is going on', async () => {
  const clock = createClock({ chains: [], logger: silentLogger })
  const to = new Date(clock.now().getTime() + 700 * 86_400_000)
  const moved = clock.advance(to, busy)
  await clock.part.stop()
  await moved
  expect(clock.now().getTime()).toBeLessThan(to.getTime())
})
