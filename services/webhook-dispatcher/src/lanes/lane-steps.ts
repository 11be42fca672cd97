import type { DeliveryResult } from '../delivery/delivery'
import { type HeldLane, type InFlight, type Lease, widthOf } from './lane'

/** The result of a delivery in flight, before it is written. */
export interface Completion {
  inFlight: InFlight
  result: DeliveryResult
}

/** Results of a lane's deliveries, and the lane's next state. */
export interface LaneStep<Lane extends Lease = Lease> {
  lane: Lane
  results: readonly DeliveryResult[]
  remaining: readonly string[]
  /** Number to claim next, or the record of its row when it is released. */
  next: { want: number } | { slow: boolean; failStreak: number }
}

/** A lane that keeps being refilled is released after this, so that lanes take turns. */
const HOLD_MS = 2_000

/**
 * The next step of the lanes whose results these are, of those where something arrived, and of those with nothing in flight: up to `budget`
 * more is claimed from them, shared evenly; one that nothing is wanted from is released with its last result.
 */
export function nextSteps(
  lanes: Iterable<HeldLane>,
  completions: readonly Completion[],
  budget: number,
  nowMs: number,
): LaneStep<HeldLane>[] {
  const results = new Map<HeldLane, DeliveryResult[]>()
  for (const { inFlight, result } of completions) {
    const known = results.get(inFlight.lane)
    if (known) known.push(result)
    else results.set(inFlight.lane, [result])
  }
  const concerned = [...lanes].filter(lane => results.has(lane) || needsStep(lane, budget, nowMs))
  let sharing = concerned.filter(lane => canHaveMore(lane, nowMs)).length
  let left = budget
  const steps = concerned.map((lane): LaneStep<HeldLane> => {
    const completed = results.get(lane) ?? []
    const ended = new Set(completed.map(({ id }) => id))
    const remaining = [...lane.inFlight].filter(id => !ended.has(id))
    let want = 0
    if (canHaveMore(lane, nowMs)) {
      // Each has its share of what those before it left.
      want = Math.max(0, Math.min(Math.ceil(left / sharing), widthOf(lane) - remaining.length))
      sharing -= 1
      left -= want
    }
    const { slow, failStreak } = lane.health
    return { lane, results: completed, remaining, next: remaining.length + want === 0 ? { slow, failStreak } : { want } }
  })
  // Every statement that locks several lanes locks them in this order.
  return steps.sort((a, b) => (a.lane.endpointId < b.lane.endpointId ? -1 : 1))
}

const canHaveMore = ({ drained, arrived, yielded, health, heldAtMs }: HeldLane, nowMs: number) =>
  (!drained || arrived) && yielded === 0 && !health.slow && nowMs - heldAtMs <= HOLD_MS

/** True without any result: a lane with nothing in flight is released, one where something arrived is topped up. */
export const needsStep = (lane: HeldLane, budget: number, nowMs: number): boolean =>
  lane.inFlight.size === 0 || (budget > 0 && lane.arrived && lane.inFlight.size < widthOf(lane) && canHaveMore(lane, nowMs))
