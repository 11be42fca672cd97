import { periodTraces } from './period-traces'
import { type BusKind, startRunning } from './running'
import { startRunningPlans } from './running-plans'
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

/** What a run is replayed into: names the first step after which the two differ. */
interface Running<T> {
  difference(run: T): Promise<string | null>
  stop(): Promise<void>
}

/** Replays all runs of a model into running services, of which each takes one after the other, and prints how many runs and steps there were. */
export async function replayIntoServices<T>(
  about: string,
  start: () => Promise<Running<T>>,
  sampled: (count: number, seed: number, batch: number) => Promise<T[]>,
  { samples = IN_SERVICE, services = LANES } = {},
): Promise<void> {
  const lanes = await Promise.all(Array.from({ length: services }, start))
  const since = Date.now()
  let runs = 0
  try {
    let waiting: T[] = []
    const playOn = async (lane: Running<T>) => {
      for (let run = waiting.shift(); run; run = waiting.shift()) {
        expect(await lane.difference(run)).toBeNull()
        runs++
      }
    }
    const playAll = async (batch: T[]) => {
      waiting = batch
      await Promise.all(lanes.map(playOn))
    }
    await inBatches(sampled, playAll, samples)
  } finally {
    for (const lane of lanes) await lane.stop()
  }
  console.log(`${runs} runs of ${about} in the service in ${Math.round((Date.now() - since) / 1_000)} s, no difference`)
}

/** By night, on one bus. */
export function replaysOver(kind: BusKind): void {
  test(
    `${IN_SERVICE} runs of orders, seed ${SEED}, differ after no step from the running service, over ${kind}`,
    () => replayIntoServices(`orders over ${kind}`, () => startRunning(kind), orderRuns),
    LONG_MS,
  )
  test(
    `${IN_SERVICE} runs of plans, seed ${SEED}, differ after no step from the running service, over ${kind}`,
    () =>
      replayIntoServices(
        `plans over ${kind}`,
        () => startRunningPlans(kind),
        (count, seed) => periodTraces(count, seed, 'served'),
      ),
    LONG_MS,
  )
}
