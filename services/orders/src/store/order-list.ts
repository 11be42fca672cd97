import { isByPayment, type ListOrders, parseBrl } from '@ponte/contracts'
import { type Condition, type Database, type Found, type KeysetList, type KeysetQuery, keysetPage, timeSpan } from '@ponte/service-kit'
import type { Order } from '../order/order'
import { type Quotation, readQuotation } from '../order/quotation'
import { HAS_DEPOSIT } from './order-reads'
import { orders, toOrder } from './rows'

/**
 * Orders of a merchant, newest first; oldest first when paging backwards. Every filter has an index that ends in the id. A list of what was paid in a span of
 * time is in order of payment.
 */
export const orderList =
  (database: Database) =>
  async (merchantId: string, query: ListOrders, limit: number): Promise<Found<Order>> => {
    const isPaid = isByPayment(query)
    const { starting_after, ending_before, paid_gte, paid_lt } = query
    const paid: KeysetQuery = { starting_after, ending_before, created_gte: paid_gte, created_lt: paid_lt }
    // The most telling first.
    const leading: KeysetList['leading'] = [
      ['external_ref', 'text', query.external_ref],
      ['subscription_id', 'uuid', query.subscription_id],
      ['exception', 'text', query.exception],
      ['status', 'text', query.status],
    ]
    const list = {
      ...{ select: orders.select(), limit },
      indexed: [...(isPaid ? [PAID] : []), ...named(query)],
      searched: [...searched(query), ...(isPaid ? [...timeSpan('created_at', query), ...given([[IS_OF_LINK, query.link_id]])] : [])],
      ...(isPaid ? { time: 'paid_at', query: paid } : { query }),
    }
    const ofMerchant: KeysetList = { ...list, from: 'orders', owner: ['merchant_id', merchantId], leading }
    const { rows, searchedTo } = await keysetPage<{ id: string }>(
      database,
      isPaid || query.link_id === undefined ? ofMerchant : ofLink(query.link_id, merchantId, ofMerchant),
    )
    return { rows: rows.map(toOrder), searchedTo }
  }

const PAID: Condition = ["status = 'paid'"]
const given = (conditions: Condition[]): Condition[] => conditions.filter(([, value]) => value !== undefined)

// Raw SQL, as the list that it is a part of. By the payer's transaction, or by the one that moved it on. Worked out first, so that the orders themselves are found by their key.
const BY_TRANSACTION = `id = ANY (ARRAY(
  SELECT order_id FROM (SELECT order_id, tx_hash FROM payments UNION ALL
    SELECT paid.id, sweeps.tx_hash FROM sweeps JOIN orders AS paid USING (memo)) AS moved
  WHERE moved.tx_hash = ?))`

// Raw SQL, as the list that it is a part of. Looked up for each row that is looked at.
const IS_OF_LINK = '(SELECT true FROM link_orders WHERE order_id = id AND link_id = ?)'

/** The same by an index of links, so that a page costs the same however many orders a link has. */
const ofLink = (linkId: string, merchantId: string, { leading, indexed = [], searched = [], ...list }: KeysetList): KeysetList => ({
  ...{ ...list, from: 'orders JOIN link_orders ON order_id = id', key: 'order_id', owner: ['link_id', linkId], leading: [] },
  indexed: [['merchant_id = ?', merchantId], ...indexed],
  searched: [...given(leading.map(([column, , value]): Condition => [`${column} = ?`, value])), ...searched],
})

/** Conditions that select a handful of orders. */
const named = (query: ListOrders): Condition[] =>
  given([
    ['memo = ?', query.memo],
    [BY_TRANSACTION, query.tx_hash],
    [`(deposit_address = ? OR ${HAS_DEPOSIT('?::text')})`, query.deposit_address],
  ]).concat(query.text === undefined ? [] : quoted(readQuotation(query.text)))

// Worked out first, as above.
const BY_HASH = `id = ANY (ARRAY(
  SELECT id FROM (SELECT id, memo FROM orders) AS remembered WHERE memo = ?
  UNION ALL SELECT order_id FROM payments WHERE tx_hash = '0x' || ?
  UNION ALL SELECT order_id FROM refunds WHERE tx_hash = '0x' || ? OR nonce = '0x' || ?
  UNION ALL SELECT paid.id FROM sweeps JOIN orders AS paid USING (memo) WHERE sweeps.tx_hash = '0x' || ?))`

