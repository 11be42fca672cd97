import { type ChainAdvanced, type ChainPayment, parseUsdc } from '@ponte/contracts'
import type { Database } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { Misfit } from '../matching'

const UNMATCHED = `
  WITH seen AS (INSERT INTO inbox (event_id) VALUES ($1)),
  counted AS (INSERT INTO payment_sequences (chain_id, sequence) VALUES ($5, $16) ON CONFLICT DO NOTHING)
  INSERT INTO unmatched_payments AS known (id, reason, revision, status, chain_id, router_address, token_address, memo, merchant_address,
    payer_address, share_units, tx_hash, block_number, block_time)
  VALUES ($2, $3, $4, $15, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
  ON CONFLICT (id) DO UPDATE SET revision = EXCLUDED.revision, status = EXCLUDED.status, block_number = EXCLUDED.block_number,
    block_time = EXCLUDED.block_time WHERE known.revision < EXCLUDED.revision`

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

/** What orders knows of the chain: payments that settle nothing, and how far the confirmed time may be believed. */
export function chainStore(database: Database, prisma: PrismaClient) {
  return {
    async head(chainId: number): Promise<bigint> {
      return (await prisma.chainCursor.findUnique({ where: { chainId } }))?.headBlock ?? 0n
    },

    /** Tc as it was last worked out. */
    async chainTime(chainId: number): Promise<Date | null> {
      return (await prisma.chainCursor.findUnique({ where: { chainId } }))?.confirmedTime ?? null
    },

    async recordUnmatched(payment: ChainPayment, status: string, reason: Misfit, eventId: string): Promise<void> {
      await database.query({ name: 'payment-unmatched', text: UNMATCHED }, [
        eventId,
        payment.payment_id,
        reason,
        payment.revision,
        payment.chain_id,
        payment.router_address,
        payment.token_address,
        payment.memo,
        payment.merchant_address,
        payment.payer_address,
        parseUsdc(payment.merchant_share),
        payment.tx_hash,
        payment.block_number,
        payment.block_time,
        status,
        payment.sequence,
      ])
    },

    async recordAdvance(advance: ChainAdvanced, eventId: string): Promise<void> {
      await database.query(ADVANCE, [eventId, advance.chain_id, advance.sequence, advance.confirmed_time, advance.head_block])
    },

    /**
     * Moves the watermark over the payment events taken in without a gap, and answers Tc: the latest confirmed time whose payment events
     * are all known. An order that was paid before Tc has therefore been told so (invariant 4). Null while nothing is known.
     */
    confirmedTime: (chainId: number): Promise<Date | null> =>
      database.transaction(async sql => {
        const locked = await sql.query<{ watermark: number; confirmed_time: Date | null }>(
          'SELECT watermark, confirmed_time FROM chain_cursors WHERE chain_id = $1 FOR UPDATE',
          [chainId],
        )
        const cursor = locked.rows[0]
        if (!cursor) return null
        const moved = await sql.query<{ watermark: number }>(WATERMARK, [chainId, cursor.watermark])
        const watermark = moved.rows[0]?.watermark ?? cursor.watermark
        const known = await sql.query<{ time: Date | null }>(
          'SELECT max(confirmed_time) AS time FROM chain_advances WHERE chain_id = $1 AND sequence <= $2',
          [chainId, watermark],
        )
        const time = known.rows[0]?.time ?? cursor.confirmed_time
        await sql.query('UPDATE chain_cursors SET confirmed_time = greatest(confirmed_time, $2) WHERE chain_id = $1', [chainId, time])
        await sql.query('DELETE FROM payment_sequences WHERE chain_id = $1 AND sequence <= $2', [chainId, watermark])
        await sql.query('DELETE FROM chain_advances WHERE chain_id = $1 AND sequence < $2', [chainId, watermark])
        return time
      }),

    /** Orders that may have expired at Tc, in order of `expires_at`, after the given one. */
    async expiring(chainId: number, chainTime: Date, after: { expiresAt: Date; id: string } | null, limit: number) {
      return prisma.order.findMany({
        select: { id: true, expiresAt: true },
        where: {
          chainId,
          status: { in: ['pending', 'underpaid', 'confirming'] },
          expiresAt: { lt: chainTime },
          ...(after ? { OR: [{ expiresAt: { gt: after.expiresAt } }, { expiresAt: after.expiresAt, id: { gt: after.id } }] } : {}),
        },
        orderBy: [{ expiresAt: 'asc' }, { id: 'asc' }],
        take: limit,
      })
    },
  }
}
