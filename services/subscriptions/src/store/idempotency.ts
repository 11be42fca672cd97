import { ApiError } from '@ponte/contracts'
import { type Database, isUniqueViolation } from '@ponte/service-kit'

/** A request that names an Idempotency-Key. */
export interface KeyedRequest {
  merchantId: string
  route: string
  key: string
  bodyHash: string
}

/** What is answered: a body, or an order whose body is known as soon as orders has created it. */
export type Answer = { status: number; body: string } | { status: number; orderId: string }

/** The answer as it is kept in the transaction of its effect. */
export type KeptAnswer = KeyedRequest & Answer

/** True when an equal request was first: its answer stands. */
export const isRepeated = (error: unknown) => isUniqueViolation(error, 'idempotency_keys_pkey')

interface Row {
  body_hash: string
  status: number
  body: string | null
  order_id: string | null
}

export function idempotencyStore(database: Database) {
  return {
    /** The kept answer of this key, or null. Throws `idempotency_mismatch` when the key was used with another body. */
    async answered(request: KeyedRequest): Promise<Answer | null> {
      const { rows } = await database.query<Row>(
        'SELECT body_hash, status, body, order_id FROM idempotency_keys WHERE merchant_id = $1 AND route = $2 AND key = $3',
        [request.merchantId, request.route, request.key],
      )
      const row = rows[0]
      if (!row) return null
      if (row.body_hash !== request.bodyHash) {
        throw new ApiError('idempotency_mismatch', 'Send the same body again, or a new Idempotency-Key for a new request.')
      }
      if (row.order_id !== null) return { status: row.status, orderId: row.order_id }
      return { status: row.status, body: row.body ?? '' }
    },
    prune: () => database.query("DELETE FROM idempotency_keys WHERE created_at < now() - interval '7 days'"),
  }
}
