import type { Bus, Message } from '@ponte/service-kit'
import type { Random } from '../torture/random'

export interface UnreliableBus extends Bus {
  /** From now on every message may be held back for long, and may come again. */
  disturb(on: boolean): void
  /** Lets everything go that is held, in any order, and repeats some of what went before. */
  release(): void
  counts: { held: number; repeated: number }
}

const HELD = 0.35
const REPEATED = 0.2
const REMEMBERED = 200

/** A bus that keeps its promise (at least once, in any order) and no more than that. */
export function unreliableBus(bus: Bus, random: Random): UnreliableBus {
  const held = new Set<() => void>()
  const past: Message[] = []
  const counts = { held: 0, repeated: 0 }
  let disturbed = false
  return {
    ...bus,
    counts,
    async publish(message) {
      if (disturbed && random.chance(HELD)) {
        counts.held++
        await new Promise<void>(resolve => held.add(resolve))
      }
      await bus.publish(message)
      past.push(message)
      if (past.length > REMEMBERED) past.shift()
    },
    busy: async () => held.size > 0 || (await bus.busy?.()) === true,
    disturb(on) {
      disturbed = on
    },
    release() {
      for (const release of random.shuffle([...held])) release()
      held.clear()
      const again = past.filter(() => random.chance(REPEATED))
      counts.repeated += again.length
      // A queue whose consumer is away takes it when that is back; whether it does is the first publisher's business.
      for (const message of again) void bus.publish(message).catch(() => undefined)
    },
  }
}
