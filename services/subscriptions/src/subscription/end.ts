import { ApiError } from '@ponte/contracts'
import { boundary } from '../calendar/calendar'
import { type Change, type Charge, type Fact, isLive, openAttempt, openOrderId, outstanding, type Subscription } from './subscription'

/** When and how a subscription ends: the merchant's command, the last charge, or its time. */

export interface PlannedEnd {
  at: Date
  kind: 'cancelled' | 'expired'
}

/** The instant at which it ends by itself, whatever is paid until then; null when it does not. */
export function plannedEnd(subscription: Subscription): PlannedEnd | null {
  const { cancelAt, expiresAt } = subscription
  const times = [
    ['cancelled', cancelAt],
    ['expired', expiresAt],
    ['expired', lastPeriodEnd(subscription)],
  ] as const
  const ends = times.flatMap(([kind, at]) => (at === null ? [] : [{ kind, at }]))
  return ends.length === 0 ? null : ends.reduce((first, end) => (end.at < first.at ? end : first))
}

/** Where `max_periods` counts periods, the end of the last; those of the trial do not count. */
function lastPeriodEnd({ schedule, maxPeriods, maxPeriodsCounts, trialPeriods }: Subscription): Date | null {
  if (!schedule || maxPeriods === null || maxPeriodsCounts === 'payments') return null
  return boundary(schedule, Math.max(trialPeriods + maxPeriods, schedule.firstIndex))
}

export function isPastEnd(subscription: Subscription, at: Date): boolean {
  const end = plannedEnd(subscription)
  return end !== null && end.at <= at
}

export const hasAllCharges = ({ maxPeriods, chargesDone }: Subscription) => maxPeriods !== null && chargesDone >= maxPeriods

/** The end of the period we are in; before the first, its beginning. Null without a schedule. */
export const periodEnd = ({ schedule, periodIndex }: Subscription): Date | null =>
  schedule && boundary(schedule, Math.max(periodIndex + 1, schedule.firstIndex))

/** The period that begins next and when; null without a schedule, and when the subscription will have ended by then. */
export function nextBoundary(subscription: Subscription): Date | null {
  const { schedule, periodIndex } = subscription
  return schedule && beginOf(subscription, Math.max(periodIndex + 1, schedule.firstIndex))
}

/** The next period that asks for money, and when it begins: those of the trial ask for none. */
export function nextCharged(subscription: Subscription): { periodIndex: number; at: Date } | null {
  const { schedule, lastPaidIndex } = subscription
  if (!schedule) return null
  const periodIndex = Math.max(subscription.periodIndex + 1, lastPaidIndex + 1, schedule.firstIndex)
  const at = beginOf(subscription, periodIndex)
  return at && { periodIndex, at }
}

function beginOf(subscription: Subscription, periodIndex: number): Date | null {
  if (!subscription.schedule) return null
  const next = boundary(subscription.schedule, periodIndex)
  const end = plannedEnd(subscription)
  return end !== null && next >= end.at ? null : next
}

/** When the first period that asks for money begins; null without a trial, and once a change of the schedule has passed it. */
export const trialEnd = ({ schedule, trialPeriods }: Subscription): Date | null =>
  schedule && trialPeriods >= Math.max(1, schedule.firstIndex) ? boundary(schedule, trialPeriods) : null

/** The merchant's cancellation; its open order goes with it. Answers null when it is cancelled already. Throws `invalid_state` when expired. */
export function cancel(subscription: Subscription, at: Date): Change | null {
  if (subscription.status === 'cancelled') return null
  if (subscription.status === 'expired') throw new ApiError('invalid_state', 'The subscription has expired, so there is nothing to cancel.')
  return { from: subscription, ...end(subscription, 'cancelled', at) }
}

/** The end of a subscription: the merchant's word, the last charge, or its time. Every order that is still open is named, to be closed. */
export function end(
  subscription: Subscription,
  kind: 'cancelled' | 'expired',
  at: Date,
): { subscription: Subscription; facts: readonly Fact[] } {
  const ended = kind === 'cancelled' ? { cancelledAt: at } : { expiredAt: at }
  return {
    subscription: letGo({ ...subscription, ...ended, status: kind, awaiting: null }),
    facts: [{ kind, openOrderIds: openOrderIds(subscription) }],
  }
}

/** The end that its time brings, once nothing is out that could still be paid; null before. */
export function endOnceSettled(subscription: Subscription, at: Date): { subscription: Subscription; facts: readonly Fact[] } | null {
  const planned = plannedEnd(subscription)
  if (!isLive(subscription) || planned === null || planned.at > at || outstanding(subscription).length > 0) return null
  return end(subscription, planned.kind, at)
}

/** A subscription that has ended asks for nothing more: what no order can pay any longer is skipped. */
export function letGo(subscription: Subscription): Subscription {
  const charges = subscription.charges.map(
    (charge): Charge => (charge.status === 'open' && !openAttempt(charge) ? { ...charge, status: 'skipped' } : charge),
  )
  return { ...subscription, charges }
}

/** Every open order, the one that a payer should pay now first. */
function openOrderIds(subscription: Subscription): string[] {
  const newestFirst = subscription.charges.toSorted((a, b) => b.periodIndex - a.periodIndex)
  const open = newestFirst.flatMap(({ attempts }) => attempts.filter(({ status }) => status === 'open').map(({ orderId }) => orderId))
  const payable = openOrderId(subscription)
  return payable === null ? open : [payable, ...open.filter(id => id !== payable)]
}
