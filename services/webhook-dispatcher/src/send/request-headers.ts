import type { EndpointFormat } from '@ponte/contracts'
import { sign, signStandard } from './signature'

export interface Message {
  eventId: string
  /** The event's number among those of its merchant. */
  sequence: string
  body: Buffer
}

export interface Signing {
  format: EndpointFormat
  secret: string
  /** A rotated one that waits: the standard format signs with both. */
  pendingSecret: string | null
  staticHeaders: Readonly<Record<string, string>>
}

export type Headers = Record<string, string>

/** The headers of one attempt. Ours come last; static ones with their names were refused when they were set. */
export function requestHeaders(signing: Signing, { eventId, sequence, body }: Message, atMs: number): Headers {
  const { format, secret, pendingSecret, staticHeaders } = signing
  const ours = { 'Content-Type': 'application/json', 'X-Service-Signature': sign(body, secret), 'User-Agent': 'Ponte-Webhooks/1' }
  if (format === 'ponte') return { ...staticHeaders, ...ours }
  const timestampS = Math.floor(atMs / 1_000)
  const signed = { id: eventId, timestampS, body }
  const secrets = pendingSecret === null ? [secret] : [secret, pendingSecret]
  return {
    ...staticHeaders,
    ...ours,
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampS),
    'webhook-sequence': sequence,
    'webhook-signature': secrets.map(each => signStandard(signed, each)).join(' '),
  }
}

export const NOT_SHOWN = '(not shown)'

/** The same as a merchant may read them afterwards: without signatures and without the values of static headers. */
export const shownHeaders = (headers: Headers, staticHeaders: Readonly<Record<string, string>>): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Object.hasOwn(staticHeaders, name) || /signature$/i.test(name) ? NOT_SHOWN : value,
    ]),
  )

/** An attempt to a `webhook_url` shows the same headers each time, so they are not stored. */
export const SPECIFIED_HEADERS: Headers = {
  'Content-Type': 'application/json',
  'X-Service-Signature': NOT_SHOWN,
  'User-Agent': 'Ponte-Webhooks/1',
}
