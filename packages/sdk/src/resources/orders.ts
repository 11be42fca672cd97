import { checkPayout, type Payout } from '../address/payout.js'
import { List } from '../page.js'
import type {
  AcceptOrder,
  CreateOrder,
  CreateRecovery,
  CustomerErasure,
  EraseCustomers,
  ExplainOrder,
  Explanation,
  ExportOrders,
  ListOrders,
  Order,
  Recovery,
  RecoveryList,
  UpdateOrder,
} from '../schemas.js'
import type { RequestOptions, Transport, WriteOptions } from '../transport.js'
import { callOperation, exportFile } from './call.js'

/** One-shot invoices. */
export interface Orders {
  /** Creates an order and fixes its quote. Send the payer to `payment.checkout_url`. */
  create(body: CreateOrder, options?: WriteOptions): Promise<Order>
  /** Reads an order with its payments. */
  get(id: string, options?: RequestOptions): Promise<Order>
  /** Names the customer or the fiscal document of an order, in any state; null erases it. */
  update(id: string, body: UpdateOrder, options?: RequestOptions): Promise<Order>
  /** Erases a customer from all your orders, payment links and subscriptions, by CPF, CNPJ or mail address. */
  eraseCustomers(body: EraseCustomers, options?: RequestOptions): Promise<CustomerErasure>
  /** Cancels an order that has received nothing. */
  cancel(id: string, options?: WriteOptions): Promise<Order>
  /** Accepts what came for an order as payment in full, once: it was too little, late, or came after its cancellation. */
  accept(id: string, body: AcceptOrder, options?: WriteOptions): Promise<Order>
  /** Explains why a transaction did or did not pay an order: one code and one sentence. It changes nothing of the order. */
  explain(id: string, body: ExplainOrder, options?: RequestOptions): Promise<Explanation>
  /** Recovers a token that is not USDC from the order's deposit address to its payout address, which `destination` has to be. Explain the transaction that sent it first. */
  recover(id: string, body: CreateRecovery, options?: WriteOptions): Promise<Recovery>
  /** Lists what was recovered from the order's deposit address: the latest of each token. */
  recoveries(id: string, options?: RequestOptions): Promise<RecoveryList>
  /** Lists your orders, newest first. */
  list(query?: ListOrders, options?: RequestOptions): List<Order>
  /** All pages of the list as CSV. */
  export(query?: ExportOrders, options?: RequestOptions): Promise<string>
}

const checked = async (answer: Promise<Order>, payout?: Payout): Promise<Order> => {
  const order = await answer
  if (payout) checkPayout(order, payout)
  return order
}

export const createOrders = (send: Transport, payout?: Payout): Orders => ({
  create: (body, options) => checked(callOperation(send, 'createOrder', { body, ...options }), payout),
  get: (id, options) => checked(callOperation(send, 'getOrder', { params: { id }, ...options }), payout),
  update: (id, body, options) => callOperation(send, 'updateOrder', { params: { id }, body, ...options }),
  eraseCustomers: (body, options) => callOperation(send, 'eraseCustomers', { body, ...options }),
  cancel: (id, options) => callOperation(send, 'cancelOrder', { params: { id }, ...options }),
  accept: (id, body, options) => callOperation(send, 'acceptOrder', { params: { id }, body, ...options }),
  explain: (id, body, options) => callOperation(send, 'explainOrder', { params: { id }, body, ...options }),
  recover: (id, body, options) => callOperation(send, 'createRecovery', { params: { id }, body, ...options }),
  recoveries: (id, options) => callOperation(send, 'listRecoveries', { params: { id }, ...options }),
  list: (query, options) => new List((page, rest) => callOperation(send, 'listOrders', { query: page, ...rest }), query, options),
  export: (query, options) => exportFile(send, 'exportOrders', query, options),
})
