import type { PaymentTerms, SeenPayment } from '../logs/payment-received'
import type { Payment } from '../payment'

/** What the chain and our books do not agree on, at a depth where nothing is on its way any more. */
export interface Difference {
  kind: 'missing' | 'unfounded' | 'changed' | 'unconfirmed'
  txHash: string
  logIndex: number
  blockNumber: number
  memo: string
  /** For whoever has to find out why. */
  detail: string
}

/** Compares what confirmed blocks hold with what we have of them: each log once, as it is, and confirmed. */
export function compare(onChain: readonly SeenPayment[], recorded: readonly Payment[]): Difference[] {
  const books = new Map(recorded.map(payment => [placeOf(payment), payment]))
  const differences: Difference[] = []
  for (const seen of onChain) {
    const place = placeOf(seen)
    const ours = books.get(place)
    books.delete(place)
    if (!ours) {
      differences.push(
        toDifference('missing', seen, `the chain has a payment of ${seen.share} units to ${seen.merchant}, the books have none`),
      )
      continue
    }
    const changed = TERMS.filter(term => ours[term] !== seen[term])
    if (changed.length > 0)
      differences.push(
        toDifference('changed', seen, changed.map(term => `${term} is ${seen[term]}, the books say ${ours[term]}`).join('; ')),
      )
    else if (ours.state !== 'confirmed') differences.push(toDifference('unconfirmed', seen, `the books say ${ours.state}`))
  }
  for (const ours of books.values())
    differences.push(toDifference('unfounded', ours, `the books have a ${ours.state} payment of ${ours.share} units, the chain has none`))
  return differences
}

const TERMS = ['router', 'memo', 'merchant', 'payer', 'share', 'fee'] as const satisfies (keyof PaymentTerms)[]

const placeOf = ({ blockHash, txHash, logIndex }: SeenPayment) => `${blockHash} ${txHash} ${logIndex}`

const toDifference = (kind: Difference['kind'], { txHash, logIndex, blockNumber, memo }: SeenPayment, detail: string): Difference => ({
  ...{ kind, txHash, logIndex, blockNumber, memo, detail },
})
