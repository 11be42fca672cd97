import type { ChainPayment } from '@ponte/contracts'
import type { Order } from './order'

export type Misfit = 'unknown_memo' | 'wrong_chain' | 'wrong_router' | 'wrong_token' | 'wrong_recipient' | 'zero_amount'

/**
 * Why a payment does not settle the order with its memo; null when it does. Memo, chain, router, token and merchant must all agree:
 * a stranger who emits the right memo towards an address of his own settles nothing (design, section 6).
 */
export function misfit(payment: ChainPayment, order: Order | null): Misfit | null {
  if (order === null) return 'unknown_memo'
  if (payment.chain_id !== order.chainId) return 'wrong_chain'
  if (!same(payment.router_address, order.routerAddress)) return 'wrong_router'
  if (!same(payment.token_address, order.tokenAddress)) return 'wrong_token'
  if (!same(payment.merchant_address, order.merchantAddress)) return 'wrong_recipient'
  return /[1-9]/.test(payment.merchant_share) ? null : 'zero_amount'
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
