import { z } from 'zod'
import { id, timestamp } from '../fields'
import { webhookType } from '../webhook'
import { isOneWay, notOneWay, pageQuery } from './list'

export const deliveryStatus = z.enum(['pending', 'in_flight', 'delivered', 'dead'])
export type DeliveryStatus = z.infer<typeof deliveryStatus>

export const deadReason = z.enum(['attempts_exhausted', 'destination_not_allowed', 'no_webhook_url', 'endpoint_deleted'])

/** Why an attempt failed; the vocabulary is closed, and nothing of our network is in it. */
export const failureCode = z.enum([
  'timeout',
  'dns_error',
  'connection_refused',
  'connection_reset',
  'connection_failed',
  'tls_error',
  'invalid_response',
  'http_status',
  'worker_lost',
])

export const attempt = z.object({
  ordinal: z.int().min(1),
  url: z.string().nullable().meta({ description: 'Where it went; null when nothing was recorded' }),
  request_headers: z.record(z.string(), z.string()).meta({ description: 'As they were sent, without signatures and your own values' }),
  outcome: z.enum(['delivered', 'failed']),
  http_status: z.int().nullable(),
  error_code: failureCode.nullable(),
  response_snippet: z.string().nullable().meta({ description: 'The beginning of an answer other than 2xx' }),
  started_at: timestamp,
  duration_ms: z.int(),
})
export type AttemptBody = z.infer<typeof attempt>

export const delivery = z
  .object({
    object: z.literal('delivery'),
    id,
    event_id: id,
    event_type: webhookType,
    endpoint_id: id.meta({ description: 'Your own id for the webhook_url' }),
    order_id: id.nullable(),
    subscription_id: id.nullable(),
    status: deliveryStatus,
    attempts: z.int().meta({ description: 'Attempts made of the seven' }),
    next_attempt_at: timestamp.nullable(),
    last_http_status: z.int().nullable(),
    last_error_code: failureCode.nullable(),
    last_error: z.string().nullable(),
    dead_reason: deadReason.nullable(),
    replay_of: id.nullable(),
    delivered_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Delivery' })
export type DeliveryBody = z.infer<typeof delivery>

/** Answer of `GET /api/v1/deliveries/:id`: with every attempt, and the body exactly as it is sent. */
export const deliveryDetail = delivery
  .extend({
    url: z.string().nullable().meta({ description: 'Where the next attempt goes' }),
    attempt_log: z.array(attempt),
    body: z.string(),
  })
  .meta({ id: 'DeliveryDetail' })
export type DeliveryDetailBody = z.infer<typeof deliveryDetail>

const filters = {
  status: deliveryStatus.optional(),
  event_type: webhookType.optional(),
  event_id: id.optional(),
  endpoint_id: id.optional(),
  order_id: id.optional(),
  subscription_id: id.optional(),
  created_gte: timestamp.optional(),
  created_lt: timestamp.optional(),
}

export const listDeliveries = z.strictObject({ ...pageQuery, ...filters }).refine(isOneWay, notOneWay)
export type ListDeliveries = z.infer<typeof listDeliveries>

export const exportDeliveries = z.strictObject(filters)

/** Body of `POST /api/v1/deliveries/replay`: the events of a time range, by default those that never arrived and are not on their way. */
export const replayDeliveries = z
  .strictObject({
    created_gte: timestamp,
    created_lt: timestamp,
    event_type: webhookType.optional(),
    endpoint_id: id.optional().meta({ description: 'Where to; by default your webhook_url' }),
    scope: z.enum(['undelivered', 'all']).default('undelivered'),
  })
  .refine(body => Date.parse(body.created_gte) < Date.parse(body.created_lt), {
    path: ['created_lt'],
    message: 'must be later than created_gte',
  })
export type ReplayDeliveries = z.infer<typeof replayDeliveries>

/** Its answer; `has_more` reports that the limit of one call was reached: `next_created_gte` is where the next one begins. */
export const replayed = z.object({
  object: z.literal('replay'),
  replayed: z.int(),
  has_more: z.boolean(),
  next_created_gte: timestamp.nullable(),
})
export type ReplayedBody = z.infer<typeof replayed>

/** Of so many deliveries that wait, and so many of the last 24 hours, an overview counts; of more, the newest. */
export const OVERVIEW_MAX = 10_000

/** Answer of `GET /api/v1/deliveries/overview`: now, and the last 24 hours. */
export const deliveryOverview = z.object({
  object: z.literal('delivery_overview'),
  pending: z.int(),
  retrying: z.int(),
  delivered_24h: z.int(),
  dead_24h: z.int(),
})
export type DeliveryOverview = z.infer<typeof deliveryOverview>
