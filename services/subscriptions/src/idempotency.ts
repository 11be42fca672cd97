import { createHash } from 'node:crypto'
import { ApiError, idempotencyKey, type PendingChargeBody } from '@ponte/contracts'
import type { Request, Response } from 'express'
import type { Arrivals } from './order-arrival'
import type { Store } from './store'
import { type Answer, isRepeated, type KeyedRequest } from './store/idempotency'

export interface AnswerDeps {
  store: Store
  arrivals: Arrivals
  publicUrl: string
  orderWaitMs: number
}

/** The request's Idempotency-Key with what it is bound to; null without one. Throws `invalid_request`. */
export function keyedRequest(req: Request, merchantId: string, route: string): KeyedRequest | null {
  const given = req.headers['idempotency-key']
  if (given === undefined) return null
  const result = idempotencyKey.safeParse(given)
  if (!result.success) {
    throw new ApiError('invalid_request', 'The Idempotency-Key header must be 1 to 255 printable characters.', {
      errors: [{ path: 'Idempotency-Key', message: 'must be 1 to 255 printable characters' }],
    })
  }
  const bodyHash = createHash('sha256')
    .update(JSON.stringify(req.body ?? {}))
    .digest('hex')
  return { merchantId, route, key: result.data, bodyHash }
}

/**
 * Does the work once per key. Its effect and its answer are one statement, so an equal request at the same moment waits on the key's
 * row, fails on it with nothing changed, and is given the first one's answer. Work that cannot be done (again) looks there too.
 */
export async function answerOnce(deps: AnswerDeps, keyed: KeyedRequest | null, res: Response, work: () => Promise<Answer>): Promise<void> {
  const known = keyed && (await deps.store.answered(keyed))
  if (known) return replay(deps, res, known)
  try {
    await send(deps, res, await work())
  } catch (error) {
    const stored = keyed && (isRepeated(error) || error instanceof ApiError) ? await deps.store.answered(keyed) : null
    if (!stored) throw error
    await replay(deps, res, stored)
  }
}

function replay(deps: AnswerDeps, res: Response, answer: Answer): Promise<void> {
  res.setHeader('Idempotency-Replayed', 'true')
  return send(deps, res, answer)
}

/** Answers with a body, or with the order once orders has created it; when that takes too long, with where it will be. */
async function send({ arrivals, orderWaitMs, publicUrl }: AnswerDeps, res: Response, answer: Answer): Promise<void> {
  if ('body' in answer) return void res.status(answer.status).type('application/json').send(answer.body)
  const order = await arrivals.wait(answer.orderId, orderWaitMs)
  if (order !== null) return void res.status(answer.status).type('application/json').send(order)
  const pending: PendingChargeBody = {
    object: 'charge',
    subscription_id: String(res.req.params.id),
    order_id: answer.orderId,
    checkout_url: `${publicUrl}/pay/${answer.orderId}`,
  }
  res.status(202).json(pending)
}
