import * as state from '../order-states'
import { alert, heading, type Shown, type Stop, settled } from './stop'
import { leaveFailed, leaveSent } from './wallet'

const checkout = (name: string, id: string, more: Partial<Stop> = {}): Stop => ({
  name,
  path: `/pay/${id}`,
  ready: heading,
  ...more,
})

/** The pages of a payer. */
export function payerPages(of: Shown, missing: string): Stop[] {
  const subscription = { path: new URL(of.subscription.payer_url ?? '').pathname, ready: settled }
  return [
    checkout('checkout', of.pending.id),
    checkout('checkout-other-way', of.pending.id, { ready: page => page.locator('[role=tab][aria-selected=false]').click() }),
    checkout('checkout-confirming', of.pending.id, { override: state.confirming }),
    checkout('checkout-paid', of.paid.id),
    { name: 'checkout-receipt', path: `/pay/receipt/${of.paid.id}`, ready: settled, answersOf: 'checkout-paid' },
    checkout('checkout-way-back', of.paid.id, { override: { success_url: 'https://padaria.example/obrigada?pedido=1042' } }),
    checkout('checkout-way-back-unpaid', of.pending.id, { override: { cancel_url: 'https://padaria.example/carrinho' } }),
    checkout('checkout-underpaid', of.underpaid.id),
    checkout('checkout-expired', of.pending.id, { override: state.expired }),
    checkout('checkout-paid-late', of.pending.id, { override: state.paidLate }),
    checkout('checkout-cancelled', of.cancelled.id),
    checkout('checkout-paid-after-cancel', of.cancelled.id, { override: state.paidAfterCancel }),
    checkout('checkout-expired-part', of.underpaid.id, { override: state.expired }),
    checkout('checkout-overpaid', of.paid.id, { override: state.overpaid }),
    checkout('checkout-duplicate', of.paid.id, { override: state.duplicate }),
    checkout('checkout-reorged', of.underpaid.id, { override: state.reorged }),
    checkout('checkout-time-up', of.pending.id, { override: state.timeUp }),
    checkout('checkout-missing', missing, { ready: alert }),
    { name: 'payer-subscription', ...subscription },
    { name: 'payer-subscription-unpaid', ...subscription, override: state.unpaid },
    { name: 'payer-subscription-nothing', ...subscription, override: state.nothingDue },
    { name: 'payer-refund', path: new URL(of.claim.url ?? '').pathname, ready: settled },
    { name: 'payer-link', path: new URL(of.link.url).pathname, ready: settled },
    checkout('checkout-sent', of.pending.id, { ready: page => leaveSent(page, of.pending.id, `0x${'5d'.repeat(32)}`) }),
    checkout('checkout-relayer-paused', of.pending.id, { ready: page => leaveSent(page, of.pending.id, null) }),
  ]
}

/** The pages of a payer when something fails. */
export const troubledPages = (of: Shown): Stop[] => [
  checkout('checkout-signature-failed', of.pending.id, { override: state.signatureFailed }),
  checkout('checkout-lost', of.underpaid.id, { isOffline: true }),
  checkout('checkout-unreachable', of.pending.id, { isUnanswered: true, ready: alert }),
  checkout('checkout-failed', of.pending.id, { ready: page => leaveFailed(page, of.pending.id) }),
  checkout('checkout-frozen', of.pending.id, { override: state.confirming, passes: '03:05' }),
]
