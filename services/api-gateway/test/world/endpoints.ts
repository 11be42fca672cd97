import { randomBytes, randomUUID } from 'node:crypto'
import { caller as callerSchema } from '@ponte/contracts'
import type { RequestHandler } from 'express'

interface Endpoint {
  id: string
  secret: string
  pending_secret: string | null
}

/** Answers for endpoints as the dispatcher does: a secret to who may see it, and under an Idempotency-Key the same once more. */
export function endpointsOwner(otherwise: RequestHandler): { handler: RequestHandler; idsOf(merchantId: string): string[] } {
  const kept = new Map<string, Endpoint[]>()
  const answers = new Map<string, { status: number; body: object }>()
  const mint = () => `whsec_${randomBytes(32).toString('base64')}`

  const handler: RequestHandler = (req, res, next) => {
    const [, id, what] = /^\/api\/v1\/webhook-endpoints(?:\/([\w-]+))?(?:\/([\w-]+))?$/.exec(req.path) ?? []
    const caller = callerSchema.parse(res.locals.caller)
    if (!req.path.startsWith('/api/v1/webhook-endpoints') || caller.kind !== 'merchant') return otherwise(req, res, next)
    const merchantId = caller.terms.merchant_id
    const endpoints = kept.get(merchantId) ?? []
    kept.set(merchantId, endpoints)
    const shown = ({ id, secret, pending_secret }: Endpoint) => {
      const isShown = caller.may_see_secrets === true
      return { object: 'webhook_endpoint', id, secret: isShown ? secret : null, pending_secret: isShown ? pending_secret : null }
    }
    const decide = () => {
      if (id === undefined && req.method === 'GET') return { status: 200, body: { object: 'list', data: endpoints.map(shown) } }
      if (id === undefined) {
        const made = { id: randomUUID(), secret: mint(), pending_secret: null }
        endpoints.push(made)
        return { status: 201, body: shown(made) }
      }
      const found = endpoints.find(endpoint => endpoint.id === id)
      if (!found) return { status: 404, body: { code: 'not_found' } }
      if (what === 'test') return { status: 201, body: { object: 'delivery', id: randomUUID() } }
      if (what === 'rotate-secret') found.pending_secret = mint()
      if (what === 'activate-secret') Object.assign(found, { secret: found.pending_secret ?? found.secret, pending_secret: null })
      if (req.method === 'DELETE') endpoints.splice(endpoints.indexOf(found), 1)
      return { status: 200, body: shown(found) }
    }
    const key = req.method === 'POST' && req.get('idempotency-key')
    const request = key ? `${merchantId} ${req.path} ${key}` : null
    const before = request === null ? undefined : answers.get(request)
    const answer = before ?? decide()
    if (request !== null && answer.status < 300) answers.set(request, answer)
    if (before) res.setHeader('Idempotency-Replayed', 'true')
    res.status(answer.status).json(answer.body)
  }
  return { handler, idsOf: (merchantId: string) => (kept.get(merchantId) ?? []).map(({ id }) => id) }
}
