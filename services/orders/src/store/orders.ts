import type { NewEvent } from '@ponte/contracts'
import { type Database, isUniqueViolation, type OutboxRows, type Sql, toOutbox } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { Change, Order } from '../order'
import type { Payment } from '../settlement'
import type { Answer } from './idempotency'
import { orderColumns, toOrder, toPayment } from './order-row'

export interface Ledger {
  order: Order
  payments: Payment[]
}

/** What is written together with a change: whose event caused it, the payment it reports, the answer kept for a repeated request. */
export interface Cause {
  eventId?: string
  payment?: Payment
  sequence?: { chainId: number; sequence: number }
  answer?: Answer
}

export interface OrderStoreOptions {
  now: () => Date
  /** Hears of every order that was written, once it is. */
  committed(change: Change): void
}

const columns = orderColumns.map(([column]) => column).join(', ')
const placeholders = orderColumns.map((_, index) => `$${index + 1}`).join(', ')
const next = orderColumns.length

const INSERT = `
  WITH answer AS (
    INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body)
    SELECT $2, $${next + 4}, $${next + 5}, $${next + 6}, $${next + 7}, $${next + 8} WHERE $${next + 5}::text IS NOT NULL),
  seen AS (INSERT INTO inbox (event_id) SELECT $${next + 9}::uuid WHERE $${next + 9}::uuid IS NOT NULL),
  told AS (INSERT INTO outbox (id, type, body) SELECT * FROM unnest($${next + 1}::uuid[], $${next + 2}::text[], $${next + 3}::text[])),
  waited AS (DELETE FROM waiting_charges WHERE order_id = $1)
  INSERT INTO orders (${columns}) VALUES (${placeholders})`

// A version that moved on since it was read becomes NULL, which the column refuses: the whole statement is undone.
// A payment that came before its order is taken out of the unmatched ones by whatever brings it here.
const COMMIT = `
  WITH told AS (INSERT INTO outbox (id, type, body) SELECT * FROM unnest($11::uuid[], $12::text[], $13::text[])),
  answer AS (
    INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body)
    SELECT $14, $15, $16, $17, $18, $19 WHERE $16::text IS NOT NULL),
  seen AS (INSERT INTO inbox (event_id) SELECT $20::uuid WHERE $20::uuid IS NOT NULL),
  counted AS (
    INSERT INTO payment_sequences (chain_id, sequence) SELECT $21::int, $22::int WHERE $22::int IS NOT NULL ON CONFLICT DO NOTHING),
  paid AS (
    INSERT INTO payments (id, order_id, revision, status, share_units, payer_address, tx_hash, block_number, block_time, replaces)
    SELECT $23, $1::uuid, $24, $25, $26, $27, $28, $29, $30, coalesce($31::text[], '{}') WHERE $23::text IS NOT NULL
    ON CONFLICT (id) DO UPDATE SET revision = EXCLUDED.revision, status = EXCLUDED.status, block_number = EXCLUDED.block_number,
      block_time = EXCLUDED.block_time, replaces = EXCLUDED.replaces WHERE payments.revision < EXCLUDED.revision),
  matched AS (DELETE FROM unmatched_payments WHERE id = $23)
  UPDATE orders SET status = $3, exception = $4, received_units = $5, told_units = $6, tx_hash = $7, paid_at = $8::timestamptz,
    expired_at = $9::timestamptz, cancelled_at = $10::timestamptz, superseded_at = $32::timestamptz,
    version = CASE WHEN version = $2 THEN version + 1 END
  WHERE id = $1`

export function orderStore(database: Database, prisma: PrismaClient, { now, committed }: OrderStoreOptions) {
  return {
    /** One order with its payments, read in one round trip. */
    async find(where: { id: string } | { memo: string }): Promise<Ledger | null> {
      const row = await prisma.order.findUnique({
        where,
        include: { payments: { orderBy: [{ blockNumber: 'asc' }, { id: 'asc' }] } },
        relationLoadStrategy: 'join',
      })
      if (!row) return null
      const { payments, ...order } = row
      return { order: toOrder(order), payments: payments.map(toPayment) }
    },

    /** Writes a new order with its events and the answer for a repeated request, in one statement. */
    async insert(change: Change, cause: Pick<Cause, 'eventId' | 'answer'> = {}): Promise<void> {
      await insertOrder(database, change, cause, now())
      committed(change)
    },

    /** Writes what changed of an order, its events and its cause, in one statement. Throws a stale-version error when the order moved on. */
    async commit(change: Change, { payment, sequence, answer, eventId }: Cause): Promise<void> {
      const { order } = change
      await database.query({ name: 'order-commit', text: COMMIT }, [
        ...[order.id, order.version, order.status, order.exception, order.receivedUnits, order.toldUnits, order.txHash],
        ...[order.paidAt, order.expiredAt, order.cancelledAt],
        ...spread(change.events, now()),
        order.merchantId,
        ...answerValues(answer),
        ...orNull(eventId, sequence?.chainId, sequence?.sequence),
        ...orNull(payment?.id, payment?.revision, payment?.status, payment?.shareUnits, payment?.payerAddress, payment?.txHash),
        ...orNull(payment?.blockNumber, payment?.blockTime, payment?.replaces),
        order.supersededAt,
      ])
      committed(change)
    },
  }
}

/** Writes a new order on this connection; whoever calls tells of it once it is committed. */
export async function insertOrder(sql: Sql, change: Change, cause: Pick<Cause, 'eventId' | 'answer'>, at: Date): Promise<void> {
  await sql.query({ name: 'order-insert', text: INSERT }, [
    ...orderColumns.map(([, read]) => read(change.order)),
    ...spread(change.events, at),
    ...answerValues(cause.answer),
    cause.eventId ?? null,
  ])
}

/** True when an order with this id was created before: the same charge was requested twice. */
export const isKnownOrder = (error: unknown) => isUniqueViolation(error, 'orders_pkey')

const orNull = (...values: unknown[]) => values.map(value => value ?? null)

function spread(events: readonly NewEvent[], at: Date) {
  const rows: OutboxRows = toOutbox(events, at)
  return [rows.ids, rows.types, rows.bodies]
}

const answerValues = (answer: Answer | undefined) => orNull(answer?.route, answer?.key, answer?.bodyHash, answer?.status, answer?.body)
