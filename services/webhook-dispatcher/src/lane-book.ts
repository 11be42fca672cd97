import { afterOverrun, afterSend, type LaneHealth, openLane, SLOW_MS } from './lane'

/** A lane whose lease this process holds. */
export interface Held {
  merchantId: string
  token: string
  health: LaneHealth
  inFlight: number
  heldAtMs: number
  leasedAtMs: number
  /** The last look found less than it asked for: nothing more is due. */
  drained: boolean
  /** A claim or a release that names this lane is on its way to the database. */
  asked: boolean
}

/** One delivery on its way: from its claim until the attempt has ended, and then until its result is written. */
export interface Flight {
  lane: Held
  startedAtMs: number
  ended: boolean
  landed: boolean
}

/** A lane that keeps being refilled is given up after this, so that lanes take turns. */
const HOLD_MS = 2_000
const RENEW_AFTER_MS = 15_000
/** Attempts that overrun leave their slot to others; this many may be under way in all, in slots. */
const OVERRUN_FACTOR = 4
/** Results not yet written, in slots; beyond that the database is behind, and claiming waits for it. */
const UNWRITTEN_FACTOR = 4

/**
 * What this process has in flight and for whom. A quarter of the slots is for slow lanes; an attempt of a healthy lane that overruns
 * two seconds moves over there, so that endpoints which begin to hang cannot hold the others' slots.
 */
export function createLaneBook(slots: number) {
  const lanes = new Map<string, Held>()
  const quick = new Set<Flight>()
  const slow = new Set<Flight>()
  let unwritten = 0
  const slowSlots = Math.max(1, Math.floor(slots / 4))
  const quickSlots = Math.max(1, slots - slowSlots)
  /** Kept for lanes whose turn comes when there is hardly room. */
  const reserve = Math.ceil(quickSlots / 8)

  const moveOverruns = (nowMs: number) => {
    // Insertion order is the order of starting, so the first that is in time ends the search.
    for (const flight of quick) {
      if (nowMs - flight.startedAtMs <= SLOW_MS) return
      quick.delete(flight)
      slow.add(flight)
      flight.lane.health = afterOverrun(flight.lane.health)
    }
  }
  const leaveSlot = (flight: Flight) => {
    quick.delete(flight)
    slow.delete(flight)
  }
  const tired = (lane: Held, nowMs: number) => nowMs - lane.heldAtMs > HOLD_MS
  const isDone = (lane: Held, nowMs: number) =>
    lane.inFlight === 0 && !lane.asked && (lane.drained || lane.health.slow || tired(lane, nowMs))
  return {
    inFlight: () => quick.size + slow.size + unwritten,
    held: () => lanes.size,
    /** Slots that a claim may fill now. */
    free(nowMs: number): { quick: number; slow: number } {
      moveOverruns(nowMs)
      if (quick.size + slow.size >= slots * OVERRUN_FACTOR || unwritten >= slots * UNWRITTEN_FACTOR) return { quick: 0, slow: 0 }
      return { quick: Math.max(0, quickSlots - quick.size), slow: Math.max(0, slowSlots - slow.size) }
    },
    /** True when a good part of the slots is free, so that a claim is worth its price. */
    roomy: (): boolean => quickSlots - quick.size >= quickSlots / 4,
    /** Held lanes with room, within what is free but for the reserve. Each is marked as asked. */
    refills(nowMs: number, freeQuick: number): { lane: Held; want: number }[] {
      let budget = Math.max(Math.floor(freeQuick / 2), freeQuick - reserve)
      const refills: { lane: Held; want: number }[] = []
      for (const lane of lanes.values()) {
        const want = Math.min(budget, lane.health.width - lane.inFlight)
        if (want <= 0 || lane.health.slow || lane.asked || tired(lane, nowMs)) continue
        lane.asked = true
        budget -= want
        refills.push({ lane, want })
      }
      return refills
    },
    hold(merchantId: string, token: string, memory: { slow: boolean; failStreak: number }, nowMs: number): Held {
      const lane = {
        merchantId,
        token,
        health: openLane(memory.slow, memory.failStreak),
        inFlight: 0,
        heldAtMs: nowMs,
        leasedAtMs: nowMs,
        drained: false,
        asked: false,
      }
      lanes.set(merchantId, lane)
      return lane
    },
    forget(lane: Held): void {
      if (lanes.get(lane.merchantId) === lane) lanes.delete(lane.merchantId)
    },
    start(lane: Held, nowMs: number): Flight {
      const flight = { lane, startedAtMs: nowMs, ended: false, landed: false }
      lane.inFlight += 1
      ;(lane.health.slow ? slow : quick).add(flight)
      return flight
    },
    /** The attempt has ended: its slot is free, and what it showed of its lane is kept. */
    end(flight: Flight, attempt: { delivered: boolean; durationMs: number }): void {
      flight.lane.health = afterSend(flight.lane.health, attempt)
      leaveSlot(flight)
      unwritten += 1
      flight.ended = true
    },
    /** Its result is being written, or nobody will. */
    land(flight: Flight): void {
      if (flight.landed) return
      flight.landed = true
      if (flight.ended) unwritten -= 1
      leaveSlot(flight)
      flight.lane.inFlight -= 1
    },
    hasReleasable: (nowMs: number): boolean => [...lanes.values()].some(lane => isDone(lane, nowMs)),
    /** Lanes with nothing in flight that nothing more is wanted from; each is marked as asked. */
    releasable(nowMs: number): Held[] {
      const done = [...lanes.values()].filter(lane => isDone(lane, nowMs))
      for (const lane of done) lane.asked = true
      return done
    },
    /** Lanes whose lease has to be renewed to outlast what is in flight. */
    renewable: (nowMs: number): Held[] => [...lanes.values()].filter(lane => nowMs - lane.leasedAtMs > RENEW_AFTER_MS),
    /** True when a claim at once would find more. */
    hungry: (nowMs: number): boolean =>
      [...lanes.values()].some(
        lane => !lane.drained && !lane.asked && !lane.health.slow && !tired(lane, nowMs) && lane.inFlight < lane.health.width,
      ),
  }
}
