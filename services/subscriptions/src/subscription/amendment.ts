import { isDeepStrictEqual } from 'node:util'
import { ApiError, invalidField, metadata as metadataSchema } from '@ponte/contracts'
import { reschedule, type Schedule } from '../calendar/calendar'
import { advance, type Means, requireAnotherOrder } from './charges'
import { judge } from './dunning'
import { end, hasAllCharges, periodEnd } from './end'
import { type Change, currentCharge, type Fact, isLive, openAttempt, type Subscription, wordingOf } from './subscription'

/** Absent fields stay. */
export type Amendment = Partial<
  Pick<
    Subscription,
    'externalRef' | 'description' | 'brlCentavos' | 'timezone' | 'orderExpiresInS' | 'maxPeriods' | 'expiresAt' | 'dunning' | 'customer'
  > &
    Pick<Schedule, 'interval' | 'intervalCount'> & {
      /** Key by key; null removes one. */
      metadata: Record<string, string | null>
      paused: boolean
      cancelAtPeriodEnd: boolean
      /** Whether amount and wording hold for the current period too, as long as it is not paid. */
      appliesNow: boolean
    }
>

/**
 * The merchant's changes, from the next period on or from now on: what is due now is issued first, on the old terms. Throws `invalid_state` on a final
 * state, `invalid_request` on a value that this subscription cannot take.
 */
export function amend(subscription: Subscription, amendment: Amendment, at: Date, means: Means): Change {
  const due = advance(subscription, at, means)
  const { subscription: current } = due
  if (!isLive(current)) throw new ApiError('invalid_state', `The subscription is ${current.status}, so it can no longer be changed.`)
  refuseUnfit(current, amendment, at)
  const { interval, intervalCount, paused, cancelAtPeriodEnd, appliesNow, metadata, ...terms } = amendment
  const wanted: Subscription = {
    ...current,
    ...terms,
    metadata: merged(current.metadata, metadata),
    ...pauseOf(current, paused, at),
    cancelAt: cancelAtOf(current, cancelAtPeriodEnd),
    schedule: nextSchedule(current, amendment),
  }
  const amended = isDeepStrictEqual(wanted, current) ? current : wanted
  const [wasPaused, isPaused] = [current.pausedAt !== null, amended.pausedAt !== null]
  const pausing: Fact[] = wasPaused === isPaused ? [] : [{ kind: isPaused ? 'paused' : 'resumed' }]
  const asked = appliesNow === true ? askAnew(amended, at) : { subscription: amended, facts: [] }
  const judged = hasAllCharges(asked.subscription) ? end(asked.subscription, 'expired', at) : judge(current, asked.subscription, at)
  return { from: subscription, subscription: judged.subscription, facts: [...due.facts, ...pausing, ...asked.facts, ...judged.facts] }
}

/** The customer alone, in any state: it changes nothing of what is charged, and can be erased of a subscription that is over. */
export const rename = (subscription: Subscription, customer: Subscription['customer']): Change => ({
  from: subscription,
  subscription: { ...subscription, customer },
  facts: [],
})

/**
 * The current period asks for the new amount, with the new wording. An order that is open is to be closed as soon as no money counts for it, and only
 * then another is issued: a payer never faces two.
 */
function askAnew(subscription: Subscription, at: Date): { subscription: Subscription; facts: readonly Fact[] } {
  const current = currentCharge(subscription)
  if (current?.status !== 'open') return { subscription, facts: [] }
  const terms = { brlCentavos: subscription.brlCentavos, wording: wordingOf(subscription) }
  if (JSON.stringify(terms.wording) === JSON.stringify(current.wording) && terms.brlCentavos === current.brlCentavos)
    return { subscription, facts: [] }
  const open = openAttempt(current)
  const attempts = current.attempts.map(attempt => (attempt === open ? { ...attempt, replacedAt: attempt.replacedAt ?? at } : attempt))
  const charges = subscription.charges.map(charge => (charge === current ? { ...charge, ...terms, attempts } : charge))
  const isNew = open !== undefined && open.replacedAt === null
  if (isNew) requireAnotherOrder(current, at)
  return {
    subscription: { ...subscription, charges },
    facts: isNew ? [{ kind: 'superseded', orderId: open.orderId, isReplaced: true }] : [],
  }
}

function merged(known: Subscription['metadata'], changes: Amendment['metadata'] = {}): Subscription['metadata'] {
  const kept = Object.entries({ ...known, ...changes }).filter((pair): pair is [string, string] => pair[1] !== null)
  const next = metadataSchema.safeParse(Object.fromEntries(kept))
  if (!next.success) throw invalidField('metadata', next.error.issues[0]?.message ?? 'is not valid')
  return next.data
}

/** A plan that goes on has not been left unpaid yet: it is given all its periods again. */
function pauseOf({ pausedAt, periodIndex, forgivenIndex }: Subscription, paused: boolean | undefined, at: Date) {
  if (paused === undefined) return {}
  if (paused) return { pausedAt: pausedAt ?? at, pauseReason: 'merchant' as const }
  return { pausedAt: null, pauseReason: null, forgivenIndex: pausedAt === null ? forgivenIndex : Math.max(forgivenIndex, periodIndex - 1) }
}

/** The end of the period we are in, also beyond another end, which may be put off later; before the first, its beginning. */
function cancelAtOf(subscription: Subscription, cancelAtPeriodEnd: boolean | undefined): Date | null {
  const { cancelAt } = subscription
  if (cancelAtPeriodEnd === undefined) return cancelAt
  return cancelAtPeriodEnd ? (cancelAt ?? periodEnd(subscription)) : null
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
  const { chargesDone, maxPeriodsCounts, periodIndex, trialPeriods } = subscription
  if (maxPeriods && maxPeriods < chargesDone) throw invalidField('max_periods', `must not be below charges_done, which is ${chargesDone}`)
  const begun = periodIndex + 1 - trialPeriods
  if (maxPeriods && maxPeriodsCounts === 'periods' && maxPeriods < begun)
    throw invalidField('max_periods', `must not be below the periods that have begun, which are ${begun}`)
  if (expiresAt && expiresAt <= at) throw invalidField('expires_at', 'must lie ahead')
  if (expiresAt && expiresAt <= subscription.startAt) throw invalidField('expires_at', 'must lie after start_at')
  if (subscription.schedule) return
  if (interval !== undefined) throw invalidField('interval', 'cannot be given to a subscription that was created without one')
  if (intervalCount !== undefined) throw invalidField('interval_count', 'needs an interval, which this subscription was created without')
  if (amendment.cancelAtPeriodEnd === true)
    throw invalidField('cancel_at_period_end', 'needs an interval, which this subscription was created without')
}
