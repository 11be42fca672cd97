import { formatUsdc, type NewEvent } from '@ponte/contracts'
import type { Payment } from '../payment/payment'
import { dueUnits, paymentUri } from './body'
import { type Change, type Known, type Ledger, type Order, receivedUnits, review, withTally } from './order'
import type { ChainView } from './verdict'

/**
 * One verdict of an order from all its payments together: those that came, were confirmed or are gone. Null when all payments of the order have to be known.
 */
export function receivePayments(ledger: Ledger & Known, changed: readonly Payment[], chain: ChainView, at: Date): Change | null {
  const order = withTally(ledger.order, ledger, changed)
  if (!order) return null
  const change = review({ ...ledger, order }, chain, at, ledger.order)
  return { ...change, events: [...change.events, ...updatedEvents(ledger.order, change.order)] }
}

export function updatedEvents(before: Order, order: Order): NewEvent[] {
  if (order.subscriptionId === null) return []
  const state = shown(order)
  if (JSON.stringify(state) === JSON.stringify(shown(before))) return []
  const owner = { merchant_id: order.merchantId, merchant_version: order.merchantVersion }
  const which = { subscription_id: order.subscriptionId, order_id: order.id, revision: before.version }
  return [{ type: 'order.updated', data: { ...owner, ...which, state } }]
}

/** These fields of an order's body change after it was created. */
const shown = (order: Order) => ({
  status: order.status,
  exception: order.exception,
  received: formatUsdc(receivedUnits(order)),
  tx_hash: order.txHash,
  payment_uri: paymentUri(order, dueUnits(order)),
  paid_at: order.paidAt?.toISOString() ?? null,
  cancelled_at: order.cancelledAt?.toISOString() ?? null,
})
