import { afterSend, type HeldLane, type InFlight, openLane, WIDTH_MAX } from './lane'
import { type Completion, type LaneStep, needsStep, nextSteps } from './lane-steps'
import { createSlots } from './slots'

/** An event that another replica stored is found by looking again this long after the last claim. */
const RECHECK_AFTER_MS = 250
const RENEW_AFTER_MS = 15_000
/** Results not yet written, in slots; beyond that the database is behind, and claiming waits for it. */
const UNWRITTEN_FACTOR = 4

export type LaneBook = ReturnType<typeof createLaneBook>

/** The lanes that this process holds, and what it has in flight. */
export function createLaneBook(slotCount: number) {
  const lanes = new Map<string, HeldLane>()
  const slots = createSlots(slotCount)
  let unwritten = 0
  const free = (nowMs: number) => (unwritten >= slotCount * UNWRITTEN_FACTOR ? { quick: 0, slow: 0 } : slots.free(nowMs))
  /** Claimable now, given the attempts that will end before the claim is there; these are bounded, in case they do not. */
  const budget = (nowMs: number, ending = 0) => {
    const { quick } = free(nowMs)
    const room = quick === 0 ? 0 : quick + Math.min(ending, slots.borrowed)
    return Math.max(Math.floor(room / 2), room - slots.reserve)
  }
  return {
    inFlight: () => slots.taken() + unwritten,
    /** Slots that may be filled now; two concurrent claims may overfill them once. */
    free,
    roomy: slots.roomy,
    /**
     * The lanes' next steps once these results are written; what is claimed stays within what is free but for the reserve. While they are
     * written about as many attempts end as ended before, so that many more are claimed: no slot stays empty for the time of a commit.
     */
    steps(nowMs: number, completions: readonly Completion[]): LaneStep<HeldLane>[] {
      const steps = nextSteps(lanes.values(), completions, budget(nowMs, completions.length), nowMs)
      // A later arrival is not seen by the statement that takes these steps.
      for (const { lane } of steps) lane.arrived = false
      return steps
    },
    hold(endpointId: string, token: string, recorded: { slow: boolean; failStreak: number }, nowMs: number): HeldLane {
      const lane = {
        endpointId,
        token,
        health: openLane(recorded.slow, recorded.failStreak),
        limit: WIDTH_MAX,
        inFlight: new Set<string>(),
        heldAtMs: nowMs,
        leasedAtMs: nowMs,
        claimedAtMs: nowMs,
        drained: false,
        arrived: false,
        yielded: 0,
      }
      lanes.set(endpointId, lane)
      return lane
    },
    /** Something became due in this lane; false when it is not held here. */
    arrive(endpointId: string): boolean {
      const lane = lanes.get(endpointId)
      if (lane) lane.arrived = true
      return lane !== undefined
    },
    /** The merchant's present limit. */
    limit(lane: HeldLane, limit: number | null): void {
      lane.limit = limit ?? WIDTH_MAX
    },
    forget(lane: HeldLane): void {
      if (lanes.get(lane.endpointId) === lane) lanes.delete(lane.endpointId)
    },
    start(lane: HeldLane, deliveryId: string, nowMs: number): InFlight {
      const inFlight = { lane, deliveryId, startedAtMs: nowMs, ended: false, completed: false }
      lane.inFlight.add(deliveryId)
      slots.take(inFlight)
      return inFlight
    },
    /** The attempt has ended: its slot is free, and its lane's health is updated. */
    end(inFlight: InFlight, attempt: { delivered: boolean; durationMs: number }): void {
      inFlight.lane.health = afterSend(inFlight.lane.health, attempt)
      slots.release(inFlight)
      unwritten += 1
      inFlight.ended = true
    },
    /** Its result is written, or never will be. */
    complete(inFlight: InFlight): void {
      if (inFlight.completed) return
      inFlight.completed = true
      if (inFlight.ended) unwritten -= 1
      slots.release(inFlight)
      inFlight.lane.inFlight.delete(inFlight.deliveryId)
    },
    /** True when a lane has to be released or topped up although no result is there. */
    needsStep(nowMs: number): boolean {
      for (const lane of lanes.values()) if (nowMs - lane.claimedAtMs >= RECHECK_AFTER_MS) lane.arrived = true
      const room = budget(nowMs)
      return [...lanes.values()].some(lane => needsStep(lane, room, nowMs))
    },
    /** Lanes whose lease has to be renewed to outlast what is in flight. */
    renewable: (nowMs: number): HeldLane[] => [...lanes.values()].filter(lane => nowMs - lane.leasedAtMs > RENEW_AFTER_MS),
  }
}
