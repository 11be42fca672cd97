import { ApiError, type OrderReceived, type PaidData, parseBrl } from '@ponte/contracts'
import { judge } from './dunning'
import { letGo } from './end'
import { LAPSED, missingOf } from './period'
import { type Attempt, type Change, type Charge, type Fact, isLive, openAttempt, type Subscription } from './subscription'

/** The end of an order for its subscription. Events may come twice and in any order. */

/**
 * An order was paid. The first paid order of a period counts, whichever it is and whatever became of the subscription meanwhile; any other
 * is a duplicate that counts nothing. The last charge ends the subscription in the same change.
 */
export function recordPaid(subscription: Subscription, order: PaidData, at: Date): Change {
  const charge = chargeOf(subscription, order.id)
  const attempt = charge.attempts.find(({ orderId }) => orderId === order.id)
  if (attempt?.status === 'paid' || attempt?.status === 'duplicate') return { from: subscription, subscription, facts: [] }
  if (charge.status === 'paid') {
    const next = withAttempt(subscription, charge, order.id, { status: 'duplicate' })
    return { from: subscription, subscription: next, facts: [{ kind: 'duplicate', orderId: order.id, periodIndex: charge.periodIndex }] }
  }
  const counted = count(subscription, charge, order.id, at)
  const facts: Fact[] = [{ kind: 'charged', chargesDone: counted.chargesDone, order }, ...superseded(charge, order.id)]
  const judged = judge(subscription, counted, at)
  return { from: subscription, subscription: judged.subscription, facts: [...facts, ...judged.facts] }
}

/** An order ended unpaid: it expired, or it was cancelled, which is the merchant's own wish. */
export const recordClosed = (subscription: Subscription, orderId: string, outcome: 'expired' | 'cancelled', at: Date): Change =>
  close(subscription, orderId, { status: outcome, reason: null }, at)

/** An order that was asked for was never opened, and no payer saw it: its time was over, it was withdrawn, or it can never be. */
export const recordRefused = (subscription: Subscription, orderId: string, reason: string, at: Date): Change =>
  close(subscription, orderId, { status: reason === LAPSED ? 'expired' : 'cancelled', reason }, at)

function close(subscription: Subscription, orderId: string, outcome: Pick<Attempt, 'status' | 'reason'>, at: Date): Change {
  const charge = chargeOf(subscription, orderId)
  const attempt = charge.attempts.find(attempt => attempt.orderId === orderId)
  if (attempt?.status !== 'open') return { from: subscription, subscription, facts: [] }
  const closed = withAttempt(subscription, charge, orderId, outcome)
  if (!isLive(closed)) return { from: subscription, subscription: letGo(closed), facts: [] }
  return { from: subscription, ...judge(subscription, closed, at) }
}

/**
 * Money is confirmed for an order that is not paid. Once all of the period's money has come, late, none of its orders asks for more; the merchant may
 * accept it. Until then nothing is paid, so none of it is called a duplicate. The largest revision stands, in any order of arrival.
 */
export function recordReceived(subscription: Subscription, received: OrderReceived, at: Date): Change {
  const charge = chargeOf(subscription, received.order_id)
  const attempt = charge.attempts.find(({ orderId }) => orderId === received.order_id)
  if (!attempt || attempt.reportRevision >= received.revision) return { from: subscription, subscription, facts: [] }
  const missing = parseBrl(received.missing_brl_amount)
  const report = {
    receivedCentavos: attempt.brlCentavos - missing,
    reportRevision: received.revision,
    receivedOrder: received.order,
  }
  const next = withAttempt(subscription, charge, attempt.orderId, report)
  const known = chargeOf(next, attempt.orderId)
  const isComplete = charge.status !== 'paid' && missingOf(known) === 0n && attempt.status !== 'open'
  // As for new terms: closed once no money counts for it, and asked for anew should what came go back.
  const open = isComplete ? openAttempt(known) : undefined
  const calledOff: Fact[] = open ? [{ kind: 'superseded', orderId: open.orderId, isReplaced: true }] : []
  const judged = judge(subscription, open ? withAttempt(next, known, open.orderId, { replacedAt: open.replacedAt ?? at }) : next, at)
  return { from: subscription, subscription: judged.subscription, facts: [...calledOff, ...judged.facts] }
}

