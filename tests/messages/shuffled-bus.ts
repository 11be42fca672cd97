import { topology } from '@ponte/contracts'
import { type Bus, type Message, until } from '@ponte/service-kit'
import type { Random } from '@ponte/service-kit/testing'

/** Groups into which what was published is split; the next is delivered when the one before is handled. */
const GROUPS = 3
/** Of what came before, in each group. */
const REPEATED = 0.07
const REMEMBERED = 300
/** Of what is alone about its subject. */
const LATE = 0.3
const PATIENCE_MS = 2_000

export interface ShuffledBus extends Bus {
  /** The types that were published. */
  types: ReadonlySet<string>
  counts: { published: number; repeated: number }
  /** Delivered and not handled. */
  waiting(): string[]
  /**
   * What is published from now on is kept, repeated by this, and delivered the newest first (when `drains` is odd) and shuffled by turns; null lets it
   * pass in the order of publishing.
   */
  shuffle(random: Random | null, drains?: number): void
  /** A message is taken out of its place and not delivered. */
  divert(type: string, take: (message: Message) => boolean): void
  /** Delivers all that is kept, and what follows from it; `idle` resolves when no service has work. */
  drain(idle: (isHeld: () => boolean) => Promise<void>): Promise<void>
}

/** A bus that keeps the promise of both (at least once, in no order) and no more than that. As a broker does, it takes a message when it is published. */
export function shuffledBus(bus: Bus): ShuffledBus {
  let random: Random | null = null
  let kept: Message[] = []
  const past: Message[] = []
  const types = new Set<string>()
  const counts = { published: 0, repeated: 0 }
  const diversions = new Map<string, (message: Message) => boolean>()
  const readers = Object.entries<readonly string[]>(topology)
  let drains = 0
  /** Queue and id of what was delivered and is not handled yet. */
  const open = new Set<string>()

  const send = (message: Message) => {
    for (const [queue, types] of readers) if (types.includes(message.type)) open.add(`${queue} ${message.type} ${message.id}`)
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
    shuffle(next, begin = 0) {
      random = next
      drains = begin
    },
    divert: (type, take) => void diversions.set(type, take),
    async drain(idle) {
      drains += 1
      const isNewestFirst = random !== null && drains % 2 === 0
      let late = isNewestFirst && random ? latecomers(kept, random) : []
      kept = without(kept, late)
      for (let group = 1; ; group += 1) {
        // A service that waits for a held message stays busy until it is delivered.
        if (kept.length === 0) await idle(() => kept.length > 0)
        if (kept.length === 0) [kept, late] = [late, []]
        if (!random || kept.length === 0) return
        const chosen = isNewestFirst ? newestOfEach(kept) : mixed(kept, group, random)
        const again = without(past, [...kept, ...late]).filter(() => random?.chance(REPEATED))
        kept = without(kept, chosen)
        counts.repeated += again.length
        deliver(random.shuffle([...chosen, ...again]))
        await handled()
      }
    },
  }
}

const without = (messages: readonly Message[], others: readonly Message[]): Message[] => {
  const left = new Set(others)
  return messages.filter(message => !left.has(message))
}

/** Some of what is kept; all of it in the last group. */
const mixed = (kept: readonly Message[], group: number, random: Random): readonly Message[] =>
  group < GROUPS ? random.shuffle(kept).slice(0, random.between(1, kept.length + 1)) : kept

const newestOfEach = (kept: readonly Message[]): Message[] => bySubject(kept).flatMap(each => each.slice(-1))

/** Delivered when nothing else is left: the oldest message about each subject, and some of those that are alone. */
const latecomers = (kept: readonly Message[], random: Random): Message[] =>
  bySubject(kept).flatMap(each => (each.length > 1 || random.chance(LATE) ? each.slice(0, 1) : []))

/** Messages that must be right in any order of arrival among themselves, in the order of their publishing. */
function bySubject(messages: readonly Message[]): Message[][] {
  const subjects = new Map<string, Message[]>()
  for (const message of messages) {
    const { data } = JSON.parse(message.body)
    const subject = data.order_id ?? data.order?.id ?? data.memo ?? data.subscription?.id ?? message.type
    subjects.set(subject, [...(subjects.get(subject) ?? []), message])
  }
  return [...subjects.values()]
}
