import { isPonteError, PonteError } from '../failure.js'
import { retryDelayMs } from '../retry.js'
import { pause, type RequestOptions } from '../transport.js'
import type { StoredEvent } from '../webhook/event.js'

/** How events are followed. */
export interface FollowOptions extends RequestOptions {
  /** The sequence of the last event that you have handled; 0 for all that are kept, `'now'` for those to come. */
  after: number | 'now'
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
}

interface Answer {
  data: StoredEvent[]
  next_after?: number
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
  const newest = await persist(() => ask({ limit: 1 }, rest)).then(({ data }) => data[0]?.sequence)
  if (options.after !== 'now' && newest !== undefined && newest < options.after) {
    throw missing(`The merchant has ${newest} events, and ${options.after} is beyond them: is this another merchant or another deployment?`)
  }
  // Without an event it is unknown how many were there before.
  let position = options.after === 'now' ? (newest ?? 0) : options.after
  while (!signal?.aborted) {
    const { data } = await persist(() => ask({ after: position, wait: waitS, limit, ...include }, { ...rest, waitMs: waitS * 1_000 }))
    for (const event of data) {
      if (event.sequence <= position) continue
      if (position > 0 && event.sequence !== position + 1) {
        throw missing(`Events ${position + 1} to ${event.sequence - 1} are not kept any more; begin at ${event.sequence - 1}.`)
      }
      position = event.sequence
      if (!types || types.includes(event.type)) yield event
      if (signal?.aborted) return
    }
  }
}

const missing = (detail: string) => new PonteError({ code: 'events_missing', detail })

const LASTING = new Set([400, 401, 403, 404, 405])

/** Tries until it works, the signal ends it, or the API refuses for good. */
async function withPatience<Result>(work: () => Promise<Result>, { signal, onRetry }: FollowOptions): Promise<Result> {
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
