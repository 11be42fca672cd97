import { createHmac } from 'node:crypto'

/** Lower-case hex HMAC-SHA256 of the exact bytes that are sent, keyed with the secret's UTF-8 bytes (specification, Webhook signature). */
export const sign = (body: Uint8Array, secret: string): string =>
  createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex')

const STANDARD_PREFIX = 'whsec_'

/** A signature of Standard Webhooks: over id, time and body, keyed with what the secret has behind its prefix, as base64. */
export const signStandard = (message: { id: string; timestampS: number; body: Uint8Array }, secret: string): string => {
  const key = Buffer.from(secret.startsWith(STANDARD_PREFIX) ? secret.slice(STANDARD_PREFIX.length) : secret, 'base64')
  return `v1,${createHmac('sha256', key).update(`${message.id}.${message.timestampS}.`).update(message.body).digest('base64')}`
}
