import { CENT, type ChainPayment, type MismatchReason, type NewEvent, type UnmatchedData } from '@ponte/contracts'
import type { Payment } from './payment'

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

/** Who has handled what needs attention, and when; null for a key. */
export interface Mark {
  at: Date
  by: string | null
}

/** What was known of it then. */
export interface Seen {
  facts: string
  blocked: string | null
}

/** A confirmed payment to a payout address that counts for no order. */
export interface UnmatchedMoney {
  /** What of it a merchant sees; with others than those it was marked with it needs attention again. */
  facts: string
  mark: Mark | null
  payment: Omit<UnmatchedData, 'amount'>
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

/**
 * What merchants are notified of a payment that counts for no order: once it is confirmed, those whose payout address it went to. Less than a cent is
 * not worth an event, and would let anyone send many.
 */
export function unmatchedEvents(
  data: ChainPayment,
  payment: Payment,
  reason: MismatchReason,
  merchants: readonly { id: string; version: number }[],
): NewEvent[] {
  if (payment.status !== 'confirmed' || payment.grossUnits < CENT) return []
  return merchants.map(({ id, version }) => ({
    type: 'order.payment_unmatched',
    data: {
      merchant_id: id,
      merchant_version: version,
      payment: {
        id: data.payment_id,
        reason,
        kind: data.kind,
        chain_id: data.chain_id,
        token_address: data.token_address,
        tx_hash: data.tx_hash,
        memo: data.memo,
        amount: data.amount,
        payer_address: data.payer_address,
        merchant_address: data.merchant_address,
        block_time: data.block_time,
      },
    },
  }))
}
