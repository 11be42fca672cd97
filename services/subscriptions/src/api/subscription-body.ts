import { formatBrl, type SubscriptionBody, type SubscriptionChargeBody } from '@ponte/contracts'
import { type Charge, isLive, nextChargeAt, openOrderId, type Subscription } from '../subscription'

/** The subscription as the API shows it; with `charges` when they were asked for. */
export function subscriptionBody(subscription: Subscription, charges?: readonly Charge[]): SubscriptionBody {
  const { schedule, periodIndex } = subscription
  return {
    object: 'subscription',
    id: subscription.id,
    status: subscription.status,
    external_ref: subscription.externalRef,
    description: subscription.description,
    metadata: subscription.metadata,
    brl_amount: formatBrl(subscription.brlCentavos),
    interval: schedule?.interval ?? null,
    interval_count: schedule?.intervalCount ?? null,
    timezone: subscription.timezone,
    start_at: subscription.startAt.toISOString(),
    current_period_index: periodIndex < 0 ? null : periodIndex,
    next_charge_at: text(nextChargeAt(subscription)),
    charges_done: subscription.chargesDone,
    max_periods: subscription.maxPeriods,
    expires_at: text(subscription.expiresAt),
    order_expires_in: subscription.orderExpiresInS,
    open_order_id: isLive(subscription) ? openOrderId(subscription) : null,
    ...(charges ? { charges: charges.map(chargeBody) } : {}),
    created_at: subscription.createdAt.toISOString(),
    cancelled_at: text(subscription.cancelledAt),
    expired_at: text(subscription.expiredAt),
  }
}

const chargeBody = (charge: Charge): SubscriptionChargeBody => ({
  period_index: charge.periodIndex,
  status: charge.status,
  brl_amount: formatBrl(charge.brlCentavos),
  issued_at: text(charge.issuedAt),
  paid_at: text(charge.paidAt),
  orders: charge.attempts.map(({ orderId, status, issuedAt }) => ({ id: orderId, status, issued_at: issuedAt.toISOString() })),
})

const text = (at: Date | null) => at?.toISOString() ?? null
