import type { Event } from '@ponte/contracts'
import type { MailKind, Notice } from './mail'

const KINDS = {
  'order.underpaid': 'money.underpaid',
  'order.overpaid': 'money.overpaid',
  'order.paid_late': 'money.paid_late',
  'order.paid_after_cancel': 'money.paid_after_cancel',
  'order.duplicate': 'money.duplicate',
  'order.payment_unmatched': 'money.unmatched',
  'subscription.past_due': 'subscription.past_due',
} as const satisfies Readonly<Record<string, MailKind>>

/** The mail about what another service reported; null when none is sent. */
export function eventNotice(event: Event): Notice | null {
  if (event.type === 'subscription.past_due') {
    const { id, external_ref, missing_brl_amount } = event.data.subscription
    const facts = { reference: external_ref ?? id, missing_brl_amount, page: `/subscriptions/${id}` }
    return { ...about(event.data, event, 'subscription.past_due'), topic: 'subscriptions', facts: { ...facts, at: event.occurred_at } }
  }
  if (event.type === 'order.payment_unmatched') {
    const { amount, tx_hash } = event.data.payment
    const facts = { received: `${amount} USDC`, tx_hash, page: '/attention', at: event.occurred_at }
    return { ...about(event.data, event, 'money.unmatched'), topic: 'attention', facts }
  }
  if (event.type === 'endpoint.failing') {
    const { host, dead, failing_since } = event.data
    const facts = { host, dead: dead > 0 ? String(dead) : null, failing_since, page: '/deliveries/endpoints', at: event.occurred_at }
    return { ...about(event.data, event, failing_since === null ? 'webhook.dead' : 'webhook.failing'), topic: 'webhooks', facts }
  }
  if (event.type === 'order.paid' || event.type === 'subscription.charged') return paymentNotice(event)
  if (!isOfMoney(event)) return null
  const { id, external_ref, brl_amount, expected, received, tx_hash } = event.data.order
  const facts = { reference: external_ref ?? id, brl_amount, expected: `${expected} USDC`, received: `${received} USDC`, tx_hash }
  return {
    ...about(event.data, event, KINDS[event.type]),
    topic: 'attention',
    facts: { ...facts, page: `/orders/${id}`, at: event.occurred_at },
  }
}

/** A subscription's order is reported by `subscription.charged` alone, as to webhooks. */
function paymentNotice(event: Extract<Event, { type: 'order.paid' | 'subscription.charged' }>): Notice | null {
  const { id, external_ref, subscription_id, brl_amount, usdc_amount, tx_hash } = event.data.order
  if (event.type === 'order.paid' && subscription_id !== null) return null
  const facts = { reference: external_ref ?? id, brl_amount, usdc_amount, tx_hash, page: `/orders/${id}` }
  const kind = event.type === 'order.paid' ? 'payment.order' : 'payment.subscription'
  return { ...about(event.data, event, kind), topic: 'payments', facts: { ...facts, at: event.occurred_at } }
}

type OfMoney = Extract<Event, { type: Exclude<keyof typeof KINDS, 'subscription.past_due' | 'order.payment_unmatched'> }>
const isOfMoney = (event: Event): event is OfMoney => Object.hasOwn(KINDS, event.type)

const about = ({ merchant_id: merchantId }: { merchant_id: string }, { occurred_at }: Event, kind: MailKind) => ({
  ...{ merchantId, kind, at: new Date(occurred_at) },
})
