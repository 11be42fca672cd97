import { PonteError } from '../failure.js'
import { type RawBody, rawBytes, textOf } from './body.js'
import { parseWebhook, type WebhookEvent } from './event.js'
import { equalBytes, fromBase64, hmac, toBase64, utf8 } from './hmac.js'
import { invalid, secretsOf } from './verify.js'

/** The headers of a request: a `Headers`, or what Node and Express have. */
export type HeadersLike = { get(name: string): string | null } | Record<string, string | readonly string[] | undefined>

/** A verified delivery of an endpoint in the format of Standard Webhooks. */
export interface StandardWebhook {
  event: WebhookEvent
  /** The event's id, the same in every attempt. */
  id: string
  /** The event's number among yours, to order by. */
  sequence: number | null
  /** When this attempt was made. */
  timestamp: Date
}

/** Options of the check, with defaults of the Standard Webhooks specification. */
export interface StandardOptions {
  /** Oldest or earliest time of an attempt; 300 seconds by default. */
  toleranceS?: number
  /** Now, for tests. */
  now?: Date
}

const TOLERANCE_S = 300
const PREFIX = 'whsec_'

/**
 * Checks a delivery in the format of Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature` over the raw body.
 *
 * Throws a `PonteError`: `invalid_signature` and `timestamp_out_of_range` (answer 401), `raw_body_required`, `malformed_event`.
 */
export async function verifyStandardWebhook(
  rawBody: RawBody,
  headers: HeadersLike,
  secret: string | readonly string[],
  { toleranceS = TOLERANCE_S, now = new Date() }: StandardOptions = {},
): Promise<StandardWebhook> {
  const body = rawBytes(rawBody)
  const secrets = secretsOf(secret)
  const id = headerOf(headers, 'webhook-id')
  const at = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  if (!id || !at || !signatures) throw invalid('The headers webhook-id, webhook-timestamp and webhook-signature are needed.')
  if (!/^\d{1,12}$/.test(at)) throw invalid('webhook-timestamp is not a number of seconds.')
  const expected = await Promise.all(secrets.map(one => signStandard({ id, at, body }, one)))
  const given = signatures.split(' ').map(utf8)
  const fits = expected.map(utf8).reduce((found, one) => given.reduce((fit, other) => equalBytes(one, other) || fit, found), false)
  if (!fits) throw invalid('No signature fits the body, the headers and the secret. `ponte verify` finds out why.')
  if (Math.abs(now.getTime() / 1_000 - Number(at)) > toleranceS) {
    const detail = `This attempt was made at ${new Date(Number(at) * 1_000).toISOString()}: it is a replay, or a clock is wrong.`
    throw new PonteError({ code: 'timestamp_out_of_range', status: 401, detail })
  }
  const sequence = headerOf(headers, 'webhook-sequence')
  return {
    event: parseWebhook(textOf(body)),
    id,
    sequence: sequence && /^\d{1,15}$/.test(sequence) ? Number(sequence) : null,
    timestamp: new Date(Number(at) * 1_000),
  }
}

/** `v1,` and base64 over id, time and body. */
export async function signStandard({ id, at, body }: { id: string; at: string; body: Uint8Array }, secret: string): Promise<string> {
  const key = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret)
  if (!key) throw new PonteError({ code: 'invalid_argument', detail: 'A secret of this format is whsec_ and base64.' })
  const head = utf8(`${id}.${at}.`)
  const message = new Uint8Array(head.length + body.length)
  message.set(head)
  message.set(body, head.length)
  return `v1,${toBase64(await hmac(key, message))}`
}

/** One header's value, whatever kind of headers these are. */
export function headerOf(headers: HeadersLike, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name)
  const entries = Object.entries(headers as Record<string, string | readonly string[] | undefined>)
  const value = entries.find(([key, one]) => one !== undefined && key.toLowerCase() === name)?.[1]
  return typeof value === 'string' ? value : (value?.[0] ?? null)
}
