import { setTimeout as pause } from 'node:timers/promises'
import { createBatch, isTransient, type Logger } from '@ponte/service-kit'
import type { HeldLane } from '../lanes/lane'
import type { LaneBook } from '../lanes/lane-book'
import type { Completion, LaneStep } from '../lanes/lane-steps'
import { type Claimed, type FinishedLane, LEASE_S, type Recipient, type Store } from '../store'

/** Starts what was claimed from a lane. */
export type StartClaimed = (lane: HeldLane, recipient: Recipient, claim: { claimed: Claimed[]; want: number }, askedAtMs: number) => void

interface WriterDeps {
  store: Store
  logger: Logger
  book: LaneBook
  start: StartClaimed
}

const RESULTS_PER_COMMIT = 500
/** A claimed delivery that could not be started by now may outlast its lease. */
export const START_WITHIN_MS = (LEASE_S - 25) * 1000

const nowMs = () => performance.now()

/** Writes results, those of one moment in one group commit, and starts what was claimed in their place; `onWritten` is given whether a lane is due again. */
export function createResultWriter(deps: WriterDeps, onWritten: (due: boolean) => void) {
  const { book, start } = deps
  /** Commits under way: an attempt is over only when its result is written. */
  let writing = 0

  // All writing goes through this one queue: a lane's next step is decided on what was written before.
  const complete = createBatch<Completion | null, boolean>(RESULTS_PER_COMMIT, async items => {
    const completions = items.filter(item => item !== null)
    const askedAtMs = nowMs()
    const steps = book.steps(askedAtMs, completions)
    writing += 1
    const finished = await write(deps, steps)
      .catch(error => {
        // Whether it was written is unknown: when their leases end, the reaper takes these lanes back.
        if (items.length === 1 || isTransient(error)) for (const { inFlight } of completions) book.forget(inFlight.lane)
        throw error
      })
      .finally(() => {
        writing -= 1
      })
    for (const { inFlight } of completions) book.complete(inFlight)
    const written = new Set<HeldLane>()
    for (const { lane, results, next } of steps) {
      const step = finished.get(lane.endpointId)
      if (step?.written === results.length) written.add(lane)
      if (!step || !('want' in next)) book.forget(lane)
      else start(lane, step.recipient, { claimed: step.claimed, want: next.want }, askedAtMs)
    }
    onWritten([...finished.values()].some(({ due }) => due))
    return items.map(item => item !== null && written.has(item.inFlight.lane))
  })
  return {
    /** Resolves to whether the lease still stood when the result was written; without one, only lanes with nothing in flight are released. */
    complete,
    writing: () => writing,
  }
}

/** Writes results; while the database is away, retries for as long as the leases last. Resolves to the lanes by endpoint. */
async function write({ store, logger }: WriterDeps, steps: readonly LaneStep[]): Promise<Map<string, FinishedLane>> {
  const giveUpAtMs = nowMs() + START_WITHIN_MS
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      const finished = steps.length > 0 ? await store.results.finish(steps) : []
      return new Map(finished.map(lane => [lane.recipient.endpointId, lane]))
    } catch (error) {
      if (!isTransient(error) || nowMs() > giveUpAtMs) throw error
      logger.warn('results could not be written and will be again', { lanes: steps.length, error })
      await pause(waitMs)
    }
  }
}
