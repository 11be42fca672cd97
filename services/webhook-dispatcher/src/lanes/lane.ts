/** Behaviour of an endpoint, which decides how much of it may be in flight at once. */
export interface LaneHealth {
  /** Slow or failing: one in flight, from the slots kept for such lanes. */
  slow: boolean
  failStreak: number
  /** Deliveries in flight at once; grows while the endpoint keeps up. */
  width: number
}

/** As many hang when an endpoint begins to; each success allows one more. */
export const FIRST_WIDTH = 2
export const WIDTH_MAX = 128
/** An attempt that takes longer holds up others: its lane is slow. */
export const SLOW_MS = 2_000
/** An attempt that takes longer gives its slot to others while few are free. */
export const YIELD_MS = 100
const FAILING_STREAK = 5

/** A lane as its row records it. */
export const openLane = (slow: boolean, failStreak: number): LaneHealth => ({ slow, failStreak, width: slow ? 1 : FIRST_WIDTH })

/** The lane while an attempt has not ended and takes too long already. */
export const afterOverrun = (lane: LaneHealth): LaneHealth => ({ ...lane, slow: true, width: 1 })

/** The lane after an attempt: one quick success makes it healthy, slowness or five failures in a row do not. */
export function afterSend(lane: LaneHealth, attempt: { delivered: boolean; durationMs: number }): LaneHealth {
  const failStreak = attempt.delivered ? 0 : lane.failStreak + 1
  const slow = attempt.durationMs > SLOW_MS || failStreak >= FAILING_STREAK
  if (slow) return { slow, failStreak, width: 1 }
  const width = attempt.delivered ? Math.min(WIDTH_MAX, Math.max(lane.slow ? FIRST_WIDTH : lane.width, 1) + 1) : lane.width
  return { slow, failStreak, width }
}

/** The lease a lane is held under; the token fences off a holder that comes back too late. */
export interface Lease {
  endpointId: string
  token: string
}

export interface HeldLane extends Lease {
  health: LaneHealth
  /** The merchant's limit of deliveries in flight. */
  limit: number
  /** Deliveries claimed and not yet written. */
  inFlight: Set<string>
  heldAtMs: number
  leasedAtMs: number
  /** When deliveries were last claimed from it. */
  claimedAtMs: number
  /** The last claim found less than it asked for: nothing more was due. */
  drained: boolean
  /** Something may have become due since the last claim. */
  arrived: boolean
  /** Attempts that gave their slot away and have not ended: while there is one, it is claimed from no further, whatever else of it is answered. */
  yielded: number
}

/** Most deliveries in flight in it at once. */
export const widthOf = ({ health, limit }: Pick<HeldLane, 'health' | 'limit'>): number => Math.min(health.width, limit)

/** One delivery on its way: from its claim until the attempt has ended, and then until its result is written. */
export interface InFlight {
  lane: HeldLane
  deliveryId: string
  startedAtMs: number
  ended: boolean
  completed: boolean
}
