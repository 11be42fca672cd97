import { isPonteError, PonteError } from '../failure.js'
import { retryDelayMs } from '../retry.js'
import { pause, type RequestOptions } from '../transport.js'
import type { StoredEvent } from '../webhook/event.js'

/** Where following begins, and which kinds of event it gives. */
export interface FollowOptions extends RequestOptions {
  /**
   * The `cursor` of the last event that you have handled; 0 for all that are kept, `'now'` for those to come. Its `sequence` does too, but does not show that events were
   * numbered again.
   */
  after: string | number
  /** Only these kinds. */
  types?: readonly string[]
  /** Events in one answer, 1 to 100. */
  limit?: number
  /** Adds `body` to each event: what webhooks send, byte for byte. */
  includeBody?: boolean
  /** Seconds that one request waits for an event, 0 to 20. */
  waitS?: number
  /** Called when a request failed and is sent again. */
  onRetry?(error: PonteError, delayMs: number): void
  /** Called when the events were put back to an earlier moment. It goes on where their history is still the one that you have; some events may come again. */
  onReset?(error: PonteError): void
}

interface Answer {
  data: StoredEvent[]
}

type Ask = (query: object, options: RequestOptions & { waitMs?: number }) => Promise<Answer>

const WAIT_S = 20

/** `Events.follow`: ends when its signal does. */
export async function* followEvents(ask: Ask, options: FollowOptions): AsyncGenerator<StoredEvent, void, undefined> {
  try {
    yield* follow(ask, options)
  } catch (error) {
    if (!isPonteError(error, 'aborted') || !options.signal?.aborted) throw error
  }
}

async function* follow(ask: Ask, options: FollowOptions): AsyncGenerator<StoredEvent, void, undefined> {
  const { signal, types, limit = 100, waitS = WAIT_S, includeBody = false } = options
  const include = includeBody ? { include: 'body' } : {}
  const rest = signal ? { signal } : {}
  const persist = <Result>(work: () => Promise<Result>) => withPatience(work, options)
  const newest = await persist(() => ask({ limit: 1 }, rest)).then(({ data }) => data[0])
  if (typeof options.after === 'number' && newest !== undefined && newest.sequence < options.after) {
    throw missing(
      `The merchant has ${newest.sequence} events, and ${options.after} is beyond them: is this another merchant or another deployment?`,
    )
  }
  // Without an event it is unknown how many were there before.
  let after = options.after === 'now' ? (newest ? placeOf(newest) : 0) : options.after
  const reset = (error: PonteError) => {
    if (error.resumeAfter === null || error.resumeAfter === after) throw error
    after = error.resumeAfter
    options.onReset?.(error)
    return []
  }
  while (!signal?.aborted) {
    const page = () => ask({ after, wait: waitS, limit, ...include }, { ...rest, waitMs: waitS * 1_000 })
    const data = await persist(page).then(
      answer => answer.data,
      (error: unknown) => {
        if (isPonteError(error, 'events_reset')) return reset(error)
        throw error
      },
    )
    for (const event of data) {
      const position = Number.parseInt(String(after), 10)
      if (event.sequence <= position) continue
      if (position > 0 && event.sequence !== position + 1) {
        throw missing(`Events ${position + 1} to ${event.sequence - 1} are not kept any more; begin at ${event.sequence - 1}.`)
      }
      after = placeOf(event)
      if (!types || types.includes(event.type)) yield event
      if (signal?.aborted) return
    }
  }
}

/** An older deployment gives no cursors. */
const placeOf = ({ cursor, sequence }: { cursor?: string; sequence: number }) => cursor ?? sequence

const missing = (detail: string) => new PonteError({ code: 'events_missing', detail })

const LASTING = new Set([400, 401, 403, 404, 405, 410])

/** Tries until it works, the signal ends it, or the API refuses for good. */
export async function withPatience<Result>(
  work: () => Promise<Result>,
  { signal, onRetry }: Pick<FollowOptions, 'signal' | 'onRetry'>,
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isPonteError(error) || error.code === 'aborted' || LASTING.has(error.status)) throw error
      const delayMs = retryDelayMs(Math.min(attempt, 5), error.retryAfterMs, Math.random())
      onRetry?.(error, delayMs)
      await pause(delayMs, signal)
    }
  }
}
