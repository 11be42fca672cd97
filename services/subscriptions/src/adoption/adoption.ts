import { type OrderBody, parseBrl } from '@ponte/contracts'
import { periodAt } from '../calendar/calendar'
import { type Attempt, type Change, type Charge, isLive, openAttempt, type Subscription } from '../subscription/subscription'

/** An order that the subscription asked for and does not have: its database was restored to a moment before. */
export type ForgottenOrder = Pick<
  OrderBody,
  'id' | 'memo' | 'brl_amount' | 'external_ref' | 'description' | 'metadata' | 'created_at' | 'expires_at'
>

/** The period that such an order asks for. `latestIndex` is that of the newest charge, -1 without one: a merchant who charges at will asked for the next. */
export const forgottenPeriod = ({ schedule, periodIndex }: Subscription, order: ForgottenOrder, latestIndex: number): number =>
  schedule ? periodAt(schedule, new Date(order.created_at)) : Math.max(periodIndex, latestIndex + 1)

/**
 * Takes the order in again, so that what becomes of it counts. Where its period has another order by now, it is closed here and may still turn out to be
 * the one that was paid; where that one was paid, it is owed no more. Throws while its period has not begun.
 */
export function adopt(subscription: Subscription, order: ForgottenOrder, periodIndex: number): Change {
  if (subscription.schedule && periodIndex > subscription.periodIndex)
    throw new Error(`Period ${periodIndex} of subscription ${subscription.id}, which order ${order.id} is of, has not begun.`)
  const known = subscription.charges.find(charge => charge.periodIndex === periodIndex)
  const issuedAt = new Date(order.created_at)
  const charge: Charge = known ?? {
    ...{ periodIndex, periods: 1, status: periodIndex >= subscription.periodIndex ? 'open' : 'skipped', paidAt: null, issuedAt },
    brlCentavos: parseBrl(order.brl_amount),
    wording: { externalRef: order.external_ref, description: order.description, metadata: order.metadata },
    attempts: [],
  }
  const isOpen = isLive(subscription) && charge.status !== 'paid' && !openAttempt(charge)
  const attempt: Attempt = {
    ...{ orderId: order.id, memo: order.memo, status: isOpen ? 'open' : 'expired', issuedAt, endsAt: new Date(order.expires_at) },
    brlCentavos: parseBrl(order.brl_amount),
    ...{ receivedCentavos: 0n, reportRevision: 0, receivedOrder: null, reason: null, replacedAt: null },
  }
  const charges = [...subscription.charges.filter(other => other !== known), { ...charge, attempts: [...charge.attempts, attempt] }]
  return {
    from: subscription,
    subscription: { ...subscription, charges },
    facts: charge.status === 'paid' ? [{ kind: 'superseded', orderId: order.id }] : [],
  }
}
