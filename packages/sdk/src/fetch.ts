import { BODY_BYTES_MAX, createReceive, type WebhookHandlerOptions, wholeOf } from './handlers/receive.js'
import type { RawBody } from './webhook/body.js'

export type { EventHandlers, SeenEvents, WebhookHandlerOptions } from './handlers/receive.js'

/** The part of a `Request` that is read. */
export interface FetchRequest {
  readonly method: string
  readonly headers: { get(name: string): string | null }
  /** The body in pieces. */
  readonly body?: { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>; cancel(): Promise<unknown> } } | null
  arrayBuffer(): Promise<ArrayBuffer>
}

/**
 * A webhook receiver for everything that speaks `fetch`: Workers, Deno, Bun, Hono.
 *
 * ```ts
 * const receive = webhookHandler({ secret, on: { 'order.paid': data => ship(data.external_ref) } })
 * export default { fetch: receive }
 * ```
 */
export function webhookHandler(options: WebhookHandlerOptions): (request: FetchRequest) => Promise<Response> {
  const receive = createReceive(options)
  return async request => {
    if (request.method !== 'POST') return new Response('POST only', { status: 405, headers: { Allow: 'POST' } })
    const body = await bodyOf(request)
    if (body === null) return new Response('too large', { status: 413 })
    const { status, text } = await receive(body, request.headers)
    return new Response(text, { status })
  }
}

/** The raw body; null when it is too large. One that comes in pieces does not name its length. */
async function bodyOf(request: FetchRequest): Promise<RawBody | null> {
  if (Number(request.headers.get('content-length') ?? 0) > BODY_BYTES_MAX) return null
  if (!request.body) return request.arrayBuffer()
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return wholeOf(chunks)
    size += value?.length ?? 0
    if (size > BODY_BYTES_MAX) {
      // The rest is not waited for.
      reader.cancel().catch(() => undefined)
      return null
    }
    if (value) chunks.push(value)
  }
}
