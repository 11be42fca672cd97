import { PonteError } from '../failure.js'
import type { EventFields, WebhookBodies } from '../schemas.js'

/** The kinds of events that this version knows. */
export type WebhookType = keyof WebhookBodies

/** An event of a kind that this version knows. */
export type KnownWebhookEvent = WebhookBodies[WebhookType]

/** An event of a kind that came later. Its `type` is a string that is none of the known ones; `never`, so that a comparison narrows to those. */
export interface NewerWebhookEvent {
  type: never
  data: unknown
}

/** Open: a new kind neither fails a check nor breaks a type. */
export type WebhookEvent = KnownWebhookEvent | NewerWebhookEvent

/** An event as the API keeps it for 30 days. */
export type StoredEvent = EventFields & WebhookEvent

const COMPACT = ['id']
const PAID = ['id', 'brl_amount', 'usdc_amount', 'tx_hash', 'memo', 'paid_at']
const REFUND = ['id', 'order_id', 'amount', 'payee_address']
const UNMATCHED = ['id', 'reason', 'kind', 'token_address', 'tx_hash', 'memo', 'amount', 'payer_address', 'merchant_address', 'block_time']
const BESIDE = [...PAID, 'expected', 'received']

/** Fields that each kind must have, as text. */
const REQUIRED: Record<WebhookType, readonly string[]> = {
  'order.paid': PAID,
  'order.underpaid': BESIDE,
  'order.expired': COMPACT,
  'order.cancelled': COMPACT,
  'subscription.charged': PAID,
  'subscription.cancelled': COMPACT,
  'subscription.expired': COMPACT,
  'order.overpaid': BESIDE,
  'order.paid_late': BESIDE,
  'order.paid_after_cancel': BESIDE,
  'order.duplicate': BESIDE,
  'order.settled': [...PAID, 'settlement_tx_hash', 'payout_address', 'settled_at'],
  'order.accepted': [...BESIDE, 'accepted_at', 'reason', 'given_away'],
  'payment.unmatched': UNMATCHED,
  'payment.attached': [...UNMATCHED, 'order_id', 'attached_at'],
  'refund.created': REFUND,
  'refund.confirmed': [...REFUND, 'tx_hash', 'confirmed_at'],
  'refund.failed': [...REFUND, 'failure_code', 'failed_at'],
  'subscription.order_issued': ['id', 'order_id', 'brl_amount', 'usdc_amount', 'checkout_url', 'expires_at'],
  'subscription.upcoming': ['id', 'charge_at', 'brl_amount'],
  'subscription.past_due': ['id', 'missing_brl_amount'],
  'subscription.paused': COMPACT,
  'subscription.resumed': COMPACT,
  'account.changed': ['id', 'action', 'user_id', 'created_at'],
  'endpoint.test': ['id', 'message'],
}

/** The event in a verified body. Throws `malformed_event` when it is none. */
export function parseWebhook(text: string): WebhookEvent {
  const body = parsed(text)
  if (!isRecord(body) || typeof body.type !== 'string') throw malformed('it has no type')
  const required = Object.hasOwn(REQUIRED, body.type) ? REQUIRED[body.type as WebhookType] : []
  const data = body.data
  const absent = required.filter(field => !isRecord(data) || typeof data[field] !== 'string')
  if (absent.length > 0) throw malformed(`${body.type} has no ${absent.join(', ')}`)
  return body as unknown as WebhookEvent
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const malformed = (what: string) =>
  new PonteError({
    code: 'malformed_event',
    detail: `The body is signed but not an event of Ponte: ${what}. Is the secret used elsewhere too?`,
  })

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('it is not JSON')
  }
}

/**
 * The key of an event: `type`, `data.id`, and the transaction, the issued order or the period where there is one. The same event again has the same key;
 * keep the keys that you have handled. The transaction alone is not enough, because one may pay two orders. Two `subscription.resumed` of one
 * subscription, or `refund.failed` of one refund, have the same key; the format of Standard Webhooks has an id for each, and the pull a `sequence`.
 */
export function dedupeKey(event: { type: string; data: unknown }): string {
  const { id, tx_hash, order_id, period_index } = isRecord(event.data) ? event.data : {}
  if (typeof id !== 'string' || id === '') return `${event.type}:${JSON.stringify(event.data)}`
  // A period has another order once the one before it expired unpaid.
  const issued = event.type === 'subscription.order_issued' ? order_id : undefined
  return `${event.type}:${id}:${[tx_hash, issued, period_index].find(part => typeof part === 'string' || typeof part === 'number') ?? ''}`
}

/** Whether two events of this kind can have the same key. */
export const isRepeatable = (type: string): boolean => ['subscription.paused', 'subscription.resumed', 'refund.failed'].includes(type)
