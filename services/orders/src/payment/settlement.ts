import { chainIdOf } from '@ponte/contracts'
import { confirmedPayments, inChainOrder, type Payment, type Position, sumUnits } from './payment'

/** A confirmed `PaymentReceived` out of the deposit address: it moves transfers on to the merchant and pays nothing by itself. */
export interface Sweep extends Position {
  grossUnits: bigint
  txHash: string
}

/** Whether a payment's money has reached the payout address, and the transaction that took it there. */
export interface Settlement {
  status: 'settled' | 'pending' | 'blocked'
  txHash: string | null
}

type IsBlocked = (chainId: number | null) => boolean

/**
 * What has become of each payment's money, by payment id. A router payment settles itself. Sweeps settle transfers oldest first: a transfer is
 * settled by the sweep with which the sum of all sweeps reaches the sum of all transfers up to it. Who sweeps, when and how often changes nothing
 * else (decision: a transfer is the payment). `isBlocked`: the listener last reported of this chain that the address cannot be swept; null is the chain of
 * ids that name none.
 */
export function settlements(payments: readonly Payment[], sweeps: readonly Sweep[], isBlocked: IsBlocked): Map<string, Settlement> {
  const chainIds = new Set([...payments, ...sweeps].flatMap(({ id }) => chainIdOf(id) ?? []))
  const [only = null] = chainIds
  if (chainIds.size <= 1) return settlementsOn(payments, sweeps, isBlocked(only))
  // A chain's sweeps move nothing of another one.
  const of = <T extends { id: string }>(rows: readonly T[], chainId: number) => rows.filter(({ id }) => chainIdOf(id) === chainId)
  return new Map([...chainIds].flatMap(chainId => [...settlementsOn(of(payments, chainId), of(sweeps, chainId), isBlocked(chainId))]))
}

function settlementsOn(payments: readonly Payment[], sweeps: readonly Sweep[], blocked: boolean): Map<string, Settlement> {
  const settled = new Map<string, Settlement>()
  const remaining = sweeps.toSorted(inChainOrder)
  let transferred = 0n
  let swept = 0n
  let last: Sweep | undefined
  for (const payment of confirmedPayments(payments).sort(inChainOrder)) {
    if (payment.kind === 'router') {
      settled.set(payment.id, { status: 'settled', txHash: payment.txHash })
      continue
    }
    transferred += payment.grossUnits
    while (swept < transferred && remaining.length > 0) {
      last = remaining.shift()
      swept += last?.grossUnits ?? 0n
    }
    if (swept >= transferred && last) settled.set(payment.id, { status: 'settled', txHash: last.txHash })
  }
  for (const { id, kind, status } of payments) {
    const isHeld = blocked && kind === 'transfer' && status !== 'orphaned'
    if (!settled.has(id)) settled.set(id, { status: isHeld ? 'blocked' : 'pending', txHash: null })
  }
  return settled
}

/**
 * The transaction with which the last of the confirmed payments reached the payout address; null while one has not. What is dust in sum is not waited
 * for: no sweep is worth it, and anyone can send it.
 */
export function settledBy(payments: readonly Payment[], sweeps: readonly Sweep[], isDust: (units: bigint) => boolean): string | null {
  const all = settlements(payments, sweeps, () => false)
  const confirmed = confirmedPayments(payments).sort(inChainOrder)
  const settled = confirmed.flatMap(({ id }) => all.get(id)?.txHash ?? [])
  const waiting = confirmed.filter(({ id }) => all.get(id)?.status !== 'settled')
  return isDust(sumUnits(waiting)) ? (settled.at(-1) ?? null) : null
}
