import { topology } from '@ponte/contracts'
import { type Bus, type Message, queuesOf, until } from '@ponte/service-kit'
import type { Random } from '../torture/random'

/** Groups into which what was published is split; the next is delivered when all that follows from the one before is done. */
const GROUPS = 3
const REPEATED = 0.2
const REMEMBERED = 300
const PATIENCE_MS = 300

export interface ShuffledBus extends Bus {
  /** The types that were published. */
  types: ReadonlySet<string>
  counts: { published: number; repeated: number }
  /** What is delivered and not handled. */
  waiting(): string[]
  /** What is published from now on is kept, shuffled and repeated by this; null lets it pass in the order of publishing. */
  shuffle(random: Random | null): void
  /** What becomes of a message in its place; it is not delivered. */
  divert(type: string, take: (message: Message) => boolean): void
  /** Delivers all that is kept, and what follows from it; `idle` resolves when no service has work. */
  drain(idle: () => Promise<void>): Promise<void>
}

/** A bus that keeps the promise of both (at least once, in no order) and no more than that. As a broker does, it takes a message when it is published. */
export function shuffledBus(bus: Bus): ShuffledBus {
  let random: Random | null = null
  let kept: Message[] = []
  const past: Message[] = []
  const types = new Set<string>()
  const counts = { published: 0, repeated: 0 }
  const diversions = new Map<string, (message: Message) => boolean>()
  const queues = queuesOf(topology)
  /** Queue and id of what was delivered and is not handled yet. */
  const open = new Set<string>()

  const send = (message: Message) => {
    for (const queue of queues.get(message.type) ?? []) open.add(`${queue} ${message.type} ${message.id}`)
    return bus.publish(message)
  }

  const deliver = (messages: readonly Message[]) => {
    // The memory bus resolves when every reader is done, which may need what is still kept.
    for (const message of messages) void send(message).catch(() => kept.push(message))
  }
  /** Until what was delivered is handled, or seems to need what is still kept. */
  const handled = () => until(() => open.size === 0, '', PATIENCE_MS).catch(() => undefined)
  return {
    ...bus,
    types,
    counts,
    async publish(message) {
      types.add(message.type)
      counts.published += 1
      if (diversions.get(message.type)?.(message)) return
      past.push(message)
      if (past.length > REMEMBERED) past.shift()
      if (random) kept.push(message)
      else await send(message)
    },
    consume: (queue, handler, options) =>
      bus.consume(
        queue,
        async message => {
          await handler(message)
          open.delete(`${queue} ${message.type} ${message.id}`)
        },
        options,
      ),
    busy: async () => open.size > 0 || (await bus.busy?.()) === true,
    waiting: () => [...open].slice(0, 5),
    shuffle(next) {
      random = next
    },
    divert: (type, take) => void diversions.set(type, take),
    async drain(idle) {
      for (let group = 1; ; group += 1) {
        if (kept.length === 0) await idle()
        if (!random || kept.length === 0) return
        const order = random.shuffle(kept)
        const size = group < GROUPS ? random.between(1, order.length + 1) : order.length
        kept = order.slice(size)
        const again = past.filter(() => random?.chance(REPEATED / GROUPS))
        counts.repeated += again.length
        deliver(random.shuffle([...order.slice(0, size), ...again]))
        await handled()
      }
    },
  }
}
