import type { EventData } from '@ponte/contracts'
import { type Reactions, RetryableError } from '@ponte/service-kit'
import type { Arrivals } from './order-arrival'
import { recordClosed, recordPaid } from './recording'
import type { Store } from './store'
import { type Cause, isBeaten } from './store/commit'
import type { Change, Subscription } from './subscription'

export interface ReactionDeps {
  store: Store
  now: () => Date
  arrivals: Arrivals
}

const TRIES = 20

/** What subscriptions does when orders speaks: find, decide, commit. An order that no subscription asked for is nobody's business here. */
export function reactions({ store, now, arrivals }: ReactionDeps): Reactions {
  const record = async (orderId: string, cause: Cause, decide: (subscription: Subscription) => Change) => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const found = await store.findByOrder(orderId)
      if (!found) throw new Error(`No subscription asked for order ${orderId}.`)
      try {
        return await store.commit(decide(found), cause)
      } catch (error) {
        if (!isBeaten(error)) throw error
      }
    }
    throw new RetryableError(`The subscription of order ${orderId} changed ${TRIES} times while one event was handled.`)
  }
  const closed =
    (outcome: 'expired' | 'cancelled') =>
    async ({ id, data }: { id: string; data: EventData<'order.expired'> }) => {
      const { subscription_id, order, merchant_version: merchantVersion } = data
      if (subscription_id === null) return
      await record(order.id, { eventId: id, merchantVersion }, found => recordClosed(found, order.id, outcome, now()))
    }

  return {
    async 'order.created'({ id, data: { order } }) {
      if (order.subscription_id === null) return
      if (!(await store.recordCreated(order, id))) throw new Error(`No subscription asked for order ${order.id}.`)
      arrivals.arrived(order.id)
    },
    async 'order.paid'({ id, data: { order, merchant_version: merchantVersion } }) {
      if (order.subscription_id === null) return
      await record(order.id, { eventId: id, merchantVersion }, found => recordPaid(found, order, now()))
    },
    'order.expired': closed('expired'),
    'order.cancelled': closed('cancelled'),
  }
}
