import { createHash } from 'node:crypto'
import { ApiError, idempotencyKey } from '@ponte/contracts'
import type { Request, Response } from 'express'
import type { Store } from './store'
import { isRepeated, type KeyedRequest } from './store/idempotency'

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
export async function answerOnce(
  store: Store,
  keyed: KeyedRequest | null,
  res: Response,
  work: () => Promise<{ status: number; body: string }>,
): Promise<void> {
  try {
    const { status, body } = await work()
    res.status(status).type('application/json').send(body)
  } catch (error) {
    const stored = keyed && (isRepeated(error) || error instanceof ApiError) ? await store.answered(keyed) : null
    if (!stored) throw error
    res.setHeader('Idempotency-Replayed', 'true')
    res.status(stored.status).type('application/json').send(stored.body)
  }
}
