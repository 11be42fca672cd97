import type { Database, Removed } from '@ponte/service-kit'
import { LANE_OF } from './claim'
import { LEASE_S } from './lanes'

/** The endpoint of the delivery is not paused. */
const IN_TURN = 'NOT EXISTS (SELECT 1 FROM endpoints p WHERE p.id = d.endpoint_id AND p.paused)'
const waits = (condition: string) => `
  EXISTS (SELECT 1 FROM deliveries d WHERE ${condition} AND status = 'pending' AND ${IN_TURN})`

/** Deliveries that one statement removes: those of an event may be many. */
const DELIVERIES_MAX = 5_000
const OF_OLD = 'SELECT id FROM deliveries WHERE event_id = ANY(ARRAY(SELECT id FROM old))'

/**
 * Raw SQL: deletes from three tables at once. Events that are old and done with, together with their deliveries and attempts; while they have more
 * deliveries than a part, those alone. What is still on its way stays whole, unless its endpoint is paused. Without a name, so that it is planned for
 * how much is old.
 */
const FORGET = `
  WITH old AS (
    SELECT id, created_at FROM events WHERE created_at >= $3 AND created_at < now() - make_interval(days => $1)
      AND NOT ${waits('d.id = events.id')}
      AND NOT ${waits('d.event_id = events.id AND replay_of IS NOT NULL')}
      AND NOT ${waits('d.event_id = events.id AND endpoint_id IS NOT NULL AND replay_of IS NULL')}
    ORDER BY created_at LIMIT $2
  ), part AS MATERIALIZED (
    SELECT id FROM (
      (${OF_OLD} AND replay_of IS NOT NULL LIMIT $4)
      UNION ALL (${OF_OLD} AND endpoint_id IS NOT NULL AND replay_of IS NULL LIMIT $4)
      UNION ALL (SELECT id FROM deliveries WHERE id = ANY(ARRAY(SELECT id FROM old)) LIMIT $4)) AS of_old LIMIT $4
  ), rest AS (
    SELECT count(*) = $4 AS is_left FROM part
  ), expired AS (
    DELETE FROM deliveries WHERE id = ANY(ARRAY(SELECT id FROM part))
  ), attempted AS (
    DELETE FROM attempts WHERE delivery_id = ANY(ARRAY(SELECT id FROM part))
  ), forgotten AS (
    DELETE FROM events WHERE id = ANY(ARRAY(SELECT id FROM old)) AND NOT (SELECT is_left FROM rest) RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM forgotten) AS count, (SELECT max(created_at) FROM old) AS last, is_left FROM rest`

/** Raw SQL: deletes from two tables at once. An endpoint goes when it was deleted longer ago than deliveries are kept. */
const FORGET_ENDPOINTS = `
  WITH gone AS (
    DELETE FROM endpoints WHERE id = ANY(ARRAY(
      SELECT id FROM endpoints WHERE deleted_at < now() - make_interval(days => $1)
        AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.endpoint_id = endpoints.id) LIMIT $2)) RETURNING id
  )
  DELETE FROM lanes WHERE endpoint_id = ANY(ARRAY(SELECT id FROM gone)) AND lease_token IS NULL`

/** Raw SQL: the minimum of each lane by an index, not of the whole table. */
const OLDEST_DUE = `
  SELECT coalesce(extract(epoch FROM now() - least(
    min((SELECT min(next_attempt_at) FROM deliveries WHERE ${LANE_OF} = l.endpoint_id AND status = 'pending' AND attempts = 0)),
    min((SELECT min(next_attempt_at) FROM deliveries WHERE ${LANE_OF} = l.endpoint_id AND status = 'pending' AND attempts > 0)))), 0)::text
    AS age FROM lanes l WHERE turn_at IS NOT NULL AND class <> 3`

const BACKLOG_MAX = 100_000
/** Raw SQL: a count that stops at a bound. */
const BACKLOG = `
  SELECT (SELECT count(*)::int FROM (
      SELECT 1 FROM deliveries d WHERE status = 'pending' AND attempts = 0 AND ${IN_TURN} LIMIT ${BACKLOG_MAX}) AS f)
    + (SELECT count(*)::int FROM (
      SELECT 1 FROM deliveries d WHERE status = 'pending' AND attempts > 0 AND next_attempt_at <= now() AND ${IN_TURN}
      LIMIT ${BACKLOG_MAX}) AS r) AS backlog`

/** Raw SQL: lanes with what is in flight, in locking order. The holder was last active when it took or renewed the lease. */
const EXPIRED = `
  SELECT l.endpoint_id, l.lease_token AS token, l.class = 2 AS slow, l.fail_streak,
    least(extract(epoch FROM now() - l.turn_at) * 1000, 1e9)::int + ${LEASE_S * 1000} AS silent_ms, d.id, d.attempts, d.losses
  FROM (SELECT * FROM lanes WHERE class IN (0, 1, 2, 3) AND turn_at < now() AND lease_token IS NOT NULL LIMIT $1) AS l
    LEFT JOIN LATERAL unnest(l.in_flight) AS lost (id) ON true LEFT JOIN deliveries d ON d.id = lost.id
  ORDER BY l.endpoint_id`

