import type { Logger } from '../observe/logger'
import type { Bus, ConsumeOptions, Handler, Message, QueuePart, Topology } from './bus'
import { createHandling, createRetryLog, HAND_BACK_MS, handBackWait, handle, TAKEN_PER_HANDLER } from './handling'

interface Held {
  message: Message
  settle: () => void
  settled: Promise<void>
}

interface Queue {
  types: readonly string[]
  waiting: Held[]
  /** How many were handed back and have not come again yet. */
  later: number
  /** Everything taken and not yet settled, by message id: a message published again joins the one in hand. */
  held: Map<string, Held>
  /** The consumers that run, the next to be served first. */
  pulls: Set<() => void>
  /** Parked messages by id, oldest first; they last as long as the process. */
  dead: Map<string, Message>
}

export interface MemoryBusOptions {
  topology: Topology
  logger: Logger
  onDeadLetter?: (queue: string, message: Message) => void
  handBackMs?: number
}

/**
 * The embedded bus. It keeps nothing on disk and still loses nothing: `publish` resolves only when each queue's handler has committed
 * (or the message is among the dead letters), so a message that dies with the process is still unsent in its publisher's outbox.
 */
export function memoryBus(options: MemoryBusOptions): Bus {
  const queues = new Map<string, Queue>(
    Object.entries(options.topology).map(([name, types]) => [
      name,
      { types, waiting: [], later: 0, held: new Map(), pulls: new Set(), dead: new Map() },
    ]),
  )
  const queueOf = (name: string): Queue => {
    const queue = queues.get(name)
    if (!queue) throw new Error(`The topology has no queue ${name}.`)
    return queue
  }
  const listeners = new Set<{ types: readonly string[]; handler: (message: Message) => void }>()

  const announce = (message: Message) => {
    for (const listener of listeners) if (listener.types.includes(message.type)) listener.handler(message)
  }
  return {
    name: 'bus',
    announce,
    accepts: () => true,
    busy: () => [...queues.values()].some(queue => queue.held.size > 0),
    async publish(message) {
      const bound = [...queues.values()].filter(queue => queue.types.includes(message.type))
      if (bound.length === 0) throw new Error(`No queue is bound to ${message.type}.`)
      await Promise.all(bound.map(queue => hold(queue, message)))
    },
    consume(name, handler, { prefetch = 32, ...settings } = {}) {
      return memoryConsumer(name, queueOf(name), handler, { ...options, ...settings, prefetch })
    },
    deadLetters(name) {
      const queue = queueOf(name)
      return {
        count: async () => queue.dead.size,
        list: async limit => [...queue.dead.values()].slice(0, limit),
        async retry(ids) {
          const chosen = [...queue.dead.values()].filter(({ id }) => ids === undefined || ids.includes(id))
          for (const message of chosen) {
            queue.dead.delete(message.id)
            void hold(queue, message)
          }
          return chosen.length
        },
        discard: async ids => ids.filter(id => queue.dead.delete(id)).length,
      }
    },
    listen(types, handler) {
      const listener = { types, handler }
      return {
        name: 'announcements',
        start: async () => void listeners.add(listener),
        stop: async () => void listeners.delete(listener),
      }
    },
  }
}

function hold(queue: Queue, message: Message): Promise<void> {
  const known = queue.held.get(message.id)
  if (known) return known.settled
  let settle: () => void = () => undefined
  const settled = new Promise<void>(resolve => {
    settle = resolve
  })
  const held = { message, settle: () => settle(), settled }
  queue.held.set(message.id, held)
  queue.waiting.push(held)
  offer(queue)
  return settled
}

function offer(queue: Queue): void {
  for (const pull of [...queue.pulls]) {
    if (queue.waiting.length === 0) return
    queue.pulls.delete(pull)
    queue.pulls.add(pull)
    pull()
  }
}

interface MemoryConsumerOptions extends MemoryBusOptions, ConsumeOptions {
  prefetch: number
}

function memoryConsumer(name: string, queue: Queue, handler: Handler, options: MemoryConsumerOptions): QueuePart {
  const { prefetch, onTry, patienceMs, onDead, logger, handBackMs = HAND_BACK_MS } = options
  const aborted = new AbortController()
  const inHand = new Set<Promise<void>>()
  const retryLog = createRetryLog(logger)
  const handling = createHandling(handler, prefetch, { signal: aborted.signal, logger, onTry, retryLog, patienceMs, onDead })

  /** Comes again after a while, to whichever consumer runs then. */
  const handBack = (held: Held) => {
    const waitMs = handBackWait(held.message, handBackMs)
    held.message = { ...held.message, handedBackAt: held.message.handedBackAt ?? Date.now() }
    queue.later += 1
    setTimeout(() => {
      queue.later -= 1
      queue.waiting.push(held)
      offer(queue)
    }, waitMs).unref()
  }
  const take = async (held: Held) => {
    const outcome = await handle(held.message, handling)
    if (outcome === 'stopped') return void queue.waiting.push(held)
    if (outcome === 'later') return handBack(held)
    if (outcome === 'dead') {
      queue.dead.set(held.message.id, held.message)
      options.onDeadLetter?.(name, held.message)
    }
    queue.held.delete(held.message.id)
    held.settle()
  }
  const pull = () => {
    while (inHand.size < prefetch * TAKEN_PER_HANDLER && !aborted.signal.aborted) {
      const held = queue.waiting.shift()
      if (!held) return
      const work = take(held).finally(() => {
        inHand.delete(work)
        pull()
      })
      inHand.add(work)
    }
  }
  return {
    name: `${name} queue`,
    waiting: () => queue.waiting.length + queue.later,
    async start() {
      queue.pulls.add(pull)
      pull()
    },
    async stop() {
      aborted.abort()
      queue.pulls.delete(pull)
      await Promise.all(inHand)
      offer(queue)
    },
  }
}
