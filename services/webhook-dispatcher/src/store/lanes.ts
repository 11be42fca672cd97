import type { Database } from '@ponte/service-kit'
import type { Lease } from '../lanes/lane'
import { byLane, type Claimed, type ClaimedRow, claimedOf, dueIn, NO_DELIVERY } from './claim'
import { lanesWithRecipients, NO_RECIPIENT, RECIPIENT, type Recipient, type RecipientRow, recipientOf } from './recipients'

/** A lease outlives the attempt (15 s) and the writing of its result by far. */
export const LEASE_S = 45

const dueLanes = (laneClass: number, limit: string) => `
  SELECT endpoint_id, class, fail_streak, arrivals FROM lanes WHERE class = ${laneClass} AND turn_at <= now() AND lease_token IS NULL
  ORDER BY turn_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`

/**
 * Leases lanes in turn and claims due deliveries from them; raw SQL because a claim is one statement. Three classes: those with first attempts
 * come first, those with retries only keep a quarter, slow ones have slots of their own. A lane's lease is the limit of what is in flight for
 * that endpoint over all replicas, and its token fences off a worker that comes back too late.
 * A lane that became due anew after this statement's snapshot is left for the next: what is due in it may be over by now.
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
    SELECT t.endpoint_id, t.class, t.fail_streak, least(p.max_in_flight, CASE WHEN t.class = 2 THEN 1 ELSE share.width END) AS want,
      seen.in_flight AS known
    FROM turn t CROSS JOIN share JOIN lanes seen ON seen.endpoint_id = t.endpoint_id AND seen.arrivals = t.arrivals
      LEFT JOIN endpoints p ON p.id = t.endpoint_id
  ), leased AS MATERIALIZED (
    SELECT endpoint_id, class, fail_streak, want, ${dueIn('wanted')} AS ids FROM wanted
  ), written AS (
    UPDATE lanes SET lease_token = $1, turn_at = now() + interval '${LEASE_S} seconds', in_flight = leased.ids
    FROM leased WHERE lanes.endpoint_id = leased.endpoint_id
  )
  SELECT ${NO_DELIVERY}, leased.endpoint_id, class, fail_streak, want, ${RECIPIENT} FROM ${lanesWithRecipients('leased')}
  UNION ALL
  SELECT claimed.*, NULL, NULL, NULL, ${NO_RECIPIENT} FROM (${claimedOf('leased')}) AS claimed`

/** Raw SQL: locks the lanes in the order of every statement that locks several. */
const RENEW = `
  WITH ours AS (
    SELECT l.endpoint_id FROM lanes l JOIN unnest($1::uuid[], $2::uuid[]) AS o (endpoint_id, token)
      ON l.endpoint_id = o.endpoint_id AND l.lease_token = o.token ORDER BY l.endpoint_id FOR UPDATE OF l
  )
  UPDATE lanes SET turn_at = now() + interval '${LEASE_S} seconds' WHERE endpoint_id = ANY(ARRAY(SELECT endpoint_id FROM ours))`

/** Raw SQL because due is judged by the database's clock. */
const HAS_DUE = 'SELECT 1 FROM lanes WHERE class IN (0, 1, 2) AND turn_at <= now() LIMIT 1'

export interface LeasedLane {
  recipient: Recipient
  want: number
  slow: boolean
  failStreak: number
  claimed: Claimed[]
}

interface LaneRow extends RecipientRow {
  id: null
  class: number
  fail_streak: number
  want: number
}

export function laneStore(database: Database) {
  return {
    async lease(token: string, free: { quick: number; slow: number; width: number }): Promise<LeasedLane[]> {
      const statement = { name: 'lanes-lease', text: LEASE }
      const { rows } = await database.query<LaneRow | ClaimedRow>(statement, [token, free.quick, free.slow, free.width])
      return byLane(rows).map(({ row, claimed }) => ({
        recipient: recipientOf(row),
        want: row.want,
        slow: row.class === 2,
        failStreak: row.fail_streak,
        claimed,
      }))
    },

    async renew(lanes: readonly Lease[]): Promise<void> {
      await database.query({ name: 'lanes-renew', text: RENEW }, [lanes.map(lane => lane.endpointId), lanes.map(lane => lane.token)])
    },

    hasDue: async (): Promise<boolean> => (await database.query({ name: 'lanes-due', text: HAS_DUE })).rows.length > 0,
  }
}
