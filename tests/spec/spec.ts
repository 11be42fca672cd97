import { models, sample } from './quint'
import { refundDifference, refundTraces } from './refund-traces'
import { difference, pureReplica } from './replay'
import { startRunning } from './running'
import { traces } from './traces'

const SAMPLES = Number(process.env.PONTE_SPEC_SAMPLES ?? 1_000)
const SEED = Number(process.env.PONTE_SPEC_SEED ?? Date.now())

// The long form: prints how often each thing was seen, and the seed, by which a run is repeated.
describe.each(models)('spec/$name.qnt by its $step', model => {
  test(`keeps what must never happen in ${SAMPLES} runs of seed ${SEED}`, async () => {
    const seen = await sample(model, SAMPLES, SEED)
    console.log(
      `${model.name} by its ${model.step}: ${[...seen].map(([witness, count]) => `${witness} ${count}`).join(', ')} of ${SAMPLES}`,
    )
    for (const count of seen.values()) expect(count).toBeGreaterThan(0)
  }, 1_200_000)
})

/** Runs of a batch are in memory at once. */
const BATCH = 100
const IN_SERVICE = Math.ceil(SAMPLES / 10)

test(`${SAMPLES} runs of spec/order.qnt differ after no step from the rules of orders`, async () => {
  let steps = 0
  for (let done = 0; done < SAMPLES; done += BATCH)
    // With deep reorganisations and without, in turn.
    for (const trace of await traces(Math.min(BATCH, SAMPLES - done), SEED + done, (done / BATCH) % 2 === 0 ? 'shallow' : 'step')) {
      const { replica, place } = pureReplica()
      expect(await difference(trace, place, replica)).toBeNull()
      steps += trace.steps.length
    }
  console.log(`${SAMPLES} runs, ${steps} steps of orders, no difference`)
}, 3_600_000)

test(`${SAMPLES} runs of spec/refunds.qnt differ after no step from the rules of refunds`, async () => {
  for (let done = 0; done < SAMPLES; done += BATCH)
    for (const run of await refundTraces(Math.min(BATCH, SAMPLES - done), SEED + done)) expect(refundDifference(run)).toBeNull()
}, 3_600_000)

test.each(['memory', 'rabbitmq'] as const)(
  `${IN_SERVICE} runs differ after no step from the running service, over %s`,
  async kind => {
    const running = await startRunning(kind)
    try {
      for (const trace of await traces(IN_SERVICE, SEED)) {
        const { replica, place } = await running.replica()
        expect(await difference(trace, place, replica)).toBeNull()
      }
    } finally {
      await running.stop()
    }
  },
  3_600_000,
)
