import type { MerchantTerms, NewEvent, OrderException, OrderStatus } from '@ponte/contracts'
import { ApiError, CENT, formatBrl, formatUsdc, merchantShare, splitFee, toleranceOf, usdcForBrl } from '@ponte/contracts'
import { type Destination, type Sweep, settledBy } from '../payment'
import type { Quote } from '../quote'
import { type ChainView, type Facts, isUntouched, type Terms, type Verdict, verdictOf } from './verdict'

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

export interface NewOrder {
  id: string
  memo: string
  terms: MerchantTerms
  subscriptionId: string | null
  externalRef: string | null
  description: string | null
  metadata: Record<string, string>
  brlCentavos: bigint
  expiresAt: Date
}

/** What every new order of this deployment has in common. */
export interface Deployment extends Omit<Destination, 'merchantAddress' | 'depositAddress'> {
  feeBps: bigint
  /** An order is paid when it is short by no more than this, or by a hundredth of it if that is less. */
  toleranceLimit: bigint
}

/** A new order: priced once, judged in USDC units ever after. Its deposit address is not known here. Throws `payout_address_required`. */
export function open(input: NewOrder, quote: Quote, deployment: Deployment, at: Date): Order {
  const { terms } = input
  const { feeBps, toleranceLimit, chainId, tokenAddress, routerAddress } = deployment
  if (terms.payout_address === null) {
    throw new ApiError('payout_address_required', 'Set payout_address with PATCH /api/v1/merchants/me: it is where your share is sent.')
  }
  const usdcUnits = usdcForBrl(input.brlCentavos, quote.rateMicros)
  const { fee, expected } = splitFee(usdcUnits, feeBps)
  return {
    chainId,
    tokenAddress,
    routerAddress,
    depositAddress: null,
    merchantAddress: terms.payout_address,
    id: input.id,
    merchantId: terms.merchant_id,
    merchantVersion: terms.version,
    merchantName: terms.display_name,
    status: 'pending',
    exception: null,
    subscriptionId: input.subscriptionId,
    externalRef: input.externalRef,
    description: input.description,
    metadata: input.metadata,
    brlCentavos: input.brlCentavos,
    usdcUnits,
    feeBps,
    feeUnits: fee,
    expectedUnits: expected,
    toleranceUnits: toleranceOf(usdcUnits, toleranceLimit),
    confirmedUnits: 0n,
    notifiedUnits: 0n,
    rateMicros: quote.rateMicros,
    rateSource: quote.source,
    rateAsOf: quote.asOf,
    rateSpreadBps: quote.spreadBps,
    memo: input.memo,
    txHash: null,
    settledAt: null,
    expiresAt: input.expiresAt,
    paidAt: null,
    expiredAt: null,
    cancelledAt: null,
    supersededAt: null,
    createdAt: at,
    version: 1,
  }
}

/** What the payments and the confirmed chain make of an order now, and what the merchant is notified of. */
export function review({ order, ...facts }: Ledger, chain: ChainView, at: Date): Change {
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
  const txHash = settledBy(payments, sweeps)
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
export function withdraw(ledger: Ledger, at: Date): Change | null {
  const { order, payments } = ledger
  return order.status === 'pending' && order.paidAt === null && isUntouched(order, payments) ? cancel(ledger, at) : null
}

/** Another order of its period was paid: untouched, it is cancelled; money that has come or still comes makes it a duplicate. */
export function supersede(ledger: Ledger, chain: ChainView, at: Date): Change {
  const order = { ...ledger.order, supersededAt: ledger.order.supersededAt ?? at }
  return withdraw(ledger, at) ?? review({ ...ledger, order }, chain, at)
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
