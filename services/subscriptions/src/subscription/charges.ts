import { ApiError } from '@ponte/contracts'
import { boundary, periodAt } from './calendar'
import {
  type Attempt,
  type Change,
  type Charge,
  currentCharge,
  expire,
  type Fact,
  isHeld,
  isLive,
  isPastEnd,
  nextBoundary,
  openAttempt,
  outstanding,
  type Subscription,
} from './subscription'

/** When a charge's order is issued: on the calendar's day, again after it expired unpaid, or at the merchant's word. Design, section 7. */

/** Minted by the caller, used when an order is issued, so that the decision itself stays a function of its input. */
export interface Minted {
  orderId: string
  memo: string
}

const DAY_MS = 86_400_000
/** An order that expired unpaid is issued again, with a fresh quote and memo, this long after the charge's first. */
const REISSUE_AFTER_MS = [DAY_MS, 3 * DAY_MS, 7 * DAY_MS]
const ORDER_LIFE_MIN_S = 10

/**
 * Brings a subscription up to `at`: begins the current period and skips what was missed, ends what has reached its `expires_at`, issues the
 * order that is due. At most one order, because only the current period is ever charged.
 */
export function advance(subscription: Subscription, at: Date, minted: Minted): Change {
  if (!isLive(subscription)) return { from: subscription, subscription, facts: [] }
  const rolled = beginPeriod(subscription, at)
  const { subscription: next, facts } = isPastEnd(rolled.subscription, at)
    ? endOnceSettled(rolled.subscription, at)
    : issueDue(rolled.subscription, at, minted)
  return { from: subscription, subscription: next, facts: [...rolled.facts, ...facts] }
}

/** The merchant's charge: the open order, or the one that is due. Throws `not_due` or `invalid_state`. */
export function charge(subscription: Subscription, at: Date, minted: Minted): Change & { attempt: Attempt; outcome: 'issued' | 'open' } {
  const change = advance(subscription, at, minted)
  const next = change.subscription
  const issued = change.facts.find(fact => fact.kind === 'charge_requested')
  if (issued) return { ...change, attempt: issued.attempt, outcome: 'issued' }
  if (!isLive(next)) throw new ApiError('invalid_state', `The subscription is ${next.status}, so it can no longer be charged.`)
  if (at < next.startAt) throw new ApiError('not_due', `The first period begins at ${next.startAt.toISOString()}.`)

  const current = currentCharge(next)
  const open = current && current.status !== 'paid' && openAttempt(current)
  if (open) return { ...change, attempt: open, outcome: 'open' }
  if (next.lastPaidIndex === next.periodIndex) throw new ApiError('not_due', notDue(next))
  // An earlier period's order is still being paid and may be the last one needed.
  const earlier = isHeld(next) || isPastEnd(next, at) ? outstanding(next).at(-1) : undefined
  const earlierOpen = earlier && openAttempt(earlier)
  if (earlierOpen) return { ...change, attempt: earlierOpen, outcome: 'open' }
  const { subscription: charged, facts, attempt } = issue(next, at, minted)
  return { from: subscription, subscription: charged, facts: [...change.facts, ...facts], attempt, outcome: 'issued' }
}

/** When `advance` will next have something to do by itself; null when only a payment or the merchant can move the subscription. */
export function wakeAt(subscription: Subscription, at: Date): Date | null {
  if (!isLive(subscription)) return null
  const { expiresAt, createdAt } = subscription
  // While an order is out, its outcome decides the end, in the change that records it.
  const end = outstanding(subscription).length === 0 ? expiresAt : null
  if (isPastEnd(subscription, at)) return end
  return earliest([nextBoundary(subscription), reissueAt(subscription), end, awaitsFirstOrder(subscription) ? createdAt : null])
}

/** When an order will next be issued by itself, as the merchant reads it. */
export function nextChargeAt(subscription: Subscription): Date | null {
  if (!isLive(subscription)) return null
  const next = earliest([nextBoundary(subscription), reissueAt(subscription)])
  return next && isPastEnd(subscription, next) ? null : next
}

