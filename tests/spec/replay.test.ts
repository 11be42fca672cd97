import { difference, pureReplica } from './replay'
import { startRunning } from './running'
import { type Trace, traces } from './traces'

/** `npm run spec` replays a thousand, into the running service on both buses too. */
const TRACES = 50
const IN_SERVICE = 10

let all: Trace[]
beforeAll(async () => {
  all = await traces(TRACES, 1)
}, 240_000)

test(`${TRACES} runs of spec/order.qnt differ after no step from the rules of orders`, async () => {
  for (const trace of all) {
    const { replica, place } = pureReplica()
    expect(await difference(trace, place, replica)).toBeNull()
  }
  expect(all.reduce((sum, trace) => sum + trace.steps.length, 0)).toBeGreaterThan(TRACES)
})

test(`${IN_SERVICE} of them differ after no step from the running service`, async () => {
  const running = await startRunning('memory')
  try {
    for (const trace of all.slice(0, IN_SERVICE)) {
      const { replica, place } = await running.replica()
      expect(await difference(trace, place, replica)).toBeNull()
    }
  } finally {
    await running.stop()
  }
}, 240_000)
