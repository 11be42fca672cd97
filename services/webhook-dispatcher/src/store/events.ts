import { type ListEvents, SEARCHED_MAX } from '@ponte/contracts'
import {
  type Condition,
  type Database,
  type EpochSpan,
  type Found,
  groupCommit,
  isUniqueViolation,
  keysetPage,
  type NumberedHistory,
  SERVER_HISTORY,
  type Statement,
} from '@ponte/service-kit'
import type { Webhook } from '../delivery/webhook'
import type { Event as EventRow, PrismaClient } from '../generated/client'
import { inOrder, isOfSpan } from './lists'
import { firstDeliveries } from './recipients'

export interface IncomingEvent extends Webhook {
  id: string
  occurredAt: string
  /** W3C traceparent of the event's cause. */
  trace: string | null
}

export interface Saved {
  /** It, or one written with it, waits for its merchant. */
  waits: boolean
  /** The lanes that it, and what was written with it, made due; given to one of them. */
  lanes: string[]
}

/** Worked out first, so that the events are found by their key, however many the merchant has. */
const about = (column: 'order_id' | 'subscription_id', id: string | undefined): Condition[] =>
  id === undefined ? [] : [[`id = ANY (ARRAY(SELECT id FROM events AS about WHERE about.${column} = ?))`, id]]

/**
 * Changes whenever numbers may have been given that this database does not know: it is on another server or history of one, was started anew (from a copy of its
 * folder, perhaps), or the table of counters is another than it was.
 */
const EPOCH = `left(md5(concat_ws('/', ${SERVER_HISTORY}, pg_postmaster_start_time(),
  (SELECT oid FROM pg_database WHERE datname = current_database()), pg_relation_filenode('event_sequences'))), 16)`

/** Begins an epoch with the first of the numbers that were `counted`, where the merchant's last one is another. */
export const beginEpoch = (first: string) => `INSERT INTO event_epochs (merchant_id, first, epoch)
    SELECT c.merchant_id, ${first}, present.epoch FROM counted c CROSS JOIN (SELECT ${EPOCH} AS epoch) AS present
    WHERE present.epoch IS DISTINCT FROM (SELECT e.epoch FROM event_epochs e WHERE e.merchant_id = c.merchant_id ORDER BY e.first DESC LIMIT 1)
    ON CONFLICT (merchant_id, first) DO UPDATE SET epoch = EXCLUDED.epoch`

/**
 * Raw SQL: event, delivery and lane of a whole group commit in one statement. The event's key is the inbox: a duplicate inserts nothing and so
 * changes nothing.
 * A duplicate that another replica is committing fails on that key, so that no number is left out: the batch is done again without it.
 * Without a webhook_url there is no delivery; with an older copy of the merchant than the event's, that is not known yet, and it waits.
 */
const SAVE: Statement = {
  name: 'events-save',
  text: `
  WITH incoming AS MATERIALIZED (
    SELECT *, count(*) OVER (PARTITION BY merchant_id) AS total, row_number() OVER (PARTITION BY merchant_id ORDER BY id) AS nth
    FROM (SELECT DISTINCT ON (id) * FROM json_populate_recordset(NULL::events, $events)) AS given
    WHERE NOT EXISTS (SELECT 1 FROM events known WHERE known.id = given.id)
  ), counted AS (
    INSERT INTO event_sequences AS counter (merchant_id, last)
    SELECT merchant_id, count(*) FROM incoming GROUP BY merchant_id ORDER BY merchant_id
    ON CONFLICT (merchant_id) DO UPDATE SET last = counter.last + EXCLUDED.last
    RETURNING merchant_id, last
  ), begun AS (
    ${beginEpoch('c.last - (SELECT count(*) FROM incoming i WHERE i.merchant_id = c.merchant_id) + 1')}
  ), fresh AS (
    INSERT INTO events (id, merchant_id, merchant_version, type, order_id, subscription_id, body, occurred_at, trace, waiting, sequence)
    SELECT i.id, i.merchant_id, i.merchant_version, i.type, i.order_id, i.subscription_id, i.body, i.occurred_at, i.trace, coalesce(m.version < i.merchant_version, true),
      counted.last - i.total + i.nth
    FROM incoming i JOIN counted ON counted.merchant_id = i.merchant_id LEFT JOIN merchants m ON m.id = i.merchant_id
    RETURNING id, merchant_id, type, waiting
  ), due AS (${firstDeliveries('fresh', 'NOT e.waiting')})
  SELECT (SELECT count(*)::int FROM fresh WHERE waiting) AS waiting, ARRAY(SELECT DISTINCT endpoint_id FROM due) AS lanes,
    touch_lanes(ARRAY(SELECT endpoint_id FROM due))`,
}

