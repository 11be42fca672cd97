import { ApiError } from '@ponte/contracts'
import { periodAt } from '../calendar/calendar'
import { isHeld, judge } from './dunning'
import { isPastEnd, nextBoundary, nextCharged, periodEnd, plannedEnd } from './end'
import { missingOf, orderEnd, type PeriodTerms, type PeriodVerdict, periodVerdict, REQUESTED } from './period'
import {
  type Attempt,
  type Change,
  type Charge,
  currentCharge,
  type Fact,
  isLive,
  openAttempt,
  outstanding,
  type Subscription,
  wordingOf,
} from './subscription'
import { announce, upcoming } from './upcoming'

/** When a charge's order is issued: on the calendar's day, again after it expired unpaid, or at the merchant's word. */

/** Minted by the caller, used when an order is issued, so that the decision itself stays a function of its input. */
export interface Minted {
  orderId: string
  memo: string
}

/** Needed for an order and not known to the subscription itself. */
export interface Means extends Minted {
  /** Where the merchant is paid is known: without it no order could be opened. */
  hasPayoutAddress: boolean
}

interface Step {
  subscription: Subscription
  facts: readonly Fact[]
}

/**
 * Brings a subscription up to `at`: begins the current period and skips what was missed, ends what has reached its `expires_at`, issues the
 * order that is due. At most one order, because only the current period is ever charged.
 */
export function advance(subscription: Subscription, at: Date, means: Means): Change {
  if (!isLive(subscription)) return { from: subscription, subscription, facts: [] }
  const rolled = beginPeriod(subscription, at)
  const judged = judge(subscription, rolled.subscription, at)
  const goesOn = isLive(judged.subscription) && !isPastEnd(judged.subscription, at)
  const next = goesOn ? issueDue(judged.subscription, at, means) : { subscription: judged.subscription, facts: [] }
  const noticed = announce(next.subscription, at)
  const facts = [...rolled.facts, ...judged.facts, ...next.facts, ...noticed.facts]
  return { from: subscription, subscription: noticed.subscription, facts }
}

/** The merchant's charge: the open order, or the one that is due. Throws `not_due` or `invalid_state`. */
export function charge(subscription: Subscription, at: Date, minted: Minted): Change & { attempt: Attempt; outcome: 'issued' | 'open' } {
  const change = advance(subscription, at, { ...minted, hasPayoutAddress: true })
  const next = change.subscription
  const issued = change.facts.find(fact => fact.kind === 'charge_requested')
  if (issued) return { ...change, attempt: issued.attempt, outcome: 'issued' }
  if (!isLive(next)) throw new ApiError('invalid_state', `The subscription is ${next.status}, so it can no longer be charged.`)
  if (at < next.startAt) throw new ApiError('not_due', `The first period begins at ${next.startAt.toISOString()}.`)

  const current = currentCharge(next)
  const open = current && current.status !== 'paid' && openAttempt(current)
  if (open) return { ...change, attempt: open, outcome: 'open' }
  if (next.lastPaidIndex >= next.periodIndex) throw new ApiError('not_due', notDue(next))
  // An earlier period's order is still being paid and may be the last one needed.
  const earlier = isHeld(next) || isPastEnd(next, at) ? outstanding(next).at(-1) : undefined
  const earlierOpen = earlier && openAttempt(earlier)
  if (earlierOpen) return { ...change, attempt: earlierOpen, outcome: 'open' }
  if (current && missingOf({ ...current, brlCentavos: amountOf(next) }) === 0n)
    throw new ApiError('not_due', 'All that this period asks for has come, but late; nothing more is asked before the next period.')
  if (current) requireAnotherOrder(current, at)
  const { subscription: charged, facts, attempt } = issue(next, at, minted)
  if (!attempt) throw new ApiError('not_due', 'The period ends too soon for another order.')
  return { from: subscription, subscription: charged, facts: [...change.facts, ...facts], attempt, outcome: 'issued' }
}

/** Every look at a plan, and each list of plans, reads the orders of its period, which without a schedule ends with a payment alone. */
const ORDERS_A_DAY_MAX = 100
const ORDERS_MAX = 200
const DAY_MS = 86_400_000

/** Throws `invalid_state` for a period of which so many orders were opened, in all or within a day, that no other is. */
export function requireAnotherOrder({ attempts }: Charge, at: Date): void {
  if (attempts.length >= ORDERS_MAX)
    throw new ApiError('invalid_state', `${ORDERS_MAX} orders were opened for this period: no other is. Make another subscription.`)
  const lately = attempts.filter(({ issuedAt }) => issuedAt.getTime() > at.getTime() - DAY_MS)
  if (lately.length >= ORDERS_A_DAY_MAX)
    throw new ApiError('invalid_state', `${ORDERS_A_DAY_MAX} orders were opened for this period within a day; ask again tomorrow.`)
}

/** When `advance` will next have something to do by itself; null when only a payment or the merchant can move the subscription. */
export function wakeAt(subscription: Subscription, at: Date): Date | null {
  if (!isLive(subscription)) return null
  // While an order is out, its outcome decides the end, in the change that records it.
  const endsAt = (outstanding(subscription).length === 0 && plannedEnd(subscription)?.at) || null
  if (isPastEnd(subscription, at)) return endsAt
  const issuesAt = subscription.awaiting === null ? issueAt(subscription, at) : null
  return earliest([nextBoundary(subscription), issuesAt, endsAt, upcoming(subscription)?.noticeAt ?? null])
}

/** When an order will next be issued by itself, as the merchant reads it. */
export function nextChargeAt(subscription: Subscription, at: Date): Date | null {
  if (!isLive(subscription) || subscription.pausedAt !== null || isHeld(subscription)) return null
  const next = earliest([nextCharged(subscription)?.at ?? null, reissueAt(subscription, at)])
  return next && isPastEnd(subscription, next) ? null : next
}

