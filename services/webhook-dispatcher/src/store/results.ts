import type { Database } from '@ponte/service-kit'
import type { Verdict } from '../delivery'
import { byLane, type Claimed, claimedOf, dueIn, ENDPOINT, type Endpoint, endpointOf, NO_DELIVERY } from './lanes'

/**
 * Writes results, attempt and state together, and in the same commit says what becomes of their lanes: more is taken out of them, or they are
 * given back. Nothing is written for a lane whose lease is another's by now, nor for a delivery that is not in flight under it: that fences off
 * a worker that comes too late, and a result whose first writing was not heard of.
 * The next turn of a lane is its earliest delivery's, seen in an older view than what arrived meanwhile: the arrivals tell, and then it is due
 * at once. $1 lanes, in the order in which everyone waits for them.
 */
const FINISH = `
  WITH lane AS MATERIALIZED (
    SELECT l.merchant_id, l.in_flight, a.known, a.flying, a.want, a.release, a.slow, a.fail_streak, a.results
    FROM json_to_recordset($1) AS a (merchant_id uuid, token uuid, known uuid[], flying uuid[], want int, release boolean, slow boolean,
        fail_streak int, results json)
      JOIN lanes l ON l.merchant_id = a.merchant_id AND l.lease_token = a.token
    ORDER BY l.merchant_id FOR UPDATE OF l
  ), done AS (
    UPDATE deliveries d SET status = r.status, attempts = r.attempts, losses = r.losses,
      tries = d.tries + CASE WHEN r.outcome IS NULL THEN 0 ELSE 1 END, next_attempt_at = now() + make_interval(secs => r.delay_s),
      last_http_status = r.http_status, last_error_code = r.error_code, last_error = r.error, dead_reason = r.dead_reason,
      delivered_at = CASE WHEN r.status = 'delivered' THEN now() END
    FROM lane CROSS JOIN LATERAL json_to_recordset(lane.results) AS r (id uuid, status text, attempts int, losses int, delay_s int,
      dead_reason text, outcome text, http_status int, error_code text, error text, snippet text, duration_ms int)
    WHERE d.id = r.id AND r.id = ANY(lane.in_flight)
    RETURNING d.id, d.merchant_id, d.tries, d.next_attempt_at, r.outcome, r.http_status, r.error_code, r.snippet, r.duration_ms
  ), logged AS (
    INSERT INTO attempts (delivery_id, ordinal, outcome, http_status, error_code, response_snippet, started_at, duration_ms)
    SELECT id, tries, outcome, http_status, error_code, snippet, now() - make_interval(secs => duration_ms / 1000.0), duration_ms
    FROM done WHERE outcome IS NOT NULL
  ), tally AS MATERIALIZED (
    SELECT merchant_id, count(*)::int AS written, min(next_attempt_at) AS again_at FROM done GROUP BY merchant_id
  ), next AS MATERIALIZED (
    SELECT lane.merchant_id, lane.flying, lane.release, lane.slow, lane.fail_streak, seen.arrivals, coalesce(tally.written, 0) AS written,
      CASE WHEN NOT release THEN ${dueIn('lane')} ELSE '{}' END AS ids,
      CASE WHEN release THEN (SELECT min(next_attempt_at) FROM deliveries
        WHERE merchant_id = lane.merchant_id AND status = 'pending' AND attempts = 0 AND id <> ALL(lane.known)) END AS first_at,
      CASE WHEN release THEN least(tally.again_at,
        (SELECT min(next_attempt_at) FROM deliveries
          WHERE merchant_id = lane.merchant_id AND status = 'pending' AND attempts > 0 AND id <> ALL(lane.known))) END AS retry_at
    FROM lane JOIN lanes seen ON seen.merchant_id = lane.merchant_id LEFT JOIN tally ON tally.merchant_id = lane.merchant_id
  ), kept AS (
    UPDATE lanes SET in_flight = next.flying || next.ids FROM next WHERE lanes.merchant_id = next.merchant_id AND NOT next.release
  ), released AS (
    UPDATE lanes SET lease_token = NULL, in_flight = '{}', fail_streak = next.fail_streak,
      class = CASE WHEN next.slow THEN 2 WHEN next.first_at IS NOT NULL OR lanes.arrivals <> next.arrivals THEN 0 ELSE 1 END,
      turn_at = CASE WHEN lanes.arrivals <> next.arrivals THEN now() WHEN least(next.first_at, next.retry_at) IS NULL THEN NULL
        ELSE greatest(now(), least(next.first_at, next.retry_at)) END
    FROM next WHERE lanes.merchant_id = next.merchant_id AND next.release
    RETURNING lanes.merchant_id, coalesce(lanes.turn_at <= now(), false) AS due
  )
  SELECT ${NO_DELIVERY}, next.merchant_id, next.written,
    coalesce((SELECT due FROM released WHERE released.merchant_id = next.merchant_id), false) AS due, ${ENDPOINT}
  FROM next JOIN merchants m ON m.id = next.merchant_id
  UNION ALL
  SELECT claimed.*, NULL, NULL, NULL, NULL FROM (${claimedOf('next')}) AS claimed`

/** What is written about one claimed delivery. */
export interface Result {
  id: string
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

/** Under which a lane is held. */
export interface Lease {
  merchantId: string
  token: string
}

/** What came of a lane's deliveries, and what becomes of the lane. */
export interface LaneStep<Lane extends Lease = Lease> {
  lane: Lane
  results: readonly Result[]
  /** What goes on being in flight. */
  flying: readonly string[]
  /** How many more to take out of it, or how its row is to remember it while it is nobody's. */
  next: { want: number } | { slow: boolean; failStreak: number }
}

export interface FinishedLane {
  endpoint: Endpoint
  /** How many of its results were still ours to write. */
  written: number
  /** It was given back and its turn has come again. */
  due: boolean
  claimed: Claimed[]
}

interface LaneRow {
  id: null
  merchant_id: string
  written: number
  due: boolean
  webhook_url: string | null
  sealed_secret: string
}

const toParameter = ({ lane, results, flying, next }: LaneStep) => ({
  merchant_id: lane.merchantId,
  token: lane.token,
  known: [...flying, ...results.map(({ id }) => id)],
  flying,
  ...('want' in next ? { want: next.want, release: false } : { release: true, slow: next.slow, fail_streak: next.failStreak }),
  // What is not there is NULL, and most of it is not there when a delivery went well.
  results: results.map(({ id, verdict, attempt, error }) => ({
    id,
    status: verdict.status,
    attempts: verdict.attempts,
    losses: verdict.losses,
    delay_s: verdict.delayS ?? undefined,
    dead_reason: verdict.deadReason ?? undefined,
    outcome: attempt?.outcome,
    http_status: attempt?.httpStatus ?? undefined,
    error_code: attempt?.errorCode ?? undefined,
    error: error ?? undefined,
    snippet: attempt?.snippet ?? undefined,
    duration_ms: attempt?.durationMs,
  })),
})

export function resultStore(database: Database) {
  return {
    /** Answers the lanes whose lease still stood. */
    async finish(steps: readonly LaneStep[]): Promise<FinishedLane[]> {
      const { rows } = await database.query<LaneRow | (Claimed & { merchant_id: string })>({ name: 'lanes-finish', text: FINISH }, [
        JSON.stringify(steps.map(toParameter)),
      ])
      return byLane(rows).map(({ row, claimed }) => ({ endpoint: endpointOf(row), written: row.written, due: row.due, claimed }))
    },
  }
}
