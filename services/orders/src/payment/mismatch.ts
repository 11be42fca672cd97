import { formatUsdc, type MismatchReason, type NewEvent, type UnmatchedData } from '@ponte/contracts'
import { destinationsOf, type Payable, type Target } from './payment'
import type { Report } from './report'

export type { MismatchReason } from '@ponte/contracts'

/** `by` is null for a key. */
export interface Mark {
  at: Date
  by: string | null
  note: string | null
}

export interface Seen {
  facts: string
  blocked: string | null
}

/** A confirmed payment to a payout address that counts for no order. */
export interface UnmatchedMoney {
  /** The merchant's view; when it is another than at the mark, the item needs attention again. */
  facts: string
  mark: Mark | null
  payment: Omit<UnmatchedData, 'amount'>
  grossUnits: bigint
  /** What of it reached the payout address; null while none has. */
  settledUnits: bigint | null
}

/** More than the columns of orders hold, and many times all USDC there is. */
export const UNITS_MAX = 2n ** 63n - 1n

/**
 * Why a payment does not count for the order with its memo; null when it does. Memo, one of its chains, router, token and merchant must all agree: a stranger
 * who emits the right memo towards their own address pays nothing.
 */
export function mismatchOf(paid: Target, order: Payable | null): MismatchReason | null {
  if (paid.grossUnits > UNITS_MAX) return 'amount_out_of_range'
  if (order === null) return 'unknown_memo'
  const asked = destinationsOf(order).find(({ chainId }) => chainId === paid.chainId)
  if (!asked) return 'wrong_chain'
  if (!same(paid.routerAddress, asked.routerAddress)) return 'wrong_router'
  if (!same(paid.tokenAddress, asked.tokenAddress)) return 'wrong_token'
  if (!same(paid.merchantAddress, asked.merchantAddress)) return 'wrong_recipient'
  // An address follows from router, memo and merchant, so this can differ only in an event that contradicts itself.
  if (paid.depositAddress && asked.depositAddress && !same(paid.depositAddress, asked.depositAddress)) return 'wrong_recipient'
  return paid.grossUnits > 0n ? null : 'zero_amount'
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** Why payments do not count for their order, by id: also those whose sum its columns would not hold. */
export function mismatchesOf(reports: readonly Report[], order: (Payable & { seenUnits: bigint }) | null, known: ReadonlySet<string>) {
  const reasons = new Map<string, MismatchReason>()
  let seenUnits = order?.seenUnits ?? 0n
  for (const { payment, target } of reports) {
    const isNew = !known.has(payment.id)
    const isTooMuch = isNew && seenUnits + payment.grossUnits > UNITS_MAX
    const reason = mismatchOf(target, order) ?? (isTooMuch ? 'amount_out_of_range' : null)
    if (reason) reasons.set(payment.id, reason)
    else if (isNew) seenUnits += payment.grossUnits
  }
  return reasons
}

/**
 * What merchants are notified of a payment that counts for no order: once it is confirmed, those whose payout address it went to. Less than a cent is
 * not worth an event, and would let anyone send many.
 */
export const unmatchedEvents = (
  { payment, memo, target }: Report,
  reason: MismatchReason,
  merchants: readonly { id: string; version: number }[],
): NewEvent[] =>
  merchants.map(({ id, version }) => ({
    type: 'order.payment_unmatched',
    data: {
      merchant_id: id,
      merchant_version: version,
      payment: {
        id: payment.id,
        reason,
        kind: payment.kind,
        chain_id: target.chainId,
        token_address: target.tokenAddress,
        tx_hash: payment.txHash,
        memo,
        amount: formatUsdc(payment.grossUnits),
        payer_address: payment.payerAddress,
        merchant_address: target.merchantAddress,
        block_time: payment.blockTime.toISOString(),
      },
    },
  }))
