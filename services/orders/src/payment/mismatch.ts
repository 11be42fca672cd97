import type { MismatchReason } from '@ponte/contracts'

export type { MismatchReason } from '@ponte/contracts'

/** Where the money of an order goes: fixed when it is created. */
export interface Destination {
  chainId: number
  tokenAddress: string
  routerAddress: string
  merchantAddress: string
  /** Where a plain transfer pays; null for an order too small to be worth the gas of a sweep. */
  depositAddress: string | null
}

/** Where a payment went, and how much of it. */
export interface Target extends Destination {
  grossUnits: bigint
}

/** More than the columns of orders hold, and many times all USDC there is. */
export const UNITS_MAX = 2n ** 63n - 1n

/**
 * Why a payment does not count for the order with its memo; null when it does. Memo, chain, router, token and merchant must all agree: a stranger
 * who emits the right memo towards their own address pays nothing.
 */
export function mismatchOf(paid: Target, order: Destination | null): MismatchReason | null {
  if (paid.grossUnits > UNITS_MAX) return 'amount_out_of_range'
  if (order === null) return 'unknown_memo'
  if (paid.chainId !== order.chainId) return 'wrong_chain'
  if (!same(paid.routerAddress, order.routerAddress)) return 'wrong_router'
  if (!same(paid.tokenAddress, order.tokenAddress)) return 'wrong_token'
  if (!same(paid.merchantAddress, order.merchantAddress)) return 'wrong_recipient'
  // An address follows from router, memo and merchant, so this can differ only in an event that contradicts itself.
  if (paid.depositAddress && order.depositAddress && !same(paid.depositAddress, order.depositAddress)) return 'wrong_recipient'
  return paid.grossUnits > 0n ? null : 'zero_amount'
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