/**
 * Raw SQL: a claim. Deliveries for events whose merchant is known by now; it runs after either side has committed, so that the later of the
 * two sees the other.
 */
const ADMIT: Statement = {
  name: 'events-admit',
  text: `
  WITH ready AS (
    SELECT e.id FROM events e JOIN merchants m ON m.id = e.merchant_id
    WHERE e.waiting AND m.version >= e.merchant_version ORDER BY e.created_at LIMIT $limit FOR UPDATE OF e SKIP LOCKED
  ), admitted AS (
    UPDATE events SET waiting = false WHERE id = ANY(ARRAY(SELECT id FROM ready)) AND waiting RETURNING id, merchant_id, type
  ), due AS (${firstDeliveries('admitted')})
  SELECT (SELECT count(*)::int FROM admitted) AS admitted, touch_lanes(ARRAY(SELECT endpoint_id FROM due))`,
}

const ADMITTED_AT_ONCE = 200

/** Raw SQL because it joins two tables that have no relation in the schema. */
const HAS_ADMISSIBLE =
  'SELECT 1 FROM events e JOIN merchants m ON m.id = e.merchant_id WHERE e.waiting AND m.version >= e.merchant_version LIMIT 1'

/** Raw SQL: what decides whether a reader's place is one of this history, of one moment. */
const HISTORY = `
  (SELECT last::float8 FROM event_sequences WHERE merchant_id = $1) AS newest,
  (SELECT coalesce(json_agg(json_build_object('first', first, 'epoch', epoch) ORDER BY first), '[]') FROM event_epochs WHERE merchant_id = $1) AS epochs`
const OLDEST = 'SELECT min(sequence)::float8 AS oldest FROM events WHERE merchant_id = $1'
interface HistoryRow {
  newest: number | null
  epochs: EpochSpan[]
}
const historyOf = (row: HistoryRow | undefined): NumberedHistory => ({
  ...{ newest: row?.newest ?? 0, epochs: row?.epochs ?? [] },
})

/** Raw SQL: ids and how far was looked, of one moment. */
const AFTER = `
  WITH looked_at AS (
    SELECT id, type, sequence FROM events WHERE merchant_id = ANY (ARRAY[$1]::uuid[]) AND sequence > $2 ORDER BY merchant_id, sequence LIMIT $5
  )
  SELECT ARRAY(SELECT id FROM looked_at WHERE $3::text IS NULL OR type = $3 ORDER BY sequence LIMIT $4) AS ids,
    (SELECT max(sequence)::text FROM looked_at) AS last, (SELECT count(*)::int FROM looked_at) AS looked_at, ${HISTORY}`

export interface Pulled {
  rows: EventRow[]
  /** The last sequence that was looked at. */
  lookedTo: number
  /** The search for events of one kind ended early. */
  isEnded: boolean
  history: NumberedHistory
}

const toRecord = ({ id, merchantId, merchantVersion, type, orderId, subscriptionId, body, occurredAt, trace }: IncomingEvent) => ({
  id,
  merchant_id: merchantId,
  merchant_version: merchantVersion,
  type,
  order_id: orderId,
  subscription_id: subscriptionId,
  body,
  occurred_at: occurredAt,
  trace,
})

