import { CENT, type Customer, LINK_QUOTE_MAX_S, type ListLinks, type MerchantTerms, orderStatus } from '@ponte/contracts'
import {
  commitUnit,
  type Database,
  insertRows,
  int,
  keysetPage,
  type Sql,
  type Statement,
  type StoredAnswer,
  table,
  text,
  time,
  type Unit,
  units,
  uuidv7Floor,
} from '@ponte/service-kit'
import { z } from 'zod'
import { type Link, type LinkFacts, NO_ORDERS, type OpeningFacts, requireOpening, standingOrder } from '../link/link'
import type { Change } from '../order/order'
import { ORDER_FACTS } from './attention'
import { insertLinkCustomers, linkCustomerRecord, linkCustomers, toCustomer } from './invoicing'
import { insertionOf, updateOf } from './order-writes'
import type { OrderStoreOptions } from './rows'

const links = table('links', {
  id: text,
  merchantId: text,
  terms: z.custom<MerchantTerms>(),
  payerToken: text,
  kind: z.enum(['invoice', 'reusable']),
  brlCentavos: units.nullable(),
  minCentavos: units.nullable(),
  maxCentavos: units.nullable(),
  description: text,
  externalRef: text.nullable(),
  metadata: z.record(text, text),
  dueAt: time.nullable(),
  quoteSeconds: int,
  maxPayments: int.nullable(),
  successUrl: text.nullable(),
  cancelUrl: text.nullable(),
  createdBy: text.nullable(),
  createdAt: time,
  endedAt: time.nullable(),
})

const linked = z.object({ id: text, status: orderStatus, expiresAt: time }).nullable()
const facts = z.object({ paid: int, newest: linked, paidBy: linked, payable: linked, undecided: linked })

const INSERT: Statement = {
  name: 'link-insert',
  text: `WITH customers AS (${insertLinkCustomers}) ${insertRows('links', links.columns)}`,
}
const CUSTOMERS: Statement = {
  name: 'link-customers',
  text: `SELECT ${linkCustomers.select()} FROM link_customers WHERE link_id = ANY($1::uuid[])`,
}
const IS_OPEN = "status IN ('pending', 'confirming', 'underpaid')"
/** Handled is as much as was seen then: money that has come since, also unconfirmed, is not. */
const IS_HANDLED = `(handled_facts IS NOT DISTINCT FROM ${ORDER_FACTS} AND seen_units <= confirmed_units)`
const OPENED = 'link_orders JOIN orders ON orders.id = order_id WHERE link_id'
const shown = (name: string, id: string) =>
  `(SELECT json_build_object('id', id, 'status', status, 'expiresAt', expires_at) FROM orders WHERE id = ${id}) AS "${name}"`
const firstOf = (where: string, order = 'orders.id DESC') => `(array_agg(orders.id ORDER BY ${order}) FILTER (WHERE ${where}))[1]`
// Raw SQL: anyone opens orders of a reusable link, so none of them is read: paid ones are counted by their marks, for the merchant or up to max_payments. What is less
// than a cent decides nothing, here as in their verdict; one that was paid, and whose payment the chain took back, may have it again.
const FACTS: Statement = {
  name: 'link-facts',
  text: `
  SELECT link.id AS "linkId", paid, ${shown('newest', `(SELECT order_id FROM link_orders WHERE link_id = link.id ORDER BY order_id DESC LIMIT 1)`)},
    ${shown('paidBy', 'paid_by')}, ${shown('payable', 'payable_id')}, ${shown('undecided', 'undecided_id')}
  FROM links AS link, LATERAL (
    SELECT count(*) AS paid FROM link_orders WHERE link_id = link.id AND paid AND ($2 OR link.kind = 'invoice' OR link.max_payments IS NOT NULL)) AS counted, LATERAL (
    SELECT ${firstOf("status = 'paid'", 'superseded_at IS NOT NULL, paid_at, orders.id')} AS paid_by, ${firstOf(IS_OPEN)} AS payable_id,
      ${firstOf(`NOT ${IS_OPEN} AND status <> 'paid' AND NOT ${IS_HANDLED} AND (paid_at IS NOT NULL OR greatest(seen_units, confirmed_units) >= ${CENT})`)} AS undecided_id
    FROM ${OPENED} = link.id AND link.kind = 'invoice') AS of_invoice
  WHERE link.id = ANY($1::uuid[])`,
}
const COUNT_OPEN: Statement = {
  name: 'link-open-orders',
  text: `SELECT count(*)::int AS open FROM ${OPENED} = $1 AND order_id >= $2 AND ${IS_OPEN}`,
}
// Raw SQL: an order and what it belongs to in one transaction, behind the lock of the link.
const LOCK = `SELECT ${links.select()} FROM links WHERE id = $1 FOR UPDATE`
const ATTACH = 'INSERT INTO link_orders (order_id, link_id) VALUES ($1, $2)'
// Raw SQL: orders of an invoice beside the one that stands as its payment. Of two that are paid the one that was paid first stands.
const REPLACED = (which: string) => `
  SELECT orders.id AS "orderId", links.id AS "linkId" FROM link_orders JOIN orders ON orders.id = order_id JOIN links ON links.id = link_id
  WHERE ${which} AND links.kind = 'invoice' AND (orders.${IS_OPEN} OR orders.status = 'paid') AND superseded_at IS NULL AND EXISTS (
    SELECT FROM link_orders AS other JOIN orders AS paid ON paid.id = other.order_id
    WHERE other.link_id = link_orders.link_id AND paid.id <> orders.id AND paid.status = 'paid' AND paid.superseded_at IS NULL
      AND (orders.status <> 'paid' OR (paid.paid_at, paid.id) < (orders.paid_at, orders.id)))
  LIMIT $2`
