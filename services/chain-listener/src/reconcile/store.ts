import type { Database } from '@ponte/service-kit'
import type { DepositLedger } from './compare'

// Raw SQL: sums of two kinds beside each address, one index lookup each, whatever the statistics are.
const LEDGERS = `
  SELECT issued.order_id, issued.memo, issued.address, coalesce(sum(amount) FILTER (WHERE kind = 'transfer'), 0)::text AS transferred,
    coalesce(sum(amount) FILTER (WHERE kind = 'sweep'), 0)::text AS swept
  FROM (
    SELECT order_id, memo, address FROM payables
    WHERE chain_id = $1 AND order_id > $2 AND address IS NOT NULL AND EXISTS (
      SELECT 1 FROM coverage WHERE coverage.chain_id = $1 AND subject = payables.address AND blocks = '{(,)}'::int8multirange)
    ORDER BY order_id LIMIT $4) AS issued
  LEFT JOIN LATERAL (
    SELECT kind, amount FROM payments
    WHERE chain_id = $1 AND deposit = issued.address AND state = 'confirmed' AND block_number <= $3 OFFSET 0) AS moved ON true
  GROUP BY 1, 2, 3 ORDER BY 1`

// Raw SQL: one statement for a page. What moved lately is looked at as it is.
const LOOK_AGAIN = `
  UPDATE payables SET moved_at = 0 FROM unnest($2::uuid[], $3::numeric[]) AS known (order_id, units)
  WHERE payables.chain_id = $1 AND payables.order_id = known.order_id AND moved_at IS NULL AND held_units <> known.units`

// Raw SQL: the same order of ids as the sums', in one index.
const NEWEST = `SELECT order_id FROM payables WHERE chain_id = $1 ORDER BY order_id DESC OFFSET $2 LIMIT 1`

// Raw SQL in one statement, so that the sums and the generation that they belong to are of one moment. Orders sums up its own in the same way.
const SUMS = `
  SELECT (SELECT generation FROM chain_cursor WHERE chain_id = $1) AS generation, span.first::float8 AS first, sums.count, sums.digest
  FROM generate_series($2::bigint, $3::bigint, $4::bigint) AS span (first)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS count, coalesce(md5(string_agg(line, E'\\n' ORDER BY line COLLATE "C")), '') AS digest
    FROM (
      SELECT concat_ws(' ', chain_id || ':' || block_hash || ':' || log_index, kind, memo, amount, block_number) AS line FROM payments
      WHERE chain_id = $1 AND state = 'confirmed' AND block_number BETWEEN span.first AND least(span.first + $4 - 1, $3)) AS lines) AS sums`

export const FIRST_ORDER = '00000000-0000-0000-0000-000000000000'

interface Sum {
  generation: string
  first: number
  count: number
  digest: string
}

interface Row {
  order_id: string
  memo: string
  address: string
  transferred: string
  swept: string
}

export type ReconcileStore = ReturnType<typeof reconcileStore>

/** Rows of deposit addresses, in the order of their orders. SQL, because the plans matter. */
export function reconcileStore(database: Database, chainId: number) {
  return {
    async ledgers(after: string, block: number, limit: number): Promise<DepositLedger[]> {
      const { rows } = await database.query<Row>({ name: 'reconcile-ledgers', text: LEDGERS }, [chainId, after, block, limit])
      return rows.map(({ order_id, memo, address, transferred, swept }) => ({
        orderId: order_id,
        memo,
        address,
        transferredUnits: BigInt(transferred),
        sweptUnits: BigInt(swept),
      }))
    },
    /** Has the relayer look again at addresses of which it believes another balance than what books and chain agree on: no money will move there to show it. */
    async lookAgain(agreed: readonly DepositLedger[]): Promise<void> {
      const units = agreed.map(({ transferredUnits, sweptUnits }) => String(transferredUnits - sweptUnits))
      await database.query({ name: 'reconcile-look-again', text: LOOK_AGAIN }, [chainId, agreed.map(({ orderId }) => orderId), units])
    },
    /** The order that so many others are newer than; the very first when there are fewer. */
    async olderThanNewest(count: number): Promise<string> {
      const { rows } = await database.query<{ order_id: string }>({ name: 'reconcile-newest', text: NEWEST }, [chainId, count])
      return rows[0]?.order_id ?? FIRST_ORDER
    },
    async sums(from: number, to: number, blocks: number): Promise<Sum[]> {
      return (await database.query<Sum>({ name: 'reconcile-sums', text: SUMS }, [chainId, from, to, blocks])).rows
    },
  }
}
