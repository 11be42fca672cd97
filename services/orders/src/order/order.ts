import type { NewEvent, OrderException, OrderStatus } from '@ponte/contracts'
import { ApiError, CENT, chainIdOf, formatBrl, formatUsdc, merchantShare, missingBrl } from '@ponte/contracts'
import { confirmedPayments, type Payable, type Payment, payoutAddressOn, withPayments } from '../payment/payment'
import { type Sweep, settledBy } from '../payment/settlement'
import { type Tally, tallyOf, tallyWith } from './tally'
import {
  type ChainView,
  type Facts,
  isAccepted,
  isDust,
  isPaid,
  isUntouched,
  requiredUnits,
  type Terms,
  type Verdict,
  verdictOf,
} from './verdict'

export interface Order extends Payable, Terms, Tally {
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
  rateMicros: bigint
  rateSource: string
  rateAsOf: Date
  rateSpreadBps: number
  memo: string
  /** Before this block its address was known to no one. */
  watchFrom: bigint
  /** A contract stood at the payout address when it was made. */
  merchantIsContract: boolean
  txHash: string | null
  acceptedReason: string | null
  /** `sub` of the user who accepted it; null for a key. */
  acceptedBy: string | null
  /** The sum of its refunds, done and still possible. */
  promisedUnits: bigint
  /** When the merchant was notified that all of its money has reached them. */
  settledAt: Date | null
  createdAt: Date
  version: number
}

/** An order with what is known of it from the chain. */
export interface Ledger extends Facts {
  order: Order
}

/** Payments of an order; not `all` of them where only those were read that a report may change. */
export interface Known {
  payments: readonly Payment[]
  isAll: boolean
}

/** The next order and the events about it. No change of version: the store counts. */
export interface Change {
  /** The status before; null for a new order. */
  from: OrderStatus | null
  order: Order
  events: NewEvent[]
}

/**
 * The order with what its payments come to once these have changed. Null when all of its payments have to be known for that.
 */
export function withTally(order: Order, known: Known, changed: readonly Payment[]): Order | null {
  const required = requiredUnits(order)
  // A payment that a merchant was notified of and a reorganisation took away may be back.
  const isLost = order.paidAt !== null && order.status !== 'paid'
  const tally = isLost ? null : tallyWith(order, known.payments, changed, required)
  if (tally) return { ...order, ...tally }
  if (!known.isAll) return null
  const payments = withPayments(known.payments, changed)
  const next = { ...order, ...tallyOf(payments, required) }
  const stands = confirmedPayments(payments).some(({ txHash }) => txHash === order.txHash)
  // The transaction of a paid order stays the one in its `order.paid`, for as long as it stands on the chain.
  return order.paidAt === null || stands || !isPaid(next) ? next : { ...next, txHash: next.completingTxHash ?? next.lastTxHash }
}

/**
 * The verdict of an order by its payments and the confirmed chain, and the merchant's notifications; `before` it changed. One that is no longer wanted
 * is cancelled as soon as no money counts for it, also when that is later, by a reorganisation.
 */
export function review(ledger: Ledger, chain: ChainView, at: Date, before: Order = ledger.order): Change {
  const change = judge(ledger, chain, at, before)
  const isWanted = change.order.supersededAt === null && change.order.withdrawnAt === null
  const withdrawn = isWanted ? null : withdraw(change.order, at)
  const events = [...receivedEvents(before, change.order, at), ...change.events]
  return withdrawn ? { from: before.status, order: withdrawn.order, events: [...events, ...withdrawn.events] } : { ...change, events }
}

function judge({ order, ...facts }: Ledger, chain: ChainView, at: Date, before: Order): Change {
  const verdict = verdictOf(order, facts, chain)
  const { status, exception } = verdict
  const next: Order = { ...order, status, exception, txHash: verdict.txHash }
  const surplus = surplusEvents(before, next, at)
  const change = (changed: Order, ...events: NewEvent[]): Change => ({
    from: before.status,
    order: changed,
    events: [...events, ...surplus],
  })
  // A merchant who was notified of `paid` gets no other event of the specification about this order, even when a deep reorg takes the payment away.
  if (order.paidAt !== null) return change({ ...next, txHash: order.txHash })
  if (status === 'paid') {
    const paid: Order = { ...next, paidAt: at }
    const notice: NewEvent = { type: 'order.paid', data: { ...ownerOf(order), order: paidData(paid, at) } }
    // A router payment has reached the merchant already.
    const settled =
      paid.transferUnits === 0n && paid.lastTxHash !== null
        ? settledWith(paid, paid.lastTxHash, paid.lastChainId ?? paid.chainId, at)
        : null
    return change(settled?.order ?? paid, notice, ...(settled?.events ?? []))
  }
  if (isShortNotice(order, verdict)) {
    const short: Order = { ...next, notifiedUnits: order.confirmedUnits }
    return change(short, { type: 'order.underpaid', data: { ...ownerOf(order), order: { ...paidData(short, at), ...amountsOf(short) } } })
  }
  if (status === 'expired' && order.expiredAt === null) return change({ ...next, expiredAt: at }, closed('order.expired', next))
  return change(next)
}

const isShortNotice = (order: Order, { status, isSettled }: Verdict): boolean =>
  status === 'underpaid' && isSettled && order.confirmedUnits - order.notifiedUnits >= CENT

