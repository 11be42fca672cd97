import { commonSettings, integer, list, secrets } from '@ponte/service-kit'
import { z } from 'zod'

export const subscriptionsConfig = z.object({
  ...commonSettings,
  /** Secret of the gateway's tokens for this service, or several while it is changed. */
  GATEWAY_TOKEN_SECRET: secrets,
  /** Where checkout pages are served; goes into `checkout_url` while the order itself is still on its way. */
  PUBLIC_URL: z.url().transform(url => url.replace(/\/$/, '')),
  /** Pause between two looks of the scheduler; every change wakes it too. */
  SCHEDULER_MS: integer(10).default(1_000),
  /** Longest wait of `POST /charge` for its order before it answers 202. */
  ORDER_WAIT_MS: integer(0, 10_000).default(2_000),
  /** Seconds after a period's first order at which it is issued again while it expires unpaid. */
  RETRY_AFTER_S: list.pipe(z.array(integer(3_600, 31_536_000)).max(10)).default([86_400, 259_200, 604_800]),
  /** Seconds before a charge at which `subscription.upcoming` is published; 0 for never. */
  UPCOMING_NOTICE_S: integer(0, 31_536_000).default(259_200),
  /** After so many unpaid periods in a row WHEN_UNPAID is done about a plan. */
  UNPAID_PERIODS_MAX: integer(1, 1_000).default(3),
  /** `pause`: no order is issued until it is paid or resumed. `cancel`: it ends. `leave`: it goes on for ever. */
  WHEN_UNPAID: z.enum(['leave', 'pause', 'cancel']).default('pause'),
})
export type SubscriptionsConfig = z.infer<typeof subscriptionsConfig>
