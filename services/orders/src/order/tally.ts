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
 * another amount, or one comes before another that is counted and may change which of them completed the order.
 */
export function tallyWith(tally: Tally, known: readonly Payment[], changed: readonly Payment[], required: bigint): Tally | null {
  const before = new Map(known.map(payment => [payment.id, payment]))
  const isConfirmed = (payment: Payment | undefined) => payment?.status === 'confirmed'
  const isCountedAs = ({ id, grossUnits, status }: Payment) => status === 'confirmed' && before.get(id)?.grossUnits === grossUnits
  if (changed.some(payment => isConfirmed(before.get(payment.id)) && !isCountedAs(payment))) return null
  const confirmed = changed.filter(payment => isConfirmed(payment) && !isConfirmed(before.get(payment.id))).sort(inChainOrder)
  const seenUnits = changed.reduce((sum, payment) => sum + liveUnits(payment) - liveUnits(before.get(payment.id)), tally.seenUnits)
  const isFirstLast = confirmed[0] === undefined || isBehind(confirmed[0], lastOf(tally))
  if (isFirstLast) return { ...confirmed.reduce((sum, payment) => withConfirmed(sum, payment, required), tally), seenUnits }
  return isOrderSettled(tally, confirmed, required) ? { ...confirmed.reduce(withEarlier, tally), seenUnits } : null
}

/** Whether these change neither which payment completed the order nor what had come by the end of its block, wherever they stand among the others. */
function isOrderSettled(tally: Tally, confirmed: readonly Payment[], required: bigint): boolean {
  const { completingChainId, completingBlock, completingTime, confirmedUnits, lastBlock, lastChainId, lastTime } = tally
  // An earlier release counted, which knew one chain: what stands where is not known.
  if (lastBlock !== null && (lastChainId === null || lastTime === null)) return false
  if (completingBlock === null) return confirmedUnits + confirmed.reduce((sum, { grossUnits }) => sum + grossUnits, 0n) < required
  const end = { chainId: completingChainId, block: completingBlock, index: Number.POSITIVE_INFINITY, time: completingTime }
  return completingTime !== null && completingChainId !== null && confirmed.every(payment => isBehind(payment, end))
}

const liveUnits = (payment: Payment | undefined): bigint => (!payment || payment.status === 'orphaned' ? 0n : payment.grossUnits)

interface Place {
  chainId: number | null
  block: bigint | null
  index: number | null
  time: Date | null
}

const lastOf = ({ lastChainId, lastBlock, lastIndex, lastTime }: Tally): Place => ({
  ...{ chainId: lastChainId, block: lastBlock, index: lastIndex, time: lastTime },
})

/** As `inChainOrder` has it; where an earlier release counted, there is one chain. */
function isBehind({ id, blockNumber, logIndex, blockTime }: Payment, { chainId, block, index, time }: Place): boolean {
  if (block === null) return true
  const own = chainIdOf(id)
  if (time !== null && chainId !== own)
    return blockTime > time || (blockTime.getTime() === time.getTime() && own !== null && chainId !== null && own > chainId)
  return blockNumber > block || (blockNumber === block && index !== null && logIndex > index)
}

/** With the amount of one more confirmed payment, as the last. */
function withAmount(tally: Tally, payment: Payment): Tally {
  const { id, kind, grossUnits, blockNumber, logIndex, blockTime, txHash } = payment
  return {
    ...tally,
    confirmedUnits: tally.confirmedUnits + grossUnits,
    transferUnits: tally.transferUnits + (kind === 'transfer' ? grossUnits : 0n),
    ...{ lastChainId: chainIdOf(id), lastBlock: blockNumber, lastIndex: logIndex, lastTime: blockTime, lastTxHash: txHash },
  }
}

/** With one more, which may come before others that are counted. */
function withEarlier(tally: Tally, payment: Payment): Tally {
  const next = withAmount(tally, payment)
  if (isBehind(payment, lastOf(tally))) return next
  const { lastChainId, lastBlock, lastIndex, lastTime, lastTxHash } = tally
  return { ...next, lastChainId, lastBlock, lastIndex, lastTime, lastTxHash }
}

/** With one more confirmed payment, which comes after all that are counted. */
function withConfirmed(tally: Tally, payment: Payment, required: bigint): Tally {
  const { id, blockNumber, logIndex, blockTime, txHash } = payment
  const chainId = chainIdOf(id)
  const next = withAmount(tally, payment)
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