/** Raw SQL: finds and touches in one statement. */
const REPAIR = `
  WITH stuck AS (
    SELECT l.endpoint_id FROM lanes l WHERE turn_at IS NULL AND (
      EXISTS (SELECT 1 FROM deliveries WHERE ${LANE_OF} = l.endpoint_id AND status = 'pending' AND attempts = 0)
      OR EXISTS (SELECT 1 FROM deliveries WHERE ${LANE_OF} = l.endpoint_id AND status = 'pending' AND attempts > 0))
  )
  SELECT (SELECT count(*)::int FROM stuck) AS repaired, touch_lanes(ARRAY(SELECT endpoint_id FROM stuck))`

/** Raw SQL: deletes from two tables at once, by what is first in each lane. Claims pass over such deliveries, and their lane would be in turn for ever. */
const firstIn = (condition: string) =>
  `(SELECT id, event_id FROM deliveries WHERE ${LANE_OF} = l.endpoint_id AND status = 'pending' AND ${condition} ORDER BY next_attempt_at LIMIT 100)`
const FORGET_WITHOUT_EVENT = `
  WITH gone AS (
    DELETE FROM deliveries WHERE id = ANY(ARRAY(
      SELECT d.id FROM lanes l CROSS JOIN LATERAL (${firstIn('attempts = 0')} UNION ALL ${firstIn('attempts > 0')}) AS d
      WHERE NOT EXISTS (SELECT FROM events WHERE events.id = d.event_id))) RETURNING id
  )
  DELETE FROM attempts WHERE delivery_id = ANY(ARRAY(SELECT id FROM gone))`

/** A lane whose worker did not come back within its lease. */
export interface ExpiredLane {
  endpointId: string
  token: string
  slow: boolean
  failStreak: number
  silentMs: number
  inFlight: { id: string; attempts: number; losses: number }[]
}

interface ExpiredRow {
  endpoint_id: string
  token: string
  slow: boolean
  fail_streak: number
  silent_ms: number
  id: string | null
  attempts: number
  losses: number
}

export function upkeepStore(database: Database) {
  return {
    async expiredLanes(limit: number): Promise<ExpiredLane[]> {
      const lanes = new Map<string, ExpiredLane>()
      for (const row of (await database.query<ExpiredRow>({ name: 'lanes-expired', text: EXPIRED }, [limit])).rows) {
        const { endpoint_id: endpointId, token, slow, fail_streak: failStreak, silent_ms: silentMs, id, attempts, losses } = row
        const lane = lanes.get(endpointId) ?? { endpointId, token, slow, failStreak, silentMs, inFlight: [] }
        if (id !== null) lane.inFlight.push({ id, attempts, losses })
        lanes.set(endpointId, lane)
      }
      return [...lanes.values()]
    },

    /** Removes deliveries without an event, and makes due every lane that has work and no turn; resolves to how many, which is zero unless there is a bug. */
    async repairStuckLanes(): Promise<number> {
      await database.query({ name: 'deliveries-forget-without-event', text: FORGET_WITHOUT_EVENT })
      const { rows } = await database.query<{ repaired: number }>({ name: 'lanes-repair', text: REPAIR })
      return rows[0]?.repaired ?? 0
    },

    /** Removes up to `limit` events, from the place on at which the part before ended. Where they have many deliveries the next part is at the same ones. */
    async forgetEvents(
      olderThanDays: number,
      limit: number,
      after: Date | null,
      deliveriesMax: number = DELIVERIES_MAX,
    ): Promise<Removed<Date>> {
      const values = [olderThanDays, limit, after ?? '-infinity', deliveriesMax]
      const { rows } = await database.query<Removed<Date> & { is_left: boolean }>(FORGET, values)
      const [{ count, last, is_left } = { count: 0, last: null, is_left: false }] = rows
      return is_left ? { count: limit, last: after } : { count, last }
    },

    /** Removes up to `limit` endpoints that were deleted, when no delivery names them any more. */
    async forgetEndpoints(olderThanDays: number, limit: number): Promise<void> {
      await database.query({ name: 'endpoints-forget', text: FORGET_ENDPOINTS }, [olderThanDays, limit])
    },

    /** Seconds that the delivery waits which is due longest; 0 when none is. */
    async oldestDueAge(): Promise<number> {
      const { rows } = await database.query<{ age: string }>({ name: 'oldest-due', text: OLDEST_DUE })
      return Math.max(0, Number(rows[0]?.age ?? 0))
    },

    async backlog(): Promise<number> {
      const { rows } = await database.query<{ backlog: number }>({ name: 'backlog', text: BACKLOG })
      return rows[0]?.backlog ?? 0
    },
  }
}
