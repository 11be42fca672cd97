import type { Database } from '@ponte/service-kit'
import type { Verdict } from '../delivery'

/** A lease outlives the attempt (15 s) and the writing of its result by far. */
export const LEASE_S = 45

/**
 * Leases lanes in turn and takes due deliveries out of them and out of the lanes held already. Three classes: those with first attempts come
 * first, those with retries only keep a quarter, slow ones have slots of their own. A lane's lease is the limit of what is in flight for that
 * merchant over all replicas; a delivery's own lease token is what fences off a worker that comes back too late.
 * $1 token · $2 free slots · $3 free slow slots · $4 first width of a lane · $5 to $7 held lanes: id, token, how many more.
 */
const CLAIM = `
  WITH first AS (
    SELECT merchant_id FROM lanes WHERE class = 0 AND turn_at <= now() ORDER BY turn_at LIMIT $2::int FOR UPDATE SKIP LOCKED
  ), retry AS (
    SELECT merchant_id FROM lanes WHERE class = 1 AND turn_at <= now() ORDER BY turn_at
    LIMIT greatest($2::int / 4, $2::int - (SELECT count(*) FROM first)) FOR UPDATE SKIP LOCKED
  ), slow AS (
    SELECT merchant_id FROM lanes WHERE class = 2 AND turn_at <= now() ORDER BY turn_at LIMIT $3::int FOR UPDATE SKIP LOCKED
  ), leased AS (
    UPDATE lanes SET lease_token = $1, turn_at = now() + interval '${LEASE_S} seconds'
    WHERE merchant_id = ANY(ARRAY(SELECT merchant_id FROM first UNION ALL SELECT merchant_id FROM retry UNION ALL SELECT merchant_id FROM slow))
    RETURNING merchant_id, class, fail_streak
  ), share AS (
    SELECT greatest(1, least($4::int, $2::int / greatest(1, count(*))))::int AS width FROM leased WHERE class < 2
  ), wanted AS (
    SELECT merchant_id, CASE WHEN class = 2 THEN 1 ELSE share.width END AS want, class, fail_streak FROM leased, share
    UNION ALL
    SELECT h.merchant_id, h.want, NULL, NULL FROM unnest($5::uuid[], $6::uuid[], $7::int[]) AS h (merchant_id, token, want)
      JOIN lanes l ON l.merchant_id = h.merchant_id AND l.lease_token = h.token
  ), due AS (
    SELECT d.id FROM wanted w CROSS JOIN LATERAL (
      (SELECT id FROM deliveries WHERE merchant_id = w.merchant_id AND status = 'pending' AND attempts = 0 AND next_attempt_at <= now()
        ORDER BY next_attempt_at LIMIT w.want)
      UNION ALL
      (SELECT id FROM deliveries WHERE merchant_id = w.merchant_id AND status = 'pending' AND attempts > 0 AND next_attempt_at <= now()
        ORDER BY next_attempt_at LIMIT w.want)
      LIMIT w.want) d
  ), claimed AS (
    UPDATE deliveries SET status = 'in_flight', next_attempt_at = NULL, lease_token = $1, lease_until = now() + interval '${LEASE_S} seconds'
    WHERE id = ANY(ARRAY(SELECT id FROM due)) AND status = 'pending'
    RETURNING id, event_id, merchant_id, event_type, attempts, losses
  )
  SELECT merchant_id, want, class, fail_streak, NULL::uuid AS id, NULL AS event_type, 0 AS attempts, 0 AS losses, NULL::bytea AS body,
    NULL::timestamptz AS occurred_at, NULL AS trace, NULL AS webhook_url, NULL AS sealed_secret
  FROM wanted
  UNION ALL
  SELECT c.merchant_id, 0, NULL, NULL, c.id, c.event_type, c.attempts, c.losses, e.body, e.occurred_at, e.trace, m.webhook_url,
    CASE WHEN m.pending_webhook_secret_activates_at <= now() THEN coalesce(m.sealed_pending_webhook_secret, m.sealed_webhook_secret)
      ELSE m.sealed_webhook_secret END
  FROM claimed c JOIN events e ON e.id = c.event_id JOIN merchants m ON m.id = c.merchant_id`

