import { BODY_BYTES_MAX, createReceive, type WebhookHandlerOptions } from './handlers/receive.js'

export type { EventHandlers, SeenEvents, WebhookHandlerOptions } from './handlers/receive.js'

/** The part of a `Request` that is read. */
export interface FetchRequest {
  readonly method: string
  readonly headers: { get(name: string): string | null }
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
    if (Number(request.headers.get('content-length') ?? 0) > BODY_BYTES_MAX) return new Response('too large', { status: 413 })
    const { status, text } = await receive(await request.arrayBuffer(), request.headers)
    return new Response(text, { status })
  }
}
