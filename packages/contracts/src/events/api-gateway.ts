import { z } from 'zod'
import { id, timestamp } from '../fields'
import { merchantTerms } from '../internal-api'
import { accountData } from '../webhook'

/** Published by api-gateway. Consumed by orders, webhook-dispatcher. The secrets travel sealed (AES-256-GCM). */
export const merchantUpdated = merchantTerms.extend({
  /** The text that the key of the payout address signed, and its signature; null where it signed nothing. Absent from a gateway of the release before. */
  payout_proof: z.object({ message: z.string(), signature: z.string(), signed_at: timestamp }).nullable().optional(),
  webhook_url: z.string().nullable(),
  sealed_webhook_secret: z.string(),
  sealed_pending_webhook_secret: z.string().nullable(),
  pending_webhook_secret_activates_at: timestamp.nullable(),
})

/** Published by api-gateway: payout address, keys, secret or members were changed. Consumed by webhook-dispatcher. */
export const accountChanged = z.object({ merchant_id: id, merchant_version: z.int().min(1), account: accountData })
