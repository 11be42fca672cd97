import { currentVerdict, isRoomForOrder } from '../subscription/charges'
import { isHeld } from '../subscription/dunning'
import { missingOf } from '../subscription/period'
import { currentCharge, isLive, openAttempt, outstanding, type Subscription } from '../subscription/subscription'

export interface PayerDue {
  brlCentavos: bigint
  /** The order that asks for it, once orders has opened it; null otherwise. */
  orderId: string | null
  /** No order is open and the payer may have one opened. */
  canBeAsked: boolean
}

/** A stranger with the link cannot have more orders issued for a period than this. */
const ORDERS_PER_PERIOD_MAX = 20

/** Null when nothing is to be paid now. A plan without a schedule is charged by its merchant alone. */
export function payerDue(subscription: Subscription, at: Date): PayerDue | null {
  if (!isLive(subscription)) return null
  const newest = outstanding(subscription).toSorted((a, b) => b.periodIndex - a.periodIndex)[0]
  const attempt = newest && openAttempt(newest)
  if (attempt) return { brlCentavos: attempt.brlCentavos, orderId: attempt.reason === null ? attempt.orderId : null, canBeAsked: false }
  const { schedule, periodIndex, lastPaidIndex, pauseReason } = subscription
  if (!schedule || periodIndex < 0 || lastPaidIndex >= periodIndex || pauseReason === 'merchant' || isHeld(subscription)) return null
  const current = currentCharge(subscription)
  const { state, issueAt } = currentVerdict(subscription, at)
  if (!current) {
    // The pause of an unpaid plan ends with a payment, and until then the scheduler issues nothing that could be paid.
    const isPaused = pauseReason === 'unpaid'
    return isPaused && issueAt === null ? null : { brlCentavos: subscription.brlCentavos, orderId: null, canBeAsked: isPaused }
  }
  const brlCentavos = missingOf(current)
  if (brlCentavos === 0n) return null
  const isOver = (state === 'retrying' || state === 'unpaid') && isRoomForOrder(subscription, at)
  const canBeAsked = isOver && subscription.awaiting === null && current.attempts.length < ORDERS_PER_PERIOD_MAX
  return { brlCentavos, orderId: null, canBeAsked }
}
