import {
  type AttemptBody,
  type DeliveryBody,
  deadReason,
  deliveryStatus,
  type EventBody,
  failureCode,
  webhookBodies,
  webhookType,
} from '@ponte/contracts'
import type { Attempt, Delivery, Event } from './generated/client'

/** Rows as merchants read them. The database speaks strings where the contract knows a closed set; a row outside it is a fault of ours. */

const iso = (at: Date | null) => at?.toISOString() ?? null

export function eventBody(row: Event): EventBody {
  const type = webhookType.parse(row.type)
  const { data } = webhookBodies[type].parse(JSON.parse(Buffer.from(row.body).toString('utf8')))
  return { object: 'event', id: row.id, type, data, created_at: row.createdAt.toISOString(), sequence: Number(row.sequence) }
}

export function deliveryBody(row: Delivery): DeliveryBody {
  return {
    object: 'delivery',
    id: row.id,
    event_id: row.eventId,
    event_type: webhookType.parse(row.eventType),
    status: deliveryStatus.parse(row.status),
    attempts: row.attempts,
    next_attempt_at: iso(row.nextAttemptAt),
    last_http_status: row.lastHttpStatus,
    last_error_code: failureCode.nullable().parse(row.lastErrorCode),
    last_error: row.lastError,
    dead_reason: deadReason.nullable().parse(row.deadReason),
    replay_of: row.replayOf,
    delivered_at: iso(row.deliveredAt),
    created_at: row.createdAt.toISOString(),
  }
}

export const attemptBody = (row: Attempt): AttemptBody => ({
  ordinal: row.ordinal,
  outcome: row.outcome === 'delivered' ? 'delivered' : 'failed',
  http_status: row.httpStatus,
  error_code: failureCode.nullable().parse(row.errorCode),
  response_snippet: row.responseSnippet,
  started_at: row.startedAt.toISOString(),
  duration_ms: row.durationMs,
})
