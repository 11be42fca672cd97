import { isStale, isTransient } from '../database'
import type { Logger } from '../observe'
import { withLogFields, withoutContext } from '../observe'
import type { Part } from '../process'
import { RetryableError } from '../retryable'

export interface Message {
  id: string
  type: string
  /** The event as JSON text. */
  body: string
}

export type Handler = (message: Message) => Promise<void>

/** How one try to handle a message ended. */
export type Outcome = 'done' | 'retried' | 'dead'

export interface ConsumeOptions {
  /** How many handlers may run at once. */
  prefetch?: number
  /** Called after each try, for metrics. */
  onTry?(type: string, outcome: Outcome, seconds: number): void
}

export interface QueuePart extends Part {
  /** Messages that wait in the queue, those in hand not counted. */
  waiting?(): Promise<number> | number
}

/** Queue name to the message types bound to it. Known in full to every publisher, so that no message precedes its queue. */
export type Topology = Readonly<Record<string, readonly string[]>>

/** The queues bound to each type. */
export function queuesOf(topology: Topology): ReadonlyMap<string, readonly string[]> {
  const types = new Set(Object.values(topology).flat())
  return new Map([...types].map(type => [type, Object.keys(topology).filter(queue => topology[queue]?.includes(type))]))
}

/** Announced when a queue had to be declared again, with `{ queue, types }`: messages that it held may be gone. */
export const QUEUE_LOST = 'queue.lost'

/**
 * At least once, in no promised order. Both buses keep the same promises; `test/bus-contract.ts` states them.
 */
export interface Bus extends Part {
  /** True while a message would be taken; a relay claims nothing before. */
  accepts(): boolean
  /** Resolves when every queue bound to this type has safely taken the message; rejects when that is not certain. */
  publish(message: Message): Promise<void>
  /** Notifies current subscribers; may be lost. */
  announce(message: Message): void
  /** A part that handles one queue's messages, up to `prefetch` at a time; its stop waits for those in hand. */
  consume(queue: string, handler: Handler, options?: ConsumeOptions): QueuePart
  /** A part that hears what is announced of these types while it runs; each listener hears all of it. */
  listen(types: readonly string[], handler: (message: Message) => void): Part
}

const POISON_TRIES = 3
const RETRY_MS_MIN = 50
const RETRY_MS_MAX = 5_000

/** A bus holds this many times `prefetch` messages of a queue: those that wait to be tried again leave room for those that can be handled. */
export const HELD_PER_HANDLER = 8

/** How many handlers run at once; one more waits for its turn. */
export interface Slots {
  take(): Promise<void>
  give(): void
}

export function slots(count: number): Slots {
  const waiting: (() => void)[] = []
  let free = count
  return {
    async take() {
      if (free > 0) free--
      else await new Promise<void>(resolve => waiting.push(resolve))
    },
    give() {
      const next = waiting.shift()
      if (next) next()
      else free++
    },
  }
}

/** Logs retries: while a database is away, one line for all that wait, and not one for each. */
export interface RetryLog {
  retried(error: unknown): void
}

export function createRetryLog(logger: Logger, now = () => performance.now()): RetryLog {
  let retries = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return {
    retried(error) {
      retries += 1
      if (now() - loggedAt < RETRY_MS_MAX) return
      loggedAt = now()
      logger.warn('messages will be handled again', { retries, error })
      retries = 0
    },
  }
}

export interface Handling {
  handler: Handler
  slots: Slots
  signal: AbortSignal
  logger: Logger
  retryLog: RetryLog
  onTry?: ConsumeOptions['onTry'] | undefined
}

/** What became of a message; one that is `stopped` must be given back. */
type Handled = 'done' | 'dead' | 'stopped'

/**
 * Handles one message as both buses promise: what is `RetryableError`, a database that cannot be asked or a row that
 * moved on meanwhile is tried again for as long as it takes;
 * anything else three times, and then the message is `dead`.
 * While it waits to be tried again it holds no slot, so that the message it waits for can pass it.
 */
export const handle = (message: Message, handling: Handling): Promise<Handled> =>
  withoutContext(() => withLogFields({ event_id: message.id, event_type: message.type }, () => tryAndTry(message, handling)))

async function tryAndTry(message: Message, { handler, slots, signal, logger, retryLog, onTry }: Handling): Promise<Handled> {
  let failures = 0
  for (let waitMs = RETRY_MS_MIN; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
    await slots.take()
    const startedAt = performance.now()
    const tried = (outcome: Outcome) => onTry?.(message.type, outcome, (performance.now() - startedAt) / 1_000)
    try {
      if (signal.aborted) return 'stopped'
      await handler(message)
      tried('done')
      return 'done'
    } catch (error) {
      const retryable = error instanceof RetryableError || isTransient(error) || isStale(error)
      if (!retryable && ++failures >= POISON_TRIES) {
        tried('dead')
        logger.error('a message is parked in the dead letters', { error })
        return 'dead'
      }
      tried('retried')
      logger.debug('a message will be handled again', { error })
      retryLog.retried(error)
    } finally {
      slots.give()
    }
    await pause(waitMs, signal)
  }
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>(resolve => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
