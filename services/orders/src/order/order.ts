import type { NewEvent, OrderException, OrderStatus } from '@ponte/contracts'
import { ApiError, CENT, formatBrl, formatUsdc, merchantShare, missingBrl } from '@ponte/contracts'
import { type Destination, type Sweep, settledBy } from '../payment'
import { type ChainView, type Facts, isDust, isUntouched, requiredUnits, type Terms, type Verdict, verdictOf } from './verdict'

export interface Order extends Destination, Terms {
  id: string
  merchantId: string
  merchantVersion: number
  merchantName: string
  status: OrderStatus
  exception: OrderException | null
  subscriptionId: string | null
  externalRef: string | null
  description: string | null
  metadata: Record<string, string>
  successUrl: string | null
  cancelUrl: string | null
  brlCentavos: bigint
  feeBps: bigint
  feeUnits: bigint
  expectedUnits: bigint
  /** Gross sum of the confirmed payments. */
  confirmedUnits: bigint
  rateMicros: bigint
  rateSource: string
  rateAsOf: Date
  rateSpreadBps: number
  memo: string
  txHash: string | null
  /** When the merchant was notified that all of its money has reached them. */
  settledAt: Date | null
  createdAt: Date
  version: number
}

/** An order with what is known of it from the chain. */
export interface Ledger extends Facts {
  order: Order
}

/** The next order and the events about it. No change of version: the store counts. */
export interface Change {
  /** The status before; null for a new order. */
  from: OrderStatus | null
  order: Order
  events: NewEvent[]
}

/**
 * What the payments and the confirmed chain make of an order now, and what the merchant is notified of. One that is no longer wanted is cancelled
 * as soon as no money counts for it, also when that is later, by a reorganisation.
 */
export function review(ledger: Ledger, chain: ChainView, at: Date): Change {
  const { order, payments } = ledger
  const change = judge(ledger, chain, at)
  const isWanted = change.order.supersededAt === null && change.order.withdrawnAt === null
  const withdrawn = isWanted ? null : withdraw({ order: change.order, payments }, at)
  const events = [...receivedEvents(order, change.order, at), ...change.events]
  return withdrawn ? { from: order.status, order: withdrawn.order, events: [...events, ...withdrawn.events] } : { ...change, events }
}

function judge({ order, ...facts }: Ledger, chain: ChainView, at: Date): Change {
  const verdict = verdictOf(order, facts, chain)
  const { status, exception, confirmedUnits } = verdict
  const next: Order = { ...order, status, exception, confirmedUnits, txHash: verdict.txHash }
  const surplus = surplusEvents(order, next, verdict, at)
  const change = (changed: Order, ...events: NewEvent[]): Change => ({
    from: order.status,
    order: changed,
    events: [...events, ...surplus],
  })
  // A merchant who was notified of `paid` gets no other event of the specification about this order, even when a deep reorg takes the payment away.
  if (order.paidAt !== null) return change({ ...next, txHash: notifiedTxHash(order, verdict) })
  if (status === 'paid') {
    const paid: Order = { ...next, paidAt: at }
    const notice: NewEvent = { type: 'order.paid', data: { ...ownerOf(order), order: paidData(paid, at) } }
    // What the router took has reached the merchant already.
    const settled = settle({ order: paid, payments: facts.payments, sweeps: [] }, at)
    return change(settled?.order ?? paid, notice, ...(settled?.events ?? []))
  }
  if (status === 'underpaid' && verdict.isSettled && confirmedUnits - order.notifiedUnits >= CENT) {
    const short: Order = { ...next, notifiedUnits: confirmedUnits }
    return change(short, { type: 'order.underpaid', data: { ...ownerOf(order), order: { ...paidData(short, at), ...amountsOf(short) } } })
  }
  if (status === 'expired' && order.expiredAt === null) return change({ ...next, expiredAt: at }, closed('order.expired', next))
  return change(next)
}

/** An order that is paid, once all that was confirmed for it has reached the payout address; null before, and when that was published already. */
export function settle(
  { order, payments, sweeps }: Pick<Ledger, 'order' | 'payments'> & { sweeps: readonly Sweep[] },
  at: Date,
): Change | null {
  if (order.status !== 'paid' || order.paidAt === null || order.settledAt !== null) return null
  const txHash = settledBy(payments, sweeps, units => isDust(units, order))
  if (txHash === null) return null
  const settlement = { settlement_tx_hash: txHash, payout_address: order.merchantAddress, settled_at: at.toISOString() }
  const data = { ...ownerOf(order), order: { ...paidData(order, order.paidAt), ...settlement } }
  return { from: order.status, order: { ...order, settledAt: at }, events: [{ type: 'order.settled', data }] }
}

