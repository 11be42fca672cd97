import { z } from 'zod'
import { timestamp } from '../fields'
import { merchantTerms } from '../internal-api'

/** Published by api-gateway. Consumed by orders, webhook-dispatcher. The secrets travel sealed (AES-256-GCM). */
export const merchantUpdated = merchantTerms.extend({
  webhook_url: z.string().nullable(),
  sealed_webhook_secret: z.string(),
  sealed_pending_webhook_secret: z.string().nullable(),
  pending_webhook_secret_activates_at: timestamp.nullable(),
})
