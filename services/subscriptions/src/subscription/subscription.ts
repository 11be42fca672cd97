import { ApiError, type PaidData } from '@ponte/contracts'
import { boundary, openSchedule, type Schedule } from './calendar'

export type SubscriptionStatus = 'active' | 'past_due' | 'cancelled' | 'expired'

/** One order that asks for a period's money. `duplicate`: it was paid after another order of the same period had been. */
export interface Attempt {
  orderId: string
  memo: string
  status: 'open' | 'paid' | 'duplicate' | 'expired' | 'cancelled'
  issuedAt: Date
  /** When it ends, opened or not; null when the release before asked for it. */
  endsAt: Date | null
  /** What it asks for: the period's amount, less what came before. */
  brlCentavos: bigint
  /** What orders reported as confirmed for it while it was not paid, and that report. */
  receivedCentavos: bigint
  reportRevision: number
  receivedOrder: PaidData | null
  /** Why it is not opened yet, or never was; null once orders has opened it. */
  reason: string | null
}

/** What orders of a period show to its payer: the plan's as they were when the period was first charged. */
export type Wording = Pick<Subscription, 'externalRef' | 'description' | 'metadata'>

/** What one period asks for, once. `skipped`: the period ended unpaid; money that still arrives in time counts all the same. */
export interface Charge {
  periodIndex: number
  /** How many periods it stands for: more than one when a gap was skipped at once. */
  periods: number
  status: 'open' | 'paid' | 'skipped'
  brlCentavos: bigint
  /** Null when nothing was asked, and for what the release before asked. */
  wording: Wording | null
  /** When its first order was issued; null when it was missed without one. */
  issuedAt: Date | null
  paidAt: Date | null
  attempts: readonly Attempt[]
}

/** What is done about a plan that is not paid. */
export interface Dunning {
  /** When an order that expired unpaid is issued again, in seconds after the period's first. */
  retryAfterS: readonly number[]
  /** After this many unpaid periods in a row `whenUnpaid` is done. */
  unpaidPeriodsMax: number
  whenUnpaid: 'leave' | 'pause' | 'cancel'
}

export interface Subscription {
  id: string
  merchantId: string
  status: SubscriptionStatus
  externalRef: string | null
  description: string | null
  metadata: Record<string, string>
  brlCentavos: bigint
  timezone: string
  startAt: Date
  /** Null when the merchant alone decides when to charge. */
  schedule: Schedule | null
  orderExpiresInS: number
  maxPeriods: number | null
  expiresAt: Date | null
  chargesDone: number
  dunning: Dunning
  /** Periods that ended unpaid since the last payment. */
  unpaidPeriods: number
  /** What the scheduler waits for before it issues what is due; null for nothing. */
  awaiting: 'payout_address' | null
  /** Since when nothing is issued by itself; null while it is not paused. */
  pausedAt: Date | null
  /** The period we are in, -1 before the first. Without a schedule: the number of the charge that comes next. */
  periodIndex: number
  /** The latest period that was paid, -1 for none. */
  lastPaidIndex: number
  createdAt: Date
  cancelledAt: Date | null
  expiredAt: Date | null
  version: number
  /** The charges that can still change: unpaid ones, those with an open order, and the one that is being asked about. */
  charges: readonly Charge[]
}

/** What a decision did, before it becomes an event. */
export type Fact =
  | { kind: 'charge_requested'; charge: Charge; attempt: Attempt; expiresInS: number; wording: Wording }
  | { kind: 'charged'; chargesDone: number; order: PaidData }
  | { kind: 'superseded'; orderId: string }
  | { kind: 'duplicate'; orderId: string; periodIndex: number }
  | { kind: 'skipped'; periods: number }
  | { kind: 'paused' }
  | { kind: 'cancelled' | 'expired'; openOrderIds: readonly string[] }

/** The state that was decided on, the next one, and what happened; the same state and no facts when nothing did. */
export interface Change {
  from: Subscription
  subscription: Subscription
  facts: readonly Fact[]
}

export interface NewSubscription {
  id: string
  merchantId: string
  externalRef: string | null
  description: string | null
  metadata: Record<string, string>
  brlCentavos: bigint
  plan: { interval: Schedule['interval']; intervalCount: number } | null
  timezone: string
  startAt: Date
  orderExpiresInS: number
  maxPeriods: number | null
  expiresAt: Date | null
  dunning: Dunning
}

/** A new subscription. Nothing is charged yet: the scheduler or the merchant does that next. */
export function open(input: NewSubscription, at: Date): Subscription {
  const { plan, ...rest } = input
  return {
    ...rest,
    status: 'active',
    schedule: plan && openSchedule({ ...plan, timezone: input.timezone, startAt: input.startAt }),
    chargesDone: 0,
    periodIndex: plan ? -1 : 0,
    lastPaidIndex: -1,
    unpaidPeriods: 0,
    awaiting: null,
    pausedAt: null,
    createdAt: at,
    cancelledAt: null,
    expiredAt: null,
    version: 1,
    charges: [],
  }
}

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

/** A subscription that has ended asks for nothing more: what no order can pay any longer is skipped. */
export function letGo(subscription: Subscription): Subscription {
  const charges = subscription.charges.map(charge =>
    charge.status === 'open' && !openAttempt(charge) ? { ...charge, status: 'skipped' as const } : charge,
  )
  return { ...subscription, charges }
}

export const isLive = (subscription: Subscription) => subscription.status === 'active' || subscription.status === 'past_due'

export const isPastEnd = ({ expiresAt }: Subscription, at: Date) => expiresAt !== null && expiresAt <= at

export const hasAllCharges = ({ maxPeriods, chargesDone }: Subscription) => maxPeriods !== null && chargesDone >= maxPeriods

export const currentCharge = ({ charges, periodIndex }: Subscription) => charges.find(charge => charge.periodIndex === periodIndex)

/** Unpaid charges with an order that can still be paid. */
export const outstanding = ({ charges }: Subscription) => charges.filter(charge => charge.status !== 'paid' && openAttempt(charge))

export const openAttempt = (charge: Charge) => charge.attempts.find(attempt => attempt.status === 'open')

/** The order that a payer should pay now, of the newest period that has one. */
export function openOrderId(subscription: Subscription): string | null {
  const newest = outstanding(subscription).toSorted((a, b) => b.periodIndex - a.periodIndex)[0]
  return (newest && openAttempt(newest)?.orderId) ?? null
}

/** Every open order, the one that a payer should pay now first. */
function openOrderIds(subscription: Subscription): string[] {
  const newestFirst = subscription.charges.toSorted((a, b) => b.periodIndex - a.periodIndex)
  const open = newestFirst.flatMap(({ attempts }) => attempts.filter(({ status }) => status === 'open').map(({ orderId }) => orderId))
  const payable = openOrderId(subscription)
  return payable === null ? open : [payable, ...open.filter(id => id !== payable)]
}

/** True when the orders that are out would, if paid, complete the subscription: no other may be issued meanwhile. */
export function isHeld(subscription: Subscription): boolean {
  const { maxPeriods, chargesDone } = subscription
  return maxPeriods !== null && chargesDone + outstanding(subscription).length >= maxPeriods
}

/** When the next period begins; null without a schedule, and when the subscription will have expired by then. */
export function nextBoundary({ schedule, periodIndex, expiresAt }: Subscription): Date | null {
  if (!schedule) return null
  const next = boundary(schedule, Math.max(periodIndex + 1, schedule.firstIndex))
  return expiresAt !== null && next >= expiresAt ? null : next
}
