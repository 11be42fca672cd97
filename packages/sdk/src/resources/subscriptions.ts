import { List } from '../page.js'
import type { CreateSubscription, ListSubscriptions, Order, PendingCharge, Subscription, UpdateSubscription } from '../schemas.js'
import type { RequestOptions, Transport, WriteOptions } from '../transport.js'
import { segment } from './path.js'

const PATH = '/api/v1/subscriptions'

/** Recurring charges that produce orders. */
export interface Subscriptions {
  /** Creates a subscription; with an `interval` its orders are issued by themselves. */
  create(body: CreateSubscription, options?: WriteOptions): Promise<Subscription>
  /** Reads a subscription. */
  get(id: string, options?: RequestOptions): Promise<Subscription>
  /** Changes a subscription; what touches charging applies from the next period. */
  update(id: string, body: UpdateSubscription, options?: RequestOptions): Promise<Subscription>
  /** Issues the order of the current period, or gets the open one. `not_due` when the period is charged. */
  charge(id: string, options?: WriteOptions): Promise<Order | PendingCharge>
  /** Counts what came for a period too late, or too little, as its payment. */
  accept(id: string, periodIndex: number, options?: WriteOptions): Promise<Subscription>
  /** Cancels a subscription and its open order. */
  cancel(id: string, options?: WriteOptions): Promise<Subscription>
  /** Lists your subscriptions, newest first. */
  list(query?: ListSubscriptions, options?: RequestOptions): List<Subscription>
}

export const createSubscriptions = (send: Transport): Subscriptions => ({
  create: (body, options) => send({ method: 'POST', path: PATH, body, keyed: true, ...options }),
  get: (id, options) => send({ method: 'GET', path: `${PATH}/${segment(id)}`, ...options }),
  update: (id, body, options) => send({ method: 'PATCH', path: `${PATH}/${segment(id)}`, body, ...options }),
  charge: (id, options) => send({ method: 'POST', path: `${PATH}/${segment(id)}/charge`, keyed: true, ...options }),
  accept: (id, periodIndex, options) =>
    send({ method: 'POST', path: `${PATH}/${segment(id)}/charges/${segment(String(periodIndex))}/accept`, keyed: true, ...options }),
  cancel: (id, options) => send({ method: 'POST', path: `${PATH}/${segment(id)}/cancel`, keyed: true, ...options }),
  list: (query, options) => new List((page, rest) => send({ method: 'GET', path: PATH, query: page, ...rest }), query, options),
})
