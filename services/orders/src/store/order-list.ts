import type { ListOrders } from '@ponte/contracts'
import { type Database, uuidv7Floor } from '@ponte/service-kit'
import type { Order } from '../order'
import { fromFields, type OrderFields, orderFields } from './order-row'

/**
 * Orders of a merchant, newest first. The id is the keyset: it begins with the time of creation, so that a span of time
 * is a span of ids, and every filter has an index that ends in the id. A page costs the same at any depth.
 */
export function orderList(database: Database) {
  /** Newest first; oldest first when paging backwards. */
  return async (merchantId: string, query: ListOrders, limit: number): Promise<Order[]> => {
    const [along, against] = query.ending_before === undefined ? ['ASC', 'DESC'] : ['DESC', 'ASC']
    const lead = LEADING.find(column => query[column] !== undefined)
    const values: unknown[] = [merchantId, limit]
    // Written as lists of one, merchant and leading filter are part of the order, which only the index made for them has. As plain equalities
    // they drop out of it, and the planner may walk another index past rows that do not belong: quick on average, endless for a quiet merchant.
    const led = lead ? `AND ${lead} = ANY (ARRAY[$${values.push(query[lead])}]${lead === 'subscription_id' ? '::uuid[]' : '::text[]'})` : ''
    const where = conditions(query, lead).map(([condition, value]) => `AND ${condition.replace('?', `$${values.push(value)}`)}`)
    const { rows } = await database.query<OrderFields>(
      `SELECT ${orderFields} FROM orders WHERE merchant_id = ANY (ARRAY[$1]::uuid[]) ${led} ${where.join(' ')}
       ORDER BY merchant_id ${along}, ${lead ? `${lead} ${along},` : ''} id ${against} LIMIT $2`,
      values,
    )
    return rows.map(fromFields)
  }
}

// Raw SQL, as the list that it is a part of. By the payer's transaction, or by the one that moved it on. Worked out first, so that the orders themselves are found by their key.
const BY_TRANSACTION = `id = ANY (ARRAY(
  SELECT order_id FROM (SELECT order_id, tx_hash FROM payments UNION ALL
    SELECT paid.id, sweeps.tx_hash FROM sweeps JOIN orders AS paid USING (memo)) AS moved
  WHERE moved.tx_hash = ?))`

/** Filters with an index of their own that ends in the id, the most telling first. */
const LEADING = ['external_ref', 'subscription_id', 'exception', 'status'] as const

function conditions(query: ListOrders, lead: string | undefined): [condition: string, value: unknown][] {
  const from = query.created_gte === undefined ? undefined : instant(query.created_gte)
  const to = query.created_lt === undefined ? undefined : instant(query.created_lt)
  const all: [string, unknown][] = [
    ...LEADING.filter(column => column !== lead).map((column): [string, unknown] => [`${column} = ?`, query[column]]),
    ['memo = ?', query.memo],
    [BY_TRANSACTION, query.tx_hash],
    ['deposit_address = ?', query.deposit_address],
    ['id < ?', query.starting_after],
    ['id > ?', query.ending_before],
    // An order's time of creation is the one that its id begins with, so this is exact. A condition on `created_at` beside it would be
    // taken for a second one, and what seems left for a handful that may as well be sorted.
    ['id >= ?', from && uuidv7Floor(from)],
    ['id < ?', to && uuidv7Floor(to)],
  ]
  return all.filter(([, value]) => value !== undefined)
}

/**
 * Orders are created at whole milliseconds, so what lies between two stands for the later one. Nothing was created before 1970,
 * and a year that the database cannot hold is of no use to a filter.
 */
function instant(text: string): Date {
  const between = /\.\d{3}\d*[1-9]/.test(text) ? 1 : 0
  return new Date(Math.max(0, Date.parse(text) + between))
}
