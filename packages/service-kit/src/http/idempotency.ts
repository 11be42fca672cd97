import { createHash } from 'node:crypto'
import { ApiError, idempotencyKey } from '@ponte/contracts'
import type { Request, Response } from 'express'
import { isKeyLockTimeout, isUniqueViolation } from '../database/errors'
import type { Sql } from '../database/sql'
import type { Answer, StoredAnswer } from '../database/unit-of-work'
import type { Logger } from '../observe/logger'
import type { Loop } from '../process/every'
import { type Removed, retention } from '../process/retention'

const KEY = 'idempotency_keys_pkey'

/** A request that names an Idempotency-Key, with what the key is bound to. */
export type KeyedRequest = Omit<StoredAnswer, keyof Answer>

/** The request's Idempotency-Key with what it is bound to; null without one. The body has been parsed by its schema before. Throws `invalid_request`. */
export function keyedRequest(req: Request, merchantId: string): KeyedRequest | null {
  const key = idempotencyKeyOf(req)
  if (key === null) return null
  const path = `${req.baseUrl}${req.path}`.toLowerCase().replace(/\/$/, '')
  return { merchantId, route: `${req.method} ${path}`, key, bodyHash: hashOf(req.body ?? {}) }
}

/** The request's Idempotency-Key; null without one. Throws `invalid_request`. */
export function idempotencyKeyOf(req: Request): string | null {
  const given = req.headers['idempotency-key']
  if (given === undefined) return null
  const result = idempotencyKey.safeParse(given)
  if (!result.success) {
    throw new ApiError('invalid_request', 'The Idempotency-Key header must be 1 to 255 printable characters.', {
      errors: [{ path: 'Idempotency-Key', message: 'must be 1 to 255 printable characters' }],
    })
  }
  return result.data
}

/** Stored by a unit of work for this request: nothing without a key. */
export const answersTo = (keyed: KeyedRequest | null, answer: Answer): StoredAnswer[] =>
  keyed ? [{ ...keyed, status: answer.status, body: answer.body }] : []

/**
 * Does the work once per key. The work stores its answer in the statement of its effect, also when it had nothing to change, so an equal request
 * at the same moment waits on the key's row, fails on it with nothing changed, and is given the first one's answer. Work that is refused looks there
 * too. Throws `idempotency_mismatch` when the key was used with another body, `idempotency_in_progress` when the first one takes too long.
 */
export async function answerOnce(
  sql: Sql,
  keyed: KeyedRequest | null,
  res: Response,
  work: () => Promise<Answer>,
  send: (answer: Answer) => Promise<void> | void = answer => sendAnswer(res, answer),
): Promise<void> {
  const answer = await work().catch(async error => {
    if (!keyed) throw error
    const isTaken = isUniqueViolation(error, KEY)
    const isRunning = isKeyLockTimeout(error, KEY)
    const stored = isTaken || isRunning || error instanceof ApiError ? await storedAnswer(sql, keyed) : null
    if (!stored && isRunning) {
      throw new ApiError('idempotency_in_progress', 'The first request with this Idempotency-Key is still running; repeat it shortly.', {
        retryAfterS: 2,
      })
    }
    if (!stored) throw error
    res.setHeader('Idempotency-Replayed', 'true')
    return stored
  })
  await send(answer)
}

export const sendAnswer = (res: Response, { status, body }: Answer): void => void res.status(status).type('application/json').send(body)

async function storedAnswer(sql: Sql, { merchantId, route, key, bodyHash }: KeyedRequest): Promise<Answer | null> {
  const { rows } = await sql.query<{ body_hash: string; status: number; body: string }>(
    'SELECT body_hash, status, body FROM idempotency_keys WHERE merchant_id = $1 AND route = $2 AND key = $3',
    [merchantId, route, key],
  )
  const row = rows[0]
  if (!row) return null
  if (row.body_hash !== bodyHash) {
    throw new ApiError('idempotency_mismatch', 'Send the same body again, or a new Idempotency-Key for a new request.')
  }
  return { status: row.status, body: row.body }
}

// Without a name, so that it is planned for how much is old.
const PRUNE_ANSWERS = `
  WITH page AS (
    SELECT ctid AS row, created_at FROM idempotency_keys
    WHERE created_at >= $1 AND created_at < now() - interval '7 days' ORDER BY created_at LIMIT $2),
  gone AS (DELETE FROM idempotency_keys WHERE ctid = ANY(ARRAY(SELECT row FROM page)) RETURNING 1)
  SELECT (SELECT count(*)::int FROM gone) AS count, (SELECT max(created_at) FROM page) AS last`

/** Forgets answers that are older than seven days. */
export const answerRetention = (database: Sql, logger: Logger): Loop =>
  retention<Date>(
    'idempotency retention',
    async (limit, after) => {
      const { rows } = await database.query<Removed<Date>>(PRUNE_ANSWERS, [after ?? '-infinity', limit])
      return rows[0] ?? { count: 0, last: null }
    },
    logger,
  )

const hashOf = (body: unknown): string => createHash('sha256').update(canonicalJson(body)).digest('hex')

/** JSON in which the order of keys does not matter. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`
}