// An order lives no longer than a quote. Of an invoice with a young one an older one may be paid as well, by the merchant's word of the same moment.
const ALL_REPLACED: Statement = {
  name: 'links-replaced',
  text: REPLACED(`links.id IN (
    SELECT young.link_id FROM link_orders AS young JOIN links AS invoice ON invoice.id = young.link_id WHERE young.order_id >= $1 AND invoice.kind = 'invoice')`),
}
const ONE_REPLACED: Statement = { name: 'link-replaced', text: REPLACED('order_id = $1') }
const LOCK_OF_ORDER = 'SELECT FROM links WHERE id = (SELECT link_id FROM link_orders WHERE order_id = $1) FOR UPDATE'
// Raw SQL for a join by keys.
const PAID_BY_ANOTHER: Statement = {
  name: 'link-paid-by-another',
  text: `SELECT DISTINCT own.order_id FROM link_orders AS own JOIN links ON links.id = own.link_id JOIN link_orders AS other ON other.link_id = own.link_id
    JOIN orders ON orders.id = other.order_id
    WHERE own.order_id = ANY($1::uuid[]) AND links.kind = 'invoice' AND orders.id <> own.order_id AND orders.status = 'paid'`,
}

export interface ReplacedOrder {
  orderId: string
  linkId: string
}

/** As an order of the link gets it: erased since it was given to the link, it is left out. */
export interface NamedCustomer {
  customer: Customer
  givenAt: Date
}

const EXPIRY_LATE_MS = 3_600_000

