/** The parts that both claiming statements share, and how their rows are read. */

/**
 * Ids of what is due in a lane, first attempts before retries. A delivery in flight stays due in its own row: the lane's column `known` names
 * those.
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
  FROM ${lanes} CROSS JOIN LATERAL unnest(${lanes}.ids) AS claimed (id)
    JOIN deliveries d ON d.id = claimed.id JOIN events e ON e.id = d.event_id`

/** A lane's row among the rows of `claimedOf`. */
export const NO_DELIVERY =
  'NULL::uuid AS id, NULL AS event_type, 0 AS attempts, 0 AS losses, NULL::bytea AS body, 0::float AS age_s, NULL AS trace'

/** The merchant's URL, and the secret in force at this moment. */
export const ENDPOINT = `
  m.webhook_url, CASE WHEN m.pending_webhook_secret_activates_at <= now() THEN coalesce(m.sealed_pending_webhook_secret, m.sealed_webhook_secret)
    ELSE m.sealed_webhook_secret END AS sealed_secret`

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
export type ClaimedRow = Claimed & { merchant_id: string }

/** Where a merchant is notified. */
export interface Endpoint {
  merchantId: string
  webhookUrl: string | null
  sealedSecret: string
}

/** Groups rows of lanes and of their deliveries; a lane's row has no delivery id. */
export function byLane<Row extends { id: null; merchant_id: string }>(rows: readonly (Row | ClaimedRow)[]) {
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
