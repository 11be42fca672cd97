import { interval, namedCustomer, paidData, subscriptionStatus } from '@ponte/contracts'
import { UnknownMessageError } from '@ponte/service-kit'
import type { Charge as ChargeRow, Attempt as FullAttemptRow, Subscription as SubscriptionRow } from '../generated/client'
import { wakeAt } from '../subscription/charges'
import type { Attempt, Charge, Dunning, Subscription, Wording } from '../subscription/subscription'

/** Never changed after creation. */
const fixed = {
  id: s => s.id,
  merchant_id: s => s.merchantId,
  start_at: s => s.startAt,
  trial_periods: s => s.trialPeriods,
  max_periods_counts: s => s.maxPeriodsCounts,
  created_at: s => s.createdAt,
  payer_token: s => s.payerToken,
} satisfies Columns

/** Every column that a commit may change, with the value it takes: in one place for insert and update. */
const changing = {
  status: s => s.status,
  external_ref: s => s.externalRef,
  description: s => s.description,
  metadata: s => s.metadata,
  brl_centavos: s => s.brlCentavos,
  timezone: s => s.timezone,
  interval: s => s.schedule?.interval ?? null,
  interval_count: s => s.schedule?.intervalCount ?? null,
  schedule_first_index: s => s.schedule?.firstIndex ?? null,
  schedule_first_at: s => s.schedule?.firstAt ?? null,
  schedule_anchor: s => s.schedule?.anchor ?? null,
  schedule_offset: s => s.schedule?.offset ?? null,
  order_expires_in_s: s => s.orderExpiresInS,
  max_periods: s => s.maxPeriods,
  expires_at: s => s.expiresAt,
  charges_done: s => s.chargesDone,
  period_index: s => s.periodIndex,
  last_paid_index: s => s.lastPaidIndex,
  wake_at: (s, at) => wakeAt(s, at),
  cancelled_at: s => s.cancelledAt,
  expired_at: s => s.expiredAt,
  cancel_at: s => s.cancelAt,
  upcoming_index: s => s.upcomingIndex,
  upcoming_notice_s: s => s.dunning.noticeS,
  retry_after_s: s => s.dunning.retryAfterS,
  unpaid_periods_max: s => s.dunning.unpaidPeriodsMax,
  when_unpaid: s => s.dunning.whenUnpaid,
  unpaid_periods: s => s.unpaidPeriods,
  forgiven_index: s => s.forgivenIndex,
  paused_at: s => s.pausedAt,
  pause_reason: s => s.pauseReason,
  awaiting: s => s.awaiting,
  customer: s => s.customer,
} satisfies Columns

type Columns = Readonly<Record<string, (subscription: Subscription, at: Date) => unknown>>

export const fixedColumns: readonly string[] = Object.keys(fixed)
export const changingColumns: readonly string[] = Object.keys(changing)

export const recordOf = (subscription: Subscription, at: Date): object =>
  Object.fromEntries(
    Object.entries({ ...fixed, ...changing, version: (s: Subscription) => s.version } satisfies Columns).map(([column, read]) => [
      column,
      read(subscription, at),
    ]),
  )

type AttemptRow = Omit<FullAttemptRow, 'orderBody' | 'orderState' | 'orderStateRevision'>
export type FullRow = SubscriptionRow & { charges: (ChargeRow & { attempts: AttemptRow[] })[] }

/** The database has text where the domain has a closed set; what lies outside is of a newer release, and is left to its replicas. A plan of the release before takes the deployment's times and counts. */
export function toSubscription({ charges, ...columns }: FullRow, dunning: Dunning): Subscription {
  const { retryAfterS, unpaidPeriodsMax, whenUnpaid, upcomingNoticeS, ...row } = columns
  return {
    ...row,
    status: oneOf(subscriptionStatus.options, row.status),
    metadata: row.metadata as Record<string, string>,
    schedule: toSchedule(row),
    customer: row.customer === null ? null : namedCustomer.parse(row.customer),
    dunning: {
      ...(unpaidPeriodsMax === null ? dunning : { retryAfterS, unpaidPeriodsMax }),
      noticeS: upcomingNoticeS ?? dunning.noticeS,
      whenUnpaid: oneOf(['leave', 'pause', 'cancel'], whenUnpaid),
    },
    maxPeriodsCounts: oneOf(['payments', 'periods'], row.maxPeriodsCounts),
    // A replica of the release before pauses without a reason: no payment undoes what may be the merchant's wish.
    pauseReason: row.pausedAt === null ? null : row.pauseReason === 'unpaid' ? 'unpaid' : 'merchant',
    awaiting: row.awaiting === null ? null : oneOf<'payout_address'>(['payout_address'], row.awaiting),
    charges: charges.map(toCharge),
  }
}

function toSchedule(
  row: Omit<SubscriptionRow, 'retryAfterS' | 'unpaidPeriodsMax' | 'whenUnpaid' | 'upcomingNoticeS'>,
): Subscription['schedule'] {
  const { intervalCount, scheduleFirstIndex, scheduleFirstAt, scheduleAnchor, scheduleOffset, timezone } = row
  if (row.interval === null) return null
  if (intervalCount === null || scheduleFirstIndex === null || !scheduleFirstAt || scheduleAnchor === null || scheduleOffset === null)
    throw new Error(`Subscription ${row.id} has half a schedule.`)
  return {
    interval: oneOf(interval.options, row.interval),
    intervalCount,
    timezone,
    firstIndex: scheduleFirstIndex,
    firstAt: scheduleFirstAt,
    anchor: scheduleAnchor,
    offset: scheduleOffset,
  }
}

export const toCharge = (row: ChargeRow & { attempts: AttemptRow[] }): Charge => ({
  periodIndex: row.periodIndex,
  periods: row.periods,
  status: oneOf(['open', 'paid', 'skipped'], row.status),
  brlCentavos: row.brlCentavos,
  wording: row.wording as Wording | null,
  issuedAt: row.issuedAt,
  paidAt: row.paidAt,
  attempts: row.attempts.map(attempt => toAttempt(attempt, row.brlCentavos)),
})

const toAttempt = ({ status, brlCentavos, receivedOrder, ...row }: AttemptRow, wholeCentavos: bigint): Attempt => ({
  ...row,
  status: oneOf(['open', 'paid', 'duplicate', 'expired', 'cancelled'], status),
  brlCentavos: brlCentavos ?? wholeCentavos,
  receivedOrder: receivedOrder === null ? null : paidData.parse(receivedOrder),
})

function oneOf<T extends string>(allowed: readonly T[], value: string): T {
  const known = allowed.find(item => item === value)
  if (known === undefined) throw new UnknownMessageError(`A row is ${value}, which is not known here; a newer release may have written it.`)
  return known
}
