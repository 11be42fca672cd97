import { decimal, groupBy, type Row, text, units } from './rows'

/** Orders lost by a restore: those from its moment until it was done. */
export interface Restored {
  from: Date
  until: Date
}

/** An order that went with the restored database, and what came for it all the same. */
export interface LostOrder {
  id: string
  merchant: string | null
  madeAt: Date
  /** In USDC; null where the release before did not keep it. */
  asked: string | null
  paid: string
}

/** An id begins with the millisecond in which it was made. */
const madeAt = (id: unknown) => Number.parseInt(String(id).replaceAll('-', '').slice(0, 12), 16)

/** True for an id of a span that was forgotten. */
export const forgottenBy =
  (restored: readonly Restored[]) =>
  (id: unknown): boolean =>
    restored.some(({ from, until }) => madeAt(id) >= from.getTime() && madeAt(id) <= until.getTime())

/** The orders that the listener watches for and orders forgot, with the money that lies among the unmatched. */
export function lostOrders(
  { payables, orders, unmatched }: Record<'payables' | 'orders' | 'unmatched', readonly Row[]>,
  isForgotten: (id: unknown) => boolean,
): LostOrder[] {
  const known = new Set(orders.map(({ id }) => String(id)))
  const came = groupBy(
    unmatched.filter(({ status }) => status !== 'orphaned'),
    row => String(row.memo),
  )
  // Watched on several networks, it is lost once.
  return [...new Map(payables.map(row => [row.order_id, row])).values()]
    .filter(({ order_id }) => !known.has(String(order_id)) && isForgotten(order_id))
    .map(row => ({
      id: String(row.order_id),
      merchant: text(row.merchant_id),
      madeAt: new Date(madeAt(row.order_id)),
      asked: row.asked_units === null ? null : decimal(units(row.asked_units), 6),
      paid: decimal(
        (came.get(String(row.memo)) ?? []).reduce((sum, one) => sum + units(one.exact_units ?? one.gross_units), 0n),
        6,
      ),
    }))
}