// Its own, or that of money that went back.
const BY_ID = 'id = ANY (ARRAY[?::uuid] || ARRAY(SELECT order_id FROM refunds WHERE id = ?::uuid))'

/** Ids and hashes, which an index answers. */
function quoted(quotation: Quotation): Condition[] {
  if (quotation.kind === 'id' && quotation.from === quotation.to) return [[BY_ID, quotation.from]]
  if (quotation.kind === 'id')
    return [
      ['id >= ?', quotation.from],
      ['id <= ?', quotation.to],
    ]
  return quotation.kind === 'hash' ? [[BY_HASH, quotation.hex]] : []
}

const HAS_DOCUMENT = 'EXISTS (SELECT FROM fiscal_documents AS document WHERE document.order_id = id)'

/** A payment's id begins with its chain; one that was kept when there was one network is of the order's. */
export const CHAINS_PAID_ON = `(
  SELECT coalesce(substring(paid.id FROM '^(\\d+):')::int, orders.chain_id) FROM payments AS paid WHERE paid.order_id = orders.id AND paid.status <> 'orphaned')`

/** Conditions that no index answers. */
const searched = (query: ListOrders): Condition[] =>
  given([
    ['brl_centavos = ?', query.brl_amount === undefined ? undefined : parseBrl(query.brl_amount)],
    ['strpos(lower(description), lower(?)) > 0', query.description],
    [`?::boolean = ${HAS_DOCUMENT}`, query.has_fiscal_document],
    [`? IN ${CHAINS_PAID_ON}`, query.chain_id],
  ]).concat(query.text === undefined ? [] : quotedIn(readQuotation(query.text)))

/** Addresses, words and amounts, which no index answers. */
function quotedIn(quotation: Quotation): Condition[] {
  if (quotation.kind === 'address') return [[IS_ADDRESS, quotation.address]]
  if (quotation.kind !== 'words') return []
  const { words, references, digits, brlCentavos, usdcUnits } = quotation
  const amounts = { brl: brlCentavos.map(String), usdc: usdcUnits.map(String) }
  return [[HAS_WORDS, JSON.stringify({ words, references, digits, amounts })]]
}

/** The order's own, its payer's, or of money that went back. */
const IS_ADDRESS = `(lower(deposit_address) = ?
  OR EXISTS (SELECT FROM jsonb_array_elements(networks) AS other WHERE lower(other ->> 'depositAddress') = ?)
  OR EXISTS (SELECT FROM payments WHERE order_id = orders.id AND lower(payer_address) = ?)
  OR EXISTS (SELECT FROM refunds WHERE order_id = orders.id AND lower(payee) = ?))`

const WRITTEN = "concat_ws(' ', external_ref, description, (SELECT string_agg(value, ' ') FROM jsonb_each_text(metadata)))"
const FOLDED = `regexp_replace(normalize(lower(${WRITTEN}), NFD), '[\\u0300-\\u036f]', '', 'g')`
const asked = (path: string) => `(SELECT jsonb_array_elements_text(?::jsonb #> '{${path}}'))`
const HAS_WORDS = `(
  (SELECT bool_and(strpos(written, word) > 0) FROM (SELECT ${FOLDED} AS written OFFSET 0) AS folded, jsonb_array_elements_text(?::jsonb -> 'words') AS word)
  OR ltrim(lower(external_ref), '#') IN ${asked('references')}
  OR strpos(regexp_replace(${WRITTEN}, '\\D', '', 'g'), ?::jsonb ->> 'digits') > 0
  OR brl_centavos::text IN ${asked('amounts,brl')} OR usdc_units::text IN ${asked('amounts,usdc')}
  OR EXISTS (SELECT FROM ${asked('amounts,usdc')} AS amount (units) WHERE units IN (
    SELECT gross_units::text FROM payments WHERE order_id = orders.id UNION ALL SELECT refunds.units::text FROM refunds WHERE order_id = orders.id)))`
