import type { PaymentTerms, Place, SeenPayment } from '../logs/payment-received'
import type { Payment } from '../payment'
import type { Difference } from '../store/differences'

/** Compares what confirmed blocks hold with our rows: each log once, as it is, and confirmed. */
export function compare(onChain: readonly SeenPayment[], recorded: readonly Payment[]): Difference[] {
  const rows = new Map(recorded.map(payment => [placeOf(payment), payment]))
  const differences: Difference[] = []
  for (const seen of onChain) {
    const place = placeOf(seen)
    const ours = rows.get(place)
    rows.delete(place)
    if (!ours) {
      const detail = `the chain has a ${seen.kind} of ${seen.amount} units for ${seen.merchant}, the books have none`
      differences.push(toDifference('missing', seen, detail))
      continue
    }
    const changed = TERMS.filter(term => ours[term] !== seen[term])
    if (changed.length > 0) {
      const detail = changed.map(term => `${term} is ${seen[term]}, in the books ${ours[term]}`).join('; ')
      differences.push(toDifference('changed', seen, detail))
    } else if (ours.state !== 'confirmed') differences.push(toDifference('unconfirmed', seen, `it is ${ours.state} in the books`))
  }
  for (const ours of rows.values()) {
    const detail = `the books have a ${ours.state} ${ours.kind} of ${ours.amount} units, the chain has none`
    differences.push(toDifference('unfounded', ours, detail))
  }
  return differences
}

/** Confirmed transfers to a deposit address and sweeps from it. */
export interface DepositLedger {
  orderId: string
  memo: string
  address: string
  transferredUnits: bigint
  sweptUnits: bigint
}

/** Money that came to an address and was not swept lies there: transfers = sweeps + balance, at one block. */
export function compareBalances(ledgers: readonly DepositLedger[], balances: readonly bigint[], blockNumber: number): Difference[] {
  return ledgers.flatMap(({ memo, address, transferredUnits, sweptUnits }, index) => {
    const balance = balances[index] ?? 0n
    if (transferredUnits === sweptUnits + balance) return []
    const detail = `${address} holds ${balance} units, the books have ${transferredUnits} transferred to it and ${sweptUnits} swept`
    return [{ kind: 'balance' as const, txHash: null, logIndex: null, blockNumber, memo, detail }]
  })
}

const TERMS = ['kind', 'router', 'memo', 'merchant', 'payer', 'amount', 'deposit', 'blockNumber', 'blockTime'] as const satisfies (
  | keyof PaymentTerms
  | keyof Place
)[]

const placeOf = ({ blockHash, txHash, logIndex }: Place) => `${blockHash} ${txHash} ${logIndex}`

const toDifference = (kind: Difference['kind'], { txHash, logIndex, blockNumber, memo }: SeenPayment, detail: string): Difference => ({
  kind,
  txHash,
  logIndex,
  blockNumber,
  memo,
  detail,
})
