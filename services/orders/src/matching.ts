import type { Order } from './order'

export type Misfit = 'unknown_memo' | 'wrong_chain' | 'wrong_router' | 'wrong_token' | 'wrong_recipient' | 'zero_amount'

/** Where a payment went, and how much of it. */
export interface Target {
  chainId: number
  routerAddress: string
  tokenAddress: string
  merchantAddress: string
  shareUnits: bigint
}

/**
 * Why a payment does not settle the order with its memo; null when it does. Memo, chain, router, token and merchant must all agree:
 * a stranger who emits the right memo towards an address of his own settles nothing (design, section 6).
 */
export function misfit(paid: Target, order: Order | null): Misfit | null {
  if (order === null) return 'unknown_memo'
  if (paid.chainId !== order.chainId) return 'wrong_chain'
  if (!same(paid.routerAddress, order.routerAddress)) return 'wrong_router'
  if (!same(paid.tokenAddress, order.tokenAddress)) return 'wrong_token'
  if (!same(paid.merchantAddress, order.merchantAddress)) return 'wrong_recipient'
  return paid.shareUnits > 0n ? null : 'zero_amount'
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
