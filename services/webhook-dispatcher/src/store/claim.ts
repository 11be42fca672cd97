/** Raw SQL, because a claim is one round trip: the parts that both claiming statements share, and how their rows are read. */

/** The lane of a delivery, as the indexes of what is due have it. */
export const LANE_OF = 'coalesce(endpoint_id, merchant_id)'

/**
 * Ids of what is due in a lane, first attempts before retries. A delivery in flight stays due in its own row: the lane's column `known` names
 * those.
 */
export const dueIn = (lane: string) => `
  ARRAY(SELECT id FROM (
    (SELECT id FROM deliveries WHERE ${LANE_OF} = ${lane}.endpoint_id AND status = 'pending' AND attempts = 0 AND next_attempt_at <= now()
      AND id <> ALL(${lane}.known) ORDER BY next_attempt_at LIMIT ${lane}.want)
    UNION ALL
    (SELECT id FROM deliveries WHERE ${LANE_OF} = ${lane}.endpoint_id AND status = 'pending' AND attempts > 0 AND next_attempt_at <= now()
      AND id <> ALL(${lane}.known) ORDER BY next_attempt_at LIMIT ${lane}.want)) AS due LIMIT ${lane}.want)`

/** The deliveries named in the column `ids` of these lanes, as they are sent. */
export const claimedOf = (lanes: string) => `
  SELECT d.id, d.event_id, d.event_type, d.attempts, d.losses, e.body, e.sequence::text AS sequence,
    extract(epoch FROM now() - e.occurred_at)::float AS age_s, e.trace, ${lanes}.endpoint_id
  FROM ${lanes} CROSS JOIN LATERAL unnest(${lanes}.ids) AS claimed (id)
    JOIN deliveries d ON d.id = claimed.id JOIN events e ON e.id = d.event_id`

/** A lane's row among the rows of `claimedOf`. */
export const NO_DELIVERY = `NULL::uuid AS id, NULL::uuid AS event_id, NULL AS event_type, 0 AS attempts, 0 AS losses, NULL::bytea AS body,
  NULL AS sequence, 0::float AS age_s, NULL AS trace`

export interface Claimed {
  id: string
  event_id: string
  event_type: string
  attempts: number
  losses: number
  body: Buffer
  sequence: string
  /** Seconds since the event. */
  age_s: number
  /** W3C traceparent of the event's cause. */
  trace: string | null
}
export type ClaimedRow = Claimed & { endpoint_id: string }

/** Groups rows of lanes and of their deliveries; a lane's row has no delivery id. */
export function byLane<Row extends { id: null; endpoint_id: string }>(rows: readonly (Row | ClaimedRow)[]) {
  const lanes = new Map<string, { row: Row; claimed: Claimed[] }>()
  for (const row of rows) {
    if (row.id === null) lanes.set(row.endpoint_id, { row, claimed: [] })
    else lanes.get(row.endpoint_id)?.claimed.push(row)
  }
  return [...lanes.values()]
}
