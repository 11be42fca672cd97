import { formatUsdc } from '@ponte/contracts'
import { settle } from './settlement'
import type { Ledger } from './store/ledger'

/** An order that is not what its payments make of it. */
export interface Difference {
  orderId: string
  kind: 'received' | 'status'
  detail: string
}

const DUE = ['pending', 'underpaid', 'confirming']

/** Holds an order against the sum and the order of its payments, at the confirmed chain time. */
export function differencesOf({ order, payments }: Ledger, chainTime: Date | null): Difference[] {
  const verdict = settle(order, payments, chainTime)
  const differences: Difference[] = []
  if (verdict.receivedUnits !== order.receivedUnits)
    differences.push({
      ...{ orderId: order.id, kind: 'received' },
      detail: `its confirmed payments are ${formatUsdc(verdict.receivedUnits)}, it says ${formatUsdc(order.receivedUnits)}`,
    })
  // An expiry that is due and not yet swept is no difference.
  const isDue = verdict.status === 'expired' && DUE.includes(order.status)
  if (!isDue && (verdict.status !== order.status || verdict.exception !== order.exception))
    differences.push({
      ...{ orderId: order.id, kind: 'status' },
      detail: `its payments make it ${verdict.status}/${verdict.exception}, it says ${order.status}/${order.exception}`,
    })
  return differences
}
