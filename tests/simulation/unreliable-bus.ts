import type { Bus, Message } from '@ponte/service-kit'
import type { Random } from '@ponte/service-kit/testing'

export interface UnreliableBus extends Bus {
  /** The bus as one service has it: it may be cut off in one direction alone. */
  of(service: string): Bus
  /** From now on this service hears and cannot speak, or speaks and cannot hear; null: both again. */
  cutOff(service: string, what: 'speaking' | 'hearing' | null): void
  /** From now on every message may be held back for long, and may come again. */
  disturb(on: boolean): void
  /** Lets everything go that is held, in any order, and repeats some of what went before. */
  release(): void
  counts: { held: number; repeated: number; unsaid: number; unheard: number }
}

const HELD = 0.35
const REPEATED = 0.2
const REMEMBERED = 200

/** A bus that keeps its promise (at least once, in any order) and no more than that. */
export function unreliableBus(bus: Bus, random: Random): UnreliableBus {
  const held = new Set<() => void>()
  const past: Message[] = []
  const counts = { held: 0, repeated: 0, unsaid: 0, unheard: 0 }
  const cut = new Map<string, 'speaking' | 'hearing'>()
  const mended = new Set<() => void>()
  let disturbed = false
  const publish = async (message: Message) => {
    if (disturbed && random.chance(HELD)) {
      counts.held++
      await new Promise<void>(resolve => held.add(resolve))
    }
    await bus.publish(message)
    past.push(message)
    if (past.length > REMEMBERED) past.shift()
  }
  return {
    ...bus,
    counts,
    publish,
    of: service => ({
      ...bus,
      accepts: () => bus.accepts(),
      async publish(message) {
        if (cut.get(service) === 'speaking') {
          counts.unsaid++
          throw new Error(`${service} cannot speak.`)
        }
        await publish(message)
      },
      consume: (queue, handler, options) =>
        bus.consume(
          queue,
          async message => {
            if (cut.get(service) === 'hearing') {
              counts.unheard++
              await new Promise<void>(resolve => mended.add(resolve))
            }
            await handler(message)
          },
          options,
        ),
    }),
    cutOff(service, what) {
      if (what) cut.set(service, what)
      else cut.delete(service)
      for (const resolve of mended) resolve()
      mended.clear()
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
