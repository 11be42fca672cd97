import { afterSend, type HeldLane, type InFlight, openLane } from './lane'
import { type Completion, type LaneStep, nextSteps } from './lane-steps'
import { createSlots } from './slots'

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
  return {
    inFlight: () => slots.taken() + unwritten,
    /** Slots that may be filled now; two concurrent claims may overfill them once. */
    free,
    roomy: slots.roomy,
    /** The lanes' next steps once these results are written; what is claimed stays within what is free but for the reserve. */
    steps(nowMs: number, completions: readonly Completion[]): LaneStep<HeldLane>[] {
      const room = free(nowMs).quick
      return nextSteps(lanes.values(), completions, Math.max(Math.floor(room / 2), room - slots.reserve), nowMs)
    },
    hold(merchantId: string, token: string, recorded: { slow: boolean; failStreak: number }, nowMs: number): HeldLane {
      const lane = {
        merchantId,
        token,
        health: openLane(recorded.slow, recorded.failStreak),
        inFlight: new Set<string>(),
        heldAtMs: nowMs,
        leasedAtMs: nowMs,
        drained: false,
      }
      lanes.set(merchantId, lane)
      return lane
    },
    forget(lane: HeldLane): void {
      if (lanes.get(lane.merchantId) === lane) lanes.delete(lane.merchantId)
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
    /** True when a lane is held with nothing in flight: it has to be released. */
    hasIdle: (): boolean => [...lanes.values()].some(lane => lane.inFlight.size === 0),
    /** Lanes whose lease has to be renewed to outlast what is in flight. */
    renewable: (nowMs: number): HeldLane[] => [...lanes.values()].filter(lane => nowMs - lane.leasedAtMs > RENEW_AFTER_MS),
  }
}