/** An order that is paid, once all that was confirmed for it has reached the payout address; null before, and when that was published already. */
export function settle({ order, payments, sweeps }: { order: Order; payments: readonly Payment[]; sweeps: readonly Sweep[] }, at: Date) {
  if (order.status !== 'paid' || order.settledAt !== null) return null
  const txHash = settledBy(payments, sweeps, units => isDust(units, order))
  if (txHash === null) return null
  const moved = [...sweeps, ...payments].find(one => one.txHash === txHash)
  return settledWith(order, txHash, (moved && chainIdOf(moved.id)) ?? order.chainId, at)
}

function settledWith(order: Order, txHash: string, chainId: number, at: Date): Change | null {
  if (order.paidAt === null) return null
  const settlement = { settlement_tx_hash: txHash, payout_address: payoutAddressOn(order, chainId), settled_at: at.toISOString() }
  const data = { ...ownerOf(order), order: { ...paidData(order, order.paidAt), ...settlement } }
  return { from: order.status, order: { ...order, settledAt: at }, events: [{ type: 'order.settled', data }] }
}

/** Money that came besides or after what the order asked for: when that becomes so, and whenever it grows by a cent or more. */
function surplusEvents(before: Order, next: Order, at: Date): NewEvent[] {
  const { exception, lastTxHash } = next
  if (exception === null || exception === 'reorged' || lastTxHash === null) return []
  if (exception === before.exception && next.confirmedUnits - before.confirmedUnits < CENT) return []
  const order = { ...paidData({ ...next, txHash: lastTxHash }, at), ...amountsOf(next) }
  return [{ type: `order.${exception}`, data: { ...ownerOf(next), order } }]
}

/** The merchant's share of what was confirmed, with the fee rounded as the router rounds it. */
export const receivedUnits = ({ confirmedUnits, feeBps }: Pick<Order, 'confirmedUnits' | 'feeBps'>): bigint =>
  merchantShare(confirmedUnits, feeBps)

/** What of the asked amount has not come to an order that the merchant accepted. */
export const givenAwayUnits = (order: Order): bigint =>
  isAccepted(order) && order.confirmedUnits < order.usdcUnits ? order.usdcUnits - order.confirmedUnits : 0n

/** The merchant's cancellation. Answers null when it is cancelled already. Throws `order_has_payments` or `invalid_state`. */
export function cancel(order: Order, at: Date): Change | null {
  if (order.status === 'cancelled') return null
  if (order.status === 'paid' || order.status === 'expired') {
    throw new ApiError('invalid_state', `The order is ${order.status}; only a pending order can be cancelled.`)
  }
  // The merchant was notified of `paid`: the payment may be mined again.
  if (order.paidAt !== null)
    throw new ApiError('invalid_state', 'The order was paid, and a reorganisation of the chain took the payment away.')
  if (order.status !== 'pending' || !isUntouched(order)) {
    throw new ApiError('order_has_payments', 'The order has received money, so it can no longer be cancelled.')
  }
  const next: Order = { ...order, status: 'cancelled', cancelledAt: at }
  return { from: order.status, order: next, events: [closed('order.cancelled', next)] }
}

/** Cancels an order that is no longer wanted; null when money counts for it, or once did. */
export const withdraw = (order: Order, at: Date): Change | null =>
  order.status === 'pending' && order.paidAt === null && isUntouched(order) ? cancel(order, at) : null

/**
 * Another order of its period was paid: untouched, it is cancelled; money that has come or still comes makes it a duplicate. `deductedCentavos` of it was
 * asked for no more; null where that is not known.
 */
export function supersede(ledger: Ledger, chain: ChainView, at: Date, deductedCentavos: bigint | null = null): Change {
  const { order: known } = ledger
  const order = { ...known, supersededAt: known.supersededAt ?? at, deductedCentavos: deductedCentavos ?? known.deductedCentavos }
  return withdraw(order, at) ?? review({ ...ledger, order }, chain, at)
}

/** Its subscription has ended: untouched, it is cancelled, now or once it is. Null when it has reached its own end. */
export function release(ledger: Ledger, chain: ChainView, at: Date): Change | null {
  if (isFinal(ledger.order)) return null
  return review({ ...ledger, order: { ...ledger.order, withdrawnAt: ledger.order.withdrawnAt ?? at } }, chain, at)
}

const isFinal = ({ status }: Order) => status === 'paid' || status === 'expired' || status === 'cancelled'

/** Money confirmed for a period's order that is not paid, and does not go back: its subscription asks for no more than the rest. */
function receivedEvents(before: Order, order: Order, at: Date): NewEvent[] {
  const { subscriptionId } = order
  const stays = ({ confirmedUnits, promisedUnits }: Order) => (confirmedUnits > promisedUnits ? confirmedUnits - promisedUnits : 0n)
  if (subscriptionId === null || order.paidAt !== null || stays(order) === stays(before)) return []
  const counted = isDust(stays(order), order) ? 0n : stays(order)
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

/** So much of what came goes back by now, or may: what a period's order returns is asked for again. */
export const promising = (order: Order, promisedUnits: bigint, at: Date): NewEvent[] =>
  receivedEvents(order, { ...order, promisedUnits }, at)

export const ownerOf = (order: Order) => ({ merchant_id: order.merchantId, merchant_version: order.merchantVersion })

const closed = (type: 'order.expired' | 'order.cancelled', order: Order): NewEvent => ({
  type,
  data: { ...ownerOf(order), subscription_id: order.subscriptionId, order: { id: order.id, external_ref: order.externalRef } },
})

export const amountsOf = (order: Order) => ({ expected: formatUsdc(order.expectedUnits), received: formatUsdc(receivedUnits(order)) })

export function paidData(order: Order, at: Date) {
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
