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
import { type CsvColumn, cursorAt, cursorText, fieldColumns, type NumberedHistory } from '@ponte/service-kit'
import { z } from 'zod'
import type { Attempt, Event } from './generated/client'
import { SPECIFIED_HEADERS } from './send/request-headers'
import type { DeliveryRow } from './store'

/** Rows as merchants read them. The database speaks strings where the contract knows a closed set; a row outside it is a fault of ours. */

const iso = (at: Date | null) => at?.toISOString() ?? null

/** `include=body` shows the stored bytes too. */
export const eventBody =
  ({ include, livemode }: { include?: 'body' | undefined; livemode: boolean }, history: () => NumberedHistory | undefined) =>
  (row: Event): EventBody => {
    const type = webhookType.parse(row.type)
    const body = Buffer.from(row.body).toString('utf8')
    const { data } = webhookBodies[type].parse(JSON.parse(body))
    const { id, createdAt } = row
    const sequence = Number(row.sequence)
    const cursor = cursorText(cursorAt(history(), sequence))
    const event: EventBody = { object: 'event', id, livemode, type, data, created_at: createdAt.toISOString(), sequence, cursor }
    return include === 'body' ? { ...event, body } : event
  }

export function deliveryBody(row: DeliveryRow): DeliveryBody {
  return {
    object: 'delivery',
    id: row.id,
    event_id: row.eventId,
    event_type: webhookType.parse(row.eventType),
    endpoint_id: row.endpointId ?? row.merchantId,
    order_id: row.orderId,
    subscription_id: row.subscriptionId,
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

const headers = z.record(z.string(), z.string())

/** An attempt without headers of its own was made with the specification's; one without a URL sent nothing that is known. */
export const attemptBody = (row: Attempt): AttemptBody => ({
  ordinal: row.ordinal,
  url: row.url,
  request_headers: row.url === null ? {} : headers.parse(row.requestHeaders ?? SPECIFIED_HEADERS),
  outcome: row.outcome === 'delivered' ? 'delivered' : 'failed',
  http_status: row.httpStatus,
  error_code: failureCode.nullable().parse(row.errorCode),
  response_snippet: row.responseSnippet,
  started_at: row.startedAt.toISOString(),
  duration_ms: row.durationMs,
})

export const deliveryColumns: readonly CsvColumn<DeliveryBody>[] = [
  ...fieldColumns(['id', 'created_at', 'event_type', 'event_id', 'endpoint_id', 'order_id', 'subscription_id', 'status', 'attempts']),
  ...fieldColumns(['delivered_at', 'next_attempt_at', 'last_http_status', 'last_error_code', 'last_error', 'dead_reason', 'replay_of']),
]
