import type { EventData, NewEvent, OrderBody, OrderUpdated } from '@ponte/contracts'
import { type Database, outboxRows, type Statement } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'

// Raw SQL because it commits with its event. The first body stands: the event may come twice. The version keeps a change that was decided before from
// writing the reason again, and its claim ends with it, or the plan would be left alone for half a minute.
const RECORD_CREATED: Statement = {
  name: 'order-created',
  text: `WITH created AS (
    UPDATE attempts SET order_body = coalesce(order_body, $body::text), reason = CASE WHEN status = 'open' THEN NULL ELSE reason END
    WHERE order_id = $order_id RETURNING subscription_id)
  UPDATE subscriptions SET version = version + 1, claimed_until = NULL FROM created WHERE id = created.subscription_id`,
}

// Raw SQL because it commits with its event. What waits may have been created meanwhile: these events come in any order.
const RECORD_WAITING: Statement = {
  name: 'order-waiting',
  text: `WITH waiting AS (
    UPDATE attempts SET reason = $reason WHERE order_id = $order_id AND status = 'open' AND order_body IS NULL RETURNING subscription_id)
  UPDATE subscriptions SET version = version + 1, claimed_until = NULL FROM waiting WHERE id = waiting.subscription_id`,
}

// Raw SQL because it commits with its event. The newest state stands, also when it comes before the order's creation.
const RECORD_STATE: Statement = {
  name: 'order-state',
  text: `UPDATE attempts SET order_state = $state::text, order_state_revision = $revision
    WHERE order_id = $order_id AND order_state_revision < $revision`,
}

const CREATED = {
  ...{ orderBody: true, periodIndex: true },
  charge: { select: { subscription: { select: { id: true, merchantId: true, externalRef: true } } } },
} as const

interface Created {
  periodIndex: number
  charge: { subscription: { id: string; merchantId: string; externalRef: string | null } }
}

const issuedEvent = (
  order: EventData<'order.created'>['order'],
  { periodIndex, charge: { subscription } }: Created,
  merchantVersion: number,
): NewEvent => ({
  type: 'subscription.order_issued',
  data: {
    merchant_id: subscription.merchantId,
    merchant_version: merchantVersion,
    subscription: {
      id: subscription.id,
      external_ref: subscription.externalRef,
      period_index: periodIndex,
      order_id: order.id,
      brl_amount: order.brl_amount,
      usdc_amount: order.usdc_amount,
      checkout_url: order.payment.checkout_url,
      expires_at: order.expires_at,
    },
  },
})

export interface OrderStoreOptions {
  now: () => Date
  published(): void
}

/** The orders that were asked for, as orders created them. */
export const orderStore = (database: Database, prisma: PrismaClient, { now, published }: OrderStoreOptions) => ({
  /** Stores the order's body and publishes that it can be paid. Answers false, with nothing written, when no subscription asked for it. */
  async recordCreated({ order, merchant_version }: EventData<'order.created'>, eventId: string): Promise<boolean> {
    const attempt = await prisma.attempt.findUnique({ where: { orderId: order.id }, select: CREATED })
    if (!attempt) return false
    // Also when what became of it was reported before.
    const isNew = attempt.orderBody === null
    await database.commit({
      inbox: [eventId],
      events: isNew ? outboxRows([issuedEvent(order, attempt, merchant_version)], now()) : [],
      write: RECORD_CREATED,
      values: { order_id: order.id, body: JSON.stringify(order) },
    })
    if (isNew) published()
    return true
  },

  async recordWaiting(orderId: string, reason: string, eventId: string): Promise<void> {
    await database.commit({ inbox: [eventId], write: RECORD_WAITING, values: { order_id: orderId, reason } })
  },

  /** Keeps what the order shows since something came for it. */
  async recordState({ order_id, revision, state }: OrderUpdated, eventId: string): Promise<void> {
    await database.commit({ inbox: [eventId], write: RECORD_STATE, values: { order_id, revision, state: JSON.stringify(state) } })
  },

  /** The order as it is now, as JSON text; null until it was created. */
  async current(orderId: string): Promise<string | null> {
    const row = await prisma.attempt.findUnique({ where: { orderId }, select: { orderBody: true, orderState: true } })
    return row?.orderBody && row.orderState ? withState(row.orderBody, row.orderState) : (row?.orderBody ?? null)
  },

  /** The order as it was created, as JSON text; null until its event has come. */
  async body(orderId: string): Promise<string | null> {
    const row = await prisma.attempt.findUnique({ where: { orderId }, select: { orderBody: true } })
    return row?.orderBody ?? null
  },
})

function withState(body: string, newest: string): string {
  const order: OrderBody = JSON.parse(body)
  const { payment_uri, ...state }: OrderUpdated['state'] = JSON.parse(newest)
  return JSON.stringify({ ...order, ...state, payment: { ...order.payment, payment_uri } })
}
