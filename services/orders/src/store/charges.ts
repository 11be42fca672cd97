import { type ChargeRequested, eventTable } from '@ponte/contracts'
import type { Database } from '@ponte/service-kit'
import type { Change } from '../order'
import { insertOrder, isKnownOrder, type OrderStoreOptions } from './orders'

/** Charges that wait for an exchange rate. */
export function chargeStore(database: Database, { now, committed }: OrderStoreOptions) {
  return {
    async holdCharge(request: ChargeRequested, eventId: string): Promise<void> {
      await database.query(
        `WITH seen AS (INSERT INTO inbox (event_id) VALUES ($1))
         INSERT INTO waiting_charges (order_id, request) VALUES ($2, $3) ON CONFLICT DO NOTHING`,
        [eventId, request.order_id, JSON.stringify(request)],
      )
    },

    async waitingCharges(limit: number): Promise<string[]> {
      const { rows } = await database.query<{ order_id: string }>('SELECT order_id FROM waiting_charges ORDER BY created_at LIMIT $1', [
        limit,
      ])
      return rows.map(row => row.order_id)
    },

    /** Opens the order of a waiting charge, unless another replica has it in hand or it was given up meanwhile. */
    async openWaiting(orderId: string, decide: (request: ChargeRequested) => Promise<Change>): Promise<Change | null> {
      try {
        const change = await database.transaction(async sql => {
          const { rows } = await sql.query<{ request: string }>(
            'SELECT request FROM waiting_charges WHERE order_id = $1 FOR UPDATE SKIP LOCKED',
            [orderId],
          )
          if (!rows[0]) return null
          const decided = await decide(eventTable['subscription.charge_requested'].parse(JSON.parse(rows[0].request)))
          await insertOrder(sql, decided, now())
          return decided
        })
        if (change) committed(change)
        return change
      } catch (error) {
        if (!isKnownOrder(error)) throw error
        await database.query('DELETE FROM waiting_charges WHERE order_id = $1', [orderId])
        return null
      }
    },

    /** Gives up a charge that still waits. Answers false, with nothing written, when none does. */
    async dropWaiting(orderId: string, eventId: string): Promise<boolean> {
      const { rowCount } = await database.query(
        `WITH gone AS (DELETE FROM waiting_charges WHERE order_id = $2 RETURNING order_id)
         INSERT INTO inbox (event_id) SELECT $1 FROM gone`,
        [eventId, orderId],
      )
      return rowCount === 1
    },
  }
}
