import { formatUsdc, type NewEvent } from '@ponte/contracts'
import { type Payment, withPayment } from '../payment'
import { dueUnits, paymentUri } from './body'
import { type Change, type Ledger, type Order, receivedUnits, review } from './order'
import type { ChainView } from './verdict'

/** What payments make of their order. A subscription is notified of what its order shows from now on. */
export function receivePayments(ledger: Ledger, received: readonly Payment[], chain: ChainView, at: Date): Change {
  const payments = received.reduce(withPayment, ledger.payments)
  const change = review({ ...ledger, payments }, chain, at)
  return { ...change, events: [...change.events, ...updatedEvents(ledger, change.order, payments)] }
}

function updatedEvents(before: Ledger, order: Order, payments: readonly Payment[]): NewEvent[] {
  if (order.subscriptionId === null) return []
  const state = shown(order, payments)
  if (JSON.stringify(state) === JSON.stringify(shown(before.order, before.payments))) return []
  const owner = { merchant_id: order.merchantId, merchant_version: order.merchantVersion }
  const which = { subscription_id: order.subscriptionId, order_id: order.id, revision: before.order.version }
  return [{ type: 'order.updated', data: { ...owner, ...which, state } }]
}

/** What of an order's body changes after it was created. */
const shown = (order: Order, payments: readonly Payment[]) => ({
  status: order.status,
  exception: order.exception,
  received: formatUsdc(receivedUnits(order)),
  tx_hash: order.txHash,
  payment_uri: paymentUri(order, dueUnits(order, payments)),
  paid_at: order.paidAt?.toISOString() ?? null,
  cancelled_at: order.cancelledAt?.toISOString() ?? null,
})
