import type { PaidData } from '@ponte/contracts'
import {
  type Attempt,
  type Change,
  type Charge,
  currentCharge,
  expire,
  type Fact,
  hasAllCharges,
  isLive,
  isPastEnd,
  letGo,
  outstanding,
  type Subscription,
} from './subscription'

/** What becomes of a subscription when one of its orders ended. Events may come twice and in any order. */

/**
 * An order was paid. The first paid order of a period counts, whichever it is and whatever became of the subscription meanwhile; any other
 * is a duplicate that counts nothing. The last charge ends the subscription in the same change.
 */
export function recordPaid(subscription: Subscription, order: PaidData, at: Date): Change {
  const charge = chargeOf(subscription, order.id)
  const attempt = charge.attempts.find(({ orderId }) => orderId === order.id)
  if (attempt?.status === 'paid' || attempt?.status === 'duplicate') return { from: subscription, subscription, facts: [] }
  if (charge.status === 'paid') {
    const next = withAttempt(subscription, charge, order.id, 'duplicate')
    return { from: subscription, subscription: next, facts: [{ kind: 'duplicate', orderId: order.id, periodIndex: charge.periodIndex }] }
  }
  const counted = count(subscription, charge, order.id, at)
  const facts: Fact[] = [{ kind: 'charged', chargesDone: counted.chargesDone, order }, ...superseded(charge, order.id)]
  const end = isLive(counted) && (hasAllCharges(counted) || isSettledPastEnd(counted, at)) ? expire(counted, at) : null
  return { from: subscription, subscription: end?.subscription ?? counted, facts: [...facts, ...(end?.facts ?? [])] }
}

/** An order ended unpaid: it expired, which makes a plan past due, or it was cancelled, which is the merchant's own wish. */
export function recordClosed(subscription: Subscription, orderId: string, outcome: 'expired' | 'cancelled', at: Date): Change {
  const charge = chargeOf(subscription, orderId)
  const attempt = charge.attempts.find(attempt => attempt.orderId === orderId)
  if (attempt?.status !== 'open') return { from: subscription, subscription, facts: [] }
  const closed = withAttempt(subscription, charge, orderId, outcome)
  const owes = outcome === 'expired' && closed.schedule !== null && charge.status !== 'paid' && charge.periodIndex > closed.lastPaidIndex
  if (!isLive(closed)) return { from: subscription, subscription: letGo(closed), facts: [] }
  const next: Subscription = owes ? { ...closed, status: 'past_due' } : closed
  const end = isSettledPastEnd(next, at) ? expire(next, at) : null
  return { from: subscription, subscription: end?.subscription ?? next, facts: end?.facts ?? [] }
}

function count(subscription: Subscription, charge: Charge, orderId: string, at: Date): Subscription {
  const marked = withAttempt(subscription, { ...charge, status: 'paid', paidAt: at }, orderId, 'paid')
  const paid: Subscription = {
    ...marked,
    chargesDone: marked.chargesDone + 1,
    lastPaidIndex: Math.max(marked.lastPaidIndex, charge.periodIndex),
    periodIndex: marked.schedule ? marked.periodIndex : Math.max(marked.periodIndex, charge.periodIndex + 1),
  }
  return isLive(paid) && !owesCurrent(paid) ? { ...paid, status: 'active' } : paid
}

/** The period's other orders, which are owed no more. One that expired counts too: it may yet turn out to have been paid in time. */
const superseded = (charge: Charge, paidOrderId: string): Fact[] =>
  charge.attempts
    .filter(({ orderId, status }) => orderId !== paidOrderId && status !== 'cancelled')
    .map(({ orderId }) => ({ kind: 'superseded', orderId }))

/** True when the current period's order expired unpaid: money for an earlier period does not change that. */
function owesCurrent(subscription: Subscription): boolean {
  const current = subscription.schedule ? currentCharge(subscription) : undefined
  return current?.status === 'open' && current.attempts.some(({ status }) => status === 'expired')
}

const isSettledPastEnd = (subscription: Subscription, at: Date) => isPastEnd(subscription, at) && outstanding(subscription).length === 0

function chargeOf(subscription: Subscription, orderId: string): Charge {
  const charge = subscription.charges.find(({ attempts }) => attempts.some(attempt => attempt.orderId === orderId))
  if (!charge) throw new Error(`Order ${orderId} belongs to no charge of subscription ${subscription.id}.`)
  return charge
}

/** The subscription with this charge in the place of its period, one of its orders in another state. */
function withAttempt(subscription: Subscription, charge: Charge, orderId: string, status: Attempt['status']): Subscription {
  const attempts = charge.attempts.map(attempt => (attempt.orderId === orderId ? { ...attempt, status } : attempt))
  const charges = subscription.charges.map(other => (other.periodIndex === charge.periodIndex ? { ...charge, attempts } : other))
  return { ...subscription, charges }
}
