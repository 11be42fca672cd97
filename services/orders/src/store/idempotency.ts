import { ApiError } from '@ponte/contracts'
import { type Database, isUniqueViolation } from '@ponte/service-kit'

/** A request that names an Idempotency-Key. */
export interface KeyedRequest {
  merchantId: string
  route: string
  key: string
  bodyHash: string
}

/** The answer that is kept in the transaction of its effect, for whoever repeats the request. */
export interface Answer extends KeyedRequest {
  status: number
  body: string
}

/** True when an equal request was first: its answer stands. */
export const isRepeated = (error: unknown) => isUniqueViolation(error, 'idempotency_keys_pkey')

export function idempotencyStore(database: Database) {
  return {
    /** The stored answer of this key, or null. Throws `idempotency_mismatch` when the key was used with another body. */
    async answered(request: KeyedRequest): Promise<{ status: number; body: string } | null> {
      const { rows } = await database.query<{ body_hash: string; status: number; body: string }>(
        'SELECT body_hash, status, body FROM idempotency_keys WHERE merchant_id = $1 AND route = $2 AND key = $3',
        [request.merchantId, request.route, request.key],
      )
      const row = rows[0]
      if (!row) return null
      if (row.body_hash !== request.bodyHash) {
        throw new ApiError('idempotency_mismatch', 'Send the same body again, or a new Idempotency-Key for a new request.')
      }
      return row
    },
    /** Keeps the answer of a request that had nothing to change. Throws as a repeated one when the key has an answer. */
    async keepAnswer(answer: Answer): Promise<void> {
      await database.query(
        'INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body) VALUES ($1, $2, $3, $4, $5, $6)',
        [...[answer.merchantId, answer.route, answer.key, answer.bodyHash, answer.status, answer.body]],
      )
    },
    prune: () => database.query("DELETE FROM idempotency_keys WHERE created_at < now() - interval '7 days'"),
  }
}
