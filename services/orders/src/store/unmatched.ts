import { type ChainPayment, parseUsdc } from '@ponte/contracts'
import type { Database } from '@ponte/service-kit'
import type { PrismaClient, UnmatchedPayment } from '../generated/client'
import type { Misfit } from '../matching'

const RECORD = `
  WITH seen AS (INSERT INTO inbox (event_id) VALUES ($1)),
  counted AS (INSERT INTO payment_sequences (chain_id, sequence) VALUES ($5, $16) ON CONFLICT DO NOTHING)
  INSERT INTO unmatched_payments AS known (id, reason, revision, status, chain_id, router_address, token_address, memo, merchant_address,
    payer_address, share_units, tx_hash, block_number, block_time)
  VALUES ($2, $3, $4, $15, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
  ON CONFLICT (id) DO UPDATE SET reason = EXCLUDED.reason, revision = EXCLUDED.revision, status = EXCLUDED.status,
    block_number = EXCLUDED.block_number, block_time = EXCLUDED.block_time WHERE known.revision < EXCLUDED.revision`

const SEEN = `
  WITH seen AS (INSERT INTO inbox (event_id) VALUES ($1))
  INSERT INTO payment_sequences (chain_id, sequence) VALUES ($2, $3) ON CONFLICT DO NOTHING`

const ADOPTABLE = `
  SELECT DISTINCT orders.memo FROM unmatched_payments AS unmatched JOIN orders USING (memo)
  WHERE unmatched.reason = 'unknown_memo' LIMIT $1`

/** Payments that settle nothing, kept with the reason; and those that say nothing new. Each counts in the chain's sequence. */
export function unmatchedStore(database: Database, prisma: PrismaClient) {
  return {
    async recordUnmatched(payment: ChainPayment, status: string, reason: Misfit, eventId: string): Promise<void> {
      await database.query({ name: 'payment-unmatched', text: RECORD }, [
        ...[eventId, payment.payment_id, reason, payment.revision, payment.chain_id],
        ...[payment.router_address, payment.token_address, payment.memo, payment.merchant_address, payment.payer_address],
        ...[
          parseUsdc(payment.amount ?? payment.merchant_share ?? '0'),
          payment.tx_hash,
          payment.block_number,
          payment.block_time,
          status,
          payment.sequence,
        ],
      ])
    },

    /** An event that changes nothing here; it counts in the sequence. */
    async recordSeen(seen: { chain_id: number; sequence: number }, eventId: string): Promise<void> {
      await database.query(SEEN, [eventId, seen.chain_id, seen.sequence])
    },

    /** Payments with this memo that came before there was an order. */
    unmatchedOf: (memo: string): Promise<UnmatchedPayment[]> =>
      prisma.unmatchedPayment.findMany({ where: { memo, reason: 'unknown_memo' } }),

    /** Money that settles nothing, newest block first, from below the given block on. */
    unmatchedBelow: (block: bigint | null, limit: number): Promise<UnmatchedPayment[]> =>
      prisma.unmatchedPayment.findMany({
        ...(block === null ? {} : { where: { blockNumber: { lt: block } } }),
        orderBy: [{ blockNumber: 'desc' }, { id: 'desc' }],
        take: limit,
      }),

    /** Memos of unmatched payments whose order exists by now. */
    async adoptable(limit: number): Promise<string[]> {
      return (await database.query<{ memo: string }>(ADOPTABLE, [limit])).rows.map(row => row.memo)
    },

    async nameReason(id: string, reason: Misfit): Promise<void> {
      await database.query('UPDATE unmatched_payments SET reason = $2 WHERE id = $1', [id, reason])
    },
  }
}