/**
 * Writes results: attempt and state together, only where the claim's token still stands; and gives lanes back. The next turn of a lane is
 * its earliest delivery's, counted in an older view than what arrived meanwhile: the arrivals tell, and then the lane is due at once.
 * A delivery that waits again in a lane that is no longer ours reminds that lane.
 */
const FINISH = `
  WITH result AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::int[], $6::int[], $7::text[],
      $8::text[], $9::int[], $10::text[], $11::text[], $12::text[], $13::int[], $14::uuid[])
      AS r (id, token, status, attempts, losses, delay_s, dead_reason, outcome, http_status, error_code, error, snippet, duration_ms, lane_token)
  ), done AS (
    UPDATE deliveries d SET status = r.status, attempts = r.attempts, losses = r.losses,
      tries = d.tries + CASE WHEN r.outcome IS NULL THEN 0 ELSE 1 END,
      next_attempt_at = now() + make_interval(secs => r.delay_s), lease_token = NULL, lease_until = NULL,
      last_http_status = r.http_status, last_error_code = r.error_code, last_error = r.error, dead_reason = r.dead_reason,
      delivered_at = CASE WHEN r.status = 'delivered' THEN now() END
    FROM result r WHERE d.id = r.id AND d.lease_token = r.token
    RETURNING d.id, d.merchant_id, d.tries, d.next_attempt_at, r.outcome, r.http_status, r.error_code, r.snippet, r.duration_ms, r.lane_token
  ), logged AS (
    INSERT INTO attempts (delivery_id, ordinal, outcome, http_status, error_code, response_snippet, started_at, duration_ms)
    SELECT id, tries, outcome, http_status, error_code, snippet, now() - make_interval(secs => duration_ms / 1000.0), duration_ms
    FROM done WHERE outcome IS NOT NULL
  ), again AS MATERIALIZED (
    SELECT merchant_id, min(next_attempt_at) AS at FROM done WHERE next_attempt_at IS NOT NULL GROUP BY merchant_id
  ), let_go AS MATERIALIZED (
    SELECT l.merchant_id, l.token, l.slow, l.fail_streak, seen.arrivals,
      (SELECT min(next_attempt_at) FROM deliveries WHERE merchant_id = l.merchant_id AND status = 'pending' AND attempts = 0) AS first_at,
      least(
        (SELECT min(next_attempt_at) FROM deliveries WHERE merchant_id = l.merchant_id AND status = 'pending' AND attempts > 0),
        (SELECT at FROM again WHERE again.merchant_id = l.merchant_id)) AS retry_at
    FROM unnest($15::uuid[], $16::uuid[], $17::boolean[], $18::int[]) AS l (merchant_id, token, slow, fail_streak)
      JOIN lanes seen ON seen.merchant_id = l.merchant_id
  ), released AS (
    UPDATE lanes SET lease_token = NULL, fail_streak = g.fail_streak,
      class = CASE WHEN g.slow THEN 2 WHEN g.first_at IS NOT NULL OR lanes.arrivals <> g.arrivals THEN 0 ELSE 1 END,
      turn_at = CASE WHEN lanes.arrivals <> g.arrivals THEN now() WHEN least(g.first_at, g.retry_at) IS NULL THEN NULL
        ELSE greatest(now(), least(g.first_at, g.retry_at)) END
    FROM let_go g WHERE lanes.merchant_id = g.merchant_id AND lanes.lease_token = g.token
  ), left_behind AS MATERIALIZED (
    SELECT merchant_id, lane_token, min(next_attempt_at) AS at FROM done
    WHERE next_attempt_at IS NOT NULL AND merchant_id <> ALL($15::uuid[]) GROUP BY merchant_id, lane_token
  ), reminded AS (
    UPDATE lanes SET arrivals = lanes.arrivals + 1,
      turn_at = CASE WHEN lanes.lease_token IS NOT NULL AND lanes.turn_at > now() THEN lanes.turn_at ELSE least(lanes.turn_at, b.at) END
    FROM left_behind b WHERE lanes.merchant_id = b.merchant_id AND (b.lane_token IS NULL OR lanes.lease_token IS DISTINCT FROM b.lane_token)
  )
  SELECT id FROM done`

