import { type ChainAudited, NO_MEMO } from '@ponte/contracts'
import type { Database } from '@ponte/service-kit'
import type { PrismaClient, UnmatchedPayment } from '../generated/client'

export interface Booked {
  id: string
  place: 'order' | 'unmatched' | 'sweep'
  kind: 'router' | 'transfer' | 'sweep'
  order_id: string | null
  reason: string | null
  status: string
  gross_units: string
  block_number: string
}

// Raw SQL: three tables as one list, by block; there is no relation to ask Prisma by.
const BETWEEN = `
  SELECT id, 'order' AS place, kind, order_id, NULL AS reason, status, gross_units::text, block_number::text FROM payments
  WHERE block_number BETWEEN $1 AND $2 AND (block_hash IS NULL OR id LIKE $3::int || ':%')
  UNION ALL
  SELECT id, 'unmatched', kind, NULL, reason, status, coalesce(exact_units, gross_units)::text, block_number::text FROM unmatched_payments
  WHERE chain_id = $3 AND block_number BETWEEN $1 AND $2
  UNION ALL
  SELECT id, 'sweep', 'sweep', NULL, NULL, status, gross_units::text, block_number::text FROM sweeps
  WHERE chain_id = $3 AND block_number BETWEEN $1 AND $2`

// Summed up as chain.audited is.
const SUMS = `
  SELECT span.index - 1 AS index, count(line)::int AS count, coalesce(md5(string_agg(line, E'\\n' ORDER BY line COLLATE "C")), '') AS digest
  FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS span (from_block, to_block, index)
  LEFT JOIN (
    SELECT p.block_number, concat_ws(' ', p.id, p.kind, coalesce(a.memo, o.memo), p.gross_units, p.block_number) AS line
    FROM payments p JOIN orders o ON o.id = p.order_id LEFT JOIN attachments a ON a.payment_id = p.id
    WHERE p.status = 'confirmed' AND p.block_number BETWEEN $4 AND $5 AND (CASE WHEN p.block_hash IS NULL THEN o.chain_id = $1 ELSE p.id LIKE $1::int || ':%' END)
    UNION ALL
    SELECT block_number, concat_ws(' ', id, kind, memo, coalesce(exact_units, gross_units), block_number) FROM unmatched_payments
    WHERE status = 'confirmed' AND block_number BETWEEN $4 AND $5 AND chain_id = $1
    UNION ALL
    SELECT block_number, concat_ws(' ', id, 'sweep', memo, gross_units, block_number) FROM sweeps
    WHERE status = 'confirmed' AND block_number BETWEEN $4 AND $5 AND chain_id = $1
  ) AS lines ON lines.block_number BETWEEN span.from_block AND span.to_block
  GROUP BY span.index`

export type AuditedSpan = ChainAudited['spans'][number]

/** Compared with the listener's books. */
export const bookStore = (database: Database) => ({
  async between(chainId: number, from: number, to: number): Promise<Booked[]> {
    return (await database.query<Booked>(BETWEEN, [from, to, chainId])).rows
  },
  /** Spans that hold something else here. */
  async differing(chainId: number, spans: readonly AuditedSpan[]): Promise<AuditedSpan[]> {
    const [from, to] = [spans.map(({ from_block }) => from_block), spans.map(({ to_block }) => to_block)]
    const values = [chainId, from, to, Math.min(...from), Math.max(...to)]
    const { rows } = await database.query<{ index: string; count: number; digest: string }>({ name: 'books-sums', text: SUMS }, values)
    const alike = new Set(rows.filter(row => isAlike(spans[Number(row.index)], row)).map(row => Number(row.index)))
    return spans.filter((_, index) => !alike.has(index))
  },
})

const isAlike = (span: AuditedSpan | undefined, { count, digest }: { count: number; digest: string }): boolean =>
  span !== undefined && span.count === count && span.digest === digest

/** Payments that count for no order, kept with the reason; without plain transfers to payout addresses, which asked for none. */
export const unmatchedStore = (prisma: PrismaClient) => ({
  /** Newest block first, from below the given block on. */
  below: (block: bigint | null, limit: number): Promise<UnmatchedPayment[]> =>
    prisma.unmatchedPayment.findMany({
      where: { memo: { not: NO_MEMO }, ...(block === null ? {} : { blockNumber: { lt: block } }) },
      orderBy: [{ blockNumber: 'desc' }, { id: 'desc' }],
      take: limit,
    }),
})
