import { setMaxListeners } from 'node:events'
import { isStale, isTransient } from '../database/errors'
import { withLogFields, withoutContext } from '../observe/log-fields'
import type { Logger } from '../observe/logger'
import { PoisonError, RetryableError, UnknownMessageError } from '../retryable'
import type { ConsumeOptions, Handler, Message, Outcome } from './bus'
import { createTurns, type Turns } from './turns'

const POISON_TRIES = 3
const RETRY_MS_MIN = 50
const RETRY_MS_MAX = 5_000

/** A bus takes this many times `prefetch` messages of a queue: those that wait to be tried again leave room for those that can be handled. */
export const TAKEN_PER_HANDLER = 8
/** A message that is handed back comes again after this time, and after twice as long each time. */
export const HAND_BACK_MS = 5_000
/** A returned message leaves its queue in turn: one that waits for a day would hold up the others. */
const HAND_BACK_MS_MAX = 60_000
/** By then every replica of a rolling deployment is replaced. */
const UNKNOWN_FOR_MS = 86_400_000

/** Delay of a message returned now: the time since it was first returned. */
export const handBackWait = ({ handedBackAt }: Message, firstMs: number, now = Date.now()): number =>
  Math.min(Math.max(firstMs, now - (handedBackAt ?? now)), Math.max(firstMs, HAND_BACK_MS_MAX))

/** Logs retries: while a database is away, one line for all that wait, and not one for each. */
export interface RetryLog {
  retried(error: unknown): void
  /** The same, of what waits for a newer version. */
  handedBack(error: unknown): void
}

export function createRetryLog(logger: Logger, now = () => performance.now()): RetryLog {
  const inTurns = (line: string, everyMs: number) => {
    let count = 0
    let loggedAt = Number.NEGATIVE_INFINITY
    return (error: unknown) => {
      count += 1
      if (now() - loggedAt < everyMs) return
      loggedAt = now()
      logger.warn(line, { messages: count, error })
      count = 0
    }
  }
  return {
    retried: inTurns('messages will be handled again', RETRY_MS_MAX),
    handedBack: inTurns('messages are handed back for a newer version', HAND_BACK_MS_MAX),
  }
}

export interface Handling {
  handler: Handler
  /** Messages that wait here to be tried again, of at most `heldMax`. */
  held: { count: number }
  heldMax: number
  turns: Turns
  signal: AbortSignal
  logger: Logger
  retryLog: RetryLog
  onTry?: ConsumeOptions['onTry'] | undefined
  patienceMs?: ConsumeOptions['patienceMs'] | undefined
  onDead?: ConsumeOptions['onDead'] | undefined
}

/** How one consumer handles: as many at once as its `prefetch`, and as many that wait to be tried again. */
export function createHandling(
  handler: Handler,
  prefetch: number,
  options: Omit<Handling, 'handler' | 'turns' | 'held' | 'heldMax'>,
): Handling {
  // Each message that waits to be tried again listens; more than ten of them are no leak for Node to warn of.
  setMaxListeners(prefetch * TAKEN_PER_HANDLER, options.signal)
  return { ...options, handler, turns: createTurns(prefetch), held: { count: 0 }, heldMax: prefetch }
}

/** What became of a message; one that is `stopped` must be given back at once, one that is to come `later` after `HAND_BACK_MS`. */
export type Handled = 'done' | 'dead' | 'stopped' | 'later'

/**
 * Handles one message as both buses promise: what is `RetryableError`, a database that cannot be asked or a row that
 * moved on meanwhile is tried again for as long as it takes; what a newer version may know is handed back for a day;
 * anything else is tried three times, or for as long as its type is worth, and then the message is `dead`. One that can never be read is a PoisonError.
 * While it waits to be tried again it holds no slot, so that the message it waits for can pass it. Only so many wait here: the others are handed back,
 * so that fresh messages always pass, unless the database is away, when none could.
 */
export const handle = (message: Message, handling: Handling): Promise<Handled> =>
  withoutContext(() => withLogFields({ event_id: message.id, event_type: message.type }, () => tryAndTry(message, handling)))

async function tryAndTry(message: Message, handling: Handling): Promise<Handled> {
  const { handler, turns, signal, logger, retryLog, onTry, patienceMs, onDead, held, heldMax } = handling
  let failures = 0
  let failingSince: number | undefined
  for (let waitMs = RETRY_MS_MIN; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
    await turns.take(message.merchantId ?? null)
    const startedAt = performance.now()
    const tried = (outcome: Outcome) => onTry?.(message.type, outcome, (performance.now() - startedAt) / 1_000)
    let failure: unknown
    try {
      if (signal.aborted) return 'stopped'
      await handler(message)
      tried('done')
      return 'done'
    } catch (error) {
      failure = error
    } finally {
      turns.release()
    }
    if (failure instanceof UnknownMessageError && Date.now() - (message.handedBackAt ?? Date.now()) < UNKNOWN_FOR_MS) {
      // Its dependents are held as by a parked one, and nothing else.
      if (message.handedBackAt !== undefined || (await succeeds(onDead, message, logger))) {
        tried('unknown')
        retryLog.handedBack(failure)
        return 'later'
      }
    }
    const isAway = isTransient(failure)
    const retryable = failure instanceof RetryableError || isAway || isStale(failure)
    if (!retryable) {
      failures += 1
      failingSince ??= startedAt
      if (isWorn(failure, failures, failingSince, patienceMs?.(message.type)) && (await succeeds(onDead, message, logger))) {
        tried('dead')
        logger.error('a message is parked in the dead letters', { error: failure })
        return 'dead'
      }
    }
    tried('retried')
    logger.debug('a message will be handled again', { error: failure })
    retryLog.retried(failure)
    if (retryable && held.count >= heldMax && !isAway) return 'later'
    held.count += 1
    await pause(waitMs, signal)
    held.count -= 1
  }
}

/** True when no other try is made: enough were, and its type is not worth more. */
function isWorn(failure: unknown, failures: number, failingSince: number, patienceMs = 0): boolean {
  if (failure instanceof UnknownMessageError) return true
  const patience = failure instanceof PoisonError ? 0 : patienceMs
  return failures >= POISON_TRIES && performance.now() - failingSince >= patience
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
