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
import type { Invoicing } from '../order/invoicing'
import type { Change } from '../order/order'
import { isSettledCharge, settleCharges } from './charges'
import { customerRecord, documentRecord, insertCustomers, insertDocuments } from './invoicing'
import { type OrderStoreOptions, orderChanges, orders } from './rows'

/** Written together with a change: the event that caused it, the answer stored for a repeated request. */
export interface Cause {
  eventId?: string
  answers?: readonly StoredAnswer[]
}

/** A new order's customer and document, and when the customer was named. */
export interface NewInvoicing extends Invoicing {
  givenAt: Date
}

// Raw SQL because orders of one moment commit with their events and answers. A charge that was opened or withdrawn already becomes NULL, which the
// column refuses.
const INSERT: Statement = {
  name: 'orders-insert',
  text: `
  WITH opened AS (${settleCharges("SELECT charged, 'opened' FROM unnest($charged::uuid[]) AS charged")}),
  asked AS (
    INSERT INTO order_networks (order_id, chain_id, asked_at)
    SELECT id, chain, asked FROM json_populate_recordset(NULL::orders, $orders) AS opened,
      LATERAL (SELECT opened.chain_id, created_at UNION ALL SELECT (network ->> 'chainId')::int, NULL FROM jsonb_array_elements(networks) AS network) AS of_it (chain, asked)
    ON CONFLICT DO NOTHING),
  customers AS (${insertCustomers}),
  documents AS (${insertDocuments})
  ${insertRows('orders', orders.columns)}`,
}

// Raw SQL, for the same reason.
const COMMIT: Statement = { name: 'orders-commit', text: updateVersioned('orders', orderChanges) }

/** One write. Its events are made when it is decided, in the trace of its cause. */
interface Write extends Cause {
  id: string
  change: Change
  events: OutboxRow[]
  invoicing?: NewInvoicing
}

export function orderWrites(database: Database, { now, committed }: OrderStoreOptions) {
  const toWrite = (change: Change, cause: Cause & Pick<Write, 'invoicing'>): Write => ({
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
    async insert(change: Change, cause: Pick<Cause, 'eventId' | 'answers'> & { invoicing?: NewInvoicing } = {}): Promise<void> {
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

/** True when this charge is settled already: it was requested twice, or withdrawn. */
export const isKnownOrder = (error: unknown) => isUniqueViolation(error, 'orders_pkey') || isSettledCharge(error)

export const insertionOf = (change: Change, at: Date, invoicing?: NewInvoicing): Unit =>
  insertion([{ id: change.order.id, change, events: outboxRows(change.events, at), ...(invoicing ? { invoicing } : {}) }])

export const updateOf = (change: Change, at: Date): Unit => update([{ id: change.order.id, change, events: outboxRows(change.events, at) }])

function insertion(writes: readonly Write[]): Unit {
  const rows = writes.map(({ change }) => change.order)
  return {
    ...sideEffects(writes),
    write: INSERT,
    rows: {
      orders: rows.map(orders.record),
      order_customers: writes.flatMap(({ change: { order }, invoicing }) =>
        invoicing?.customer ? [customerRecord(invoicing.customer, order, invoicing.givenAt)] : [],
      ),
      fiscal_documents: writes.flatMap(({ change: { order }, invoicing }) =>
        invoicing?.fiscalDocument ? [documentRecord(invoicing.fiscalDocument, order)] : [],
      ),
    },
    values: { charged: rows.flatMap(({ id, subscriptionId }) => (subscriptionId === null ? [] : [id])) },
  }
}

function update(writes: readonly Write[]): Unit {
  // In one order everywhere, so that two replicas that write the same orders wait for each other and not in a circle.
  const ordered = writes.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return { ...sideEffects(ordered), write: COMMIT, rows: { orders: ordered.map(({ change }) => orders.record(change.order)) } }
}

const sideEffects = (writes: readonly Write[]): Unit => ({
  inbox: writes.flatMap(({ eventId }) => eventId ?? []),
  events: writes.flatMap(({ events }) => events),
  answers: writes.flatMap(({ answers }) => answers ?? []),
})
