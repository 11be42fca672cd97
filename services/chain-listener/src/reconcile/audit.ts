import type { ChainAudited } from '@ponte/contracts'
import { type Database, outboxRows } from '@ponte/service-kit'

/** Blocks whose payments are summed up together. */
const SPAN = 50

// One statement, so that the sums and the sequence that covers them belong together. Orders sums up its own in the same way.
const SUMS = `
  SELECT (SELECT sequence::float8 FROM chain_cursor WHERE chain_id = $1) AS sequence, span.first::float8 AS first, sums.count, sums.digest
  FROM generate_series($2::bigint, $3::bigint, $4::bigint) AS span (first)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS count, coalesce(md5(string_agg(line, E'\\n' ORDER BY line COLLATE "C")), '') AS digest
    FROM (
      SELECT concat_ws(' ', chain_id || ':' || tx_hash || ':' || ordinal, kind, memo, amount, block_number) AS line FROM payments
      WHERE chain_id = $1 AND state = 'confirmed' AND block_number BETWEEN span.first AND least(span.first + $4 - 1, $3)) AS lines) AS sums`

interface Sum {
  sequence: number
  first: number
  count: number
  digest: string
}

/** Reports to orders what was confirmed in these blocks, in sums, so that it notices by itself what has not reached it. */
export async function publishAudit(database: Database, chainId: number, from: number, to: number, at: Date): Promise<void> {
  const { rows } = await database.query<Sum>({ name: 'reconcile-sums', text: SUMS }, [chainId, from, to, SPAN])
  const [first] = rows
  if (!first) return
  const spans = rows.map(row => ({
    from_block: row.first,
    to_block: Math.min(row.first + SPAN - 1, to),
    count: row.count,
    digest: row.digest,
  }))
  const data: ChainAudited = { chain_id: chainId, sequence: first.sequence, spans }
  await database.commit({ events: outboxRows([{ type: 'chain.audited', data }], at) })
}
