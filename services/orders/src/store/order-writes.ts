import {
  type Database,
  groupCommit,
  insertRows,
  isUniqueViolation,
  type OutboxRow,
  outboxRows,
  type Statement,
  type StoredAnswer,
  type Unit,
  updateVersioned,
} from '@ponte/service-kit'
import type { Change } from '../order'
import type { Payment } from '../payment'
import { changeRecord, changingColumns, orderColumns, orderRecord, paymentColumns, paymentRecord } from './order-row'

/** What is reported of a payment; without `payment` a newer report of the same one is written with it. */
export interface Report {
  eventId?: string
  payment?: Payment
  sequence?: { chainId: number; sequence: number }
}

/** What is written together with a change: the event that caused it, what was reported of payments, the answer stored for a repeated request. */
export interface Cause {
  eventId?: string
  reports?: readonly Report[]
  answers?: readonly StoredAnswer[]
}

export interface OrderStoreOptions {
  now: () => Date
  /** The latest time that the chain can have confirmed, by our clock. */
  latestChainTime: () => Date
  /** Called with every order that was written, once it is. */
  committed(change: Change): void
}

// Raw SQL because orders of one moment commit with their events and answers. A charge that was withdrawn before it came has an outcome already,
// and its key refuses the order.
const INSERT: Statement = {
  name: 'orders-insert',
  text: `
  WITH waited AS (DELETE FROM waiting_charges WHERE order_id = ANY($charged::uuid[])),
  opened AS (INSERT INTO charge_outcomes (order_id, outcome) SELECT charged, 'opened' FROM unnest($charged::uuid[]) AS charged)
  ${insertRows('orders', orderColumns)}`,
}

// Raw SQL, for the same reason. A payment that came before its order leaves the unmatched ones with whatever brings it here; a newer report of it that
// came there meanwhile stays, and is claimed. A payment that another order has becomes NULL there, which the column refuses: no money is booked twice.
const COMMIT: Statement = {
  name: 'orders-commit',
  text: `
  WITH counted AS (
    INSERT INTO payment_sequences (chain_id, sequence) SELECT * FROM unnest($chain_ids::int[], $sequences::int[]) ON CONFLICT DO NOTHING),
  paid AS (
    ${insertRows('payments', paymentColumns)}
    ON CONFLICT (id) DO UPDATE SET order_id = CASE WHEN payments.order_id = EXCLUDED.order_id THEN payments.order_id END, ${paymentColumns
      .slice(2)
      .map(column => `${column} = EXCLUDED.${column}`)
      .join(', ')}
    WHERE payments.revision < EXCLUDED.revision OR payments.order_id <> EXCLUDED.order_id),
  matched AS (
    DELETE FROM unmatched_payments AS unmatched USING json_populate_recordset(NULL::payments, $payments) AS incoming
    WHERE unmatched.id = incoming.id AND unmatched.revision <= incoming.revision)
  ${updateVersioned('orders', changingColumns)}`,
}

/** One write. Its events are made when it is decided, in the trace of its cause. */
interface Write extends Cause {
  id: string
  change: Change
  events: OutboxRow[]
}

export function orderWrites(database: Database, { now, committed }: OrderStoreOptions) {
  const toWrite = (change: Change, cause: Cause): Write => ({
    ...cause,
    id: change.order.id,
    change,
    events: outboxRows(change.events, now()),
  })
  const insertAll = groupCommit(async (writes: readonly Write[]) => {
    await database.commit(insertion(writes))
    return writes.map(() => true)
  })
  const commitAll = groupCommit(
    async (writes: readonly Write[]) => {
      await database.commit(update(writes))
      return writes.map(() => true)
    },
    ({ id }) => id,
  )
  return {
    /** Writes a new order with its events and the answer for a repeated request; those of one moment in one statement. */
    async insert(change: Change, cause: Pick<Cause, 'eventId' | 'answers'> = {}): Promise<void> {
      await insertAll(toWrite(change, cause))
      committed(change)
    },

    /** Writes what changed of an order, its events and its cause; those of one moment in one statement. Throws an error that `isStale` knows when the order moved on. */
    async commit(change: Change, cause: Cause): Promise<void> {
      await commitAll(toWrite(change, cause))
      committed(change)
    },
  }
}

/** A new order with its events, for `commitUnit`; its writer calls `committed` once it is. */
export const newOrder = (change: Change, at: Date): Unit =>
  insertion([{ id: change.order.id, change, events: outboxRows(change.events, at) }])

/** True when this charge has an outcome already: it was requested twice, or withdrawn. */
export const isKnownOrder = (error: unknown) => ['orders_pkey', 'charge_outcomes_pkey'].some(key => isUniqueViolation(error, key))

/** True when a payment of this id is another order's. */
export const isOthersPayment = (error: unknown): boolean =>
  error instanceof Error && Reflect.get(error, 'code') === '23502' && Reflect.get(error, 'column') === 'order_id'

function insertion(writes: readonly Write[]): Unit {
  const orders = writes.map(({ change }) => change.order)
  return {
    ...sideEffects(writes),
    write: INSERT,
    rows: { orders: orders.map(orderRecord) },
    values: { charged: orders.flatMap(({ id, subscriptionId }) => (subscriptionId === null ? [] : [id])) },
  }
}

function update(writes: readonly Write[]): Unit {
  // In one order everywhere, so that two replicas that write the same orders wait for each other and not in a circle.
  const ordered = writes.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const reports = ordered.flatMap(({ id, reports = [] }) => reports.map(report => ({ id, ...report })))
  const sequences = reports.flatMap(({ sequence }) => sequence ?? [])
  return {
    ...sideEffects(ordered),
    write: COMMIT,
    rows: {
      orders: ordered.map(({ change }) => changeRecord(change.order)),
      payments: reports.flatMap(({ id, payment }) => (payment ? { order_id: id, ...paymentRecord(payment) } : [])),
    },
    values: {
      chain_ids: sequences.map(({ chainId }) => chainId),
      sequences: sequences.map(({ sequence }) => sequence),
    },
  }
}

const sideEffects = (writes: readonly Write[]): Unit => ({
  inbox: writes.flatMap(({ eventId, reports = [] }) => [{ eventId }, ...reports]).flatMap(({ eventId }) => eventId ?? []),
  events: writes.flatMap(({ events }) => events),
  answers: writes.flatMap(({ answers }) => answers ?? []),
})
