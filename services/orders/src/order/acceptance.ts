import { ApiError, formatUsdc } from '@ponte/contracts'
import { amountsOf, type Change, givenAwayUnits, type Ledger, type Order, ownerOf, paidData, review } from './order'
import { updatedEvents } from './progress'
import { type ChainView, isDust } from './verdict'

export interface Acceptance {
  reason: string
  /** `sub` of the user; null for a key. */
  by: string | null
}

/**
 * The merchant takes what is confirmed as payment in full, once: it is paid from then on, while no reorganisation takes that money away. More that comes
 * is counted, and makes what was given away less. Throws `invalid_state`.
 */
export function accept(ledger: Ledger, acceptance: Acceptance, chain: ChainView, at: Date): Change {
  const refusal = refusalOf(ledger.order)
  if (refusal !== null) throw new ApiError('invalid_state', refusal)
  return take(ledger, acceptance, chain, at)
}

/**
 * The merchant counts what came for its period as paid, so this order counts, whatever was to count before; what is still being confirmed makes what is
 * given away less. Null where it is or was paid, and where nothing is confirmed: then it is as any other.
 */
export function acceptWithPeriod({ order, ...facts }: Ledger, by: string | null, chain: ChainView, at: Date): Change | null {
  if (order.status === 'paid' || order.paidAt !== null || isUnpaid(order)) return null
  return take({ ...facts, order: { ...order, supersededAt: null } }, { reason: 'Its period was counted as paid', by }, chain, at)
}

/** It never was paid, and nothing is confirmed of what it could be accepted for. */
export const isUnpaid = (order: Order): boolean => order.paidAt === null && isDust(order.confirmedUnits, order)

function take(ledger: Ledger, { reason, by }: Acceptance, chain: ChainView, at: Date): Change {
  const before = ledger.order
  const accepted = { acceptedAt: at, acceptedUnits: before.confirmedUnits, acceptedReason: reason, acceptedBy: by }
  const change = review({ ...ledger, order: { ...before, ...accepted } }, chain, at, before)
  const { order } = change
  const notice = { accepted_at: at.toISOString(), reason, given_away: formatUsdc(givenAwayUnits(order)) }
  const data = { ...ownerOf(order), order: { ...paidData(order, at), ...amountsOf(order), ...notice } }
  return { ...change, events: [...change.events, { type: 'order.accepted', data }, ...updatedEvents(before, order)] }
}

/** Why there is nothing to accept; null where there is. */
export function refusalOf(order: Order): string | null {
  if (order.status === 'paid') return 'The order is paid already.'
  // The merchant was notified of `paid`: the payment may be mined again.
  if (order.paidAt !== null) return 'The order was paid, and a reorganisation of the chain took the payment away.'
  if (order.supersededAt !== null)
    return 'Another order of its period counts instead: what came for this one can be accepted with the charge of its period, or is to be returned.'
  if (order.status === 'confirming') return 'A payment that may pay the order is still being confirmed; wait for it.'
  if (isDust(order.confirmedUnits, order)) return 'Nothing that is confirmed came for the order.'
  if (order.status === 'pending') return 'A payment of the order is still being confirmed; wait for it.'
  return null
}
