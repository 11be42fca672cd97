import type { ReplayDeliveries } from '@ponte/contracts'
import { commitUnit, type Database, isUniqueViolation, type Statement, type StoredAnswer, type Unit } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import { LANE_OF } from './claim'
import { SPECIFIED } from './recipients'

/** Retention removes an event with all its deliveries, so that they are bounded. */
export const REPLAYS_MAX = 100
/** Replays at the same moment may pass it by a few. */
const isFull = (eventId: string) =>
  `(SELECT count(*) FROM (SELECT FROM deliveries r WHERE r.event_id = ${eventId} AND r.replay_of IS NOT NULL LIMIT ${REPLAYS_MAX}) AS made) = ${REPLAYS_MAX}`

/** A replay of what retention is about to remove would be left without its event. */
const isKept = (event: string) => `${event}.created_at > now() - make_interval(days => $days::int) + interval '1 hour'`

/** Raw SQL because insert and lane are one statement. A replay is a new delivery of the same event that names the old one; one that is on its way already stands for another. */
const REPLAY: Statement = {
  name: 'delivery-replay',
  text: `
  WITH old AS MATERIALIZED (
    SELECT d.*, ${isFull('d.event_id')} AS is_full FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.id = $id AND ${isKept('e')}
  ), due AS (
    INSERT INTO deliveries (id, event_id, merchant_id, endpoint_id, event_type, status, next_attempt_at, replay_of)
    SELECT new_id(), event_id, merchant_id, endpoint_id, event_type, 'pending', now(), id FROM old WHERE NOT is_full
    RETURNING id, ${LANE_OF} AS lane
  )
  SELECT (SELECT id FROM due) AS id, coalesce((SELECT is_full FROM old), false) AS is_full, touch_lanes(ARRAY(SELECT lane FROM due))`,
}

/** Most events that one replay of a time range looks through. */
const LOOKED_AT_MAX = 20_000

/** Where a time range is replayed to, in terms of SQL. */
interface Place {
  /** The event is of a kind that goes there. */
  isChosen: string
  /** `d` is the first delivery of this event there. */
  isFirst(event: string): string
  /** `d` is a later one. */
  isReplay: string
  firstId: string
  endpointId: string
}

const DEFAULT: Place = {
  isChosen: `type IN (${SPECIFIED})`,
  isFirst: event => `d.id = ${event}.id`,
  isReplay: 'd.replay_of IS NOT NULL AND d.endpoint_id IS NULL',
  firstId: 'chosen.id',
  endpointId: 'NULL::uuid',
}
const OTHER: Place = {
  isChosen: "EXISTS (SELECT 1 FROM endpoints p WHERE p.id = $endpoint_id::uuid AND p.events && ARRAY['*', type])",
  isFirst: event => `d.event_id = ${event}.id AND d.endpoint_id = $endpoint_id::uuid AND d.replay_of IS NULL`,
  isReplay: 'd.replay_of IS NOT NULL AND d.endpoint_id = $endpoint_id::uuid',
  firstId: 'new_id()',
  endpointId: '$endpoint_id::uuid',
}

/**
 * Raw SQL: the same for a time range, oldest first. An event that never had a delivery there, for want of a webhook_url or of the endpoint, gets
 * its first.
 */
const replayRange = (name: string, { isChosen, isFirst, isReplay, firstId, endpointId }: Place): Statement => ({
  name,
  text: `
  WITH looked_at AS (
    SELECT id, merchant_id, type, created_at, waiting FROM events
    WHERE merchant_id = $merchant_id AND created_at >= $from AND created_at < $to ORDER BY created_at, id LIMIT $looked_at::int + 1
  ), range AS (
    SELECT id, merchant_id, type, created_at FROM (SELECT * FROM looked_at ORDER BY created_at, id LIMIT $looked_at::int) AS events
    WHERE NOT waiting AND ${isKept('events')} AND ($type::text IS NULL OR type = $type)
      AND ${isChosen}
      AND ($all::boolean OR NOT (
        EXISTS (SELECT 1 FROM deliveries d WHERE ${isFirst('events')} AND status <> 'dead')
        OR EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND ${isReplay} AND status <> 'dead')))
      AND NOT ${isFull('events.id')}
    ORDER BY created_at, id LIMIT $limit + 1
  ), chosen AS (
    SELECT * FROM range ORDER BY created_at, id LIMIT $limit
  ), due AS (
    INSERT INTO deliveries (id, event_id, merchant_id, endpoint_id, event_type, status, next_attempt_at, replay_of)
    SELECT CASE WHEN d.id IS NULL THEN ${firstId} ELSE new_id() END, chosen.id, chosen.merchant_id, ${endpointId}, type, 'pending', now(), d.id
    FROM chosen LEFT JOIN deliveries d ON ${isFirst('chosen')}
    ON CONFLICT DO NOTHING
    RETURNING ${LANE_OF} AS lane
  )
  SELECT (SELECT count(*)::int FROM due) AS replayed,
    coalesce((SELECT created_at FROM range ORDER BY created_at, id OFFSET $limit),
      (SELECT created_at FROM looked_at ORDER BY created_at, id OFFSET $looked_at::int)) AS next_at,
    touch_lanes(ARRAY(SELECT lane FROM due))`,
})
const REPLAY_RANGE = replayRange('deliveries-replay', DEFAULT)
const REPLAY_RANGE_TO = replayRange('deliveries-replay-to', OTHER)

