import { setTimeout as pause } from 'node:timers/promises'
import { createBatch, isTransient, type Logger } from '@ponte/service-kit'
import type { Held } from './lane'
import type { LaneBook } from './lane-book'
import type { Landing } from './lane-steps'
import type { Store } from './store'
import { type Claimed, type Endpoint, LEASE_S } from './store/lanes'
import type { FinishedLane, LaneStep } from './store/results'

/** Starts what was taken out of a lane. */
export type Launch = (lane: Held, endpoint: Endpoint, taken: { claimed: Claimed[]; want: number }, askedAtMs: number) => void

interface WriterDeps {
  store: Store
  logger: Logger
  book: LaneBook
  launch: Launch
}

const RESULTS_PER_COMMIT = 500
/** A claimed delivery that could not be started by now may be somebody else's before it ends. */
export const START_WITHIN_MS = (LEASE_S - 25) * 1000

const nowMs = () => performance.now()

/** Writes results, those of one moment in one commit, and starts what was taken in their place; `written` hears whether a lane is due again. */
export function createWriter(deps: WriterDeps, written: (due: boolean) => void) {
  const { book, launch } = deps
  /** Commits under way: a landed attempt is over only when it is written. */
  let writing = 0

  // All writing goes through this one queue: what becomes of a lane is decided on what was written before.
  const land = createBatch<Landing | null, boolean>(RESULTS_PER_COMMIT, async items => {
    const landings = items.filter(item => item !== null)
    const askedAtMs = nowMs()
    const steps = book.steps(askedAtMs, landings)
    writing += 1
    const finished = await write(deps, steps)
      .catch(error => {
        // Nobody can say what of this was written: when their leases end, the reaper takes these lanes back.
        if (items.length === 1 || isTransient(error)) for (const { flight } of landings) book.forget(flight.lane)
        throw error
      })
      .finally(() => {
        writing -= 1
      })
    for (const { flight } of landings) book.land(flight)
    const stood = new Set<Held>()
    for (const { lane, results, next } of steps) {
      const done = finished.get(lane.merchantId)
      if (done?.written === results.length) stood.add(lane)
      if (!done || !('want' in next)) book.forget(lane)
      else launch(lane, done.endpoint, { claimed: done.claimed, want: next.want }, askedAtMs)
    }
    written([...finished.values()].some(({ due }) => due))
    return items.map(item => item !== null && stood.has(item.flight.lane))
  })
  return {
    /** Answers whether the result was still ours to write; without one, only lanes with nothing in flight are given back. */
    land,
    writing: () => writing,
  }
}

/** Writes results; a database that is away is waited for as long as the leases last. Answers by merchant. */
async function write({ store, logger }: WriterDeps, steps: readonly LaneStep[]): Promise<Map<string, FinishedLane>> {
  const giveUpAtMs = nowMs() + START_WITHIN_MS
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      const finished = steps.length > 0 ? await store.finish(steps) : []
      return new Map(finished.map(lane => [lane.endpoint.merchantId, lane]))
    } catch (error) {
      if (!isTransient(error) || nowMs() > giveUpAtMs) throw error
      logger.warn('results could not be written and will be again', { lanes: steps.length, error })
      await pause(waitMs)
    }
  }
}
