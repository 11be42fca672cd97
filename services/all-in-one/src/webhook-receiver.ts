import { createHmac, timingSafeEqual } from 'node:crypto'
import { createApp, type HttpServer, httpServer, type Logger, silentLogger } from '@ponte/service-kit'
import { Router, raw } from 'express'

export interface Received {
  received_at: string
  body: string
  headers: Record<string, string>
  /** The result of the specification's check of `X-Service-Signature`. */
  signature_valid: boolean
}

export interface WebhookReceiver extends HttpServer {
  /** Newest last. */
  received: Received[]
  /** Answers the next deliveries with this status; 200 again when null. */
  answerWith(status: number | null): void
  /** Checks signatures with this secret from now on. */
  trust(secret: string): void
}

/**
 * A merchant's server as the specification describes it: checks the signature over the raw body in constant time, answers 401 when it is wrong,
 * and keeps what it got at `GET /received` (newest last, the last thousand).
 */
export function createWebhookReceiver(options: { host: string; port: number; portSetting?: string; logger?: Logger }): WebhookReceiver {
  const received: Received[] = []
  let secret = ''
  let status: number | null = null
  const router = Router()
  router.get('/received', (_req, res) => {
    res.json(received)
  })
  router.post('/webhooks', raw({ type: () => true, limit: '1mb' }), (req, res) => {
    const body = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0)
    const valid = isSigned(body, req.headers['x-service-signature'], secret)
    const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]))
    received.push({ received_at: new Date().toISOString(), body: body.toString('utf8'), headers, signature_valid: valid })
    if (received.length > 1000) received.shift()
    res.sendStatus(valid ? (status ?? 200) : 401)
  })
  return {
    ...httpServer('webhook receiver', createApp({ routes: router, logger: options.logger ?? silentLogger, rawBody: true }), options),
    received,
    answerWith(next) {
      status = next
    },
    trust(next) {
      secret = next
    },
  }
}

/** Specification, Webhook signature, rules 1 to 3: over the raw body, constant time, a differing length is invalid. */
function isSigned(body: Buffer, header: unknown, secret: string): boolean {
  const expected = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'))
  const given = Buffer.from(typeof header === 'string' ? header : '')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
