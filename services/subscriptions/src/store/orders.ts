import type { OrderBody } from '@ponte/contracts'
import type { Database, Statement } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'

// Raw SQL because it commits with its event. The first body stands: the event may come twice.
const RECORD_CREATED: Statement = {
  name: 'order-created',
  text: `UPDATE attempts SET order_body = coalesce(order_body, $body::text), reason = CASE WHEN status = 'open' THEN NULL ELSE reason END
    WHERE order_id = $order_id`,
}

// Raw SQL because it commits with its event. What waits may have been created meanwhile: these events come in any order.
const RECORD_WAITING: Statement = {
  name: 'order-waiting',
  text: "UPDATE attempts SET reason = $reason WHERE order_id = $order_id AND status = 'open' AND order_body IS NULL",
}

/** The orders that were asked for, as orders created them. */
export const orderStore = (database: Database, prisma: PrismaClient) => ({
  /** Stores the order's body. Answers false, with nothing written, when no subscription asked for it. */
  async recordCreated(order: OrderBody, eventId: string): Promise<boolean> {
    const attempt = await prisma.attempt.findUnique({ where: { orderId: order.id }, select: { orderId: true } })
    if (!attempt) return false
    await database.commit({ inbox: [eventId], write: RECORD_CREATED, values: { order_id: order.id, body: JSON.stringify(order) } })
    return true
  },

  /** Keeps why an order is not opened yet. */
  async recordWaiting(orderId: string, reason: string, eventId: string): Promise<void> {
    await database.commit({ inbox: [eventId], write: RECORD_WAITING, values: { order_id: orderId, reason } })
  },

  /** The order as it was created, as JSON text; null until its event has come. */
  async body(orderId: string): Promise<string | null> {
    const row = await prisma.attempt.findUnique({ where: { orderId }, select: { orderBody: true } })
    return row?.orderBody ?? null
  },
})
