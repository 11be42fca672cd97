import { afterOverrun, type InFlight, SLOW_MS, YIELD_MS } from './lane'

/** Attempts that overrun leave their slot to others; this many may be under way in all, in slots. */
const OVERRUN_FACTOR = 4

/**
 * A quarter of the slots is for slow lanes. An attempt of a healthy lane that overruns two seconds moves over there; while few slots are free, one that
 * takes longer than most gives its slot away before that, once over, so that endpoints which begin to hang cannot hold the others' slots.
 */
export function createSlots(slots: number) {
  const quick = new Set<InFlight>()
  const yielded = new Set<InFlight>()
  const slow = new Set<InFlight>()
  const slowSlots = Math.max(1, Math.floor(slots / 4))
  const quickSlots = Math.max(1, slots - slowSlots)
  const taken = () => quick.size + yielded.size + slow.size
  const isRoomy = () => quickSlots - quick.size >= quickSlots / 4

  const leave = (inFlight: InFlight): void => {
    quick.delete(inFlight)
    if (yielded.delete(inFlight)) inFlight.lane.yielded -= 1
    slow.delete(inFlight)
  }
  const moveOverruns = (from: Set<InFlight>, nowMs: number) => {
    // Insertion order is the order of starting, so the first that is in time ends the search.
    for (const inFlight of from) {
      if (nowMs - inFlight.startedAtMs <= SLOW_MS) return
      leave(inFlight)
      slow.add(inFlight)
      inFlight.lane.health = afterOverrun(inFlight.lane.health)
    }
  }
  const giveAway = (nowMs: number) => {
    for (const inFlight of quick) {
      if (isRoomy() || nowMs - inFlight.startedAtMs <= YIELD_MS || yielded.size >= slots) return
      quick.delete(inFlight)
      yielded.add(inFlight)
      inFlight.lane.yielded += 1
    }
  }
  return {
    taken,
    take: (inFlight: InFlight) => void (inFlight.lane.health.slow ? slow : quick).add(inFlight),
    release: leave,
    free(nowMs: number): { quick: number; slow: number } {
      moveOverruns(yielded, nowMs)
      moveOverruns(quick, nowMs)
      if (taken() >= slots * OVERRUN_FACTOR) return { quick: 0, slow: 0 }
      giveAway(nowMs)
      return { quick: Math.max(0, quickSlots - quick.size), slow: Math.max(0, slowSlots - slow.size) }
    },
    /** True when a good part of the slots is free, so that a claim is worth its cost. */
    roomy: isRoomy,
    /** Kept for lanes whose turn comes when there is hardly room. */
    reserve: Math.ceil(quickSlots / 8),
    /** Attempts beyond the slots that may be started ahead of those that are about to end. */
    borrowed: slowSlots,
  }
}
