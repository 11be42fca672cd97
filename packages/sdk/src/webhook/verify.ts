import { PonteError } from '../failure.js'
import { type RawBody, rawBytes, textOf } from './body.js'
import { parseWebhook, type WebhookEvent } from './event.js'
import { equalBytes, hex, hmac, utf8 } from './hmac.js'

/**
 * Checks `X-Service-Signature` over the raw body in constant time and gives the event. While a secret is being rotated, give the old and the new one.
 *
 * Throws a `PonteError`: `invalid_signature` (answer 401), `raw_body_required`, `malformed_event`.
 *
 * ```ts
 * const event = await verifyWebhook(await request.text(), request.headers.get('x-service-signature'), secret)
 * if (event.type === 'order.paid') await ship(event.data.external_ref)
 * ```
 */
export async function verifyWebhook(
  rawBody: RawBody,
  signature: string | null | undefined,
  secret: string | readonly string[],
): Promise<WebhookEvent> {
  const body = rawBytes(rawBody)
  const secrets = secretsOf(secret)
  if (!signature) throw invalid('There is no X-Service-Signature header.')
  if (!(await isSigned(body, signature, secrets))) {
    throw invalid('The signature does not fit the body and the secret. `ponte verify` finds out why.')
  }
  return parseWebhook(textOf(body))
}

async function isSigned(body: Uint8Array, signature: string, secrets: readonly string[]): Promise<boolean> {
  const given = utf8(signature.trim())
  const expected = await Promise.all(secrets.map(async secret => utf8(hex(await hmac(utf8(secret), body)))))
  return expected.reduce((found, one) => equalBytes(one, given) || found, false)
}

export const invalid = (detail: string) => new PonteError({ code: 'invalid_signature', detail, status: 401 })

export function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = (typeof secret === 'string' ? [secret] : (secret ?? [])).filter(Boolean)
  if (secrets.length === 0) throw new PonteError({ code: 'invalid_argument', detail: 'Give the webhook secret, which begins with whsec_.' })
  return secrets
}