/**
 * The merchant's word that what came late, or too little, counts as the period's payment. Its order is accepted by it: the one that is short of the
 * least, so that no more is given away than the period lacks. Throws `invalid_state` when nothing came.
 */
export function accept(subscription: Subscription, periodIndex: number, by: string | null, at: Date): Change {
  const charge = subscription.charges.find(charge => charge.periodIndex === periodIndex)
  if (charge?.status === 'paid') return { from: subscription, subscription, facts: [] }
  const received = charge?.attempts.filter(({ receivedOrder, receivedCentavos }) => receivedOrder !== null && receivedCentavos > 0n) ?? []
  const shortOf = ({ brlCentavos, receivedCentavos }: Attempt) => brlCentavos - receivedCentavos
  const least = received.reduce<Attempt | undefined>((best, one) => (best && shortOf(best) < shortOf(one) ? best : one), undefined)
  if (!least?.receivedOrder) throw new ApiError('invalid_state', `No money is confirmed for period ${periodIndex}.`)
  const change = recordPaid(subscription, { ...least.receivedOrder, paid_at: at.toISOString() }, at)
  return { ...change, facts: change.facts.map(fact => (fact.kind === 'charged' ? { ...fact, accepted: { by } } : fact)) }
}

function count(subscription: Subscription, charge: Charge, orderId: string, at: Date): Subscription {
  const marked = withAttempt(subscription, { ...charge, status: 'paid', paidAt: at }, orderId, { status: 'paid', reason: null })
  return {
    ...marked,
    chargesDone: marked.chargesDone + 1,
    lastPaidIndex: Math.max(marked.lastPaidIndex, charge.periodIndex),
    periodIndex: marked.schedule ? marked.periodIndex : Math.max(marked.periodIndex, charge.periodIndex + 1),
  }
}

/**
 * The period's other orders, which are owed no more. One that ended counts too: it may yet turn out to have been paid in time, and the merchant could
 * accept what came for it. The paid order asked for less because of what had come for those before it; whatever else came for them came beside it.
 */
function superseded({ brlCentavos, attempts }: Charge, paidOrderId: string): Fact[] {
  const paid = attempts.find(({ orderId }) => orderId === paidOrderId)
  let deducted = paid && paid.brlCentavos < brlCentavos ? brlCentavos - paid.brlCentavos : 0n
  const facts: Fact[] = []
  for (const { orderId, status, reason, receivedCentavos } of attempts) {
    if (orderId === paidOrderId || (status === 'cancelled' && reason !== null)) continue
    const deductedCentavos = receivedCentavos < deducted ? receivedCentavos : deducted
    deducted -= deductedCentavos
    facts.push({ kind: 'superseded', orderId, deductedCentavos })
  }
  return facts
}

function chargeOf(subscription: Subscription, orderId: string): Charge {
  const charge = subscription.charges.find(({ attempts }) => attempts.some(attempt => attempt.orderId === orderId))
  if (!charge) throw new Error(`Order ${orderId} belongs to no charge of subscription ${subscription.id}.`)
  return charge
}

function withAttempt(subscription: Subscription, charge: Charge, orderId: string, change: Partial<Attempt>): Subscription {
  const attempts = charge.attempts.map(attempt => (attempt.orderId === orderId ? { ...attempt, ...change } : attempt))
  const charges = subscription.charges.map(other => (other.periodIndex === charge.periodIndex ? { ...charge, attempts } : other))
  return { ...subscription, charges }
}
