import { type ChargeRequested, eventTable } from '@ponte/contracts'
import { commitUnit, type Database, type Statement } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { Change } from '../order'
import { isKnownOrder, newOrder, type OrderStoreOptions } from './order-writes'

// Raw SQL because it commits with its event.
const HOLD: Statement = {
  name: 'charge-hold',
  text: 'INSERT INTO waiting_charges (order_id, request) VALUES ($order_id, $request) ON CONFLICT DO NOTHING',
}

/** Charges that wait until they can be opened. */
export function chargeStore(database: Database, prisma: PrismaClient, { now, committed }: OrderStoreOptions) {
  return {
    async hold(request: ChargeRequested, eventId: string): Promise<void> {
      await database.commit({
        inbox: [eventId],
        write: HOLD,
        values: { order_id: request.order_id, request: JSON.stringify(request) },
      })
    },

    /** The longest waiting first. */
    async waiting(limit: number): Promise<ChargeRequested[]> {
      const rows = await prisma.waitingCharge.findMany({ orderBy: { createdAt: 'asc' }, take: limit })
      return rows.map(({ request }) => eventTable['subscription.charge_requested'].parse(JSON.parse(request)))
    },

    /** Puts a charge behind the others that wait, so that one that cannot be opened yet does not hold them up. */
    async postpone(orderId: string, at: Date): Promise<void> {
      await prisma.waitingCharge.updateMany({ where: { orderId }, data: { createdAt: at } })
    },

    /** Writes the order of a waiting charge. False when another replica has it in hand, or it was withdrawn or opened meanwhile. */
    async open(change: Change): Promise<boolean> {
      const orderId = change.order.id
      try {
        const isOpened = await database.transaction(async sql => {
          const { rowCount } = await sql.query('SELECT 1 FROM waiting_charges WHERE order_id = $1 FOR UPDATE SKIP LOCKED', [orderId])
          if (rowCount === 1) await commitUnit(sql, newOrder(change, now()))
          return rowCount === 1
        })
        if (isOpened) committed(change)
        return isOpened
      } catch (error) {
        if (!isKnownOrder(error)) throw error
        await prisma.waitingCharge.deleteMany({ where: { orderId } })
        return false
      }
    },

    /** Withdraws a charge that still waits. Answers false, with nothing written, when none does. */
    async withdraw(orderId: string, eventId: string): Promise<boolean> {
      const { rowCount } = await database.query(
        `WITH gone AS (DELETE FROM waiting_charges WHERE order_id = $2 RETURNING order_id)
         INSERT INTO inbox (event_id) SELECT $1 FROM gone`,
        [eventId, orderId],
      )
      return rowCount === 1
    },
  }
}
