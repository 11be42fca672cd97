import { ApiError, type AttachedData, formatUsdc, type MismatchReason } from '@ponte/contracts'
import { comingUnits } from '../payment/authorization'
import { mismatchesOf } from '../payment/mismatch'
import type { Payment, Target } from '../payment/payment'
import type { OrderHistory } from './body'
import { type Change, type Known, type Ledger, type Order, ownerOf } from './order'
import { receivePayments } from './progress'
import type { ChainView } from './verdict'

/** Confirmed money that carries the memo of no order. */
export type Stray = Payment & Target & { memo: string; reason: MismatchReason }

export interface Attachment {
  paymentId: string
  orderId: string
  memo: string
  reason: string
  /** `sub` of the user; null for a key. */
  attachedBy: string | null
  attachedAt: Date
}

/**
 * The money counts for this order from now on as if it had carried its memo: at the time of its block, so that late money is late. Of a network that the order
 * did not offer, it offers that from now on, and what else came there for it (`rest`) counts with it. Undone by a reorganisation of the payment alone. Wants all
 * payments of the order. Throws `invalid_state`.
 */
export function attach(
  ledger: Ledger & Known,
  money: Stray,
  rest: readonly Stray[],
  { reason, attachedAt }: Attachment,
  viewOf: (order: Order) => ChainView,
): Change & { counted: readonly Stray[] } {
  const offering = money.reason === 'wrong_chain' && money.memo === ledger.order.memo ? offer(ledger.order, money.chainId) : ledger.order
  const refusal = refusalOf(offering, money)
  if (refusal !== null) throw new ApiError('invalid_state', refusal)
  // Whether it is watched on a network that it offers only now is asked when its expiry is.
  const isWatched = ledger.isWatched && offering === ledger.order
  const known = new Set(ledger.payments.map(({ id }) => id))
  const reports = [money, ...rest.filter(({ id }) => !known.has(id))].map(row => ({ payment: row, memo: offering.memo, target: row }))
  const reasons = mismatchesOf(reports, offering, known)
  const counted = reports.map(({ payment }) => payment).filter(({ id }) => !reasons.has(id))
  const change = receivePayments({ ...ledger, order: offering, isWatched }, counted, viewOf(offering), attachedAt)
  if (!change) throw new Error('An attachment is decided with all payments of its order.')
  const { order } = change
  const payment = {
    ...paymentData(money),
    order_id: order.id,
    external_ref: order.externalRef,
    reason,
    attached_at: attachedAt.toISOString(),
  }
  const data = { ...ownerOf(order), subscription_id: order.subscriptionId, payment }
  return { ...change, events: [{ type: 'payment.attached', data }, ...change.events], counted }
}

/** A payer's signature that the relayer took would be paid beside it; once the order has ended none can be. Throws `invalid_state`. */
export function requireNoneComing({ order, authorizations, payments }: Pick<OrderHistory, 'order' | 'authorizations' | 'payments'>): void {
  if (order.status === 'expired' || order.status === 'cancelled' || comingUnits(authorizations, payments) === 0n) return
  throw new ApiError(
    'invalid_state',
    "A payer's signature for the order is on its way: wait for it, and count the payment then where the order is still short.",
  )
}

const offer = (order: Order, chainId: number): Order => ({
  ...order,
  networks: order.networks.map(network => (network.chainId === chainId ? { ...network, isOffered: true } : network)),
})

/**
 * True of what carries a memo of no order through the router, or came for an order on a network that it did not offer: what else lies at an address needs its
 * own memo to be moved on.
 */
export const isAttachable = ({ kind, reason, status }: Pick<Stray, 'kind' | 'reason' | 'status'>): boolean =>
  status === 'confirmed' && (reason === 'wrong_chain' || (kind === 'router' && reason === 'unknown_memo'))

function refusalOf(order: Order, money: Stray): string | null {
  if (!isAttachable(money))
    return 'Only a confirmed payment that carries the memo of no order through the router, or came on a network that its order did not offer, can be counted for one.'
  if (money.reason === 'wrong_chain' && money.memo !== order.memo)
    return 'The payment carries the memo of another order: count it for that one.'
  const mismatch = mismatchesOf([{ payment: money, memo: order.memo, target: money }], order, new Set()).get(money.id)
  if (mismatch !== undefined) return `The payment went elsewhere than the order’s money goes (${mismatch}), so it cannot count for it.`
  if (order.status === 'paid') return 'The order is paid already: choose another one, or mark the payment as handled.'
  if (order.paidAt !== null) return 'The order was paid, and a reorganisation of the chain took the payment away.'
  if (order.supersededAt !== null) return 'Another order of its period counts instead: choose that one.'
  return null
}

const paymentData = (money: Stray): Omit<AttachedData, 'order_id' | 'external_ref' | 'reason' | 'attached_at'> => ({
  id: money.id,
  kind: money.kind,
  chain_id: money.chainId,
  token_address: money.tokenAddress,
  tx_hash: money.txHash,
  memo: money.memo,
  amount: formatUsdc(money.grossUnits),
  payer_address: money.payerAddress,
  merchant_address: money.merchantAddress,
  block_time: money.blockTime.toISOString(),
})
