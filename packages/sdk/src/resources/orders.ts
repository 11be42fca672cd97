import { List } from '../page.js'
import type { CreateOrder, ListOrders, Order } from '../schemas.js'
import type { RequestOptions, Transport, WriteOptions } from '../transport.js'
import { segment } from './path.js'

const PATH = '/api/v1/orders'

/** One-shot invoices. */
export interface Orders {
  /** Creates an order and fixes its quote. Send the payer to `payment.checkout_url`. */
  create(body: CreateOrder, options?: WriteOptions): Promise<Order>
  /** Reads an order with its payments. */
  get(id: string, options?: RequestOptions): Promise<Order>
  /** Cancels an order that has received nothing. */
  cancel(id: string, options?: WriteOptions): Promise<Order>
  /** Lists your orders, newest first. */
  list(query?: ListOrders, options?: RequestOptions): List<Order>
}

export const createOrders = (send: Transport): Orders => ({
  create: (body, options) => send({ method: 'POST', path: PATH, body, keyed: true, ...options }),
  get: (id, options) => send({ method: 'GET', path: `${PATH}/${segment(id)}`, ...options }),
  cancel: (id, options) => send({ method: 'POST', path: `${PATH}/${segment(id)}/cancel`, keyed: true, ...options }),
  list: (query, options) => new List((page, rest) => send({ method: 'GET', path: PATH, query: page, ...rest }), query, options),
})
