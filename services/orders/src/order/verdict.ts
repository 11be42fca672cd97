import { CENT, type OrderException, type OrderStatus, roundingOf } from '@ponte/contracts'
import { generationsOf, isCertain, type Lease } from '../chain/history'
import type { Tally } from './tally'

export interface Terms {
  usdcUnits: bigint
  /** By how much it may be short and still be paid; fixed when it was created. */
  toleranceUnits: bigint
  expiresAt: Date
  /** The merchant's command. */
  cancelledAt: Date | null
  /** The merchant took what was confirmed as payment, which was so much. */
  acceptedAt: Date | null
  acceptedUnits: bigint
  /** Since when another order of the same subscription period is paid instead. */
  supersededAt: Date | null
  /** Of what came for it by then, the part that the paid order did not ask for any more; null where that is not known. */
  deductedCentavos: bigint | null
  /** Since when its subscription has ended: it is closed once no money counts for it. */
  withdrawnAt: Date | null
  /** When the merchant was notified of `paid`, and of `expired`: facts like any other. */
  paidAt: Date | null
  expiredAt: Date | null
  /** The gross amount that the merchant was last notified of as too little; 0 when never. */
  notifiedUnits: bigint
}

/** Whether all that was paid for an order is known up to the confirmed chain. */
export interface Facts {
  /** Its payments are read without a gap in the present generation of the listener's history. Undecided, it does not expire. */
  isWatched: boolean
  /** That generation; another one's confirmed time decides nothing. */
  generation?: string | null
  /** An event about a payment of this order could not be handled yet. */
  isHeld?: boolean
  /** The listener may have lost what was read of it, in this generation: what it was known to have confirmed decides nothing meanwhile. */
  isDoubtful?: boolean
}

export interface ChainView {
  /** Tc: the time of the block up to which all of the present generation is known; null while that is nothing, or not certain. */
  time: Date | null
  generation?: string | null
}

/** The networks of an order, together: as far as each of them is known. */
export function viewOf(chainIds: readonly number[], of: (chainId: number) => ChainView | undefined): ChainView {
  const times = chainIds.map(chainId => of(chainId)?.time ?? null)
  const time = times.includes(null) ? null : new Date(Math.min(...times.map(Number)))
  return { time, generation: generationsOf(chainIds, of) }
}

export interface ChainFacts {
  chainId: number
  generation: string | null
  leases: readonly Lease[]
}

/** The same of whether all that came on them is known. `watchedOn` names the chains on which the order is watched in their present generations. */
export const factsOf = (chainIds: readonly number[], watchedOn: readonly number[], chains: readonly ChainFacts[]) => ({
  isWatched: chainIds.every(id => watchedOn.includes(id)),
  generation: generationsOf(chainIds, id => chains.find(({ chainId }) => chainId === id)),
  isDoubtful: chains.some(({ chainId, leases }) => chainIds.includes(chainId) && !isCertain(leases)),
})

export interface Verdict {
  status: OrderStatus
  exception: OrderException | null
  /** The payment that completed the order, or the last confirmed one while it is short; null without any. */
  txHash: string | null
  /** True when nothing that could still decide is unconfirmed. */
  isSettled: boolean
}

export const requiredUnits = ({ usdcUnits, toleranceUnits }: Pick<Terms, 'usdcUnits' | 'toleranceUnits'>): bigint =>
  usdcUnits - toleranceUnits

/** Less than a cent and less than what would pay the order: recorded, and decides nothing. */
export const isDust = (units: bigint, terms: Pick<Terms, 'usdcUnits' | 'toleranceUnits'>): boolean =>
  units < CENT && units < requiredUnits(terms)

/** True when no money that counts has come or is on its way. */
export const isUntouched = (order: Terms & Tally): boolean => isDust(order.seenUnits, order)

/** The money that the merchant accepted is there. */
export const isAccepted = (order: Terms & Tally): boolean => order.acceptedAt !== null && order.confirmedUnits >= order.acceptedUnits

/** Paid by what came in time, or by the merchant's word. */
export const isPaid = (order: Terms & Tally): boolean =>
  isAccepted(order) || (order.cancelledAt === null && order.completingTime !== null && order.completingTime <= order.expiresAt)

/**
 * The state of an order as a pure function of its terms, what its payments come to and the confirmed chain: judged on gross amounts, in chain order. The
 * order in which the facts arrived plays no part, and neither does any sweep.
 */
export function verdictOf(order: Terms & Tally, { isWatched, isHeld, isDoubtful, generation }: Facts, chain: ChainView): Verdict {
  const isSettled = isDust(order.seenUnits - order.confirmedUnits, order)
  const isKnown = isWatched && !isHeld && !isDoubtful && (chain.generation ?? null) === (generation ?? null)
  const isPast = isKnown && chain.time !== null && chain.time > order.expiresAt
  const status = statusOf(order, isSettled, isPast)
  return { status, exception: exceptionOf(order, status), txHash: order.completingTxHash ?? order.lastTxHash, isSettled }
}

function statusOf(order: Terms & Tally, isSettled: boolean, isPast: boolean): OrderStatus {
  const { confirmedUnits, seenUnits } = order
  const required = requiredUnits(order)
  if (isPaid(order)) return 'paid'
  if (order.cancelledAt !== null) return 'cancelled'
  // Notified once: a late payment on its way must not make the order expire a second time.
  if (order.expiredAt !== null) return 'expired'
  if (seenUnits >= required && confirmedUnits < required) return 'confirming'
  if (isPast) return 'expired'
  // Complete but late: an earlier payment may still be on its way here, so only the confirmed chain time may expire the order.
  if (seenUnits >= required) return 'confirming'
  if (!isDust(confirmedUnits, order) && (isSettled || order.notifiedUnits > 0n)) return 'underpaid'
  return 'pending'
}

function exceptionOf(order: Terms & Tally, status: OrderStatus): OrderException | null {
  const { confirmedUnits, completedUnits } = order
  const required = requiredUnits(order)
  if (status === 'paid') {
    // Money of later blocks that would have paid it once more.
    if (order.supersededAt || confirmedUnits - completedUnits >= required) return 'duplicate'
    // Forgiving what is missing is no reason to keep what is too much; checkouts ask for whole cents.
    return confirmedUnits > order.usdcUnits + roundingOf(order.usdcUnits) ? 'overpaid' : null
  }
  if (order.paidAt !== null) return 'reorged'
  if (status === 'cancelled' && !isDust(confirmedUnits, order)) return 'paid_after_cancel'
  return status === 'expired' && confirmedUnits >= required ? 'paid_late' : null
}
