import { isByPayment, type ListOrders, parseBrl, SEARCHED_MAX } from '@ponte/contracts'
import { type Database, uuidv7Floor } from '@ponte/service-kit'
import type { Order } from '../order/order'
import { type Quotation, readQuotation } from '../order/quotation'
import { orders, toOrder } from './rows'

/** A page of orders; `searchedTo` is the last order looked at when the search for more of them ended early. */
export interface OrderPage {
  orders: Order[]
  searchedTo: string | null
}

/**
 * Orders of a merchant, newest first. The id is the keyset: it begins with the time of creation, so that a span of time
 * is a span of ids, and every filter has an index that ends in the id. A page costs the same at any depth. A list of what was paid in a span of time
 * is in order of payment. What no index answers is searched for in a bounded number of orders a page.
 */
export function orderList(database: Database) {
  /** Newest first; oldest first when paging backwards. */
  return async (merchantId: string, query: ListOrders, limit: number): Promise<OrderPage> => {
    const { text, values, isSearch } = statementOf(merchantId, query, limit)
    const { rows } = await database.query<{ id: string | null; searchedTo?: string | null }>(text, values)
    // A search that finds nothing answers one row without an order.
    const found = rows.filter(({ id }) => id !== null)
    const isEnded = isSearch && found.length < limit
    return {
      orders: found.map(toOrder),
      searchedTo: (isEnded && rows[0]?.searchedTo) || null,
    }
  }
}

function statementOf(merchantId: string, query: ListOrders, limit: number) {
  const values: unknown[] = [merchantId, limit]
  const bind = ([condition, value]: Condition) => {
    const place = `$${values.push(value)}`
    return `AND ${condition.replaceAll('?', place)}`
  }
  const [along, against] = query.ending_before === undefined ? ['ASC', 'DESC'] : ['DESC', 'ASC']
  const isPaid = isByPayment(query)
  const lead = isPaid ? undefined : LEADING.find(column => query[column] !== undefined)
  // Written as lists of one, merchant and leading filter are part of the order, which only the index made for them has. As plain equalities
  // they drop out of it, and the planner may walk another index past rows that do not belong: quick on average, endless for a quiet merchant.
  const led = lead ? bind([`${lead} = ANY (ARRAY[?]${lead === 'subscription_id' ? '::uuid[]' : '::text[]'})`, query[lead]]) : ''
  const rest = given(LEADING.filter(column => column !== lead).map((column): Condition => [`${column} = ?`, query[column]]))
  const place = isPaid ? paidPlace(query) : idPlace(query)
  const where = [led, ...[...place, ...named(query)].map(bind)].join(' ')
  const order = isPaid
    ? `merchant_id ${against}, paid_at ${against}, id ${against}`
    : `merchant_id ${along}, ${lead ? `${lead} ${along},` : ''} id ${against}`
  const walk = `FROM orders WHERE merchant_id = ANY (ARRAY[$1]::uuid[]) ${isPaid ? "AND status = 'paid'" : ''} ${where} ORDER BY ${order}`
  // No index has two of them together: of one reference there may be any number of orders.
  const search = [...searched(query), ...rest, ...(isPaid ? idPlace({ ...query, ...NO_PLACE }) : [])]
  if (search.length === 0) return { text: `SELECT ${orders.select()} ${walk} LIMIT $2`, values, isSearch: false }
  // One statement, so that the page and where it ended are of the same moment.
  const text = `
    WITH found AS (SELECT ${orders.select()} FROM (SELECT * ${walk} LIMIT ${SEARCHED_MAX}) AS orders
      WHERE true ${search.map(bind).join(' ')} LIMIT $2)
    SELECT found.*, ended.id AS "searchedTo"
    FROM (SELECT (SELECT id ${walk} OFFSET ${SEARCHED_MAX - 1} LIMIT 1) AS id) AS ended LEFT JOIN found ON true
    ORDER BY ${isPaid ? `found."paidAt" ${against}, ` : ''}found.id ${against}`
  return { text, values, isSearch: true }
}

type Condition = [condition: string, value: unknown]
const given = (conditions: Condition[]): Condition[] => conditions.filter(([, value]) => value !== undefined)
const NO_PLACE = { starting_after: undefined, ending_before: undefined }

// Raw SQL, as the list that it is a part of. By the payer's transaction, or by the one that moved it on. Worked out first, so that the orders themselves are found by their key.
const BY_TRANSACTION = `id = ANY (ARRAY(
  SELECT order_id FROM (SELECT order_id, tx_hash FROM payments UNION ALL
    SELECT paid.id, sweeps.tx_hash FROM sweeps JOIN orders AS paid USING (memo)) AS moved
  WHERE moved.tx_hash = ?))`

/** Filters with an index of their own that ends in the id, the most telling first. */
const LEADING = ['external_ref', 'subscription_id', 'exception', 'status'] as const

