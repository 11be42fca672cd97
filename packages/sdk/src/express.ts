import { BODY_BYTES_MAX, createReceive, type Reply, type WebhookHandlerOptions, wholeOf } from './handlers/receive.js'
import type { RawBody } from './webhook/body.js'

export type { EventHandlers, SeenEvents, WebhookHandlerOptions } from './handlers/receive.js'

/** The part of a request of Express, Next's pages or `node:http` that is read. */
export interface NodeRequest extends AsyncIterable<Uint8Array | string> {
  headers: Record<string, string | string[] | undefined>
  /** Set by a body parser. */
  body?: unknown
  /** Set by some hosts. */
  rawBody?: unknown
}

/** The part of a response that is used. */
export interface NodeResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(text: string): unknown
}

/**
 * A webhook receiver for Express and everything else on `node:http`. It reads the body itself when no parser ran before; `express.raw()` may.
 *
 * ```ts
 * app.post('/webhooks', webhookHandler({ secret, on: { 'order.paid': data => ship(data.external_ref) } }))
 * app.use(express.json())
 * ```
 */
export function webhookHandler(options: WebhookHandlerOptions): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const receive = createReceive(options)
  const reply = async (request: NodeRequest): Promise<Reply> => {
    try {
      const body = await bodyOf(request)
      return body === null ? { status: 413, text: 'too large' } : await receive(body, request.headers)
    } catch (error) {
      options.onError?.(error)
      return { status: 400, text: 'not read' }
    }
  }
  return async (request, response) => {
    const { status, text } = await reply(request)
    response.statusCode = status
    response.setHeader('Content-Type', 'text/plain; charset=utf-8')
    response.end(text)
  }
}

/** The raw body; what a parser left goes on as it is, to be refused with advice. Null when it is too large. */
async function bodyOf(request: NodeRequest): Promise<RawBody | null> {
  const { rawBody, body } = request
  if (rawBody instanceof Uint8Array || typeof rawBody === 'string') return rawBody
  if (body !== undefined) return body as RawBody
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    size += bytes.length
    if (size > BODY_BYTES_MAX) return null
    chunks.push(bytes)
  }
  return wholeOf(chunks)
}
