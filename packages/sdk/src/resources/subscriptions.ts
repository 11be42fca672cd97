import { checkPayout, type Payout } from '../address/payout.js'
import { List } from '../page.js'
import type {
  CreateSubscription,
  ExportSubscriptions,
  ListSubscriptions,
  Order,
  PendingCharge,
  Subscription,
  UpdateSubscription,
} from '../schemas.js'
import type { RequestOptions, Transport, WriteOptions } from '../transport.js'
import { callOperation, exportFile } from './call.js'

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
  /** All pages of the list as CSV. */
  export(query?: ExportSubscriptions, options?: RequestOptions): Promise<string>
}

export const createSubscriptions = (send: Transport, payout?: Payout): Subscriptions => ({
  create: (body, options) => callOperation(send, 'createSubscription', { body, ...options }),
  get: (id, options) => callOperation(send, 'getSubscription', { params: { id }, ...options }),
  update: (id, body, options) => callOperation(send, 'updateSubscription', { params: { id }, body, ...options }),
  async charge(id, options) {
    const charged: Order | PendingCharge = await callOperation(send, 'chargeSubscription', { params: { id }, ...options })
    if (payout && 'payment' in charged) checkPayout(charged, payout)
    return charged
  },
  accept: (id, periodIndex, options) => callOperation(send, 'acceptCharge', { params: { id, period_index: periodIndex }, ...options }),
  cancel: (id, options) => callOperation(send, 'cancelSubscription', { params: { id }, ...options }),
  list: (query, options) => new List((page, rest) => callOperation(send, 'listSubscriptions', { query: page, ...rest }), query, options),
  export: (query, options) => exportFile(send, 'exportSubscriptions', query, options),
})
