import type { ListEvents } from '@ponte/contracts'
import { createBatch, type Database } from '@ponte/service-kit'
import type { Event as EventRow, PrismaClient } from '../generated/client'
import type { Webhook } from '../webhook'
import { keyset } from './keyset'

export interface TellableEvent extends Webhook {
  id: string
  occurredAt: string
  /** What caused it, as a W3C traceparent. */
  trace: string | null
}

/**
 * Event, delivery and lane in one statement. The event's key is the inbox: a duplicate inserts nothing and so changes nothing. The first
 * delivery of an event has its id.
 * Without a webhook_url there is no delivery; with an older copy of the merchant than the event's, that is not known yet, and it waits.
 */
const SAVE = `
  WITH told AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::bytea[], $6::timestamptz[], $7::text[])
      AS t (id, merchant_id, merchant_version, type, body, occurred_at, trace)
  ), fresh AS (
    INSERT INTO events (id, merchant_id, merchant_version, type, body, occurred_at, trace, waiting)
    SELECT t.id, t.merchant_id, t.merchant_version, t.type, t.body, t.occurred_at, t.trace, coalesce(m.version < t.merchant_version, true)
    FROM told t LEFT JOIN merchants m ON m.id = t.merchant_id
    ON CONFLICT (id) DO NOTHING
    RETURNING id, merchant_id, type, waiting
  ), due AS (
    INSERT INTO deliveries (id, event_id, merchant_id, event_type, status, next_attempt_at)
    SELECT fresh.id, fresh.id, fresh.merchant_id, fresh.type, 'pending', now()
    FROM fresh JOIN merchants m ON m.id = fresh.merchant_id
    WHERE NOT fresh.waiting AND m.webhook_url IS NOT NULL
    RETURNING merchant_id
  )
  SELECT (SELECT count(*)::int FROM fresh WHERE waiting) AS waiting, touch_lanes(ARRAY(SELECT merchant_id FROM due))`

/** Deliveries for events whose merchant is known by now. It runs after either side has committed, so that whichever came last sees the other. */
const ADMIT = `
  WITH ready AS (
    SELECT e.id FROM events e JOIN merchants m ON m.id = e.merchant_id
    WHERE e.waiting AND m.version >= e.merchant_version ORDER BY e.created_at LIMIT $1 FOR UPDATE OF e SKIP LOCKED
  ), admitted AS (
    UPDATE events SET waiting = false WHERE id = ANY(ARRAY(SELECT id FROM ready)) AND waiting RETURNING id, merchant_id, type
  ), due AS (
    INSERT INTO deliveries (id, event_id, merchant_id, event_type, status, next_attempt_at)
    SELECT a.id, a.id, a.merchant_id, a.type, 'pending', now()
    FROM admitted a JOIN merchants m ON m.id = a.merchant_id WHERE m.webhook_url IS NOT NULL
    RETURNING merchant_id
  )
  SELECT (SELECT count(*)::int FROM admitted) AS admitted, touch_lanes(ARRAY(SELECT merchant_id FROM due))`

const BATCH = 200

export function eventStore(database: Database, prisma: PrismaClient) {
  const save = async (events: readonly TellableEvent[]): Promise<boolean[]> => {
    const { rows } = await database.query<{ waiting: number }>({ name: 'events-save', text: SAVE }, [
      events.map(event => event.id),
      events.map(event => event.merchantId),
      events.map(event => event.merchantVersion),
      events.map(event => event.type),
      events.map(event => event.body),
      events.map(event => event.occurredAt),
      events.map(event => event.trace),
    ])
    const waiting = (rows[0]?.waiting ?? 0) > 0
    return events.map(() => waiting)
  }
  const batch = createBatch(BATCH, save)
  return {
    /** Keeps an event and makes it due; answers whether it, or one written with it, waits for its merchant. Those of one moment share a commit. */
    saveEvent: (event: TellableEvent): Promise<boolean> => batch(event),

    /** Makes due what waited for a merchant that is known now; true when there may be more. */
    async admitWaiting(): Promise<boolean> {
      const { rows } = await database.query<{ admitted: number }>(ADMIT, [BATCH])
      return rows[0]?.admitted === BATCH
    },

    findEvent: (id: string): Promise<EventRow | null> => prisma.event.findUnique({ where: { id } }),

    /** One more than `limit` when there are more. */
    listEvents: (merchantId: string, query: ListEvents, limit: number): Promise<EventRow[]> =>
      prisma.event.findMany({
        where: { merchantId, ...(query.type ? { type: query.type } : {}), ...keyset.where(query) },
        orderBy: keyset.order(query),
        take: limit + 1,
      }),
  }
}
