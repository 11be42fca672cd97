import { type CheckoutBody, formatBrl, formatRate, formatUsdc, grossForShare, type OrderBody, type PaymentBody } from '@ponte/contracts'
import type { Order } from './order'
import { livePayments, type Payment } from './settlement'

/** What every body says about the place: the network's name and where checkout pages are served. */
export interface Place {
  network: string
  publicUrl: string
  confirmations: number
}

/** The order as the API shows it; with `payments` when they were asked for. */
export function orderBody(order: Order, place: Place, payments?: readonly Payment[]): OrderBody {
  return {
    object: 'order',
    id: order.id,
    status: order.status,
    exception: order.exception,
    subscription_id: order.subscriptionId,
    external_ref: order.externalRef,
    description: order.description,
    metadata: order.metadata,
    brl_amount: formatBrl(order.brlCentavos),
    usdc_amount: formatUsdc(order.usdcUnits),
    platform_fee: formatUsdc(order.feeUnits),
    expected: formatUsdc(order.expectedUnits),
    received: formatUsdc(order.receivedUnits),
    memo: order.memo,
    tx_hash: order.txHash,
    quote: quoteBody(order),
    payment: paymentTarget(order, place, dueUnits(order, payments)),
    ...(payments ? { payments: shown(payments).map(paymentBody) } : {}),
    expires_at: order.expiresAt.toISOString(),
    paid_at: order.paidAt?.toISOString() ?? null,
    cancelled_at: order.cancelledAt?.toISOString() ?? null,
    created_at: order.createdAt.toISOString(),
  }
}

/** The order as its payer may see it: nothing about the merchant but the name. */
export function checkoutBody(order: Order, payments: readonly Payment[], headBlock: bigint, place: Place): CheckoutBody {
  const due = dueUnits(order, payments)
  return {
    object: 'checkout',
    id: order.id,
    merchant_name: order.merchantName,
    description: order.description,
    status: order.status,
    exception: order.exception,
    brl_amount: formatBrl(order.brlCentavos),
    usdc_amount: formatUsdc(order.usdcUnits),
    expected: formatUsdc(order.expectedUnits),
    received: formatUsdc(order.receivedUnits),
    due: formatUsdc(due),
    memo: order.memo,
    tx_hash: order.txHash ?? livePayments(payments)[0]?.txHash ?? null,
    confirmations: confirmations(livePayments(payments), headBlock, place.confirmations),
    quote: quoteBody(order),
    payment: paymentTarget(order, place, due),
    payments: shown(payments).map(paymentBody),
    expires_at: order.expiresAt.toISOString(),
    paid_at: order.paidAt?.toISOString() ?? null,
  }
}

/** Without the transfers whose sweep is there. */
const shown = (payments: readonly Payment[]) => {
  const live = new Set(livePayments(payments))
  return payments.filter(payment => live.has(payment) || payment.status === 'orphaned')
}

/**
 * What still has to be sent, fee included, so that the merchant's share reaches what is expected. What is on its way counts as sent,
 * and nothing is due for an order that waits for no money: nobody is asked to pay twice.
 */
export function dueUnits(order: Order, payments: readonly Payment[] = []): bigint {
  if (order.status !== 'pending' && order.status !== 'underpaid') return 0n
  const coming = livePayments(payments).reduce((total, payment) => (payment.status === 'detected' ? total + payment.shareUnits : total), 0n)
  const missing = order.expectedUnits - order.receivedUnits - coming
  return missing > 0n ? grossForShare(missing, order.feeBps) : 0n
}

function confirmations(payments: readonly Payment[], headBlock: bigint, required: number) {
  const newest = payments.filter(payment => payment.status === 'detected').at(-1)
  if (!newest) return null
  const seen = headBlock >= newest.blockNumber ? Number(headBlock - newest.blockNumber) + 1 : 1
  return { seen: Math.min(seen, required), required }
}

const quoteBody = (order: Order) => ({
  rate: formatRate(order.rateMicros),
  source: order.rateSource,
  as_of: order.rateAsOf.toISOString(),
  spread_bps: order.rateSpreadBps,
})

const paymentTarget = (order: Order, place: Place, due: bigint) => ({
  network: place.network,
  chain_id: order.chainId,
  token_address: order.tokenAddress,
  router_address: order.routerAddress,
  merchant_address: order.merchantAddress,
  deposit_address: order.depositAddress,
  payment_uri:
    order.depositAddress === null || due === 0n
      ? null
      : `ethereum:${order.tokenAddress}@${order.chainId}/transfer?address=${order.depositAddress}&uint256=${due}`,
  checkout_url: `${place.publicUrl}/pay/${order.id}`,
})

const paymentBody = (payment: Payment): PaymentBody => ({
  tx_hash: payment.txHash,
  status: payment.status,
  amount: formatUsdc(payment.shareUnits),
  payer_address: payment.payerAddress,
  block_number: Number(payment.blockNumber),
  block_time: payment.blockTime.toISOString(),
})
