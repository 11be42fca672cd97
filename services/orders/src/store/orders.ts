import { createBatch, type Database, isUniqueViolation, type OutboxRows, type Sql, toOutbox } from '@ponte/service-kit'
import type { Change } from '../order'
import type { Payment } from '../settlement'
import type { Answer } from './idempotency'
import { orderColumns, type PaymentFields, paymentFields } from './order-row'

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

/** What every write brings along: events for the outbox, the answer kept for a repeated request, the event that caused it. */
const WITH_IT = `
  told AS (INSERT INTO outbox (id, type, body) SELECT * FROM unnest($2::uuid[], $3::text[], $4::text[])),
  answer AS (
    INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body)
    SELECT * FROM unnest($5::uuid[], $6::text[], $7::text[], $8::text[], $9::int[], $10::text[])),
  seen AS (INSERT INTO inbox (event_id) SELECT unnest($11::uuid[]))`

const INSERT = `
  WITH ${WITH_IT},
  waited AS (DELETE FROM waiting_charges WHERE order_id = ANY($12::uuid[]))
  INSERT INTO orders (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::orders, $1)`

// A version that moved on since it was read becomes NULL, which the column refuses: the whole statement is undone.
// A payment that came before its order is taken out of the unmatched ones by whatever brings it here.
const COMMIT = `
  WITH ${WITH_IT},
  counted AS (INSERT INTO payment_sequences (chain_id, sequence) SELECT * FROM unnest($12::int[], $13::int[]) ON CONFLICT DO NOTHING),
  paid AS (
    INSERT INTO payments (id, order_id, revision, status, share_units, payer_address, tx_hash, block_number, block_time, replaces)
    SELECT id, order_id, revision, status, share_units, payer_address, tx_hash, block_number, block_time, replaces
    FROM json_populate_recordset(NULL::payments, $14)
    ON CONFLICT (id) DO UPDATE SET revision = EXCLUDED.revision, status = EXCLUDED.status, block_number = EXCLUDED.block_number,
      block_time = EXCLUDED.block_time, replaces = EXCLUDED.replaces WHERE payments.revision < EXCLUDED.revision),
  matched AS (DELETE FROM unmatched_payments WHERE id = ANY($15))
  UPDATE orders SET status = said.status, exception = said.exception, received_units = said.received_units, told_units = said.told_units,
    tx_hash = said.tx_hash, paid_at = said.paid_at, expired_at = said.expired_at, cancelled_at = said.cancelled_at,
    superseded_at = said.superseded_at, version = CASE WHEN orders.version = said.version THEN orders.version + 1 END
  FROM json_populate_recordset(NULL::orders, $1) AS said WHERE orders.id = said.id`

const BATCH = 200
/** Shorter than a gateway waits for its answer: nothing is written that its caller was told had failed. */
const PATIENCE_MS = 8_000

/** One write: the row of the order, and what comes with it. Events are made when the change is, in the trace of whoever makes it. */
interface Write extends Cause {
  id: string
  row: Record<string, unknown>
  events: OutboxRows
}

export function orderStore(database: Database, { now, committed }: OrderStoreOptions) {
  const insertAll = createBatch(
    BATCH,
    async (writes: readonly Write[]) => {
      await insert(database, writes)
      return writes.map(() => true)
    },
    PATIENCE_MS,
  )
  const commitAll = createBatch(
    BATCH,
    async (writes: readonly Write[]) => {
      // An update takes one row for each order: of two changes to the same order, the second must find the first one's version.
      if (new Set(writes.map(({ id }) => id)).size < writes.length) throw new Error('Two changes of one order come one after the other.')
      await commit(database, writes)
      return writes.map(() => true)
    },
    PATIENCE_MS,
  )
  return {
    /** Writes a new order with its events and the answer for a repeated request; those of one moment in one statement. */
    async insert(change: Change, cause: Pick<Cause, 'eventId' | 'answer'> = {}): Promise<void> {
      await insertAll(toWrite(change, cause, now()))
      committed(change)
    },

    /** Writes what changed of an order, its events and its cause; those of one moment in one statement. Throws a stale-version error when the order moved on. */
    async commit(change: Change, cause: Cause): Promise<void> {
      await commitAll(toWrite(change, cause, now()))
      committed(change)
    },
  }
}

/** Writes a new order on this connection; whoever calls tells of it once it is committed. */
export const insertOrder = (sql: Sql, change: Change, at: Date): Promise<void> => insert(sql, [toWrite(change, {}, at)])

/** True when an order with this id was created before: the same charge was requested twice. */
export const isKnownOrder = (error: unknown) => isUniqueViolation(error, 'orders_pkey')

const toWrite = (change: Change, cause: Cause, at: Date): Write => ({
  ...cause,
  id: change.order.id,
  row: Object.fromEntries(orderColumns.map(([column, read]) => [column, read(change.order)])),
  events: toOutbox(change.events, at),
})

async function insert(sql: Sql, writes: readonly Write[]): Promise<void> {
  // By their keys everywhere, so that two replicas that are asked the same wait for each other and not in a circle.
  const ordered = writes.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const charged = ordered.filter(({ row }) => row.subscription_id !== null).map(({ id }) => id)
  await sql.query({ name: 'orders-insert', text: INSERT }, [...alongside(ordered), charged])
}

const keyOf = ({ answer }: Write) => (answer ? `${answer.merchantId} ${answer.key}` : '')

async function commit(sql: Sql, writes: readonly Write[]): Promise<void> {
  // In one order everywhere, so that two replicas that write the same orders wait for each other and not in a circle.
  const ordered = writes.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const sequences = ordered.flatMap(({ sequence }) => sequence ?? [])
  const payments = ordered.flatMap(({ id, payment }): PaymentFields[] => (payment ? [paymentFields(id, payment)] : []))
  await sql.query({ name: 'orders-commit', text: COMMIT }, [
    ...alongside(ordered),
    ...[sequences.map(({ chainId }) => chainId), sequences.map(({ sequence }) => sequence)],
    ...[JSON.stringify(payments), payments.map(({ id }) => id)],
  ])
}

/** The values of $1 to $11. */
function alongside(writes: readonly Write[]): unknown[] {
  const events = writes.map(write => write.events)
  const answers = writes.flatMap(({ answer }) => answer ?? [])
  const column = <Name extends keyof Answer>(name: Name) => answers.map(answer => answer[name])
  return [
    JSON.stringify(
      writes.map(({ row }) => row),
      (_, value) => (typeof value === 'bigint' ? String(value) : value),
    ),
    ...[events.flatMap(({ ids }) => ids), events.flatMap(({ types }) => types), events.flatMap(({ bodies }) => bodies)],
    ...[column('merchantId'), column('route'), column('key'), column('bodyHash'), column('status'), column('body')],
    writes.flatMap(({ eventId }) => eventId ?? []),
  ]
}
