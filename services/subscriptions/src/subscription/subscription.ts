import type { NamedCustomer, PaidData } from '@ponte/contracts'
import { openSchedule, type Schedule } from '../calendar/calendar'

export type SubscriptionStatus = 'active' | 'past_due' | 'cancelled' | 'expired'

/** One order that asks for a period's money. `duplicate`: it was paid after another order of the same period had been. */
export interface Attempt {
  orderId: string
  memo: string
  status: 'open' | 'paid' | 'duplicate' | 'expired' | 'cancelled'
  issuedAt: Date
  /** When it ends, opened or not; null when the release before asked for it. */
  endsAt: Date | null
  /** The period's amount, less earlier payments. */
  brlCentavos: bigint
  /** Confirmed for it while it was not paid, by the latest report of orders. */
  receivedCentavos: bigint
  reportRevision: number
  receivedOrder: PaidData | null
  /** Why it is not opened yet, or never was; null once orders has opened it. */
  reason: string | null
  /** When new terms, or money that came late, took its place: once it is closed another is issued for what is missing. Null otherwise. */
  replacedAt: Date | null
}

/** As the plan's were when the period was first charged. */
export type Wording = Pick<Subscription, 'externalRef' | 'description' | 'metadata'>

/** One period's claim. `skipped`: the period ended unpaid; money that still arrives in time counts all the same. */
export interface Charge {
  periodIndex: number
  /** More than one when a gap was skipped at once. */
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

/** Automatic steps before a charge is due, and for a plan that is not paid. */
export interface Dunning {
  /** Notice to the merchant before a charge, in seconds; 0 for never. */
  noticeS: number
  /** When an order that expired unpaid is issued again, in seconds after the period's first. */
  retryAfterS: readonly number[]
  /** After this many unpaid periods in a row `whenUnpaid` is done. */
  unpaidPeriodsMax: number
  whenUnpaid: 'leave' | 'pause' | 'cancel'
}

export interface Subscription {
  id: string
  merchantId: string
  /** Names the payer's page. Null only between two migrations. */
  payerToken: string | null
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
  /** `maxPeriods` counts charges that were paid, or periods, paid or not. */
  maxPeriodsCounts: 'payments' | 'periods'
  /** So many periods at the beginning ask for nothing. */
  trialPeriods: number
  expiresAt: Date | null
  /** When it is cancelled by itself: the end of the period in which the merchant decided so. Null otherwise. */
  cancelAt: Date | null
  chargesDone: number
  dunning: Dunning
  /** Each order that is issued has it; null without one. */
  customer: NamedCustomer | null
  /** Periods that are known to have ended unpaid, after the latest that was paid or forgiven. */
  unpaidPeriods: number
  /** Periods up to this one count no more: the merchant had the plan go on. -1 for none. */
  forgivenIndex: number
  /** The scheduler waits for this before it issues what is due; null for nothing. */
  awaiting: 'payout_address' | null
  /** Since when nothing is issued by itself; null while it is not paused. */
  pausedAt: Date | null
  /** Paused by the merchant, or after too many unpaid periods; null while it is not paused. */
  pauseReason: 'merchant' | 'unpaid' | null
  /** The period we are in, -1 before the first. Without a schedule: the number of the charge that comes next. */
  periodIndex: number
  /** The latest period that was paid or belongs to the trial, -1 for none. */
  lastPaidIndex: number
  /** The latest period whose charge was announced, -1 for none. */
  upcomingIndex: number
  createdAt: Date
  cancelledAt: Date | null
  expiredAt: Date | null
  version: number
  /** The charges that can still change: unpaid ones, those with an open order, and the one that is being asked about. */
  charges: readonly Charge[]
}

/** A decision before it becomes an event. */
export type Fact =
  | { kind: 'charge_requested'; charge: Charge; attempt: Attempt; expiresInS: number; wording: Wording }
  | { kind: 'charged'; chargesDone: number; order: PaidData; accepted?: { by: string | null } }
  | { kind: 'superseded'; orderId: string; isReplaced?: boolean; deductedCentavos?: bigint }
  | { kind: 'duplicate'; orderId: string; periodIndex: number }
  | { kind: 'skipped'; periods: number }
  | { kind: 'upcoming'; periodIndex: number; chargeAt: Date }
  | { kind: 'past_due'; periodIndex: number; missingCentavos: bigint }
  | { kind: 'paused' | 'resumed' }
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
  payerToken: string | null
  externalRef: string | null
  description: string | null
  metadata: Record<string, string>
  brlCentavos: bigint
  plan: { interval: Schedule['interval']; intervalCount: number } | null
  timezone: string
  startAt: Date
  orderExpiresInS: number
  maxPeriods: number | null
  maxPeriodsCounts: Subscription['maxPeriodsCounts']
  trialPeriods: number
  expiresAt: Date | null
  dunning: Dunning
  customer?: NamedCustomer | null
}

/** A new subscription. Nothing is charged yet: the scheduler or the merchant does that next. */
export function open(input: NewSubscription, at: Date): Subscription {
  const { plan, ...rest } = input
  return {
    ...rest,
    customer: input.customer ?? null,
    status: 'active',
    schedule: plan && openSchedule({ ...plan, timezone: input.timezone, startAt: input.startAt }),
    chargesDone: 0,
    periodIndex: plan ? -1 : 0,
    lastPaidIndex: input.trialPeriods - 1,
    upcomingIndex: -1,
    cancelAt: null,
    unpaidPeriods: 0,
    forgivenIndex: -1,
    awaiting: null,
    pausedAt: null,
    pauseReason: null,
    createdAt: at,
    cancelledAt: null,
    expiredAt: null,
    version: 1,
    charges: [],
  }
}

export const isLive = (subscription: Subscription) => subscription.status === 'active' || subscription.status === 'past_due'

export const currentCharge = ({ charges, periodIndex }: Subscription) => charges.find(charge => charge.periodIndex === periodIndex)

export const wordingOf = ({ externalRef, description, metadata }: Subscription): Wording => ({ externalRef, description, metadata })

/** Unpaid charges with an order that can still be paid. */
export const outstanding = ({ charges }: Subscription) => charges.filter(charge => charge.status !== 'paid' && openAttempt(charge))

export const openAttempt = (charge: Charge) => charge.attempts.find(attempt => attempt.status === 'open')

/** The order that a payer should pay now, of the newest period that has one. */
export function openOrderId(subscription: Subscription): string | null {
  const newest = outstanding(subscription).toSorted((a, b) => b.periodIndex - a.periodIndex)[0]
  return (newest && openAttempt(newest)?.orderId) ?? null
}
