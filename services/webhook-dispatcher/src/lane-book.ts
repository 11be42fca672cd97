import { afterSend, type Flight, type Held, openLane } from './lane'
import { type Landing, nextSteps } from './lane-steps'
import { createSlots } from './slots'
import type { LaneStep } from './store/results'

const RENEW_AFTER_MS = 15_000
/** Results not yet written, in slots; beyond that the database is behind, and claiming waits for it. */
const UNWRITTEN_FACTOR = 4

export type LaneBook = ReturnType<typeof createLaneBook>

/** What this process has in flight and for whom. */
export function createLaneBook(slotCount: number) {
  const lanes = new Map<string, Held>()
  const slots = createSlots(slotCount)
  let unwritten = 0
  const free = (nowMs: number) => (unwritten >= slotCount * UNWRITTEN_FACTOR ? { quick: 0, slow: 0 } : slots.free(nowMs))
  return {
    inFlight: () => slots.taken() + unwritten,
    /** Slots that may be filled now; two who ask at once may overfill them once. */
    free,
    roomy: slots.roomy,
    /** What becomes of the lanes when these results are written; the more that is taken out of them stays within what is free but for the reserve. */
    steps(nowMs: number, landings: readonly Landing[]): LaneStep<Held>[] {
      const room = free(nowMs).quick
      return nextSteps(lanes.values(), landings, Math.max(Math.floor(room / 2), room - slots.reserve), nowMs)
    },
    hold(merchantId: string, token: string, memory: { slow: boolean; failStreak: number }, nowMs: number): Held {
      const lane = {
        merchantId,
        token,
        health: openLane(memory.slow, memory.failStreak),
        flying: new Set<string>(),
        heldAtMs: nowMs,
        leasedAtMs: nowMs,
        drained: false,
      }
      lanes.set(merchantId, lane)
      return lane
    },
    forget(lane: Held): void {
      if (lanes.get(lane.merchantId) === lane) lanes.delete(lane.merchantId)
    },
    start(lane: Held, deliveryId: string, nowMs: number): Flight {
      const flight = { lane, deliveryId, startedAtMs: nowMs, ended: false, landed: false }
      lane.flying.add(deliveryId)
      slots.take(flight)
      return flight
    },
    /** The attempt has ended: its slot is free, and what it showed of its lane is kept. */
    end(flight: Flight, attempt: { delivered: boolean; durationMs: number }): void {
      flight.lane.health = afterSend(flight.lane.health, attempt)
      slots.leave(flight)
      unwritten += 1
      flight.ended = true
    },
    /** Its result is written, or nobody will. */
    land(flight: Flight): void {
      if (flight.landed) return
      flight.landed = true
      if (flight.ended) unwritten -= 1
      slots.leave(flight)
      flight.lane.flying.delete(flight.deliveryId)
    },
    /** True when a lane is held with nothing in flight: it has to be given back. */
    hasIdle: (): boolean => [...lanes.values()].some(lane => lane.flying.size === 0),
    /** Lanes whose lease has to be renewed to outlast what is in flight. */
    renewable: (nowMs: number): Held[] => [...lanes.values()].filter(lane => nowMs - lane.leasedAtMs > RENEW_AFTER_MS),
  }
}
