import { Semaphore } from 'async-mutex'
import { isStale, isTransient } from '../database'
import type { Logger } from '../observe'
import { withLogFields, withoutContext } from '../observe'
import type { Part } from '../process'
import { PoisonError, RetryableError } from '../retryable'

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
  /** For how long an error of unknown kind is met by another try, by message type; three tries are made in any case. */
  patienceMs?(type: string): number
  /** Called before a message is parked; while it rejects, the message is tried again. */
  onDead?(message: Message): Promise<void>
}

/** Messages that no try could handle, parked beside their queue. */
export interface DeadLetters {
  count(): Promise<number>
  /** The oldest of them; they stay. */
  list(limit: number): Promise<Message[]>
  /** Puts those with these ids, or all, back into their queue; answers how many. */
  retry(ids?: readonly string[]): Promise<number>
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
  /** What was parked from a queue. */
  deadLetters(queue: string): DeadLetters
  /** A part that hears what is announced of these types while it runs; each listener hears all of it. */
  listen(types: readonly string[], handler: (message: Message) => void): Part
}

const POISON_TRIES = 3
const RETRY_MS_MIN = 50
const RETRY_MS_MAX = 5_000

/** A bus holds this many times `prefetch` messages of a queue: those that wait to be tried again leave room for those that can be handled. */
export const HELD_PER_HANDLER = 8

/** How many handlers run at once. A caller that waits goes on in its own context, so that log lines stay those of its message. */
export const slots = (count: number) => new Semaphore(count)

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
  slots: Semaphore
  signal: AbortSignal
  logger: Logger
  retryLog: RetryLog
  onTry?: ConsumeOptions['onTry'] | undefined
  patienceMs?: ConsumeOptions['patienceMs'] | undefined
  onDead?: ConsumeOptions['onDead'] | undefined
}

/** What became of a message; one that is `stopped` must be given back. */
type Handled = 'done' | 'dead' | 'stopped'

/**
 * Handles one message as both buses promise: what is `RetryableError`, a database that cannot be asked or a row that
 * moved on meanwhile is tried again for as long as it takes;
 * anything else three times, or for as long as its type is worth, and then the message is `dead`. One that can never be read is a PoisonError.
 * While it waits to be tried again it holds no slot, so that the message it waits for can pass it.
 */
export const handle = (message: Message, handling: Handling): Promise<Handled> =>
  withoutContext(() => withLogFields({ event_id: message.id, event_type: message.type }, () => tryAndTry(message, handling)))

async function tryAndTry(
  message: Message,
  { handler, slots, signal, logger, retryLog, onTry, patienceMs, onDead }: Handling,
): Promise<Handled> {
  let failures = 0
  let failingSince: number | undefined
  for (let waitMs = RETRY_MS_MIN; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
    const [, release] = await slots.acquire()
    const startedAt = performance.now()
    const tried = (outcome: Outcome) => onTry?.(message.type, outcome, (performance.now() - startedAt) / 1_000)
    try {
      if (signal.aborted) return 'stopped'
      await handler(message)
      tried('done')
      return 'done'
    } catch (error) {
      const retryable = error instanceof RetryableError || isTransient(error) || isStale(error)
      if (!retryable) failingSince ??= startedAt
      const patience = error instanceof PoisonError ? 0 : (patienceMs?.(message.type) ?? 0)
      const isWorn = failingSince !== undefined && performance.now() - failingSince >= patience
      if (!retryable && ++failures >= POISON_TRIES && isWorn && (await succeeds(onDead, message, logger))) {
        tried('dead')
        logger.error('a message is parked in the dead letters', { error })
        return 'dead'
      }
      tried('retried')
      logger.debug('a message will be handled again', { error })
      retryLog.retried(error)
    } finally {
      release()
    }
    await pause(waitMs, signal)
  }
}

async function succeeds(onDead: ConsumeOptions['onDead'], message: Message, logger: Logger): Promise<boolean> {
  try {
    await onDead?.(message)
    return true
  } catch (error) {
    logger.warn('a message cannot be parked yet', { error })
    return false
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
