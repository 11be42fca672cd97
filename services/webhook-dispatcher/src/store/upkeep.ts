import type { Database } from '@ponte/service-kit'
import { LEASE_S } from './lanes'

/** Events that are old and done with, together with their deliveries and attempts. What is still on its way stays whole. */
const FORGET = `
  WITH old AS (
    SELECT id FROM events WHERE created_at < now() - make_interval(days => $1)
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.id = events.id AND status = 'pending')
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND replay_of IS NOT NULL AND status = 'pending')
    ORDER BY created_at LIMIT $2
  ), told AS (
    DELETE FROM deliveries WHERE id = ANY(ARRAY(SELECT id FROM old)) RETURNING id
  ), told_again AS (
    DELETE FROM deliveries WHERE event_id = ANY(ARRAY(SELECT id FROM old)) AND replay_of IS NOT NULL RETURNING id
  ), tried AS (
    DELETE FROM attempts WHERE delivery_id = ANY(ARRAY(SELECT id FROM told UNION ALL SELECT id FROM told_again))
  )
  DELETE FROM events WHERE id = ANY(ARRAY(SELECT id FROM old))`

const OLDEST_DUE = `
  SELECT coalesce(extract(epoch FROM now() - least(
    min((SELECT min(next_attempt_at) FROM deliveries d WHERE d.merchant_id = l.merchant_id AND status = 'pending' AND attempts = 0)),
    min((SELECT min(next_attempt_at) FROM deliveries d WHERE d.merchant_id = l.merchant_id AND status = 'pending' AND attempts > 0)))), 0)::text
    AS age FROM lanes l WHERE turn_at IS NOT NULL`

const BACKLOG_MAX = 100_000
const BACKLOG = `
  SELECT (SELECT count(*)::int FROM (SELECT 1 FROM deliveries WHERE status = 'pending' AND attempts = 0 LIMIT ${BACKLOG_MAX}) AS f)
    + (SELECT count(*)::int FROM (
        SELECT 1 FROM deliveries WHERE status = 'pending' AND attempts > 0 AND next_attempt_at <= now() LIMIT ${BACKLOG_MAX}) AS r) AS backlog`

/** Lanes in the order in which everyone waits for them. The holder was heard of when it took or renewed the lease. */
const EXPIRED = `
  SELECT l.merchant_id, l.lease_token AS token, l.class = 2 AS slow, l.fail_streak,
    (extract(epoch FROM now() - l.turn_at) * 1000)::int + ${LEASE_S * 1000} AS silent_ms, d.id, d.attempts, d.losses
  FROM (SELECT * FROM lanes WHERE class IN (0, 1, 2) AND turn_at < now() AND lease_token IS NOT NULL LIMIT $1) AS l
    LEFT JOIN LATERAL unnest(l.in_flight) AS flying (id) ON true LEFT JOIN deliveries d ON d.id = flying.id
  ORDER BY l.merchant_id`

const MEND = `
  WITH stuck AS (
    SELECT merchant_id FROM lanes l WHERE turn_at IS NULL AND (
      EXISTS (SELECT 1 FROM deliveries d WHERE d.merchant_id = l.merchant_id AND status = 'pending' AND attempts = 0)
      OR EXISTS (SELECT 1 FROM deliveries d WHERE d.merchant_id = l.merchant_id AND status = 'pending' AND attempts > 0))
  )
  SELECT (SELECT count(*)::int FROM stuck) AS mended, touch_lanes(ARRAY(SELECT merchant_id FROM stuck))`

/** A lane whose worker did not come back within its lease. */
export interface ExpiredLane {
  merchantId: string
  token: string
  slow: boolean
  failStreak: number
  silentMs: number
  inFlight: { id: string; attempts: number; losses: number }[]
}

interface ExpiredRow {
  merchant_id: string
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
      for (const row of (await database.query<ExpiredRow>(EXPIRED, [limit])).rows) {
        const { merchant_id: merchantId, token, slow, fail_streak: failStreak, silent_ms: silentMs, id, attempts, losses } = row
        const lane = lanes.get(merchantId) ?? { merchantId, token, slow, failStreak, silentMs, inFlight: [] }
        if (id !== null) lane.inFlight.push({ id, attempts, losses })
        lanes.set(merchantId, lane)
      }
      return [...lanes.values()]
    },

    /** Makes due every lane that has work and no turn; answers how many, which is zero unless there is a bug. */
    async mendLanes(): Promise<number> {
      const { rows } = await database.query<{ mended: number }>(MEND)
      return rows[0]?.mended ?? 0
    },

    /** Removes up to `limit` events; answers how many. */
    forgetEvents: async (olderThanDays: number, limit: number): Promise<number> =>
      (await database.query(FORGET, [olderThanDays, limit])).rowCount ?? 0,

    /** Seconds that the delivery waits which is due longest; 0 when none is. */
    async oldestDueAge(): Promise<number> {
      const { rows } = await database.query<{ age: string }>(OLDEST_DUE)
      return Math.max(0, Number(rows[0]?.age ?? 0))
    },

    async backlog(): Promise<number> {
      const { rows } = await database.query<{ backlog: number }>(BACKLOG)
      return rows[0]?.backlog ?? 0
    },

    async waitingEvents(): Promise<number> {
      const { rows } = await database.query<{ waiting: number }>('SELECT count(*)::int AS waiting FROM events WHERE waiting')
      return rows[0]?.waiting ?? 0
    },

    /** True while an event could be admitted. */
    async hasAdmissible(): Promise<boolean> {
      const { rows } = await database.query(
        'SELECT 1 FROM events e JOIN merchants m ON m.id = e.merchant_id WHERE e.waiting AND m.version >= e.merchant_version LIMIT 1',
      )
      return rows.length > 0
    },
  }
}