function beginPeriod(subscription: Subscription, at: Date): { subscription: Subscription; facts: readonly Fact[] } {
  const { schedule, expiresAt, periodIndex } = subscription
  if (!schedule) return { subscription, facts: [] }
  // No period begins at or after the end.
  const last = expiresAt !== null && expiresAt <= at ? new Date(expiresAt.getTime() - 1) : at
  const index = periodAt(schedule, last)
  if (index <= periodIndex) return { subscription, facts: [] }
  const ended = subscription.charges.map(charge => (charge.status === 'open' ? { ...charge, status: 'skipped' as const } : charge))
  const missed = Array.from({ length: index - periodIndex - 1 }, (_, n) => missedCharge(subscription, periodIndex + 1 + n))
  const periods = ended.filter((charge, n) => charge !== subscription.charges[n]).length + missed.length
  return {
    subscription: { ...subscription, periodIndex: index, charges: [...ended, ...missed] },
    facts: periods > 0 ? [{ kind: 'skipped', periods }] : [],
  }
}

const missedCharge = ({ brlCentavos }: Subscription, periodIndex: number): Charge => ({
  periodIndex,
  status: 'skipped',
  brlCentavos,
  issuedAt: null,
  paidAt: null,
  attempts: [],
})

const endOnceSettled = (subscription: Subscription, at: Date) =>
  outstanding(subscription).length > 0 ? { subscription, facts: [] } : expire(subscription, at)

function issueDue(subscription: Subscription, at: Date, minted: Minted): { subscription: Subscription; facts: readonly Fact[] } {
  const again = reissueAt(subscription)
  const due = awaitsFirstOrder(subscription) || (again !== null && again <= at)
  return due ? issue(subscription, at, minted) : { subscription, facts: [] }
}

/** True when a plan's current period has begun and nothing has been asked for it. */
const awaitsFirstOrder = (subscription: Subscription) =>
  subscription.schedule !== null &&
  subscription.periodIndex >= 0 &&
  subscription.lastPaidIndex < subscription.periodIndex &&
  !currentCharge(subscription) &&
  !isHeld(subscription)

/** When the current charge's order is issued again; null unless it expired unpaid and a time is left. */
function reissueAt(subscription: Subscription): Date | null {
  const current = currentCharge(subscription)
  const latest = current?.attempts.at(-1)
  if (!subscription.schedule || current?.status !== 'open' || !current.issuedAt || latest?.status !== 'expired') return null
  if (isHeld(subscription)) return null
  const first = current.issuedAt.getTime()
  const after = REISSUE_AFTER_MS.find(ms => ms > latest.issuedAt.getTime() - first)
  return after === undefined ? null : new Date(first + after)
}

function issue(subscription: Subscription, at: Date, minted: Minted) {
  const attempt: Attempt = { ...minted, status: 'open', issuedAt: at }
  const known = currentCharge(subscription)
  // A plan's period keeps the terms it began with; a merchant who charges at will means the amount of now.
  const brlCentavos = known && subscription.schedule ? known.brlCentavos : subscription.brlCentavos
  const charge: Charge = known
    ? { ...known, brlCentavos, attempts: [...known.attempts, attempt] }
    : { ...missedCharge(subscription, subscription.periodIndex), status: 'open', issuedAt: at, attempts: [attempt] }
  const charges = [...subscription.charges.filter(other => other !== known), charge]
  const fact: Fact = { kind: 'charge_requested', charge, attempt, expiresInS: orderLife(subscription, at) }
  return { subscription: { ...subscription, charges }, facts: [fact], attempt }
}

/** No order outlives its period or its subscription by more than the shortest life an order can have, so that a payer never faces two. */
function orderLife(subscription: Subscription, at: Date): number {
  const { schedule, periodIndex, expiresAt, orderExpiresInS } = subscription
  const ends = [schedule && boundary(schedule, periodIndex + 1), expiresAt].filter(end => end !== null)
  const left = ends.map(end => Math.floor((end.getTime() - at.getTime()) / 1000))
  return Math.max(ORDER_LIFE_MIN_S, Math.min(orderExpiresInS, ...left))
}

function notDue(subscription: Subscription): string {
  const next = nextBoundary(subscription)
  return `The current period is charged already; ${next ? `the next begins at ${next.toISOString()}` : 'no other follows'}.`
}

const earliest = (times: readonly (Date | null)[]): Date | null => {
  const known = times.filter(time => time !== null)
  return known.length > 0 ? new Date(Math.min(...known.map(time => time.getTime()))) : null
}
