import { chainIdOf } from '@ponte/contracts'
import { inChainOrder, type Payment } from '../payment/payment'

/** Sum of an order's payments, kept with it so that one more costs the same however many there are. */
export interface Tally {
  /** Gross sum of the confirmed payments. */
  confirmedUnits: bigint
  /** The same with those that are not confirmed yet. */
  seenUnits: bigint
  transferUnits: bigint
  /** The confirmed sum up to the end of the completing block; 0 before it. */
  completedUnits: bigint
  /** The payment, in chain order, with which the confirmed sum first reached what is required. */
  completingChainId: number | null
  completingBlock: bigint | null
  completingIndex: number | null
  completingTime: Date | null
  completingTxHash: string | null
  /** The last confirmed payment in chain order; its chain and time are null where an earlier release counted it, which knew one chain. */
  lastChainId: number | null
  lastBlock: bigint | null
  lastIndex: number | null
  lastTime: Date | null
  lastTxHash: string | null
}

export const EMPTY: Tally = {
  confirmedUnits: 0n,
  seenUnits: 0n,
  transferUnits: 0n,
  completedUnits: 0n,
  completingChainId: null,
  completingBlock: null,
  completingIndex: null,
  completingTime: null,
  completingTxHash: null,
  lastChainId: null,
  lastBlock: null,
  lastIndex: null,
  lastTime: null,
  lastTxHash: null,
}

/** The tally of all payments of an order. */
export function tallyOf(payments: readonly Payment[], required: bigint): Tally {
  const confirmed = payments.filter(({ status }) => status === 'confirmed').sort(inChainOrder)
  const tally = confirmed.reduce((sum, payment) => withConfirmed(sum, payment, required), EMPTY)
  return { ...tally, seenUnits: payments.reduce((sum, payment) => sum + liveUnits(payment), 0n) }
}

/**
 * The tally once these payments have changed from what is `known` of them. Null when all payments have to be counted again: a confirmed one is gone or has
 * another amount, or one comes before another that is counted.
 */
export function tallyWith(tally: Tally, known: readonly Payment[], changed: readonly Payment[], required: bigint): Tally | null {
  const before = new Map(known.map(payment => [payment.id, payment]))
  const isConfirmed = (payment: Payment | undefined) => payment?.status === 'confirmed'
  const isCountedAs = ({ id, grossUnits, status }: Payment) => status === 'confirmed' && before.get(id)?.grossUnits === grossUnits
  if (changed.some(payment => isConfirmed(before.get(payment.id)) && !isCountedAs(payment))) return null
  const confirmed = changed.filter(payment => isConfirmed(payment) && !isConfirmed(before.get(payment.id))).sort(inChainOrder)
  if (confirmed[0] && !isAfterLast(tally, confirmed[0])) return null
  const seenUnits = changed.reduce((sum, payment) => sum + liveUnits(payment) - liveUnits(before.get(payment.id)), tally.seenUnits)
  return { ...confirmed.reduce((sum, payment) => withConfirmed(sum, payment, required), tally), seenUnits }
}

const liveUnits = (payment: Payment | undefined): bigint => (!payment || payment.status === 'orphaned' ? 0n : payment.grossUnits)

/** Across chains, a payment of the same second may come before one that is counted. */
function isAfterLast({ lastChainId, lastBlock, lastIndex, lastTime }: Tally, { id, blockNumber, logIndex, blockTime }: Payment): boolean {
  if (lastBlock === null) return true
  if (lastTime !== null && lastChainId !== chainIdOf(id)) return blockTime > lastTime
  return blockNumber > lastBlock || (blockNumber === lastBlock && lastIndex !== null && logIndex > lastIndex)
}

/** With one more confirmed payment, which comes after all that are counted. */
function withConfirmed(tally: Tally, payment: Payment, required: bigint): Tally {
  const { id, blockNumber, logIndex, blockTime, txHash } = payment
  const chainId = chainIdOf(id)
  const next: Tally = {
    ...tally,
    confirmedUnits: tally.confirmedUnits + payment.grossUnits,
    transferUnits: tally.transferUnits + (payment.kind === 'transfer' ? payment.grossUnits : 0n),
    ...{ lastChainId: chainId, lastBlock: blockNumber, lastIndex: logIndex, lastTime: blockTime, lastTxHash: txHash },
  }
  if (next.completingBlock === null && next.confirmedUnits >= required) {
    next.completingChainId = chainId
    next.completingBlock = blockNumber
    next.completingIndex = logIndex
    next.completingTime = blockTime
    next.completingTxHash = txHash
  }
  const isOfBlock = next.completingBlock === blockNumber && (next.completingChainId ?? chainId) === chainId
  if (isOfBlock) next.completedUnits = next.confirmedUnits
  return next
}
