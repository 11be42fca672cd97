import { type CompactData, type Event, type PaidData, type UnderpaidData, type WebhookType, webhookBodies } from '@ponte/contracts'

/** The body of a webhook: serialised once, here, and from then on only bytes. */
export interface Webhook {
  type: WebhookType
  merchantId: string
  /** The merchant's version that the event was decided under. */
  merchantVersion: number
  body: Buffer
}

/**
 * The one place that maps an event to a merchant's webhook; `undefined` when there is none.
 * A subscription's order is notified as `subscription.charged` by that event, never as `order.paid`.
 */
export function toWebhook(event: Event): Webhook | undefined {
  switch (event.type) {
    case 'order.paid':
      return event.data.order.subscription_id === null ? webhook(event.type, event.data, event.data.order) : undefined
    case 'order.underpaid':
    case 'order.expired':
    case 'order.cancelled':
      return webhook(event.type, event.data, event.data.order)
    case 'subscription.charged':
      return webhook(event.type, event.data, { ...event.data.order, subscription_id: event.data.subscription_id })
    case 'subscription.cancelled':
    case 'subscription.expired':
      return webhook(event.type, event.data, event.data.subscription)
    default:
      return undefined
  }
}

function webhook(
  type: WebhookType,
  owner: { merchant_id: string; merchant_version: number },
  data: PaidData | UnderpaidData | CompactData,
): Webhook {
  // The schema drops what a merchant must not see and puts the fields in the specification's order.
  const body = webhookBodies[type].parse({ type, data })
  return { type, merchantId: owner.merchant_id, merchantVersion: owner.merchant_version, body: Buffer.from(JSON.stringify(body), 'utf8') }
}
