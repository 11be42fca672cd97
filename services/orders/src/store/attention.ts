import { type ListAttention, mismatchReason } from '@ponte/contracts'
import { type Database, uuidv7Time } from '@ponte/service-kit'
import type { UnmatchedMoney } from '../payment'

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Its index is kept with this very condition. */
const NEEDS_ATTENTION = `(exception IS NOT NULL OR (status IN ('underpaid', 'expired') AND confirmed_units >= 10000))`

/** What of a payment's id stands in the UUID that names it, behind the time; its index is kept with this very expression. */
const PLACE = `(left(md5(id), 3) || '8' || substr(md5(id), 4, 15)) COLLATE "C"`
const placeOf = (id: string): string => id.replaceAll('-', '').slice(13)

interface UnmatchedFields {
  id: string
  reason: string
  kind: 'router' | 'transfer'
  chain_id: number
  token_address: string
  tx_hash: string
  memo: string
  payer_address: string
  merchant_address: string
  block_time: Date
  units: string
}

/** What does not simply settle, by keyset in either direction. A page costs the same at any depth. */
export function attentionStore(database: Database) {
  return {
    /** Orders whose money does not simply settle, or that have an address that cannot be swept. */
    async orderIds(merchantId: string, query: ListAttention, limit: number): Promise<string[]> {
      const isUp = query.ending_before !== undefined
      const [along, against] = isUp ? ['DESC', 'ASC'] : ['ASC', 'DESC']
      // Raw SQL: two tables as one list. Lists of one keep each to its own index, as in the list of orders.
      const { rows } = await database.query<{ id: string }>(
        `SELECT id FROM (
           (SELECT id FROM orders WHERE merchant_id = ANY (ARRAY[$1]::uuid[]) AND ${NEEDS_ATTENTION} AND id > $2 AND id < $3
            ORDER BY merchant_id ${along}, id ${against} LIMIT $4)
           UNION
           (SELECT order_id FROM deposit_states WHERE merchant_id = ANY (ARRAY[$1]::uuid[]) AND blocked_reason IS NOT NULL AND order_id > $2
              AND order_id < $3 ORDER BY merchant_id ${along}, order_id ${against} LIMIT $4)
         ) AS found ORDER BY id ${against} LIMIT $4`,
        [merchantId, query.ending_before ?? FIRST_ID, query.starting_after ?? LAST_ID, limit],
      )
      return rows.map(({ id }) => id)
    },

    /** Confirmed payments to this payout address that count for no order, from a cent on. */
    async unmatched(payoutAddress: string, query: ListAttention, limit: number): Promise<UnmatchedMoney[]> {
      const cursor = query.ending_before ?? query.starting_after
      const [beyond, against] = query.ending_before === undefined ? ['<', 'DESC'] : ['>', 'ASC']
      const values: unknown[] = [payoutAddress.toLowerCase(), limit]
      if (cursor !== undefined) values.push(uuidv7Time(cursor), placeOf(cursor))
      const after = cursor === undefined ? '' : `AND (block_time, ${PLACE}) ${beyond} ($3::timestamptz, $4)`
      // Raw SQL: ordered by an expression.
      const { rows } = await database.query<UnmatchedFields>(
        `SELECT id, reason, kind, chain_id, token_address, tx_hash, memo, payer_address, merchant_address, block_time,
           coalesce(exact_units, gross_units)::text AS units
         FROM unmatched_payments WHERE lower(merchant_address) = $1 AND status = 'confirmed' AND gross_units >= 10000 ${after}
         ORDER BY block_time ${against}, ${PLACE} ${against} LIMIT $2`,
        values,
      )
      return rows.map(({ units, reason, block_time, ...row }) => ({
        payment: { ...row, reason: mismatchReason.parse(reason), block_time: block_time.toISOString() },
        grossUnits: BigInt(units),
      }))
    },
  }
}