export const currentVerdict = (subscription: Subscription, at: Date): PeriodVerdict =>
  periodVerdict(currentCharge(subscription), periodTerms(subscription), at)

/** False where the period ends too soon for another order. */
export const isRoomForOrder = (subscription: Subscription, at: Date): boolean => orderEnd(periodTerms(subscription), at) !== null

function beginPeriod(subscription: Subscription, at: Date): Step {
  const { schedule, periodIndex, trialPeriods } = subscription
  if (!schedule) return { subscription, facts: [] }
  // No period begins at or after the end.
  const ending = plannedEnd(subscription)
  const last = ending !== null && ending.at <= at ? new Date(ending.at.getTime() - 1) : at
  const index = periodAt(schedule, last)
  if (index <= periodIndex) return { subscription, facts: [] }
  const open = subscription.charges.filter(({ status }) => status === 'open')
  const ended = subscription.charges.map(charge => (charge.status === 'open' ? { ...charge, status: 'skipped' as const } : charge))
  const awaited = periodIndex >= 0 && subscription.lastPaidIndex < periodIndex && !currentCharge(subscription)
  const firstMissed = Math.max(awaited ? periodIndex : periodIndex + 1, trialPeriods)
  const missed = index - firstMissed
  const gap = missed > 0 ? [{ ...emptyCharge(subscription, firstMissed), periods: missed }] : []
  const skipped = open.length + Math.max(0, missed)
  return {
    subscription: { ...subscription, periodIndex: index, awaiting: null, charges: [...ended, ...gap] },
    facts: skipped > 0 ? [{ kind: 'skipped', periods: skipped }] : [],
  }
}

const emptyCharge = ({ brlCentavos }: Subscription, periodIndex: number): Charge => ({
  periodIndex,
  periods: 1,
  status: 'skipped',
  brlCentavos,
  wording: null,
  issuedAt: null,
  paidAt: null,
  attempts: [],
})

function issueDue(subscription: Subscription, at: Date, means: Means): Step {
  const due = issueAt(subscription, at)
  if (due === null || due > at) return { subscription: withAwaiting(subscription, null), facts: [] }
  if (!means.hasPayoutAddress) return { subscription: withAwaiting(subscription, 'payout_address'), facts: [] }
  return issue(withAwaiting(subscription, null), at, means)
}

const withAwaiting = (subscription: Subscription, awaiting: Subscription['awaiting']): Subscription =>
  subscription.awaiting === awaiting ? subscription : { ...subscription, awaiting }

/** When the scheduler issues the current period's next order; null when it issues none. */
function issueAt(subscription: Subscription, at: Date): Date | null {
  const { schedule, periodIndex, lastPaidIndex, pausedAt } = subscription
  if (!schedule || periodIndex < 0 || lastPaidIndex >= periodIndex || pausedAt !== null || isHeld(subscription)) return null
  return currentVerdict(subscription, at).issueAt
}

/** The same, of what was asked before. */
const reissueAt = (subscription: Subscription, at: Date): Date | null =>
  currentCharge(subscription) === undefined ? null : issueAt(subscription, at)

/** A plan's period keeps the terms it began with; a merchant who charges at will means the amount of now. */
const amountOf = (subscription: Subscription): bigint =>
  (subscription.schedule && currentCharge(subscription)?.brlCentavos) ?? subscription.brlCentavos

function issue(subscription: Subscription, at: Date, { orderId, memo }: Minted): Step & { attempt: Attempt | null } {
  const endsAt = orderEnd(periodTerms(subscription), at)
  if (endsAt === null) return { subscription, facts: [], attempt: null }
  const known = currentCharge(subscription)
  const wording = (subscription.schedule && known?.wording) ?? wordingOf(subscription)
  const asked: Charge = {
    ...(known ?? { ...emptyCharge(subscription, subscription.periodIndex), status: 'open', issuedAt: at }),
    brlCentavos: amountOf(subscription),
    wording,
  }
  const attempt: Attempt = {
    orderId,
    memo,
    status: 'open',
    issuedAt: at,
    endsAt,
    brlCentavos: missingOf(asked),
    receivedCentavos: 0n,
    reportRevision: 0,
    receivedOrder: null,
    reason: REQUESTED,
    replacedAt: null,
  }
  const charge: Charge = { ...asked, attempts: [...asked.attempts, attempt] }
  const charges = [...subscription.charges.filter(other => other !== known), charge]
  const expiresInS = Math.floor((endsAt.getTime() - at.getTime()) / 1000)
  const fact: Fact = { kind: 'charge_requested', charge, attempt, expiresInS, wording }
  return { subscription: { ...subscription, charges }, facts: [fact], attempt }
}

/** No order outlives its period or its subscription, so that a payer never faces two. */
function periodTerms(subscription: Subscription): PeriodTerms {
  const { orderExpiresInS, dunning } = subscription
  return {
    endsAt: earliest([periodEnd(subscription), plannedEnd(subscription)?.at ?? null]),
    orderExpiresInS,
    retryAfterS: dunning.retryAfterS,
  }
}

function notDue(subscription: Subscription): string {
  const next = nextBoundary(subscription)
  const why = subscription.periodIndex < subscription.trialPeriods ? 'belongs to the trial' : 'is charged already'
  return `The current period ${why}; ${next ? `the next begins at ${next.toISOString()}` : 'no other follows'}.`
}

const earliest = (times: readonly (Date | null)[]): Date | null => {
  const known = times.filter(time => time !== null)
  return known.length > 0 ? new Date(Math.min(...known.map(time => time.getTime()))) : null
}
