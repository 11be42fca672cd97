import { type Customer, formatBrl, type SubscriptionBody, type SubscriptionChargeBody } from '@ponte/contracts'
import { type CsvColumn, fieldColumns } from '@ponte/service-kit'
import { nextChargeAt } from '../subscription/charges'
import { plannedEnd, trialEnd } from '../subscription/end'
import { REQUESTED } from '../subscription/period'
import { type Charge, currentCharge, isLive, openAttempt, openOrderId, type Subscription } from '../subscription/subscription'

export const CHARGES_SHOWN = 24

export function subscriptionBody(
  subscription: Subscription,
  { at, publicUrl, livemode }: { at: Date; publicUrl: string; livemode: boolean },
  charges?: readonly Charge[],
): SubscriptionBody {
  const { schedule, periodIndex, payerToken } = subscription
  return {
    object: 'subscription',
    id: subscription.id,
    livemode,
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
    next_charge_at: text(nextChargeAt(subscription, at)),
    charges_done: subscription.chargesDone,
    max_periods: subscription.maxPeriods,
    expires_at: text(subscription.expiresAt),
    ends_at: text((isLive(subscription) && plannedEnd(subscription)?.at) || null),
    order_expires_in: subscription.orderExpiresInS,
    open_order_id: isLive(subscription) ? openOrderId(subscription) : null,
    retry_after: [...subscription.dunning.retryAfterS],
    unpaid_periods_max: subscription.dunning.unpaidPeriodsMax,
    when_unpaid: subscription.dunning.whenUnpaid,
    upcoming_notice: subscription.dunning.noticeS,
    max_periods_counts: subscription.maxPeriodsCounts,
    trial_periods: subscription.trialPeriods,
    trial_ends_at: text(trialEnd(subscription)),
    cancel_at_period_end: subscription.cancelAt !== null,
    cancel_at: text(subscription.cancelAt),
    waiting_for: isLive(subscription) ? waitingFor(subscription) : null,
    paused_at: text(subscription.pausedAt),
    pause_reason: subscription.pauseReason,
    ...(charges ? { charges: charges.flatMap(chargeBodies).slice(0, CHARGES_SHOWN) } : {}),
    created_at: subscription.createdAt.toISOString(),
    cancelled_at: text(subscription.cancelledAt),
    expired_at: text(subscription.expiredAt),
    payer_url: payerToken && `${publicUrl}/pay/subscription/${payerToken}`,
    ...customerOf(subscription),
  }
}

/** Only where one was named. */
function customerOf({ customer }: Subscription): { customer?: Customer } {
  if (customer === null) return {}
  const { given_at: _, ...shown } = customer
  return { customer: shown }
}

/** Why the current period's order is not there, though it is due. */
function waitingFor(subscription: Subscription): string | null {
  if (subscription.awaiting !== null) return 'payout_address_required'
  const current = currentCharge(subscription)
  return (current && shownReason(openAttempt(current)?.reason)) ?? null
}

/** That orders has not answered yet is no reason to show. */
const shownReason = (reason: string | null | undefined): string | null => (reason === undefined || reason === REQUESTED ? null : reason)

/** A gap that was skipped at once is shown period by period. */
const chargeBodies = (charge: Charge): SubscriptionChargeBody[] =>
  Array.from({ length: Math.min(charge.periods, CHARGES_SHOWN) }, (_, n) => chargeBody(charge, charge.periodIndex + charge.periods - 1 - n))

const chargeBody = (charge: Charge, periodIndex: number): SubscriptionChargeBody => ({
  period_index: periodIndex,
  status: charge.status,
  brl_amount: formatBrl(charge.brlCentavos),
  issued_at: text(charge.issuedAt),
  paid_at: text(charge.paidAt),
  received_brl_amount: formatBrl(charge.attempts.reduce((sum, { receivedCentavos }) => sum + receivedCentavos, 0n)),
  orders: charge.attempts.map(({ orderId, status, issuedAt, brlCentavos, reason }) => ({
    id: orderId,
    status,
    issued_at: issuedAt.toISOString(),
    brl_amount: formatBrl(brlCentavos),
    reason: shownReason(reason),
  })),
})

const text = (at: Date | null) => at?.toISOString() ?? null

/** Without `payer_url`: who has that link can open it. */
export const subscriptionColumns: readonly CsvColumn<SubscriptionBody>[] = [
  ...fieldColumns(['id', 'created_at', 'status', 'external_ref', 'description', 'brl_amount', 'interval', 'interval_count']),
  ...fieldColumns(['timezone', 'start_at', 'next_charge_at', 'charges_done', 'max_periods', 'expires_at', 'trial_ends_at']),
  ...fieldColumns(['open_order_id', 'waiting_for', 'paused_at', 'cancel_at', 'cancelled_at', 'expired_at']),
]
