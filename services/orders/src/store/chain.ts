import type { ChainAdvanced } from '@ponte/contracts'
import type { Database } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'

const ADVANCE = `
  WITH seen AS (INSERT INTO inbox (event_id) VALUES ($1)),
  cursor AS (
    INSERT INTO chain_cursors AS known (chain_id, head_block) VALUES ($2, $5)
    ON CONFLICT (chain_id) DO UPDATE SET head_block = greatest(known.head_block, EXCLUDED.head_block))
  INSERT INTO chain_advances AS known (chain_id, sequence, confirmed_time) VALUES ($2, $3, $4)
  ON CONFLICT (chain_id, sequence) DO UPDATE SET confirmed_time = greatest(known.confirmed_time, EXCLUDED.confirmed_time)`

const WATERMARK = `
  UPDATE chain_cursors SET watermark = greatest(watermark, (
    SELECT coalesce(max(sequence), 0) FROM (
      SELECT sequence, sequence - row_number() OVER (ORDER BY sequence) AS offset_by
      FROM payment_sequences WHERE chain_id = $1 AND sequence > $2) AS beyond
    WHERE offset_by = $2))
  WHERE chain_id = $1 RETURNING watermark`

const BELIEVE = `
  UPDATE chain_cursors SET confirmed_time = greatest(confirmed_time,
    (SELECT max(confirmed_time) FROM chain_advances WHERE chain_id = $1 AND sequence <= $2))
  WHERE chain_id = $1 RETURNING confirmed_time`

const MISSING = `
  SELECT greatest(0, (SELECT max(sequence) FROM chain_advances WHERE chain_id = $1) - watermark) AS count
  FROM chain_cursors WHERE chain_id = $1`

/** How far the chain is known, and how far its confirmed time may be believed. */
export function chainStore(database: Database, prisma: PrismaClient) {
  const believed = new Map<number, Date>()

  return {
    async head(chainId: number): Promise<bigint> {
      return (await prisma.chainCursor.findUnique({ where: { chainId } }))?.headBlock ?? 0n
    },

    /** Tc as this replica last worked it out. It only grows, so an older one is safe: it expires less. */
    chainTime: (chainId: number): Date | null => believed.get(chainId) ?? null,

    async recordAdvance(advance: ChainAdvanced, eventId: string): Promise<void> {
      await database.query(ADVANCE, [eventId, advance.chain_id, advance.sequence, advance.confirmed_time, advance.head_block])
    },

    /**
     * Moves the watermark over the payment events taken in without a gap, and answers Tc: the latest confirmed time whose payment events
     * are all known. An order that was paid before Tc has therefore been told so (invariant 4). Null while nothing is known.
     */
    confirmedTime: (chainId: number): Promise<Date | null> =>
      database.transaction(async sql => {
        const locked = await sql.query<{ watermark: number }>('SELECT watermark FROM chain_cursors WHERE chain_id = $1 FOR UPDATE', [
          chainId,
        ])
        const before = locked.rows[0]?.watermark
        if (before === undefined) return null
        const moved = await sql.query<{ watermark: number }>(WATERMARK, [chainId, before])
        const watermark = moved.rows[0]?.watermark ?? before
        const known = await sql.query<{ confirmed_time: Date | null }>(BELIEVE, [chainId, watermark])
        await sql.query('DELETE FROM payment_sequences WHERE chain_id = $1 AND sequence <= $2', [chainId, watermark])
        await sql.query('DELETE FROM chain_advances WHERE chain_id = $1 AND sequence < $2', [chainId, watermark])
        const time = known.rows[0]?.confirmed_time ?? null
        if (time) believed.set(chainId, time)
        return time
      }),

    /** Payment events that the listener has published and that have not come; expiry waits for them. */
    async missingPaymentEvents(chainId: number): Promise<number> {
      const { rows } = await database.query<{ count: number | null }>(MISSING, [chainId])
      return rows[0]?.count ?? 0
    },

    /** Orders that may have expired at Tc, in order of `expires_at`, after the given one. */
    expiring: (chainId: number, chainTime: Date, after: { expiresAt: Date; id: string } | null, limit: number) =>
      prisma.order.findMany({
        select: { id: true, expiresAt: true },
        where: {
          chainId,
          status: { in: ['pending', 'underpaid', 'confirming'] },
          expiresAt: { lt: chainTime },
          ...(after ? { OR: [{ expiresAt: { gt: after.expiresAt } }, { expiresAt: after.expiresAt, id: { gt: after.id } }] } : {}),
        },
        orderBy: [{ expiresAt: 'asc' }, { id: 'asc' }],
        take: limit,
      }),

    /** Orders whose payers watch confirmations arrive. */
    confirming: (chainId: number, limit: number) =>
      prisma.order.findMany({ select: { id: true, merchantId: true }, where: { chainId, status: 'confirming' }, take: limit }),
  }
}
