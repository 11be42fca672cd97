import type { Customer, EraseCustomers, ErasedCustomers } from '@ponte/contracts'
import { type Database, flag, insertRows, int, type Statement, table, text, time } from '@ponte/service-kit'
import { z } from 'zod'
import { type FiscalDocument, type Invoicing, type InvoicingChange, NO_INVOICING } from '../order/invoicing'
import type { Order } from '../order/order'

const ofCustomer = {
  merchantId: text,
  name: text.nullable(),
  email: text.nullable(),
  taxId: text.nullable(),
  resident: flag.nullable(),
  givenAt: time,
}
const customerRow = z.object(ofCustomer)
const customers = table('order_customers', { orderId: text, ...ofCustomer })
export const linkCustomers = table('link_customers', { linkId: text, ...ofCustomer })
export const fiscalDocuments = table('fiscal_documents', {
  orderId: text,
  merchantId: text,
  kind: z.enum(['nfe', 'nfse']),
  key: text,
  setAt: time,
  setBy: text.nullable(),
})

type Owner = Pick<Order, 'id' | 'merchantId'>

/** The row of an order's customer, named at this time. */
export const customerRecord = ({ tax_id: taxId, ...customer }: Customer, { id: orderId, merchantId }: Owner, givenAt: Date) =>
  customers.record({ ...customer, taxId, orderId, merchantId, givenAt })
export const linkCustomerRecord = ({ tax_id: taxId, ...customer }: Customer, { id: linkId, merchantId }: Owner, givenAt: Date) =>
  linkCustomers.record({ ...customer, taxId, linkId, merchantId, givenAt })
export const documentRecord = (document: FiscalDocument, { id: orderId, merchantId }: Owner) =>
  fiscalDocuments.record({ ...document, orderId, merchantId })

const IS_ERASED = `EXISTS (SELECT FROM customer_erasures AS erasure WHERE erasure.merchant_id = incoming.merchant_id
  AND erasure.subject IN (incoming.tax_id, lower(incoming.email)) AND erasure.erased_at >= incoming.given_at)`

const insertNamed = ({ name, columns }: { name: string; columns: readonly string[] }) => `
  INSERT INTO ${name} (${columns.join(', ')}) SELECT ${columns.map(column => `incoming.${column}`).join(', ')}
  FROM json_populate_recordset(NULL::${name}, $${name}) AS incoming WHERE NOT ${IS_ERASED}`

/** `INSERT` of customers beside the orders or links that they are of. One that was erased after a charge or a link named it is left out. */
export const insertCustomers = insertNamed(customers)
export const insertLinkCustomers = insertNamed(linkCustomers)

export const insertDocuments = insertRows('fiscal_documents', fiscalDocuments.columns)

const taking = ({ name, columns }: { name: string; columns: readonly string[] }) => `
  INSERT INTO ${name} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM json_populate_recordset(NULL::${name}, $${name})
  ON CONFLICT (order_id) DO UPDATE SET ${columns.map(column => `${column} = EXCLUDED.${column}`).join(', ')}`

// Raw SQL because both are one change. What is erased is never written by the same statement.
const UPDATE: Statement = {
  name: 'invoicing-update',
  text: `
  WITH without_customer AS (DELETE FROM order_customers WHERE order_id = ANY($without_customer::uuid[])),
  without_document AS (DELETE FROM fiscal_documents WHERE order_id = ANY($without_document::uuid[])),
  named AS (${taking(customers)})
  ${taking(fiscalDocuments)}`,
}

// Raw SQL for a join by ids, in their order.
const OF_ORDERS = `
  SELECT asked.order_id AS "orderId", (SELECT ${customers.json('customer')} FROM order_customers AS customer WHERE customer.order_id = asked.order_id) AS customer,
    (SELECT ${fiscalDocuments.json('document')} FROM fiscal_documents AS document WHERE document.order_id = asked.order_id) AS document
  FROM unnest($1::uuid[]) AS asked (order_id)`

const WAITING = "state = 'waiting' AND request::jsonb ? 'customer'"
const NAMES = (subject: string) => `${subject} IN (request::jsonb #>> '{customer,tax_id}', lower(request::jsonb #>> '{customer,email}'))`

const IS_SUBJECT = 'merchant_id = $merchant_id::uuid AND (tax_id = $tax_id::text OR lower(email) = $email::text)'

