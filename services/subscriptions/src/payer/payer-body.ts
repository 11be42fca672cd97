import { formatBrl, type PayerSubscriptionBody } from '@ponte/contracts'
import { nextChargeAt } from '../subscription/charges'
import { plannedEnd } from '../subscription/end'
import { hasLapsed } from '../subscription/period'
import type { Attempt, Charge, Subscription } from '../subscription/subscription'
import { payerDue } from './payer-due'

interface Shown {
  merchantName: string
  publicUrl: string
  at: Date
  charges: readonly Charge[]
}

const statuses = { open: 'open', paid: 'paid', skipped: 'unpaid' } as const

export function payerBody(subscription: Subscription, { merchantName, publicUrl, at, charges }: Shown): PayerSubscriptionBody {
  const { schedule } = subscription
  const due = payerDue(subscription, at)
  const checkoutUrl = (orderId: string | undefined) => (orderId === undefined ? null : `${publicUrl}/pay/${orderId}`)
  return {
    object: 'payer_subscription',
    status: subscription.status,
    merchant_name: merchantName,
    description: subscription.description,
    brl_amount: formatBrl(subscription.brlCentavos),
    interval: schedule?.interval ?? null,
    interval_count: schedule?.intervalCount ?? null,
    timezone: subscription.timezone,
    paused: subscription.pausedAt !== null,
    next_charge_at: text(nextChargeAt(subscription, at)),
    ends_at: text(subscription.cancelledAt ?? subscription.expiredAt ?? plannedEnd(subscription)?.at ?? null),
    due: due && {
      brl_amount: formatBrl(due.brlCentavos),
      checkout_url: checkoutUrl(due.orderId ?? undefined),
      can_be_asked: due.canBeAsked,
    },
    charges: charges.filter(wasOffered).map(charge => ({
      status: statuses[charge.status],
      brl_amount: formatBrl(charge.brlCentavos),
      issued_at: text(charge.issuedAt),
      paid_at: text(charge.paidAt),
      receipt_url: checkoutUrl(charge.attempts.toSorted(byMoney)[0]?.orderId),
    })),
  }
}

/** A period that asked its payer for nothing is none of the payer's business. */
const wasOffered = ({ attempts }: Charge) => attempts.some(attempt => !hasLapsed(attempt))

/** The order that was paid, else the one for which most came, else the latest. */
const byMoney = (a: Attempt, b: Attempt) => {
  if (a.status !== b.status && [a.status, b.status].includes('paid')) return a.status === 'paid' ? -1 : 1
  if (a.receivedCentavos !== b.receivedCentavos) return a.receivedCentavos > b.receivedCentavos ? -1 : 1
  return b.issuedAt.getTime() - a.issuedAt.getTime()
}

const text = (at: Date | null) => at?.toISOString() ?? null
