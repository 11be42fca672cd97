import type { PaidData } from '@ponte/contracts'
import { type NewSubscription, open, type Subscription } from '../src/subscription/subscription'

/** A monthly plan of R$ 49.90 that leaves who does not pay alone, but for what a test wants of it. */
export const openPlan = (input: Partial<NewSubscription> & { startAt: Date }, at = input.startAt): Subscription =>
  open(
    {
      ...{ id: 's', merchantId: 'm', payerToken: null, externalRef: null, description: null, metadata: {}, brlCentavos: 4990n },
      ...{ plan: { interval: 'month', intervalCount: 1 }, timezone: 'UTC', orderExpiresInS: 86_400, expiresAt: null },
      ...{ maxPeriods: null, maxPeriodsCounts: 'payments', trialPeriods: 0 },
      dunning: { noticeS: 0, retryAfterS: [], unpaidPeriodsMax: 3, whenUnpaid: 'leave' },
      ...input,
    },
    at,
  )

/** As orders reports an order of it that is paid. */
export const paidOrder = (id: string): PaidData => ({
  ...{ id, subscription_id: 's', external_ref: null, brl_amount: '49.90', usdc_amount: '9.206643', tx_hash: `0x${'1'.repeat(64)}` },
  ...{ memo: 'a'.repeat(64), paid_at: '2026-01-31T12:00:00.000Z' },
})