/** Number of events of a time range that are on their way again, and the beginning of the rest. */
export interface Replayed {
  replayed: number
  nextAt: Date | null
}

/** A new delivery, or the one that is on its way already. */
export interface Replay {
  id: string
  made: boolean
}

/** The open replay may end between the insert that it refuses and the look for it. */
const REPLAY_TRIES = 5

export function replayStore(database: Database, prisma: PrismaClient) {
  /** The answer is known only once the work is done. */
  const commitAnswered = <Row extends object>(unit: Unit, answersOf: (row: Row) => StoredAnswer[]): Promise<Row | undefined> =>
    database.transaction(async sql => {
      const { rows } = await commitUnit<Row>(sql, unit)
      const answers = rows[0] ? answersOf(rows[0]) : []
      if (answers.length > 0) await commitUnit(sql, { answers })
      return rows[0]
    })
  return {
    /** `gone` when the old delivery is, or will be at once; `full` when its event was delivered again as often as it may be. */
    async one(
      id: string,
      retentionDays: number,
      answersOf: (replay: Replay) => StoredAnswer[] = () => [],
    ): Promise<Replay | 'gone' | 'full'> {
      for (let tries = 1; ; tries += 1) {
        let isFull = false
        try {
          const row = await commitAnswered<{ id: string | null; is_full: boolean }>(
            { write: REPLAY, values: { id, days: retentionDays } },
            ({ id }) => (id === null ? [] : answersOf({ id, made: true })),
          )
          if (row?.id) return { id: row.id, made: true }
          if (!row?.is_full) return 'gone'
          isFull = true
        } catch (error) {
          if (!isUniqueViolation(error, 'deliveries_replay') || tries === REPLAY_TRIES) throw error
        }
        const open = await prisma.delivery.findFirst({ where: { replayOf: id, status: 'pending' } })
        if (open) {
          const answers = answersOf({ id: open.id, made: false })
          if (answers.length > 0) await database.commit({ answers })
          return { id: open.id, made: false }
        }
        if (isFull) return 'full'
      }
    },

    /** To the merchant's webhook_url, which has the merchant's id, or to another endpoint. */
    async range(
      merchantId: string,
      endpointId: string,
      range: ReplayDeliveries,
      limit: number,
      {
        retentionDays,
        lookedAt = LOOKED_AT_MAX,
        answersOf = () => [],
      }: { retentionDays: number; lookedAt?: number; answersOf?: (done: Replayed) => StoredAnswer[] },
    ): Promise<Replayed> {
      const isDefault = endpointId === merchantId
      const doneOf = (row: { replayed: number; next_at: Date | null }) => ({ replayed: row.replayed, nextAt: row.next_at })
      const unit = {
        write: isDefault ? REPLAY_RANGE : REPLAY_RANGE_TO,
        values: {
          merchant_id: merchantId,
          from: range.created_gte,
          to: range.created_lt,
          type: range.event_type ?? null,
          all: range.scope === 'all',
          limit,
          looked_at: lookedAt,
          days: retentionDays,
          endpoint_id: endpointId,
        },
      }
      const row = await commitAnswered<{ replayed: number; next_at: Date | null }>(unit, row => answersOf(doneOf(row)))
      return row ? doneOf(row) : { replayed: 0, nextAt: null }
    },
  }
}
