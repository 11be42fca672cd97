import { formatUsdc } from '@ponte/contracts'
import { type ChainView, type Ledger, verdictOf } from '../order'

/** An order that is not what its payments make of it. */
export interface Difference {
  orderId: string
  kind: 'received' | 'status'
  detail: string
}

const DUE = ['pending', 'underpaid', 'confirming']

/** Compares an order with the sum and the order of its payments, as the confirmed chain is known. */
export function differencesOf({ order, ...facts }: Ledger, chain: ChainView): Difference[] {
  const verdict = verdictOf(order, facts, chain)
  const differences: Difference[] = []
  if (verdict.confirmedUnits !== order.confirmedUnits)
    differences.push({
      orderId: order.id,
      kind: 'received',
      detail: `its confirmed payments are ${formatUsdc(verdict.confirmedUnits)} gross, it states ${formatUsdc(order.confirmedUnits)}`,
    })
  // An expiry that is due and not yet done is no difference.
  const isDue = verdict.status === 'expired' && DUE.includes(order.status)
  if (!isDue && (verdict.status !== order.status || verdict.exception !== order.exception))
    differences.push({
      orderId: order.id,
      kind: 'status',
      detail: `its payments make it ${verdict.status}/${verdict.exception}, it states ${order.status}/${order.exception}`,
    })
  return differences
}
