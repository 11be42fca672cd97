import { z } from 'zod'
import { id, timestamp } from '../fields'

/**
 * Published by webhook-dispatcher. Consumed by api-gateway, for mails: deliveries to an endpoint are `dead`, or since `failing_since`, more than a day
 * ago, none was delivered. `endpoint_id` of the `webhook_url` is the merchant's own. A URL may hold what is secret, its host does not.
 */
export const endpointFailing = z.object({
  merchant_id: id,
  endpoint_id: id,
  host: z.string().nullable(),
  dead: z.int().min(0),
  failing_since: timestamp.nullable(),
})
