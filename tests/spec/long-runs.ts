import { difference } from './replay'
import { type BusKind, startRunning } from './running'
import { type Trace, traces } from './traces'

/** So many runs of each model, by a seed that is printed and by which they are repeated. */
export const SAMPLES = Number(process.env.PONTE_SPEC_SAMPLES ?? 1_000)
export const SEED = Number(process.env.PONTE_SPEC_SEED ?? Date.now() % 1_000_000)
/** Of these, so many into the running service on each bus. */
export const IN_SERVICE = Number(process.env.PONTE_SPEC_IN_SERVICE ?? SAMPLES)
export const LONG_MS = 3_600_000

/** Runs of a batch are in memory at once. */
const BATCH = 100
/** A replay waits for the bus and the database more than it works, and each service follows one chain. */
const LANES = 6

/** All of the runs, a batch at a time, each batch by a seed that no other night has. */
export async function inBatches<T>(
  sampled: (count: number, seed: number, batch: number) => Promise<T[]>,
  take: (runs: T[]) => Promise<void> | void,
  samples = SAMPLES,
) {
  for (let done = 0, batch = 0; done < samples; done += BATCH, batch++)
    await take(await sampled(Math.min(BATCH, samples - done), SEED * 1_000 + batch, batch))
}

/** With deep reorganisations and without, in turn. */
export const orderRuns = (count: number, seed: number, batch: number): Promise<Trace[]> =>
  traces(count, seed, batch % 2 === 0 ? 'shallow' : 'step')

/** Replays all runs of the order's model into running services on such a bus, and prints how many runs and steps there were. */
export async function replayIntoServices(kind: BusKind): Promise<void> {
  const lanes = await Promise.all(Array.from({ length: LANES }, () => startRunning(kind)))
  const since = Date.now()
  let [runs, steps] = [0, 0]
  try {
    let waiting: Trace[] = []
    const playOn = async ({ replica }: (typeof lanes)[number]) => {
      for (let trace = waiting.shift(); trace; trace = waiting.shift()) {
        const { replica: order, place } = await replica()
        expect(await difference(trace, place, order)).toBeNull()
        runs++
        steps += trace.steps.length
      }
    }
    const playAll = async (batch: Trace[]) => {
      waiting = batch
      await Promise.all(lanes.map(playOn))
    }
    await inBatches(orderRuns, playAll, IN_SERVICE)
  } finally {
    for (const lane of lanes) await lane.stop()
  }
  console.log(
    `${runs} runs, ${steps} steps of orders in the service over ${kind} in ${Math.round((Date.now() - since) / 1_000)} s, no difference`,
  )
}
