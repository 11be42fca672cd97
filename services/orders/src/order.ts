import type { MerchantTerms, NewEvent, OrderException, OrderStatus } from '@ponte/contracts'
import { ApiError, formatBrl, formatUsdc, splitFee, usdcForBrl } from '@ponte/contracts'
import type { Quote } from './quote'
import { type Payment, settle, type Verdict } from './settlement'

/** Where the money of an order goes: fixed when it is created. */
export interface Destination {
  chainId: number
  tokenAddress: string
  routerAddress: string
  merchantAddress: string
  depositAddress: string | null
}

export interface Order extends Destination {
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
  usdcUnits: bigint
  feeBps: bigint
  feeUnits: bigint
  expectedUnits: bigint
  receivedUnits: bigint
  /** The received amount that the merchant was last told is too little; 0 when never. */
  toldUnits: bigint
  rateMicros: bigint
  rateSource: string
  rateAsOf: Date
  rateSpreadBps: number
  memo: string
  txHash: string | null
  expiresAt: Date
  paidAt: Date | null
  /** When the merchant was told that it expired. */
  expiredAt: Date | null
  cancelledAt: Date | null
  /** Since when another order of the same subscription period is paid instead. */
  supersededAt: Date | null
  createdAt: Date
  version: number
}

/** The next order and what is told about it. No change of version: the store counts. */
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

/** A new order: priced once, judged in USDC units ever after (design, section 5). Throws `payout_address_required`. */
export function open(input: NewOrder, quote: Quote, feeBps: bigint, destination: Omit<Destination, 'merchantAddress'>, at: Date): Order {
  const { terms } = input
  if (terms.payout_address === null) {
    throw new ApiError('payout_address_required', 'Set payout_address with PATCH /api/v1/merchants/me: it is where your share is sent.')
  }
  const usdcUnits = usdcForBrl(input.brlCentavos, quote.rateMicros)
  const { fee, expected } = splitFee(usdcUnits, feeBps)
  return {
    ...destination,
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
    receivedUnits: 0n,
    toldUnits: 0n,
    rateMicros: quote.rateMicros,
    rateSource: quote.source,
    rateAsOf: quote.asOf,
    rateSpreadBps: quote.spreadBps,
    memo: input.memo,
    txHash: null,
    expiresAt: input.expiresAt,
    paidAt: null,
    expiredAt: null,
    cancelledAt: null,
    supersededAt: null,
    createdAt: at,
    version: 1,
  }
}

/**
 * What the ledger and the confirmed chain time make of an order now, and what the merchant hears of it (design, section 6).
 * `chainTime` is Tc; null while nothing is known of the chain, and then nothing expires.
 */
export function review(order: Order, payments: readonly Payment[], chainTime: Date | null, at: Date): Change {
  const verdict = settle(order, payments, chainTime)
  const { status, exception, receivedUnits } = verdict
  const next: Order = { ...order, status, exception, receivedUnits, txHash: verdict.txHash }
  const change = (changed: Order, ...events: NewEvent[]): Change => ({ from: order.status, order: changed, events })
  // A merchant who was told `paid` hears nothing more from us about this order, even when a deep reorg takes the payment away.
  if (order.paidAt !== null) return change({ ...next, txHash: toldTxHash(order, verdict) })
  if (status === 'paid') {
    const paid: Order = { ...next, paidAt: at }
    return change(paid, { type: 'order.paid', data: { ...ownerOf(order), order: paidData(paid, at) } })
  }
  if (status === 'underpaid' && verdict.settled && receivedUnits > order.toldUnits) {
    const short: Order = { ...next, toldUnits: receivedUnits }
    const amounts = { expected: formatUsdc(order.expectedUnits), received: formatUsdc(receivedUnits) }
    return change(short, { type: 'order.underpaid', data: { ...ownerOf(order), order: { ...paidData(short, at), ...amounts } } })
  }
  if (status === 'expired' && order.expiredAt === null) return change({ ...next, expiredAt: at }, closed('order.expired', next))
  return change(next)
}

/** The transaction of a paid order stays the one that was told, for as long as it stands on the chain. */
function toldTxHash(order: Order, verdict: Verdict): string | null {
  if (verdict.status !== 'paid' || verdict.confirmed.some(payment => payment.txHash === order.txHash)) return order.txHash
  return verdict.txHash
}

/** The merchant's cancellation. Answers null when it is cancelled already. Throws `order_has_payments` or `invalid_state`. */
export function cancel(order: Order, payments: readonly Payment[], at: Date): Change | null {
  if (order.status === 'cancelled') return null
  if (order.status === 'paid' || order.status === 'expired') {
    throw new ApiError('invalid_state', `The order is ${order.status}; only a pending order can be cancelled.`)
  }
  if (order.status !== 'pending' || payments.some(payment => payment.status !== 'orphaned')) {
    throw new ApiError('order_has_payments', 'The order has received money, so it can no longer be cancelled.')
  }
  const next: Order = { ...order, status: 'cancelled', cancelledAt: at }
  return { from: order.status, order: next, events: [closed('order.cancelled', next)] }
}

/** Another order of its period was paid: untouched, it is cancelled; money that has come or still comes makes it a duplicate. */
export function supersede(order: Order, payments: readonly Payment[], chainTime: Date | null, at: Date): Change {
  const untouched = order.status === 'pending' && payments.every(payment => payment.status === 'orphaned')
  const cancelled = untouched && order.paidAt === null ? cancel(order, payments, at) : null
  return cancelled ?? review({ ...order, supersededAt: order.supersededAt ?? at }, payments, chainTime, at)
}

const ownerOf = (order: Order) => ({ merchant_id: order.merchantId, merchant_version: order.merchantVersion })

const closed = (type: 'order.expired' | 'order.cancelled', order: Order): NewEvent => ({
  type,
  data: { ...ownerOf(order), subscription_id: order.subscriptionId, order: { id: order.id, external_ref: order.externalRef } },
})

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
