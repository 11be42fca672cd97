import { commonSettings, integer, secret } from '@ponte/service-kit'
import { z } from 'zod'

export const subscriptionsConfig = z.object({
  ...commonSettings,
  /** Secret of the gateway's tokens for this service. */
  GATEWAY_TOKEN_SECRET: secret,
  /** Where checkout pages are served; goes into `checkout_url` while the order itself is still on its way. */
  PUBLIC_URL: z.url().transform(url => url.replace(/\/$/, '')),
  /** How often the scheduler looks for what is due; it is also woken by every change. */
  SCHEDULER_MS: integer(10).default(1_000),
  /** How long `POST /charge` waits for orders to create the order before it answers 202. */
  ORDER_WAIT_MS: integer(0, 10_000).default(2_000),
})
export type SubscriptionsConfig = z.infer<typeof subscriptionsConfig>
