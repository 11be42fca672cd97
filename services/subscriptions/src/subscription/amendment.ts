import { ApiError } from '@ponte/contracts'
import { reschedule, type Schedule } from './calendar'
import { advance, type Means } from './charges'
import { type Change, end, hasAllCharges, isLive, type Subscription } from './subscription'

/** What a merchant may change; what is absent stays. */
export type Amendment = Partial<
  Pick<
    Subscription,
    'externalRef' | 'description' | 'metadata' | 'brlCentavos' | 'timezone' | 'orderExpiresInS' | 'maxPeriods' | 'expiresAt' | 'dunning'
  > &
    Pick<Schedule, 'interval' | 'intervalCount'> & { paused: boolean }
>

/**
 * The merchant's changes, from the next period on: what is due now is issued first, on the old terms. Throws `invalid_state` on a final
 * state, `invalid_request` on a value that this subscription cannot take.
 */
export function amend(subscription: Subscription, amendment: Amendment, at: Date, means: Means): Change {
  const due = advance(subscription, at, means)
  const { subscription: current } = due
  if (!isLive(current)) throw new ApiError('invalid_state', `The subscription is ${current.status}, so it can no longer be changed.`)
  const { interval, intervalCount, paused, ...terms } = amendment
  refuseUnfit(current, amendment, at)
  const next: Subscription = { ...current, ...terms, ...pauseOf(current, paused, at), schedule: nextSchedule(current, amendment) }
  const ended = hasAllCharges(next) ? end(next, 'expired', at) : null
  return { from: subscription, subscription: ended?.subscription ?? next, facts: [...due.facts, ...(ended?.facts ?? [])] }
}

/** A plan that goes on has not been left unpaid yet: it is given all its periods again. */
function pauseOf({ pausedAt, unpaidPeriods }: Subscription, paused: boolean | undefined, at: Date) {
  if (paused === undefined) return { pausedAt, unpaidPeriods }
  return paused ? { pausedAt: pausedAt ?? at, unpaidPeriods } : { pausedAt: null, unpaidPeriods: pausedAt ? 0 : unpaidPeriods }
}

function nextSchedule({ schedule, periodIndex }: Subscription, { interval, intervalCount, timezone }: Amendment): Schedule | null {
  if (!schedule || (interval ?? intervalCount ?? timezone) === undefined) return schedule
  const change = {
    interval: interval ?? schedule.interval,
    intervalCount: intervalCount ?? schedule.intervalCount,
    timezone: timezone ?? schedule.timezone,
  }
  return reschedule(schedule, change, Math.max(periodIndex + 1, schedule.firstIndex))
}

function refuseUnfit(subscription: Subscription, amendment: Amendment, at: Date): void {
  const { maxPeriods, expiresAt, interval, intervalCount } = amendment
  if (maxPeriods && maxPeriods < subscription.chargesDone)
    refuse('max_periods', `must not be below charges_done, which is ${subscription.chargesDone}`)
  if (expiresAt && expiresAt <= at) refuse('expires_at', 'must lie ahead')
  if (expiresAt && expiresAt <= subscription.startAt) refuse('expires_at', 'must lie after start_at')
  if (subscription.schedule) return
  if (interval !== undefined) refuse('interval', 'cannot be given to a subscription that was created without one')
  if (intervalCount !== undefined) refuse('interval_count', 'needs an interval, which this subscription was created without')
}

function refuse(path: string, message: string): never {
  throw new ApiError('invalid_request', `The body is not valid: ${path} ${message}.`, { errors: [{ path, message }] })
}