// Raw SQL because all of it is one statement: what is remembered of it keeps a charge under way from bringing the customer back.
const ERASE: Statement = {
  name: 'customers-erase',
  text: `
  WITH remembered AS (
    INSERT INTO customer_erasures AS known (merchant_id, subject, erased_at)
    SELECT $merchant_id::uuid, subject, $at::timestamptz FROM unnest(array_remove(ARRAY[$tax_id::text, $email::text], NULL)) AS subject
    ON CONFLICT (merchant_id, subject) DO UPDATE SET erased_at = greatest(known.erased_at, EXCLUDED.erased_at)),
  waiting AS (
    UPDATE charges SET request = (request::jsonb - 'customer')::text
    WHERE merchant_id = $merchant_id::uuid AND ${WAITING} AND (${NAMES('$tax_id::text')} OR ${NAMES('$email::text')})),
  of_links AS (DELETE FROM link_customers WHERE ${IS_SUBJECT} RETURNING link_id),
  of_orders AS (DELETE FROM order_customers WHERE ${IS_SUBJECT} RETURNING order_id)
  SELECT (SELECT count(*)::int FROM of_orders) AS erased, (SELECT count(*)::int FROM of_links) AS erased_links`,
}

// Raw SQL for joins, each by an index of its own. Those that an order, a link or a charge brought while their erasure was being written; links first, as orders get theirs from them.
const REPEAT = [
  ...[linkCustomers, customers].flatMap(({ name }) =>
    ['customer.tax_id', 'lower(customer.email)'].map(
      subject => `DELETE FROM ${name} AS customer USING customer_erasures AS erasure
   WHERE customer.merchant_id = erasure.merchant_id AND ${subject} = erasure.subject AND customer.given_at <= erasure.erased_at`,
    ),
  ),
  `UPDATE charges SET request = (request::jsonb - 'customer')::text FROM customer_erasures AS erasure
   WHERE charges.merchant_id = erasure.merchant_id AND ${WAITING} AND ${NAMES('erasure.subject')}
     AND (request::jsonb #>> '{customer,given_at}')::timestamptz <= erasure.erased_at`,
]
// Longer than an outbox keeps a charge and a consumer hands it back.
const FORGET = "DELETE FROM customer_erasures WHERE erased_at < $1::timestamptz - interval '30 days'"

const ERASED = z.object({ erased: int, erased_links: int })

interface Row {
  orderId: string
  customer: unknown
  document: unknown
}

export const toCustomer = ({ name, email, taxId, resident }: Omit<z.infer<typeof customerRow>, 'givenAt'>): Customer => ({
  ...{ name, email, resident },
  tax_id: taxId,
})

function toInvoicing({ customer, document }: Row): Invoicing {
  const [found, named] = [customer === null ? null : customers.parse(customer), document === null ? null : fiscalDocuments.parse(document)]
  return {
    customer: found && toCustomer(found),
    fiscalDocument: named && { kind: named.kind, key: named.key, setAt: named.setAt, setBy: named.setBy },
  }
}

/** Customers and fiscal documents, apart from their orders. */
export function invoicingStore(database: Database) {
  const ofAll = async (ids: readonly string[]): Promise<(id: string) => Invoicing> => {
    if (ids.length === 0) return () => NO_INVOICING
    const { rows } = await database.query<Row>({ name: 'invoicing-of-orders', text: OF_ORDERS }, [ids])
    const found = new Map(rows.map(row => [row.orderId, toInvoicing(row)]))
    return id => found.get(id) ?? NO_INVOICING
  }
  return {
    ofAll,
    of: async (id: string): Promise<Invoicing> => (await ofAll([id]))(id),

    async update(order: Owner, { customer, fiscalDocument }: InvoicingChange, at: Date): Promise<void> {
      await database.commit({
        write: UPDATE,
        rows: {
          order_customers: customer ? [customerRecord(customer, order, at)] : [],
          fiscal_documents: fiscalDocument ? [documentRecord(fiscalDocument, order)] : [],
        },
        values: { without_customer: customer === null ? [order.id] : [], without_document: fiscalDocument === null ? [order.id] : [] },
      })
    },

    /** Erases a merchant's customers who have this number or mail address; answers of how many orders and links. */
    async erase(
      merchantId: string,
      { tax_id = null, email = null }: { [Field in keyof EraseCustomers]: EraseCustomers[Field] | null },
      at: Date,
    ): Promise<Required<ErasedCustomers>> {
      const { rows } = await database.commit({
        write: ERASE,
        values: { merchant_id: merchantId, tax_id, email: email?.toLowerCase() ?? null, at },
      })
      return ERASED.parse(rows[0])
    },

    /** Erases what came back meanwhile, and forgets erasures of which nothing can be under way any more. */
    async repeatErasures(at: Date): Promise<void> {
      for (const text of REPEAT) await database.query(text)
      await database.query(FORGET, [at])
    },
  }
}
