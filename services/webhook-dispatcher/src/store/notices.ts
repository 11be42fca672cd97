import { type Database, type Statement, uuidv7 } from '@ponte/service-kit'

const DEAD_MAX = 1_000
const FAILING_MAX = 100

const HAS_NOTICES = `
  SELECT EXISTS (SELECT 1 FROM dead_notices)
    OR EXISTS (SELECT 1 FROM lanes WHERE failing_since < now() - interval '1 day' AND failing_noticed IS DISTINCT FROM failing_since) AS there`

/**
 * Raw SQL: takes what no notice was published of and writes the events, in one statement, so that two replicas publish each once. One event for each
 * endpoint, however many of its deliveries are dead. What belongs to a deleted endpoint is no news.
 */
const PUBLISH: Statement = {
  name: 'failing-endpoints-publish',
  text: `
  WITH dead AS (
    DELETE FROM dead_notices WHERE delivery_id = ANY(ARRAY(
      SELECT delivery_id FROM dead_notices ORDER BY delivery_id LIMIT ${DEAD_MAX} FOR UPDATE SKIP LOCKED)) RETURNING endpoint_id
  ), failing AS (
    UPDATE lanes SET failing_noticed = failing_since WHERE endpoint_id = ANY(ARRAY(
      SELECT endpoint_id FROM lanes WHERE failing_since < now() - interval '1 day' AND failing_noticed IS DISTINCT FROM failing_since
      ORDER BY endpoint_id LIMIT ${FAILING_MAX} FOR UPDATE SKIP LOCKED)) RETURNING endpoint_id, failing_since
  ), noticed AS (
    SELECT endpoint_id, count(*)::int AS dead, NULL::timestamptz AS failing_since FROM dead GROUP BY endpoint_id
    UNION ALL SELECT endpoint_id, 0, failing_since FROM failing
  ), named AS (
    SELECT coalesce(e.merchant_id, n.endpoint_id) AS merchant_id, n.*, coalesce(e.url, m.webhook_url) AS url, row_number() OVER () AS place
    FROM noticed n LEFT JOIN endpoints e ON e.id = n.endpoint_id LEFT JOIN merchants m ON m.id = n.endpoint_id WHERE e.deleted_at IS NULL
  ), written AS (
    INSERT INTO outbox (id, type, merchant_id, body)
    SELECT ids.id, 'endpoint.failing', merchant_id, json_build_object('id', ids.id, 'type', 'endpoint.failing', 'occurred_at', $now::text, 'trace', NULL,
      'data', json_build_object('merchant_id', merchant_id, 'endpoint_id', endpoint_id, 'dead', dead,
        'host', substring(url FROM '^https?://([^/?#]+)'), 'failing_since', to_char(failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text
    FROM named JOIN unnest($ids::uuid[]) WITH ORDINALITY AS ids (id, place) USING (place) RETURNING 1
  )
  SELECT count(*)::int AS published FROM written`,
}

export const noticeStore = (database: Database) => ({
  /** Publishes that endpoints have failed for a day, or have deliveries that are dead; resolves to how many events that were. */
  async publish(): Promise<number> {
    const { rows } = await database.query<{ there: boolean }>(HAS_NOTICES)
    if (!rows[0]?.there) return 0
    const ids = Array.from({ length: DEAD_MAX + FAILING_MAX }, uuidv7)
    const written = await database.commit<{ published: number }>({ write: PUBLISH, values: { ids, now: new Date().toISOString() } })
    return written.rows[0]?.published ?? 0
  },
})