/** Links with what became of their orders. */
export function linkStore(database: Database, { now, committed }: OrderStoreOptions) {
  const factsOf = async (sql: Sql, ids: readonly string[], counted: 'all' | 'needed'): Promise<(id: string) => LinkFacts> => {
    const { rows } = await sql.query<{ linkId: string }>(FACTS, [ids, counted === 'all'])
    const found = new Map(rows.map(row => [row.linkId, facts.parse(row)]))
    return id => found.get(id) ?? NO_ORDERS
  }
  const payerFacts = async (sql: Sql, { id }: Link): Promise<LinkFacts> => (await factsOf(sql, [id], 'needed'))(id)
  const openingFacts = async (sql: Sql, link: Link, at: Date): Promise<OpeningFacts> => {
    const known = await payerFacts(sql, link)
    if (link.kind === 'invoice') return { ...known, open: 0 }
    // One that waits for its payer is no older than its quote, and than what its expiry and the clocks of replicas take.
    const since = uuidv7Floor(new Date(at.getTime() - 2_000 * link.quoteSeconds - EXPIRY_LATE_MS))
    const { rows } = await sql.query<{ open: number }>(COUNT_OPEN, [link.id, since])
    return { ...known, open: rows[0]?.open ?? 0 }
  }
  const customersOf = async (sql: Sql, ids: readonly string[]): Promise<Map<string, NamedCustomer>> => {
    const { rows } = await sql.query(CUSTOMERS, [ids])
    return new Map(
      rows.map(row => {
        const { linkId, givenAt, ...customer } = linkCustomers.parse(row)
        return [linkId, { customer: toCustomer(customer), givenAt }]
      }),
    )
  }
  const found = async (name: string, where: string, values: readonly unknown[]): Promise<Link | null> => {
    const { rows } = await database.query({ name, text: `SELECT ${links.select()} FROM links WHERE ${where}` }, values)
    return rows[0] ? links.parse(rows[0]) : null
  }
  const paidByAnother = async (sql: Sql, orderIds: readonly string[]): Promise<ReadonlySet<string>> => {
    const { rows } = await sql.query<{ order_id: string }>(PAID_BY_ANOTHER, [orderIds])
    return new Set(rows.map(({ order_id }) => order_id))
  }
  return {
    /** Of each of these links, with every order that was paid. */
    facts: (ids: readonly string[]) => factsOf(database, ids, 'all'),
    /** As far as its status needs them. */
    payerFacts: (link: Link) => payerFacts(database, link),
    openingFacts: (link: Link, at: Date) => openingFacts(database, link, at),
    insert: async (link: Link, customer: Customer | null, answers: readonly StoredAnswer[]): Promise<void> => {
      const named = customer ? [linkCustomerRecord(customer, link, link.createdAt)] : []
      await database.commit({ write: INSERT, rows: { links: [links.record(link)], link_customers: named }, answers })
    },
    customersOf: (ids: readonly string[]) => customersOf(database, ids),
    find: (merchantId: string, id: string) => found('link-find', 'id = $1 AND merchant_id = $2', [id, merchantId]),
    findByPayerToken: (token: string) => found('link-of-payer', 'payer_token = $1', [token]),
    async list(merchantId: string, query: ListLinks, limit: number): Promise<Link[]> {
      const { rows } = await keysetPage<{ id: string }>(database, {
        ...{ select: links.select(), from: 'links', owner: ['merchant_id', merchantId], limit, query },
        leading: [['external_ref', 'text', query.external_ref]],
      })
      return rows.map(row => links.parse(row))
    },
    /** Ends it once. */
    async end(merchantId: string, id: string, at: Date, answerOf: (link: Link) => readonly StoredAnswer[]): Promise<Link | null> {
      return database.transaction(async sql => {
        const { rows } = await sql.query(LOCK, [id])
        const link = rows[0] ? links.parse(rows[0]) : null
        if (link?.merchantId !== merchantId) return null
        const ended = { ...link, endedAt: link.endedAt ?? at }
        await sql.query('UPDATE links SET ended_at = $2 WHERE id = $1', [id, ended.endedAt])
        await commitUnit(sql, { answers: answerOf(ended) })
        return ended
      })
    },

    /** Writes this order of the link, unless another one stands that payers are led to: of many at once one is written. Answers the order that is. */
    async open({ id }: Link, change: Change): Promise<string> {
      const at = now()
      const standing = await database.transaction(async sql => {
        const { rows } = await sql.query(LOCK, [id])
        const link = links.parse(rows[0])
        const known = await openingFacts(sql, link, at)
        const other = standingOrder(link, known)
        if (other) return other.id
        requireOpening(link, known, at)
        const named = (await customersOf(sql, [id])).get(id)
        await commitUnit(sql, insertionOf(change, at, named && { ...named, fiscalDocument: null }))
        await sql.query(ATTACH, [change.order.id, id])
        return null
      })
      if (standing === null) committed(change)
      return standing ?? change.order.id
    },

    /** Orders beside the one that is the payment of their invoice: open, or paid as well. */
    async replaced(limit: number): Promise<ReplacedOrder[]> {
      const since = uuidv7Floor(new Date(now().getTime() - 2 * LINK_QUOTE_MAX_S * 1_000))
      return (await database.query<ReplacedOrder>(ALL_REPLACED, [since, limit])).rows
    },
    /** Writes this change of an order behind the lock of its link, where it still is so: of two paid orders two replicas never take one each. */
    async supersede({ orderId, linkId }: ReplacedOrder, change: Change): Promise<void> {
      const isWritten = await database.transaction(async sql => {
        await sql.query(LOCK, [linkId])
        if (!(await sql.query(ONE_REPLACED, [orderId, 1])).rowCount) return false
        await commitUnit(sql, updateOf(change, now()))
        return true
      })
      if (isWritten) committed(change)
    },
    /** Picks the orders beside which another order of their invoice is paid. */
    paidByAnother: (orderIds: readonly string[]) => paidByAnother(database, orderIds),
    /**
     * Writes what an order becomes by the merchant's word behind the lock of its link: of two at once one stands. Answers whether it is written: not where it
     * would be paid, and another order of its invoice is.
     */
    async decide(change: Change, unit: Unit): Promise<boolean> {
      const { id, status } = change.order
      const isWritten = await database.transaction(async sql => {
        await sql.query(LOCK_OF_ORDER, [id])
        if (status === 'paid' && (await paidByAnother(sql, [id])).size > 0) return false
        await commitUnit(sql, unit)
        return true
      })
      if (isWritten) committed(change)
      return isWritten
    },
  }
}
