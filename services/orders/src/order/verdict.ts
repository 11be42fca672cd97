import { CENT, type OrderException, type OrderStatus } from '@ponte/contracts'
import { confirmedPayments, inChainOrder, livePayments, type Payment, sumUnits } from '../payment'

/** What decides an order beside its payments. */
export interface Terms {
  usdcUnits: bigint
  /** By how much it may be short and still be paid; fixed when it was created. */
  toleranceUnits: bigint
  expiresAt: Date
  depositAddress: string | null
  /** The merchant's command. */
  cancelledAt: Date | null
  /** Since when another order of the same subscription period is paid instead. */
  supersededAt: Date | null
  /** Since when its subscription has ended: it is closed once no money counts for it. */
  withdrawnAt: Date | null
  /** When the merchant was notified of `paid`, and of `expired`: facts like any other. */
  paidAt: Date | null
  expiredAt: Date | null
  /** The gross amount that the merchant was last notified of as too little; 0 when never. */
  notifiedUnits: bigint
}

/** What the chain-listener has reported about an order. */
export interface Facts {
  payments: readonly Payment[]
  /** From this event on it reads the deposit address in every block; null before it reported so. */
  syncedSequence: number | null
  /** An event about a payment of this order could not be handled yet. */
  isHeld?: boolean
}

/** How far the confirmed chain is known here. */
export interface ChainView {
  /** Tc: the latest confirmed block time before which every event is known; null while nothing is. */
  time: Date | null
  /** Every event of the listener up to this sequence has been read. */
  watermark: number
}

export interface Verdict {
  status: OrderStatus
  exception: OrderException | null
  /** Gross sum of the confirmed payments. */
  confirmedUnits: bigint
  /** The payment that completed the order, or the last confirmed one while it is short; null without any. */
  txHash: string | null
  /** True when nothing that could still decide is unconfirmed. */
  isSettled: boolean
  confirmed: readonly Payment[]
}

/** What pays an order. */
export const requiredUnits = ({ usdcUnits, toleranceUnits }: Pick<Terms, 'usdcUnits' | 'toleranceUnits'>): bigint =>
  usdcUnits - toleranceUnits

/** Less than a cent and less than what would pay the order: recorded, and decides nothing. */
export const isDust = (units: bigint, terms: Pick<Terms, 'usdcUnits' | 'toleranceUnits'>): boolean =>
  units < CENT && units < requiredUnits(terms)

/** True when no money that counts has come or is on its way. */
export const isUntouched = (terms: Terms, payments: readonly Payment[]): boolean => isDust(sumUnits(livePayments(payments)), terms)

/**
 * The state of an order as a pure function of its terms, its payments and the confirmed chain: judged on gross amounts, in chain order. The order
 * in which the facts arrived plays no part, and neither does any sweep.
 */
export function verdictOf(terms: Terms, { payments, syncedSequence, isHeld }: Facts, chain: ChainView): Verdict {
  const confirmed = confirmedPayments(payments).sort(inChainOrder)
  const confirmedUnits = sumUnits(confirmed)
  const seenUnits = sumUnits(livePayments(payments))
  const completing = completingPayment(confirmed, requiredUnits(terms))
  const isSettled = isDust(seenUnits - confirmedUnits, terms)
  const sums: Sums = { confirmedUnits, seenUnits, isSettled, completing }
  const status = statusOf(terms, sums, !isHeld && hasPassed(terms, syncedSequence, chain))
  return {
    status,
    exception: exceptionOf(terms, status, confirmed, sums),
    confirmedUnits,
    txHash: (completing ?? confirmed.at(-1))?.txHash ?? null,
    isSettled,
    confirmed,
  }
}

interface Sums {
  confirmedUnits: bigint
  seenUnits: bigint
  isSettled: boolean
  completing: Payment | undefined
}

function statusOf(terms: Terms, { confirmedUnits, seenUnits, isSettled, completing }: Sums, isPast: boolean): OrderStatus {
  const required = requiredUnits(terms)
  if (terms.cancelledAt !== null) return 'cancelled'
  if (completing && completing.blockTime <= terms.expiresAt) return 'paid'
  // Notified once: a late payment on its way must not make the order expire a second time.
  if (terms.expiredAt !== null) return 'expired'
  if (seenUnits >= required && confirmedUnits < required) return 'confirming'
  if (isPast) return 'expired'
  // Complete but late: an earlier payment may still be on its way here, so only the confirmed chain time may expire the order.
  if (seenUnits >= required) return 'confirming'
  if (!isDust(confirmedUnits, terms) && (isSettled || terms.notifiedUnits > 0n)) return 'underpaid'
  return 'pending'
}

/** The confirmed chain is past the order's end, and every payment to its address up to there would be known. */
function hasPassed({ expiresAt, depositAddress }: Terms, syncedSequence: number | null, { time, watermark }: ChainView): boolean {
  const isSynced = depositAddress === null || (syncedSequence !== null && syncedSequence <= watermark)
  return time !== null && time > expiresAt && isSynced
}

function exceptionOf(terms: Terms, status: OrderStatus, confirmed: readonly Payment[], sums: Sums): OrderException | null {
  const required = requiredUnits(terms)
  if (status === 'paid') {
    if (terms.supersededAt || unitsAfter(sums.completing, confirmed) >= required) return 'duplicate'
    return sums.confirmedUnits > terms.usdcUnits + terms.toleranceUnits ? 'overpaid' : null
  }
  if (status === 'cancelled' && !isDust(sums.confirmedUnits, terms)) return 'paid_after_cancel'
  if (terms.paidAt !== null) return 'reorged'
  return status === 'expired' && sums.confirmedUnits >= required ? 'paid_late' : null
}

/** What was confirmed in blocks after the completing one. */
const unitsAfter = (completing: Payment | undefined, confirmed: readonly Payment[]): bigint =>
  completing ? sumUnits(confirmed.filter(({ blockNumber }) => blockNumber > completing.blockNumber)) : 0n

/** The confirmed payment, in chain order, with which the sum first reaches what is required. */
function completingPayment(confirmed: readonly Payment[], required: bigint): Payment | undefined {
  let total = 0n
  return confirmed.find(({ grossUnits }) => {
    total += grossUnits
    return total >= required
  })
}