/** Money that came besides or after what the order asked for: when that becomes so, and whenever it grows by a cent or more. */
function surplusEvents(before: Order, next: Order, { confirmed }: Verdict, at: Date): NewEvent[] {
  const { exception } = next
  const latest = confirmed.at(-1)
  if (exception === null || exception === 'reorged' || !latest) return []
  if (exception === before.exception && next.confirmedUnits - before.confirmedUnits < CENT) return []
  const order = { ...paidData({ ...next, txHash: latest.txHash }, at), ...amountsOf(next) }
  return [{ type: `order.${exception}`, data: { ...ownerOf(next), order } }]
}

/** The merchant's share of what was confirmed, with the fee rounded as the router rounds it. */
export const receivedUnits = ({ confirmedUnits, feeBps }: Pick<Order, 'confirmedUnits' | 'feeBps'>): bigint =>
  merchantShare(confirmedUnits, feeBps)

/** The transaction of a paid order stays the one in its `order.paid`, for as long as it stands on the chain. */
function notifiedTxHash(order: Order, verdict: Verdict): string | null {
  if (verdict.status !== 'paid' || verdict.confirmed.some(payment => payment.txHash === order.txHash)) return order.txHash
  return verdict.txHash
}

/** The merchant's cancellation. Answers null when it is cancelled already. Throws `order_has_payments` or `invalid_state`. */
export function cancel({ order, payments }: Pick<Ledger, 'order' | 'payments'>, at: Date): Change | null {
  if (order.status === 'cancelled') return null
  if (order.status === 'paid' || order.status === 'expired') {
    throw new ApiError('invalid_state', `The order is ${order.status}; only a pending order can be cancelled.`)
  }
  if (order.status !== 'pending' || !isUntouched(order, payments)) {
    throw new ApiError('order_has_payments', 'The order has received money, so it can no longer be cancelled.')
  }
  const next: Order = { ...order, status: 'cancelled', cancelledAt: at }
  return { from: order.status, order: next, events: [closed('order.cancelled', next)] }
}

/** Cancels an order that is no longer wanted; null when money counts for it, or once did. */
export function withdraw(ledger: Pick<Ledger, 'order' | 'payments'>, at: Date): Change | null {
  const { order, payments } = ledger
  return order.status === 'pending' && order.paidAt === null && isUntouched(order, payments) ? cancel(ledger, at) : null
}

/** Another order of its period was paid: untouched, it is cancelled; money that has come or still comes makes it a duplicate. */
export function supersede(ledger: Ledger, chain: ChainView, at: Date): Change {
  const order = { ...ledger.order, supersededAt: ledger.order.supersededAt ?? at }
  return withdraw(ledger, at) ?? review({ ...ledger, order }, chain, at)
}

/** Its subscription has ended: untouched, it is cancelled, now or once it is. Null when it has reached its own end. */
export function release(ledger: Ledger, chain: ChainView, at: Date): Change | null {
  if (isFinal(ledger.order)) return null
  return review({ ...ledger, order: { ...ledger.order, withdrawnAt: ledger.order.withdrawnAt ?? at } }, chain, at)
}

const isFinal = ({ status }: Order) => status === 'paid' || status === 'expired' || status === 'cancelled'

/** What is confirmed for a period's order that is not paid, for its subscription: it asks for no more than what is missing. */
function receivedEvents(before: Order, order: Order, at: Date): NewEvent[] {
  const { subscriptionId, confirmedUnits } = order
  if (subscriptionId === null || order.paidAt !== null || confirmedUnits === before.confirmedUnits) return []
  const counted = isDust(confirmedUnits, order) ? 0n : confirmedUnits
  const missing = counted >= requiredUnits(order) ? 0n : missingBrl(order.brlCentavos, order.usdcUnits, counted)
  const data = {
    ...ownerOf(order),
    subscription_id: subscriptionId,
    order_id: order.id,
    revision: before.version,
    missing_brl_amount: formatBrl(missing),
    order: order.txHash === null ? null : paidData(order, at),
  }
  return [{ type: 'order.received', data }]
}

const ownerOf = (order: Order) => ({ merchant_id: order.merchantId, merchant_version: order.merchantVersion })

const closed = (type: 'order.expired' | 'order.cancelled', order: Order): NewEvent => ({
  type,
  data: { ...ownerOf(order), subscription_id: order.subscriptionId, order: { id: order.id, external_ref: order.externalRef } },
})

const amountsOf = (order: Order) => ({ expected: formatUsdc(order.expectedUnits), received: formatUsdc(receivedUnits(order)) })

function paidData(order: Order, at: Date) {
  if (order.txHash === null) throw new Error('An order with money has a transaction.')
  return {
    id: order.id,
    subscription_id: order.subscriptionId,
    external_ref: order.externalRef,
    brl_amount: formatBrl(order.brlCentavos),
    usdc_amount: formatUsdc(order.usdcUnits),
    tx_hash: order.txHash,
    memo: order.memo,
    paid_at: at.toISOString(),
  }
}
