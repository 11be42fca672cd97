import type { Statement } from '@ponte/service-kit'
import { claimedOf, dueIn, ENDPOINT, NO_DELIVERY } from './claim'

/** Lanes whose lease still stands; they stay locked to the end. The steps are sorted by merchant: every statement that locks several lanes does. */
const LOCKED_LANES = `
  SELECT l.merchant_id, l.in_flight, step.known, step.remaining, step.want, step.release, step.slow, step.fail_streak, step.results
  FROM json_to_recordset($steps) AS step (merchant_id uuid, token uuid, known uuid[], remaining uuid[], want int, release boolean, slow boolean,
      fail_streak int, results json)
    JOIN lanes l ON l.merchant_id = step.merchant_id AND l.lease_token = step.token
  ORDER BY l.merchant_id FOR UPDATE OF l`

/** The new state of each delivery that is in flight under such a lane; any other was written before, or is another worker's. */
const WRITTEN_DELIVERIES = `
  UPDATE deliveries d SET status = r.status, attempts = r.attempts, losses = r.losses,
    tries = d.tries + CASE WHEN r.outcome IS NULL THEN 0 ELSE 1 END, next_attempt_at = now() + make_interval(secs => r.delay_s),
    last_http_status = r.http_status, last_error_code = r.error_code, last_error = r.error, dead_reason = r.dead_reason,
    delivered_at = CASE WHEN r.status = 'delivered' THEN now() END
  FROM locked CROSS JOIN LATERAL json_to_recordset(locked.results) AS r (id uuid, status text, attempts int, losses int, delay_s int,
    dead_reason text, outcome text, http_status int, error_code text, error text, snippet text, duration_ms int)
  WHERE d.id = r.id AND r.id = ANY(locked.in_flight)
  RETURNING d.id, d.merchant_id, d.tries, d.next_attempt_at, r.outcome, r.http_status, r.error_code, r.snippet, r.duration_ms`

/** A row for each attempt that was made; one that sent nothing has no outcome. */
const LOGGED_ATTEMPTS = `
  INSERT INTO attempts (delivery_id, ordinal, outcome, http_status, error_code, response_snippet, started_at, duration_ms)
  SELECT id, tries, outcome, http_status, error_code, snippet, now() - make_interval(secs => duration_ms / 1000.0), duration_ms
  FROM written WHERE outcome IS NOT NULL`

const WRITTEN_PER_LANE = 'SELECT merchant_id, count(*)::int AS written, min(next_attempt_at) AS retry_at FROM written GROUP BY merchant_id'

const earliest = (attempts: string) => `
  (SELECT min(next_attempt_at) FROM deliveries
    WHERE merchant_id = locked.merchant_id AND status = 'pending' AND attempts ${attempts} AND id <> ALL(locked.known))`

/** What else is due in each lane: claimed now when it stays held, the time of its next turn when it is released. */
const NEXT = `
  SELECT locked.merchant_id, locked.remaining, locked.release, locked.slow, locked.fail_streak, seen.arrivals, coalesce(tally.written, 0) AS written,
    CASE WHEN NOT release THEN ${dueIn('locked')} ELSE '{}' END AS ids,
    CASE WHEN release THEN ${earliest('= 0')} END AS first_at,
    CASE WHEN release THEN least(tally.retry_at, ${earliest('> 0')}) END AS retry_at
  FROM locked JOIN lanes seen ON seen.merchant_id = locked.merchant_id LEFT JOIN tally ON tally.merchant_id = locked.merchant_id`

const HELD = `
  UPDATE lanes SET in_flight = next.remaining || next.ids FROM next WHERE lanes.merchant_id = next.merchant_id AND NOT next.release`

/** This statement's snapshot is older than the lock: a lane whose arrivals moved on meanwhile is due at once. */
const RELEASED = `
  UPDATE lanes SET lease_token = NULL, in_flight = '{}', fail_streak = next.fail_streak,
    class = CASE WHEN next.slow THEN 2 WHEN next.first_at IS NOT NULL OR lanes.arrivals <> next.arrivals THEN 0 ELSE 1 END,
    turn_at = CASE WHEN lanes.arrivals <> next.arrivals THEN now() WHEN least(next.first_at, next.retry_at) IS NULL THEN NULL
      ELSE greatest(now(), least(next.first_at, next.retry_at)) END
  FROM next WHERE lanes.merchant_id = next.merchant_id AND next.release
  RETURNING lanes.merchant_id, coalesce(lanes.turn_at <= now(), false) AS due`

/**
 * Raw SQL because results, attempts, lanes and the next claim are one round trip and one commit: that decides the throughput.
 * A row for each lane whose lease still stood, and one for each delivery claimed from it.
 */
export const FINISH: Statement = {
  name: 'lanes-finish',
  text: `
  WITH locked AS MATERIALIZED (${LOCKED_LANES}),
    written AS (${WRITTEN_DELIVERIES}),
    logged AS (${LOGGED_ATTEMPTS}),
    tally AS MATERIALIZED (${WRITTEN_PER_LANE}),
    next AS MATERIALIZED (${NEXT}),
    held AS (${HELD}),
    released AS (${RELEASED})
  SELECT ${NO_DELIVERY}, next.merchant_id, next.written,
    coalesce((SELECT due FROM released WHERE released.merchant_id = next.merchant_id), false) AS due, ${ENDPOINT}
  FROM next JOIN merchants m ON m.id = next.merchant_id
  UNION ALL
  SELECT claimed.*, NULL, NULL, NULL, NULL FROM (${claimedOf('next')}) AS claimed`,
}
