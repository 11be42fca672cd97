import { addressRange } from '@ponte/contracts'
import { commonSettings, integer, list, sealKeys, secrets } from '@ponte/service-kit'
import { z } from 'zod'

const cidrs = list.pipe(z.array(addressRange))

export const webhookDispatcherConfig = z
  .object({
    ...commonSettings,
    /** Secret of the gateway's tokens for this service, or several while it is changed. */
    GATEWAY_TOKEN_SECRET: secrets,
    /** The key that webhook secrets are sealed with, the gateway's too, or several while it is changed: 64 hex characters each. */
    SEAL_KEY: sealKeys,
    /** Deliveries in flight at once in this process; a quarter is for slow receivers. */
    WEBHOOK_SLOTS: integer(4, 4_096).default(512),
    /** Address ranges that are re-opened, for a receiver on this machine; refused in production. */
    WEBHOOK_ALLOW_CIDRS: cidrs.default([]),
    /** Public address ranges that nothing is sent to, such as the operator's own. */
    WEBHOOK_DENY_CIDRS: cidrs.default([]),
    /** DNS servers instead of the system's, as address or address:port. */
    WEBHOOK_DNS_SERVERS: list.default([]),
    /** Age at which events go, with their deliveries and attempts. */
    EVENT_RETENTION_DAYS: integer(3, 3_650).default(30),
  })
  .refine(config => config.NODE_ENV !== 'production' || config.WEBHOOK_ALLOW_CIDRS.length === 0, {
    path: ['WEBHOOK_ALLOW_CIDRS'],
    message: 'must be empty in production: it opens the way to internal addresses',
  })
export type WebhookDispatcherConfig = z.infer<typeof webhookDispatcherConfig>
