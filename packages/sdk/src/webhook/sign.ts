import { webCrypto } from '../webcrypto.js'
import { hex, hmac, utf8 } from './hmac.js'
import { signStandard } from './standard.js'

/** Options of a test webhook: its format, time and id. */
export interface SignOptions {
  /** `ponte` by default, as your `webhook_url` gets it; `standard` adds the headers of Standard Webhooks. */
  format?: 'ponte' | 'standard'
  /** `webhook-id`; a random one by default. */
  id?: string
  /** Time of the attempt; now by default. */
  at?: Date
  /** `webhook-sequence`. */
  sequence?: number
}

/** A request as the service sends it. */
export interface SignedWebhook {
  body: string
  headers: Record<string, string>
}

/**
 * Body and headers of a webhook, signed as the service signs, for your own tests. A string is signed as it is.
 *
 * ```ts
 * const { body, headers } = await signTestWebhook({ type: 'order.expired', data: { id, external_ref: null } }, secret)
 * await request(app).post('/webhooks').set(headers).send(body).expect(200)
 * ```
 */
export async function signTestWebhook(
  event: { type: string; data: unknown } | string,
  secret: string,
  options: SignOptions = {},
): Promise<SignedWebhook> {
  const body = typeof event === 'string' ? event : JSON.stringify({ type: event.type, data: event.data })
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': hex(await hmac(utf8(secret), utf8(body))) }
  if (options.format !== 'standard') return { body, headers }
  const id = options.id ?? (await webCrypto()).randomUUID()
  const at = String(Math.floor((options.at ?? new Date()).getTime() / 1_000))
  const signature = await signStandard({ id, at, body: utf8(body) }, secret)
  const sequence = options.sequence === undefined ? {} : { 'webhook-sequence': String(options.sequence) }
  return { body, headers: { ...headers, 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature, ...sequence } }
}
