import type { Flight, Held } from './lane'
import type { LaneStep, Result } from './store/results'

/** What came of a delivery, before it is written. */
export interface Landing {
  flight: Flight
  result: Result
}

/** A lane that keeps being refilled is given up after this, so that lanes take turns. */
const HOLD_MS = 2_000

/**
 * What becomes of the lanes whose results these are, and of those with nothing in flight: up to `budget` more is taken out of them, shared
 * evenly; one that nothing is wanted from is given back with its last result.
 */
export function nextSteps(lanes: Iterable<Held>, landings: readonly Landing[], budget: number, nowMs: number): LaneStep<Held>[] {
  const results = new Map<Held, Result[]>()
  for (const { flight, result } of landings) {
    const known = results.get(flight.lane)
    if (known) known.push(result)
    else results.set(flight.lane, [result])
  }
  const concerned = [...lanes].filter(lane => results.has(lane) || lane.flying.size === 0)
  const share = Math.max(1, Math.floor(budget / concerned.filter(lane => canHaveMore(lane, nowMs)).length))
  let left = budget
  const steps = concerned.map((lane): LaneStep<Held> => {
    const landed = results.get(lane) ?? []
    const ended = new Set(landed.map(({ id }) => id))
    const flying = [...lane.flying].filter(id => !ended.has(id))
    const want = canHaveMore(lane, nowMs) ? Math.max(0, Math.min(left, share, lane.health.width - flying.length)) : 0
    left -= want
    const { slow, failStreak } = lane.health
    return { lane, results: landed, flying, next: flying.length + want === 0 ? { slow, failStreak } : { want } }
  })
  // Everyone who waits for several lanes does so in this order.
  return steps.sort((a, b) => (a.lane.merchantId < b.lane.merchantId ? -1 : 1))
}

const canHaveMore = ({ drained, health, heldAtMs }: Held, nowMs: number) => !drained && !health.slow && nowMs - heldAtMs <= HOLD_MS
