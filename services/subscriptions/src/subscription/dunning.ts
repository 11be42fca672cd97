import { end, endOnceSettled, hasAllCharges } from './end'
import { isOwed, missingOf } from './period'
import { type Charge, type Fact, isLive, openAttempt, outstanding, type Subscription } from './subscription'

/**
 * The verdict on a plan that is not paid. A period counts as unpaid once it is over and orders has reported the end of each of its orders. Until then it is
 * undecided, whatever our clock shows, and neither ends nor pauses the plan.
 */

interface Step {
  subscription: Subscription
  facts: readonly Fact[]
}

/** Judges a change: the count of unpaid periods, `past_due`, pause and end. Both states hold every charge since the period that was paid between them. */
export function judge(before: Subscription, changed: Subscription, at: Date): Step {
  if (!isLive(changed)) return { subscription: changed, facts: [] }
  const known = standing(before, changed)
  if (changed.chargesDone > before.chargesDone && hasAllCharges(changed)) return end(resume(known)?.subscription ?? known, 'expired', at)
  const { subscription, facts } = [resume, endUnpaid, endOnceSettled].reduce<Step>(
    (step, rule) => {
      const next = isLive(step.subscription) ? rule(step.subscription, at) : null
      return next ? { subscription: next.subscription, facts: [...step.facts, ...next.facts] } : step
    },
    { subscription: known, facts: [] },
  )
  return { subscription, facts: isLive(subscription) ? [...pastDue(before, known), ...facts] : facts }
}

/** True when what is out decides whether the plan goes on: no other order is issued meanwhile. */
export function isHeld(subscription: Subscription): boolean {
  const { maxPeriods, chargesDone, dunning, unpaidPeriods, pausedAt } = subscription
  const out = outstanding(subscription)
  if (maxPeriods !== null && chargesDone + out.length >= maxPeriods) return true
  const undecided = out.filter(charge => charge.status === 'skipped' && counts(subscription, charge)).length
  return undecided > 0 && dunning.whenUnpaid !== 'leave' && pausedAt === null && unpaidPeriods + undecided >= dunning.unpaidPeriodsMax
}

/** A count is kept with the plan, because only charges that can still change are loaded. */
function standing(before: Subscription, changed: Subscription): Subscription {
  if (changed.schedule === null) return withStanding(changed, changed.unpaidPeriods, 'active')
  const unpaidIn = (charges: readonly Charge[]) => charges.filter(charge => counts(changed, charge) && isUnpaid(charge)).length
  const isCountedAnew = firstCounted(before) !== firstCounted(changed)
  const unpaidPeriods = isCountedAnew
    ? unpaidIn(changed.charges)
    : before.unpaidPeriods + unpaidIn(changed.charges) - unpaidIn(before.charges)
  const isPastDue = unpaidPeriods > 0 || owed(changed).length > 0
  return withStanding(changed, unpaidPeriods, isPastDue ? 'past_due' : 'active')
}

const withStanding = (subscription: Subscription, unpaidPeriods: number, status: Subscription['status']): Subscription =>
  subscription.unpaidPeriods === unpaidPeriods && subscription.status === status ? subscription : { ...subscription, unpaidPeriods, status }

const firstCounted = ({ lastPaidIndex, forgivenIndex }: Subscription) => Math.max(lastPaidIndex, forgivenIndex) + 1
const counts = (subscription: Subscription, charge: Charge) => charge.periodIndex >= firstCounted(subscription)
const isUnpaid = (charge: Charge) => charge.status === 'skipped' && openAttempt(charge) === undefined && isOwed(charge)
const owed = (subscription: Subscription) =>
  subscription.charges.filter(charge => charge.status !== 'paid' && counts(subscription, charge) && isOwed(charge))

function pastDue(before: Subscription, known: Subscription): Fact[] {
  const newest = owed(known).at(-1)
  if (known.status !== 'past_due' || before.status === 'past_due' || !newest) return []
  return [{ kind: 'past_due', periodIndex: newest.periodIndex, missingCentavos: missingOf(newest) }]
}

/** A payment undoes the pause that the want of it brought, and no other. */
function resume(subscription: Subscription): Step | null {
  const { pauseReason, unpaidPeriods, dunning } = subscription
  if (pauseReason !== 'unpaid' || unpaidPeriods >= dunning.unpaidPeriodsMax) return null
  return { subscription: { ...subscription, pausedAt: null, pauseReason: null }, facts: [{ kind: 'resumed' }] }
}

function endUnpaid(subscription: Subscription, at: Date): Step | null {
  const { dunning, unpaidPeriods, pausedAt } = subscription
  const isDue = unpaidPeriods >= dunning.unpaidPeriodsMax && pausedAt === null && outstanding(subscription).length === 0
  if (!isDue || dunning.whenUnpaid === 'leave') return null
  if (dunning.whenUnpaid === 'cancel') return end(subscription, 'cancelled', at)
  return { subscription: { ...subscription, pausedAt: at, pauseReason: 'unpaid' }, facts: [{ kind: 'paused' }] }
}
