import { isPonteError } from '../failure.js'
import type { WebhookBodies } from '../schemas.js'
import type { RawBody } from '../webhook/body.js'
import { dedupeKey, isRepeatable, type WebhookEvent, type WebhookType } from '../webhook/event.js'
import { type HeadersLike, headerOf, verifyStandardWebhook } from '../webhook/standard.js'
import { verifyWebhook } from '../webhook/verify.js'

/** Functions by kind: each is given the event's data and the event. */
export type EventHandlers = {
  [Type in WebhookType]?: (data: WebhookBodies[Type]['data'], event: WebhookBodies[Type]) => unknown
} & {
  /** Every kind that has no function of its own. */
  '*'?: (data: unknown, event: WebhookEvent) => unknown
}

/** Keys of events that were handled, by `dedupeKey`, or by `webhook-id` in the standard format; a `Set` is one. Over several processes it must be a store of your own, with a unique column. */
export interface SeenEvents {
  has(key: string): boolean | Promise<boolean>
  add(key: string): unknown
}

/** Secret, reactions and memory of a receiver of webhooks. */
export interface WebhookHandlerOptions {
  /** The webhook secret; the old and the new one while it is being rotated. */
  secret: string | readonly string[]
  /** Functions by kind. When one throws, the service tries again after a minute, five, thirty and so on. */
  on: EventHandlers
  /** `ponte` by default; `standard` for an endpoint of that format. */
  format?: 'ponte' | 'standard'
  /** Events that were handled already are answered and not handled again. */
  seen?: SeenEvents
  /** Called with everything that was not answered 2xx. */
  onError?(error: unknown): void
}

/** Answer to the caller. */
export interface Reply {
  status: number
  text: string
}

export type Receive = (rawBody: RawBody, headers: HeadersLike) => Promise<Reply>

/** Largest body that is read; ours have less than a hundredth. */
export const BODY_BYTES_MAX = 1_048_576

/** One delivery, from its bytes to the answer: 401 when it is not ours, 2xx when it is handled, 500 when it must come again. */
export function createReceive({ secret, on, format = 'ponte', seen, onError }: WebhookHandlerOptions): Receive {
  const inHand = new Map<string, Promise<void>>()

  const verify = async (rawBody: RawBody, headers: HeadersLike): Promise<{ event: WebhookEvent; key: string }> => {
    if (format === 'standard') {
      const { event, id } = await verifyStandardWebhook(rawBody, headers, secret)
      return { event, key: id }
    }
    const event = await verifyWebhook(rawBody, headerOf(headers, 'x-service-signature'), secret)
    return { event, key: dedupeKey(event) }
  }

  const handle = async (event: WebhookEvent, key: string) => {
    const once = format === 'standard' || !isRepeatable(event.type)
    if (once && (await seen?.has(key))) return
    await dispatch(on, event)
    if (once) await seen?.add(key)
  }

  return async (rawBody, headers) => {
    try {
      const { event, key } = await verify(rawBody, headers)
      // The same event twice at once: the second takes its turn, and then finds it handled.
      const before = inHand.get(key)
      const work = (before ?? Promise.resolve()).then(
        () => handle(event, key),
        () => handle(event, key),
      )
      inHand.set(key, work)
      try {
        await work
      } finally {
        if (inHand.get(key) === work) inHand.delete(key)
      }
      return { status: 200, text: 'ok' }
    } catch (error) {
      onError?.(error)
      return replyTo(error)
    }
  }
}

/** Hands an event to the function of its kind. */
export async function dispatch(on: EventHandlers, event: WebhookEvent): Promise<void> {
  const own = Object.hasOwn(on, event.type) ? on[event.type as WebhookType] : undefined
  const handler = (own ?? on['*']) as ((data: unknown, event: WebhookEvent) => unknown) | undefined
  await handler?.(event.data, event)
}

/** The reason is given for what is wrong with the set-up, and for nothing of the merchant's own. */
function replyTo(error: unknown): Reply {
  if (!isPonteError(error)) return { status: 500, text: 'not handled' }
  if (error.status === 401) return { status: 401, text: error.code }
  if (error.code === 'malformed_event') return { status: 400, text: error.code }
  return { status: 500, text: error.code }
}

/** The chunks of a body as one. */
export function wholeOf(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0))
  chunks.reduce((at, chunk) => {
    whole.set(chunk, at)
    return at + chunk.length
  }, 0)
  return whole
}
