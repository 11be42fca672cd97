import { type EndpointFormat, endpointFormat, SPECIFIED_EVENTS } from '@ponte/contracts'

/** The kinds that a merchant's `webhook_url` receives, as a list in SQL. */
export const SPECIFIED = SPECIFIED_EVENTS.map(type => `'${type}'`).join(', ')

/**
 * Raw SQL, because the deliveries of a batch are made in the statement that takes its events. Inserts those of the events in `source`: to the merchant's `webhook_url`, if there is one, of the kinds of the specification, and
 * to each other endpoint of the kinds it chose. The delivery to the `webhook_url` has the event's id, so that its key lets it be made once only.
 */
export const firstDeliveries = (source: string, condition = 'true') => `
  INSERT INTO deliveries (id, event_id, merchant_id, endpoint_id, event_type, status, next_attempt_at)
  SELECT e.id, e.id, e.merchant_id, NULL::uuid, e.type, 'pending', now() FROM ${source} e JOIN merchants m ON m.id = e.merchant_id
    WHERE ${condition} AND m.webhook_url IS NOT NULL AND e.type IN (${SPECIFIED})
  UNION ALL
  SELECT new_id(), e.id, e.merchant_id, p.id, e.type, 'pending', now() FROM ${source} e JOIN endpoints p ON p.merchant_id = e.merchant_id
    WHERE ${condition} AND p.deleted_at IS NULL AND p.events && ARRAY['*', e.type]
  RETURNING coalesce(endpoint_id, merchant_id) AS endpoint_id`

/** The endpoint of a lane as it is now, with the secret in force at this moment. */
export const RECIPIENT = `
  coalesce(p.merchant_id, m.id) AS "merchantId", p.id IS NULL AS "isDefault", CASE WHEN p.id IS NULL THEN m.webhook_url WHEN p.deleted_at IS NULL THEN p.url END AS url,
  coalesce(p.format, 'ponte') AS format, p.sealed_headers AS "sealedHeaders", p.max_in_flight AS "maxInFlight",
  CASE WHEN p.id IS NULL THEN
    CASE WHEN m.pending_webhook_secret_activates_at <= now() THEN coalesce(m.sealed_pending_webhook_secret, m.sealed_webhook_secret)
      ELSE m.sealed_webhook_secret END
    ELSE CASE WHEN p.pending_secret_activates_at <= now() THEN coalesce(p.sealed_pending_secret, p.sealed_secret) ELSE p.sealed_secret END
  END AS "sealedSecret",
  CASE WHEN p.pending_secret_activates_at > now() THEN p.sealed_pending_secret END AS "sealedPendingSecret"`
/** As many NULLs, for the rows of deliveries beside those of lanes. */
export const NO_RECIPIENT = Array.from({ length: 8 }, () => 'NULL').join(', ')

/** Lanes with their endpoints: the merchant's own, which has the merchant's id, or another. */
export const lanesWithRecipients = (lanes: string) =>
  `${lanes} LEFT JOIN endpoints p ON p.id = ${lanes}.endpoint_id LEFT JOIN merchants m ON m.id = ${lanes}.endpoint_id`

/** Where deliveries of one lane go, and what is needed to make the requests. */
export interface Recipient {
  endpointId: string
  merchantId: string
  isDefault: boolean
  /** Null: there is nowhere to send to. */
  url: string | null
  format: EndpointFormat
  sealedHeaders: string | null
  maxInFlight: number | null
  sealedSecret: string
  sealedPendingSecret: string | null
}

/** A lane's row of `RECIPIENT`. */
export type RecipientRow = Omit<Recipient, 'endpointId' | 'format'> & { endpoint_id: string; format: string }

export function recipientOf(row: RecipientRow): Recipient {
  const { merchantId, isDefault, url, sealedHeaders, maxInFlight, sealedSecret, sealedPendingSecret } = row
  const where = { endpointId: row.endpoint_id, merchantId, isDefault, url, format: endpointFormat.parse(row.format) }
  return { ...where, sealedHeaders, maxInFlight, sealedSecret, sealedPendingSecret }
}
