import { createHmac } from 'node:crypto'

/** Lower-case hex HMAC-SHA256 of the exact bytes that are sent, keyed with the secret's UTF-8 bytes (specification, Webhook signature). */
export const sign = (body: Uint8Array, secret: string): string =>
  createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex')
