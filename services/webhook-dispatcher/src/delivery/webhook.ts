import { type Event, type WebhookType, webhookBodies } from '@ponte/contracts'

/** The body of a webhook: serialised once, here, and from then on only bytes. */
export interface Webhook {
  type: WebhookType
  merchantId: string
  /** The merchant's version that the event was decided under. */
  merchantVersion: number
  /** Its deliveries are found by it. */
  orderId: string | null
  subscriptionId: string | null
  body: Buffer
}

/**
 * The one place that maps an event to a merchant's webhook; `undefined` when there is none.
 * A subscription's order is notified as `subscription.charged` by that event, never as `order.paid`.
 */
export function toWebhook(event: Event): Webhook | undefined {
  switch (event.type) {
    case 'order.paid': {
      const { order } = event.data
      return order.subscription_id === null ? webhook(event.type, event.data, order, aboutOrder(order)) : undefined
    }
    case 'order.underpaid':
    case 'order.overpaid':
    case 'order.paid_late':
    case 'order.paid_after_cancel':
    case 'order.duplicate':
    case 'order.settled':
    case 'order.accepted':
      return webhook(event.type, event.data, event.data.order, aboutOrder(event.data.order))
    case 'order.expired':
    case 'order.cancelled':
      return webhook(event.type, event.data, event.data.order, aboutOrder({ ...event.data, id: event.data.order.id }))
    case 'subscription.charged': {
      const order = { ...event.data.order, subscription_id: event.data.subscription_id }
      return webhook(event.type, event.data, order, aboutOrder(order))
    }
    case 'subscription.cancelled':
    case 'subscription.expired':
    case 'subscription.upcoming':
    case 'subscription.past_due':
    case 'subscription.paused':
    case 'subscription.resumed':
      return webhook(event.type, event.data, event.data.subscription, { orderId: null, subscriptionId: event.data.subscription.id })
    case 'subscription.order_issued': {
      const { id, order_id } = event.data.subscription
      return webhook(event.type, event.data, event.data.subscription, { orderId: order_id, subscriptionId: id })
    }
    case 'order.payment_unmatched':
      return webhook('payment.unmatched', event.data, event.data.payment, { orderId: null, subscriptionId: null })
    case 'payment.attached': {
      const { payment, subscription_id } = event.data
      return webhook(event.type, event.data, payment, { orderId: payment.order_id, subscriptionId: subscription_id })
    }
    case 'refund.created':
    case 'refund.confirmed':
    case 'refund.failed': {
      const { refund, subscription_id } = event.data
      return webhook(event.type, event.data, refund, { orderId: refund.order_id, subscriptionId: subscription_id })
    }
    case 'account.changed':
      return webhook(event.type, event.data, event.data.account, { orderId: null, subscriptionId: null })
    default:
      return undefined
  }
}

type Subject = Pick<Webhook, 'orderId' | 'subscriptionId'>

const aboutOrder = (order: { id: string; subscription_id: string | null }): Subject => ({
  orderId: order.id,
  subscriptionId: order.subscription_id,
})

const webhook = (type: WebhookType, owner: { merchant_id: string; merchant_version: number }, data: object, subject: Subject): Webhook => ({
  type,
  merchantId: owner.merchant_id,
  merchantVersion: owner.merchant_version,
  ...subject,
  body: webhookBody(type, data),
})

/** The schema drops what a merchant must not see and puts the fields in the contract's order. */
export const webhookBody = (type: WebhookType, data: object): Buffer =>
  Buffer.from(JSON.stringify(webhookBodies[type].parse({ type, data })), 'utf8')
