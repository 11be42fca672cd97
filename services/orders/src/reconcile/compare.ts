import { formatUsdc } from '@ponte/contracts'
import { type ChainView, verdictOf } from '../order/verdict'
import type { Counted } from '../store'

/** An order that is not what its payments make of it, or has a confirmed payment that the listener does not report any more. */
export interface Difference {
  orderId: string
  kind: 'received' | 'status' | 'unreported'
  detail: string
}

const DUE = ['pending', 'underpaid', 'confirming']

/** Compares an order with the sum of its payments and with what they make of it, as the confirmed chain is known. */
export function differencesOf({ order, confirmedUnits, seenUnits, unnamed, ...facts }: Counted, chain: ChainView): Difference[] {
  const verdict = verdictOf(order, facts, chain)
  const differences: Difference[] = []
  const differs = (kind: Difference['kind'], detail: string) => differences.push({ orderId: order.id, kind, detail })
  if (confirmedUnits !== order.confirmedUnits || seenUnits !== order.seenUnits)
    differs(
      'received',
      `its payments are ${formatUsdc(confirmedUnits)} gross confirmed of ${formatUsdc(seenUnits)}, it states ${formatUsdc(order.confirmedUnits)} of ${formatUsdc(order.seenUnits)}`,
    )
  // An expiry that is due and not yet done is no difference.
  const isDue = verdict.status === 'expired' && DUE.includes(order.status)
  if (!isDue && (verdict.status !== order.status || verdict.exception !== order.exception))
    differs('status', `its payments make it ${verdict.status}/${verdict.exception}, it states ${order.status}/${order.exception}`)
  if (unnamed > 0) differs('unreported', `${unnamed} of its confirmed payments are not reported in the listener's present history`)
  return differences
}
