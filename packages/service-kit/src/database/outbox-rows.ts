import { type NewEvent, parseEvent, subjectsOf } from '@ponte/contracts'
import { uuidv7 } from '../ids'
import { markSpan } from '../observe/trace'

/** An event as the outbox holds it: `body` is the whole event as JSON text, which has no line break. */
export interface OutboxRow {
  id: string
  type: string
  body: string
  /** The merchant in whose turn it is published; null when it is of none. */
  merchantId: string | null
}

/**
 * Gives each event its id, its time and the trace it belongs to, and checks it against its schema. A ZodError here is a bug of the producer,
 * before anything is written.
 */
export const outboxRows = (events: readonly NewEvent[], at: Date, given?: string | null): OutboxRow[] =>
  events.map(({ type, data }) => {
    const trace = given === undefined ? markSpan(type, { kind: 'producer' }) : given
    const event = parseEvent({ id: uuidv7(), type, occurred_at: at.toISOString(), data, trace })
    return { id: event.id, type: event.type, body: JSON.stringify(event), merchantId: subjectsOf(event.data).merchant_id ?? null }
  })