/** Conditions that select a handful of orders. */
const named = (query: ListOrders): Condition[] =>
  given([
    ['memo = ?', query.memo],
    [BY_TRANSACTION, query.tx_hash],
    ['deposit_address = ?', query.deposit_address],
  ]).concat(query.text === undefined ? [] : quoted(readQuotation(query.text)))

// Worked out first, as above.
const BY_HASH = `id = ANY (ARRAY(
  SELECT id FROM (SELECT id, memo FROM orders) AS remembered WHERE memo = ?
  UNION ALL SELECT order_id FROM payments WHERE tx_hash = '0x' || ?
  UNION ALL SELECT paid.id FROM sweeps JOIN orders AS paid USING (memo) WHERE sweeps.tx_hash = '0x' || ?))`

/** Ids and hashes, which an index answers. */
function quoted(quotation: Quotation): Condition[] {
  if (quotation.kind === 'id')
    return [
      ['id >= ?', quotation.from],
      ['id <= ?', quotation.to],
    ]
  return quotation.kind === 'hash' ? [[BY_HASH, quotation.hex]] : []
}

/** Conditions that no index answers. */
const searched = (query: ListOrders): Condition[] =>
  given([
    ['brl_centavos = ?', query.brl_amount === undefined ? undefined : parseBrl(query.brl_amount)],
    ['strpos(lower(description), lower(?)) > 0', query.description],
  ]).concat(query.text === undefined ? [] : quotedIn(readQuotation(query.text)))

/** Addresses, words and amounts, which no index answers. */
function quotedIn(quotation: Quotation): Condition[] {
  if (quotation.kind === 'address') return [[IS_ADDRESS, quotation.address]]
  if (quotation.kind !== 'words') return []
  const { words, references, digits, brlCentavos, usdcUnits } = quotation
  const amounts = { brl: brlCentavos.map(String), usdc: usdcUnits.map(String) }
  return [[HAS_WORDS, JSON.stringify({ words, references, digits, amounts })]]
}

/** The order's own, or its payer's. */
const IS_ADDRESS = '(lower(deposit_address) = ? OR EXISTS (SELECT FROM payments WHERE order_id = orders.id AND lower(payer_address) = ?))'

const WRITTEN = "concat_ws(' ', external_ref, description, (SELECT string_agg(value, ' ') FROM jsonb_each_text(metadata)))"
const FOLDED = `regexp_replace(normalize(lower(${WRITTEN}), NFD), '[\\u0300-\\u036f]', '', 'g')`
const asked = (path: string) => `(SELECT jsonb_array_elements_text(?::jsonb #> '{${path}}'))`
const HAS_WORDS = `(
  (SELECT bool_and(strpos(written, word) > 0) FROM (SELECT ${FOLDED} AS written OFFSET 0) AS folded, jsonb_array_elements_text(?::jsonb -> 'words') AS word)
  OR ltrim(lower(external_ref), '#') IN ${asked('references')}
  OR strpos(regexp_replace(${WRITTEN}, '\\D', '', 'g'), ?::jsonb ->> 'digits') > 0
  OR brl_centavos::text IN ${asked('amounts,brl')} OR usdc_units::text IN ${asked('amounts,usdc')})`

/** A span of a list by creation. */
function idPlace(query: ListOrders): Condition[] {
  const from = query.created_gte === undefined ? undefined : instant(query.created_gte)
  const to = query.created_lt === undefined ? undefined : instant(query.created_lt)
  return given([
    ['id < ?', query.starting_after],
    ['id > ?', query.ending_before],
    // An order's time of creation is the one that its id begins with, so this is exact. A condition on `created_at` beside it would be
    // taken for a second one, and what seems left for a handful that may as well be sorted.
    ['id >= ?', from && uuidv7Floor(from)],
    ['id < ?', to && uuidv7Floor(to)],
  ])
}

const PAID_AT = '(SELECT paid_at FROM orders AS place WHERE place.id = ?::uuid AND place.merchant_id = $1)'

/** A span of a list by payment. */
const paidPlace = (query: ListOrders): Condition[] =>
  given([
    ['paid_at >= ?', query.paid_gte && instant(query.paid_gte)],
    ['paid_at < ?', query.paid_lt && instant(query.paid_lt)],
    [`(paid_at, id) < (${PAID_AT}, ?::uuid)`, query.starting_after],
    [`(paid_at, id) > (${PAID_AT}, ?::uuid)`, query.ending_before],
  ])

/**
 * Orders are created at whole milliseconds, so what lies between two stands for the later one. Nothing was created before 1970,
 * and a year that the database cannot hold is of no use to a filter.
 */
function instant(text: string): Date {
  const between = /\.\d{3}\d*[1-9]/.test(text) ? 1 : 0
  return new Date(Math.max(0, Date.parse(text) + between))
}
