import type { Database } from '@ponte/service-kit'

/** A lease outlives the attempt (15 s) and the writing of its result by far. */
export const LEASE_S = 45

/**
 * What is due in a lane, first attempts before retries. While a delivery is in flight it stays due in its own row: the lane knows it, in the
 * column `known`.
 */
export const dueIn = (lane: string) => `
  ARRAY(SELECT id FROM (
    (SELECT id FROM deliveries WHERE merchant_id = ${lane}.merchant_id AND status = 'pending' AND attempts = 0 AND next_attempt_at <= now()
      AND id <> ALL(${lane}.known) ORDER BY next_attempt_at LIMIT ${lane}.want)
    UNION ALL
    (SELECT id FROM deliveries WHERE merchant_id = ${lane}.merchant_id AND status = 'pending' AND attempts > 0 AND next_attempt_at <= now()
      AND id <> ALL(${lane}.known) ORDER BY next_attempt_at LIMIT ${lane}.want)) AS due LIMIT ${lane}.want)`

/** The deliveries named in the column `ids` of these lanes, as they are sent. */
export const claimedOf = (lanes: string) => `
  SELECT d.id, d.event_type, d.attempts, d.losses, e.body, extract(epoch FROM now() - e.occurred_at)::float AS age_s, e.trace, d.merchant_id
  FROM ${lanes} CROSS JOIN LATERAL unnest(${lanes}.ids) AS taken (id)
    JOIN deliveries d ON d.id = taken.id JOIN events e ON e.id = d.event_id`

/** What a lane's row looks like among the rows of `claimedOf`. */
export const NO_DELIVERY =
  'NULL::uuid AS id, NULL AS event_type, 0 AS attempts, 0 AS losses, NULL::bytea AS body, 0::float AS age_s, NULL AS trace'

/** Where a merchant hears, and the secret of this moment. */
export const ENDPOINT = `
  m.webhook_url, CASE WHEN m.pending_webhook_secret_activates_at <= now() THEN coalesce(m.sealed_pending_webhook_secret, m.sealed_webhook_secret)
    ELSE m.sealed_webhook_secret END AS sealed_secret`

const dueLanes = (laneClass: number, limit: string) => `
  SELECT merchant_id, class, fail_streak, arrivals FROM lanes WHERE class = ${laneClass} AND turn_at <= now() AND lease_token IS NULL
  ORDER BY turn_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`

/**
 * Leases lanes in turn and takes due deliveries out of them. Three classes: those with first attempts come first, those with retries only keep
 * a quarter, slow ones have slots of their own. A lane's lease is the limit of what is in flight for that merchant over all replicas, and its
 * token is what fences off a worker that comes back too late.
 * A lane that became due anew after this statement began to look is left for the next: what is due in it may be over by now.
 * $1 token · $2 free slots · $3 free slow slots · $4 first width of a lane
 */
const LEASE = `
  WITH first AS (${dueLanes(0, '$2::int')}
  ), retry AS (${dueLanes(1, 'greatest($2::int / 4, $2::int - (SELECT count(*) FROM first))')}
  ), slow AS (${dueLanes(2, '$3::int')}
  ), turn AS (
    SELECT * FROM first UNION ALL SELECT * FROM retry UNION ALL SELECT * FROM slow
  ), share AS (
    SELECT greatest(1, least($4::int, $2::int / greatest(1, count(*))))::int AS width FROM turn WHERE class < 2
  ), wanted AS (
    SELECT t.merchant_id, t.class, t.fail_streak, CASE WHEN t.class = 2 THEN 1 ELSE share.width END AS want, seen.in_flight AS known
    FROM turn t CROSS JOIN share JOIN lanes seen ON seen.merchant_id = t.merchant_id AND seen.arrivals = t.arrivals
  ), leased AS MATERIALIZED (
    SELECT merchant_id, class, fail_streak, want, ${dueIn('wanted')} AS ids FROM wanted
  ), written AS (
    UPDATE lanes SET lease_token = $1, turn_at = now() + interval '${LEASE_S} seconds', in_flight = leased.ids
    FROM leased WHERE lanes.merchant_id = leased.merchant_id
  )
  SELECT ${NO_DELIVERY}, leased.merchant_id, class, fail_streak, want, ${ENDPOINT} FROM leased JOIN merchants m ON m.id = leased.merchant_id
  UNION ALL
  SELECT claimed.*, NULL, NULL, NULL, NULL, NULL FROM (${claimedOf('leased')}) AS claimed`

/** Everyone who waits for several lanes does so in this order. */
const RENEW = `
  WITH ours AS (
    SELECT l.merchant_id FROM lanes l JOIN unnest($1::uuid[], $2::uuid[]) AS o (merchant_id, token)
      ON l.merchant_id = o.merchant_id AND l.lease_token = o.token ORDER BY l.merchant_id FOR UPDATE OF l
  )
  UPDATE lanes SET turn_at = now() + interval '${LEASE_S} seconds' WHERE merchant_id = ANY(ARRAY(SELECT merchant_id FROM ours))`

/** One delivery as it is sent. */
export interface Claimed {
  id: string
  event_type: string
  attempts: number
  losses: number
  body: Buffer
  /** Seconds since the event. */
  age_s: number
  /** What caused the event, as a W3C traceparent. */
  trace: string | null
}

/** Where a merchant hears. */
export interface Endpoint {
  merchantId: string
  webhookUrl: string | null
  sealedSecret: string
}

export interface LeasedLane {
  endpoint: Endpoint
  want: number
  /** What its row remembers. */
  slow: boolean
  failStreak: number
  claimed: Claimed[]
}

interface LaneRow {
  id: null
  merchant_id: string
  class: number
  fail_streak: number
  want: number
  webhook_url: string | null
  sealed_secret: string
}

/** Rows of lanes and of their deliveries, told apart by the id. */
export function byLane<Row extends { id: null; merchant_id: string }>(rows: readonly (Row | (Claimed & { merchant_id: string }))[]) {
  const lanes = new Map<string, { row: Row; claimed: Claimed[] }>()
  for (const row of rows) {
    if (row.id === null) lanes.set(row.merchant_id, { row, claimed: [] })
    else lanes.get(row.merchant_id)?.claimed.push(row)
  }
  return [...lanes.values()]
}

export const endpointOf = (row: { merchant_id: string; webhook_url: string | null; sealed_secret: string }): Endpoint => ({
  merchantId: row.merchant_id,
  webhookUrl: row.webhook_url,
  sealedSecret: row.sealed_secret,
})

export function laneStore(database: Database) {
  return {
    async lease(token: string, free: { quick: number; slow: number; width: number }): Promise<LeasedLane[]> {
      const statement = { name: 'lanes-lease', text: LEASE }
      const { rows } = await database.query<LaneRow | (Claimed & { merchant_id: string })>(statement, [
        token,
        free.quick,
        free.slow,
        free.width,
      ])
      return byLane(rows).map(({ row, claimed }) => ({
        endpoint: endpointOf(row),
        want: row.want,
        slow: row.class === 2,
        failStreak: row.fail_streak,
        claimed,
      }))
    },

    async renew(lanes: readonly { merchantId: string; token: string }[]): Promise<void> {
      await database.query(RENEW, [lanes.map(lane => lane.merchantId), lanes.map(lane => lane.token)])
    },

    /** True while some lane's turn has come. */
    async hasDueLanes(): Promise<boolean> {
      const { rows } = await database.query('SELECT 1 FROM lanes WHERE class IN (0, 1, 2) AND turn_at <= now() LIMIT 1')
      return rows.length > 0
    },
  }
}
