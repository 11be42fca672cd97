import type { ChainPayment, NewEvent } from '@ponte/contracts'
import { type Database, insertRows, outboxRows, type Statement } from '@ponte/service-kit'
import type { PrismaClient, UnmatchedPayment } from '../generated/client'
import { type MismatchReason, type Payment, paymentKind, paymentStatus, type Target, UNITS_MAX } from '../payment'
import { paymentRecord } from './order-row'

const COLUMNS = [
  'id',
  'reason',
  'kind',
  'revision',
  'status',
  'chain_id',
  'router_address',
  'token_address',
  'memo',
  'merchant_address',
  'deposit_address',
  'payer_address',
  'gross_units',
  'exact_units',
  'tx_hash',
  'block_number',
  'block_time',
  'log_index',
]

// Raw SQL because it commits with its event.
const RECORD: Statement = {
  name: 'payment-unmatched',
  text: `
  WITH counted AS (INSERT INTO payment_sequences (chain_id, sequence) VALUES ($chain_id, $sequence) ON CONFLICT DO NOTHING)
  ${insertRows('unmatched_payments', COLUMNS)}
  ON CONFLICT (id) DO UPDATE SET ${COLUMNS.slice(1)
    .map(column => `${column} = EXCLUDED.${column}`)
    .join(', ')}
  WHERE unmatched_payments.revision < EXCLUDED.revision`,
}

// Raw SQL: a join without a relation.
const CLAIMABLE = `
  SELECT DISTINCT orders.memo FROM unmatched_payments AS unmatched JOIN orders USING (memo)
  WHERE unmatched.reason = 'unknown_memo' LIMIT $1`

/** What is beyond the column that all amounts share is kept exactly beside it. */
const unitsOf = ({ grossUnits }: Payment) =>
  grossUnits > UNITS_MAX ? { gross_units: UNITS_MAX, exact_units: grossUnits } : { gross_units: grossUnits, exact_units: null }

/** Payments that count for no order, kept with the reason. */
export function unmatchedStore(database: Database, prisma: PrismaClient) {
  return {
    async record(
      data: ChainPayment,
      payment: Payment,
      reason: MismatchReason,
      eventId: string,
      notice: { events: NewEvent[]; at: Date },
    ): Promise<void> {
      await database.commit({
        inbox: [eventId],
        events: outboxRows(notice.events, notice.at),
        write: RECORD,
        rows: { unmatched_payments: [{ ...data, ...paymentRecord(payment), ...unitsOf(payment), reason }] },
        values: { chain_id: data.chain_id, sequence: data.sequence },
      })
    },

    /** Payments with this memo that came before there was an order. */
    async ofMemo(memo: string): Promise<{ payment: Payment; target: Target }[]> {
      const rows = await prisma.unmatchedPayment.findMany({ where: { memo, reason: 'unknown_memo' } })
      return rows.map(row => ({ payment: { ...row, kind: paymentKind(row.kind), status: paymentStatus(row.status) }, target: row }))
    },

    /** Newest block first, from below the given block on. */
    below: (block: bigint | null, limit: number): Promise<UnmatchedPayment[]> =>
      prisma.unmatchedPayment.findMany({
        ...(block === null ? {} : { where: { blockNumber: { lt: block } } }),
        orderBy: [{ blockNumber: 'desc' }, { id: 'desc' }],
        take: limit,
      }),

    /** Memos of unmatched payments whose order exists by now. A join: there is no relation to ask Prisma by. */
    async claimable(limit: number): Promise<string[]> {
      return (await database.query<{ memo: string }>(CLAIMABLE, [limit])).rows.map(row => row.memo)
    },

    async setReason(id: string, reason: MismatchReason): Promise<void> {
      await prisma.unmatchedPayment.updateMany({ where: { id }, data: { reason } })
    },
  }
}
