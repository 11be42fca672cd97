import type { ListOrders, NewEvent } from '@ponte/contracts'
import { type Database, isUniqueViolation, type OutboxRows, toOutbox } from '@ponte/service-kit'
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

const columns = orderColumns.map(([column]) => column).join(', ')
const placeholders = orderColumns.map((_, index) => `$${index + 1}`).join(', ')
const next = orderColumns.length

const INSERT = `
  WITH answer AS (
    INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body)
    SELECT $2, $${next + 4}, $${next + 5}, $${next + 6}, $${next + 7}, $${next + 8} WHERE $${next + 5}::text IS NOT NULL),
  seen AS (INSERT INTO inbox (event_id) SELECT $${next + 9}::uuid WHERE $${next + 9}::uuid IS NOT NULL),
  told AS (INSERT INTO outbox (id, type, body) SELECT * FROM unnest($${next + 1}::uuid[], $${next + 2}::text[], $${next + 3}::text[]))
  INSERT INTO orders (${columns}) VALUES (${placeholders})`

// A version that moved on since it was read becomes NULL, which the column refuses: the whole statement is undone.
const COMMIT = `
  WITH answer AS (
    INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body)
    SELECT $12, $13, $14, $15, $16, $17 WHERE $14::text IS NOT NULL),
  seen AS (INSERT INTO inbox (event_id) SELECT $18::uuid WHERE $18::uuid IS NOT NULL),
  told AS (INSERT INTO outbox (id, type, body) SELECT * FROM unnest($9::uuid[], $10::text[], $11::text[])),
  counted AS (
    INSERT INTO payment_sequences (chain_id, sequence) SELECT $19::int, $20::int WHERE $20::int IS NOT NULL ON CONFLICT DO NOTHING),
  paid AS (
    INSERT INTO payments (id, order_id, revision, status, share_units, payer_address, tx_hash, block_number, block_time)
    SELECT $21, $1::uuid, $22, $23, $24, $25, $26, $27, $28 WHERE $21::text IS NOT NULL
    ON CONFLICT (id) DO UPDATE SET revision = EXCLUDED.revision, status = EXCLUDED.status, block_number = EXCLUDED.block_number,
      block_time = EXCLUDED.block_time WHERE payments.revision < EXCLUDED.revision)
  UPDATE orders SET status = $3, exception = $4, received_units = $5, told_units = $6, tx_hash = $7, paid_at = $8::timestamptz,
    cancelled_at = $29::timestamptz, version = CASE WHEN version = $2 THEN version + 1 END
  WHERE id = $1`

export function orderStore(database: Database, prisma: PrismaClient, options: { now: () => Date; committed(order: Order): void }) {
  const finish = (order: Order) => {
    options.committed(order)
    return order
  }
  const told = (events: readonly NewEvent[]) => toOutbox(events, options.now())

  return {
    async find(where: { id: string } | { memo: string }): Promise<Ledger | null> {
      const row = await prisma.order.findUnique({ where, include: { payments: { orderBy: { blockNumber: 'asc' } } } })
      if (!row) return null
      const { payments, ...order } = row
      return { order: toOrder(order), payments: payments.map(toPayment) }
    },

    /** Orders of a merchant, newest first, one more than `limit` where there are more. The id is the keyset. */
    async list(merchantId: string, query: ListOrders, limit: number): Promise<Order[]> {
      const backwards = query.ending_before !== undefined
      const rows = await prisma.order.findMany({
        where: {
          merchantId,
          ...(query.status ? { status: query.status } : {}),
          ...(query.exception ? { exception: query.exception } : {}),
          ...(query.external_ref ? { externalRef: query.external_ref } : {}),
          ...(query.subscription_id ? { subscriptionId: query.subscription_id } : {}),
          ...(query.memo ? { memo: query.memo } : {}),
          ...(query.tx_hash ? { txHash: query.tx_hash } : {}),
          createdAt: { ...(query.created_gte ? { gte: query.created_gte } : {}), ...(query.created_lt ? { lt: query.created_lt } : {}) },
          id: {
            ...(query.starting_after ? { lt: query.starting_after } : {}),
            ...(query.ending_before ? { gt: query.ending_before } : {}),
          },
        },
        orderBy: { id: backwards ? 'asc' : 'desc' },
        take: limit + 1,
      })
      return rows.map(toOrder)
    },

    /** Writes a new order with its events and the answer for a repeated request, in one statement. */
    async insert(change: Change, cause: Pick<Cause, 'eventId' | 'answer'> = {}): Promise<Order> {
      const values = orderColumns.map(([, read]) => read(change.order))
      const { answer } = cause
      await database.query({ name: 'order-insert', text: INSERT }, [
        ...values,
        ...spread(told(change.events)),
        ...answerValues(answer),
        cause.eventId ?? null,
      ])
      return finish(change.order)
    },

    /** Writes what changed of an order, its events and its cause, in one statement. Throws a stale-version error when the order moved on. */
    async commit(change: Change, cause: Cause): Promise<Order> {
      const { order } = change
      const { payment, sequence } = cause
      await database.query({ name: 'order-commit', text: COMMIT }, [
        order.id,
        order.version,
        order.status,
        order.exception,
        order.receivedUnits,
        order.toldUnits,
        order.txHash,
        order.paidAt,
        ...spread(told(change.events)),
        order.merchantId,
        ...answerValues(cause.answer),
        cause.eventId ?? null,
        sequence?.chainId ?? null,
        sequence?.sequence ?? null,
        ...[payment?.id, payment?.revision, payment?.status, payment?.shareUnits, payment?.payerAddress, payment?.txHash].map(
          v => v ?? null,
        ),
        payment?.blockNumber ?? null,
        payment?.blockTime ?? null,
        order.cancelledAt,
      ])
      return finish({ ...order, version: order.version + 1 })
    },
  }
}

/** True when an order with this id was created before: the same charge was requested twice. */
export const isKnownOrder = (error: unknown) => isUniqueViolation(error, 'orders_pkey')

const spread = (rows: OutboxRows) => [rows.ids, rows.types, rows.bodies]

const answerValues = (answer: Answer | undefined) => [
  answer?.route ?? null,
  answer?.key ?? null,
  answer?.bodyHash ?? null,
  answer?.status ?? null,
  answer?.body ?? null,
]