const RENEW = `
  UPDATE lanes SET turn_at = now() + interval '${LEASE_S} seconds'
  FROM unnest($1::uuid[], $2::uuid[]) AS l (merchant_id, token)
  WHERE lanes.merchant_id = l.merchant_id AND lanes.lease_token = l.token`

/** One of the deliveries of a claim. */
export interface Claimed {
  id: string
  merchant_id: string
  event_type: string
  attempts: number
  losses: number
  body: Buffer
  occurred_at: Date
  /** What caused the event, as a W3C traceparent. */
  trace: string | null
  webhook_url: string | null
  sealed_secret: string
}

/** A lane that is held now, with what was due in it. */
export interface ClaimedLane {
  merchantId: string
  want: number
  /** What its row remembers; null for a lane that was held before. */
  memory: { slow: boolean; failStreak: number } | null
  claimed: Claimed[]
}

type ClaimRow = (Claimed | { id: null }) & { merchant_id: string; want: number; class: number | null; fail_streak: number | null }

/** What is written about one claimed delivery. */
export interface Result {
  id: string
  token: string
  /** The lease of its lane when it was claimed; null for a delivery whose worker is gone. */
  laneToken: string | null
  verdict: Verdict
  /** Null when nothing was sent: then no attempt is recorded. */
  attempt: {
    outcome: 'delivered' | 'failed'
    httpStatus: number | null
    errorCode: string | null
    snippet: string | null
    durationMs: number
  } | null
  error: string | null
}

export interface LaneRelease {
  merchantId: string
  token: string
  slow: boolean
  failStreak: number
}

export interface HeldLane {
  merchantId: string
  token: string
  want: number
}

export function laneStore(database: Database) {
  return {
    async claim(token: string, free: { quick: number; slow: number; width: number }, held: readonly HeldLane[]): Promise<ClaimedLane[]> {
      const { rows } = await database.query<ClaimRow>({ name: 'lanes-claim', text: CLAIM }, [
        token,
        free.quick,
        free.slow,
        free.width,
        held.map(lane => lane.merchantId),
        held.map(lane => lane.token),
        held.map(lane => lane.want),
      ])
      const lanes = new Map<string, ClaimedLane>()
      for (const row of rows) {
        if (row.id !== null) lanes.get(row.merchant_id)?.claimed.push(row)
        else {
          const memory = row.class === null ? null : { slow: row.class === 2, failStreak: row.fail_streak ?? 0 }
          lanes.set(row.merchant_id, { merchantId: row.merchant_id, want: row.want, memory, claimed: [] })
        }
      }
      return [...lanes.values()]
    },

    /** Answers the ids that were still ours to write. */
    async finish(results: readonly Result[], lanes: readonly LaneRelease[]): Promise<string[]> {
      const attempt = <T>(read: (attempt: NonNullable<Result['attempt']>) => T) => results.map(r => (r.attempt ? read(r.attempt) : null))
      // Everyone who locks several lanes does so in this order.
      const released = [...lanes].sort((a, b) => (a.merchantId < b.merchantId ? -1 : 1))
      const { rows } = await database.query<{ id: string }>({ name: 'lanes-finish', text: FINISH }, [
        results.map(r => r.id),
        results.map(r => r.token),
        results.map(r => r.verdict.status),
        results.map(r => r.verdict.attempts),
        results.map(r => r.verdict.losses),
        results.map(r => r.verdict.delayS),
        results.map(r => r.verdict.deadReason),
        attempt(a => a.outcome),
        attempt(a => a.httpStatus),
        attempt(a => a.errorCode),
        results.map(r => r.error),
        attempt(a => a.snippet),
        attempt(a => a.durationMs),
        results.map(r => r.laneToken),
        released.map(lane => lane.merchantId),
        released.map(lane => lane.token),
        released.map(lane => lane.slow),
        released.map(lane => lane.failStreak),
      ])
      return rows.map(row => row.id)
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