export function eventStore(database: Database, prisma: PrismaClient) {
  const insert = async (events: readonly IncomingEvent[]): Promise<Saved[]> => {
    const { rows } = await database.commit<{ waiting: number; lanes: string[] }>({ write: SAVE, rows: { events: events.map(toRecord) } })
    const [saved] = rows
    const waits = (saved?.waiting ?? 0) > 0
    // The first speaks for all that were written with it.
    return events.map((_, index) => ({ waits, lanes: index === 0 ? (saved?.lanes ?? []) : [] }))
  }
  const batch = groupCommit(insert)
  const findAll = async (ids: string[]): Promise<EventRow[]> => inOrder(ids, await prisma.event.findMany({ where: { id: { in: ids } } }))
  return {
    /** Stores an event and makes it due. Those of one moment share a commit. */
    async save(event: IncomingEvent): Promise<Saved> {
      try {
        return await batch(event)
      } catch (error) {
        if (isUniqueViolation(error, 'events_pkey')) return { waits: false, lanes: [] }
        throw error
      }
    },

    /** Makes due what waited for a merchant that is known now; true when there may be more. */
    async admitWaiting(): Promise<boolean> {
      const { rows } = await database.commit<{ admitted: number }>({ write: ADMIT, values: { limit: ADMITTED_AT_ONCE } })
      return rows[0]?.admitted === ADMITTED_AT_ONCE
    },

    /** Events whose merchant is not known in their version yet. */
    countWaiting: (): Promise<number> => prisma.event.count({ where: { waiting: true } }),

    hasAdmissible: async (): Promise<boolean> =>
      (await database.query({ name: 'events-admissible', text: HAS_ADMISSIBLE })).rows.length > 0,

    find: (id: string): Promise<EventRow | null> => prisma.event.findUnique({ where: { id } }),

    /** Oldest first from a sequence on. Those of one kind are looked for in a bounded number of events. */
    async after(merchantId: string, { after, type }: { after: number; type?: string | undefined }, limit: number): Promise<Pulled> {
      const { rows } = await database.query<HistoryRow & { ids: string[]; last: string | null; looked_at: number }>(
        { name: 'events-after', text: AFTER },
        [merchantId, after, type ?? null, limit, type === undefined ? limit : SEARCHED_MAX],
      )
      const [page] = rows
      const isEnded = type !== undefined && page?.looked_at === SEARCHED_MAX && page.ids.length < limit
      return { rows: await findAll(page?.ids ?? []), lookedTo: Number(page?.last ?? after), isEnded, history: historyOf(page) }
    },

    async history(merchantId: string): Promise<NumberedHistory> {
      return historyOf((await database.query<HistoryRow>({ name: 'events-history', text: `SELECT ${HISTORY}` }, [merchantId])).rows[0])
    },

    /** The first event of a merchant that is kept; null when none is. */
    async oldest(merchantId: string): Promise<number | null> {
      return (
        (await database.query<{ oldest: number | null }>({ name: 'events-oldest', text: OLDEST }, [merchantId])).rows[0]?.oldest ?? null
      )
    },

    /** Newest first; of a span of time in the order in which they were stored. */
    async list(merchantId: string, query: ListEvents, limit: number): Promise<Found<EventRow>> {
      const { rows, searchedTo } = await keysetPage<{ id: string }>(database, {
        ...{ select: 'id', from: 'events', owner: ['merchant_id', merchantId] },
        leading: [['type', 'text', query.type]],
        indexed: [about('order_id', query.order_id), about('subscription_id', query.subscription_id)].flat(),
        time: isOfSpan(query) ? 'created_at' : undefined,
        ...{ query, limit },
      })
      return { rows: await findAll(rows.map(({ id }) => id)), searchedTo }
    },
  }
}
