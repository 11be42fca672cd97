import { ApiError, parseUsdc } from '@ponte/contracts'
import { checksumAddress } from '../chain/checksum-address'
import { refundNonce } from '../chain/refund-nonce'
import type { OrderHistory } from '../order/body'
import { payoutAddressOn } from '../payment/payment'
import { openRefund } from './refund'
import { cameUnits, promisedOf, refusalOfReturn, type StoredRefund, surplusUnits, toSummed, UNOBSERVED } from './stored-refund'

/** An order with all its refunds, as both were read. */
export interface Returnable extends Pick<OrderHistory, 'order' | 'leftOverUnits'> {
  refunds: readonly StoredRefund[]
}

/** Cancelled ones too: an answer lists all of them. */
const OF_AN_ORDER_MAX = 20

/** The amount that is named, the surplus, or all that may still go back. */
export function wantedUnits({ amount, surplus }: { amount?: string | undefined; surplus?: true | undefined }, of: Returnable): bigint {
  if (amount !== undefined) return parseUsdc(amount)
  const came = cameUnits(of.order, of.leftOverUnits)
  return (surplus ? surplusUnits(came, of.leftOverUnits) : came) - promisedOf(of.refunds)
}

/** Throws `invalid_state` where so much of the order may not go back now. */
export function requireReturnable({ order, leftOverUnits, refunds }: Returnable, units: bigint): void {
  const refusal = refusalOfReturn(order)
  if (refusal !== null) throw new ApiError('invalid_state', refusal)
  if (refunds.length >= OF_AN_ORDER_MAX) throw new ApiError('invalid_state', `An order has at most ${OF_AN_ORDER_MAX} refunds.`)
  const summed = toSummed(refunds)
  openRefund({ id: '', units, payee: null }, summed.refunds, cameUnits(order, leftOverUnits), summed.view)
}

type Terms = Pick<StoredRefund, 'id' | 'chainId' | 'units' | 'payee' | 'reason' | 'requestedBy' | 'createdAt'>

/** A refund of an order, on one of its networks. `watermark` is the block there before which no one can have signed it. Throws `invalid_state` where so much may not go back now. */
export function openedRefund(of: Returnable, terms: Terms, watermark: number | bigint | null): StoredRefund {
  requireReturnable(of, terms.units)
  const { order } = of
  return {
    ...UNOBSERVED,
    ...terms,
    orderId: order.id,
    merchantId: order.merchantId,
    fromAddress: checksumAddress(payoutAddressOn(order, terms.chainId)),
    nonce: refundNonce(terms.id, terms.payee, terms.units),
    watchFrom: BigInt(watermark ?? ((order.lastChainId ?? order.chainId) === terms.chainId ? order.lastBlock : null) ?? 0),
  }
}
