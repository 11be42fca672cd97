import type { Database } from '@ponte/service-kit'
import { LEASE_S } from './lanes'

/** Events that are old and done with, together with their deliveries and attempts. What is still on its way stays whole. */
const FORGET = `
  WITH old AS (
    SELECT id FROM events WHERE created_at < now() - make_interval(days => $1)
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.id = events.id AND status IN ('pending', 'in_flight'))
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND replay_of IS NOT NULL AND status IN ('pending', 'in_flight'))
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

const EXPIRED = `
  SELECT id, merchant_id, lease_token AS token, attempts, losses,
    (extract(epoch FROM now() - lease_until) * 1000)::int + ${LEASE_S * 1000} AS duration_ms
  FROM deliveries WHERE status = 'in_flight' AND lease_until < now() ORDER BY lease_until LIMIT $1`

const MEND = `
  WITH stuck AS (
    SELECT merchant_id FROM lanes l WHERE turn_at IS NULL AND (
      EXISTS (SELECT 1 FROM deliveries d WHERE d.merchant_id = l.merchant_id AND status = 'pending' AND attempts = 0)
      OR EXISTS (SELECT 1 FROM deliveries d WHERE d.merchant_id = l.merchant_id AND status = 'pending' AND attempts > 0))
  )
  SELECT (SELECT count(*)::int FROM stuck) AS mended, touch_lanes(ARRAY(SELECT merchant_id FROM stuck))`

/** A delivery whose worker did not come back within its lease. */
export interface Expired {
  id: string
  merchant_id: string
  token: string
  attempts: number
  losses: number
  duration_ms: number
}

export function upkeepStore(database: Database) {
  return {
    /** Deliveries whose worker did not come back within its lease. */
    expired: async (limit: number): Promise<Expired[]> => (await database.query<Expired>(EXPIRED, [limit])).rows,

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
