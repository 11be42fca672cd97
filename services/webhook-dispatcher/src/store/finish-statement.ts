import type { Statement } from '@ponte/service-kit'
import { claimedOf, dueIn, LANE_OF, NO_DELIVERY } from './claim'
import { lanesWithRecipients, NO_RECIPIENT, RECIPIENT } from './recipients'

/**
 * Lanes whose lease still stands; they stay locked to the end. The steps are sorted by endpoint: every statement that locks several lanes does.
 * Nothing more is claimed for an endpoint that was paused meanwhile.
 */
const LOCKED_LANES = `
  SELECT l.endpoint_id, l.in_flight, step.known, step.remaining, CASE WHEN l.class = 3 THEN 0 ELSE step.want END AS want, step.release, step.slow, step.fail_streak, step.results
  FROM json_to_recordset($steps) AS step (endpoint_id uuid, token uuid, known uuid[], remaining uuid[], want int, release boolean, slow boolean,
      fail_streak int, results json)
    JOIN lanes l ON l.endpoint_id = step.endpoint_id AND l.lease_token = step.token
  ORDER BY l.endpoint_id FOR UPDATE OF l`

/** The new state of each delivery that is in flight under such a lane; any other was written before, or is another worker's. */
const WRITTEN_DELIVERIES = `
  UPDATE deliveries d SET status = r.status, attempts = r.attempts, losses = r.losses,
    tries = d.tries + CASE WHEN r.outcome IS NULL THEN 0 ELSE 1 END, next_attempt_at = now() + make_interval(secs => r.delay_s),
    last_http_status = r.http_status, last_error_code = r.error_code, last_error = r.error, dead_reason = r.dead_reason,
    delivered_at = CASE WHEN r.status = 'delivered' THEN now() END
  FROM locked CROSS JOIN LATERAL json_to_recordset(locked.results) AS r (id uuid, status text, attempts int, losses int, delay_s int,
    dead_reason text, outcome text, http_status int, error_code text, error text, snippet text, duration_ms int, url text, request_headers jsonb)
  WHERE d.id = r.id AND r.id = ANY(locked.in_flight)
  RETURNING d.id, locked.endpoint_id, d.tries, d.next_attempt_at, r.outcome, r.http_status, r.error_code, r.snippet, r.duration_ms, r.url,
    r.request_headers`

/** A row for each attempt that was made; one that sent nothing has no outcome. */
const LOGGED_ATTEMPTS = `
  INSERT INTO attempts (delivery_id, ordinal, outcome, http_status, error_code, response_snippet, started_at, duration_ms, url, request_headers)
  SELECT id, tries, outcome, http_status, error_code, snippet, now() - make_interval(secs => duration_ms / 1000.0), duration_ms, url,
    request_headers
  FROM written WHERE outcome IS NOT NULL`

/** A worker that was lost is no failure of the endpoint. */
const WRITTEN_PER_LANE = `
  SELECT endpoint_id, count(*)::int AS written, min(next_attempt_at) AS retry_at, bool_or(outcome = 'delivered') AS succeeded,
    bool_or(outcome = 'failed' AND error_code <> 'worker_lost') AS failed
  FROM written GROUP BY endpoint_id`

const earliest = (attempts: string) => `
  (SELECT min(next_attempt_at) FROM deliveries
    WHERE ${LANE_OF} = locked.endpoint_id AND status = 'pending' AND attempts ${attempts} AND id <> ALL(locked.known))`

/** Other due deliveries of each lane: claimed now when it stays held, the time of its next turn when it is released. */
const NEXT = `
  SELECT locked.endpoint_id, locked.remaining, locked.release, locked.slow, locked.fail_streak, seen.arrivals, coalesce(tally.written, 0) AS written,
    CASE WHEN tally.succeeded THEN NULL WHEN tally.failed THEN coalesce(seen.failing_since, now()) ELSE seen.failing_since END AS failing_since,
    CASE WHEN NOT release THEN ${dueIn('locked')} ELSE '{}' END AS ids,
    CASE WHEN release THEN ${earliest('= 0')} END AS first_at,
    CASE WHEN release THEN least(tally.retry_at, ${earliest('> 0')}) END AS retry_at
  FROM locked JOIN lanes seen ON seen.endpoint_id = locked.endpoint_id LEFT JOIN tally ON tally.endpoint_id = locked.endpoint_id`

const HELD = `
  UPDATE lanes SET in_flight = next.remaining || next.ids, failing_since = next.failing_since
  FROM next WHERE lanes.endpoint_id = next.endpoint_id AND NOT next.release`

/** This statement's snapshot is older than the lock: a lane whose arrivals moved on meanwhile is due at once. */
const RELEASED = `
  UPDATE lanes SET lease_token = NULL, in_flight = '{}', fail_streak = next.fail_streak, failing_since = next.failing_since,
    class = CASE WHEN lanes.class = 3 THEN 3 WHEN next.slow THEN 2 WHEN next.first_at IS NOT NULL OR lanes.arrivals <> next.arrivals THEN 0 ELSE 1 END,
    turn_at = CASE WHEN lanes.arrivals <> next.arrivals THEN now() WHEN least(next.first_at, next.retry_at) IS NULL THEN NULL
      ELSE greatest(now(), least(next.first_at, next.retry_at)) END
  FROM next WHERE lanes.endpoint_id = next.endpoint_id AND next.release
  RETURNING lanes.endpoint_id, coalesce(lanes.turn_at <= now(), false) AS due`

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
  SELECT ${NO_DELIVERY}, next.endpoint_id, next.written,
    coalesce((SELECT due FROM released WHERE released.endpoint_id = next.endpoint_id), false) AS due, ${RECIPIENT}
  FROM ${lanesWithRecipients('next')}
  UNION ALL
  SELECT claimed.*, NULL, NULL, ${NO_RECIPIENT} FROM (${claimedOf('next')}) AS claimed`,
}
