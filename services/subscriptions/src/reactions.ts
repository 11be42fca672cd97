import type { EventData } from '@ponte/contracts'
import { type Reactions, retryConflicts } from '@ponte/service-kit'
import { adopt, type ForgottenOrder, forgottenPeriod } from './adoption/adoption'
import type { OrderWaits } from './api/order-wait'
import type { Scheduler } from './scheduler'
import { type Cause, isConflict, type Store } from './store'
import { recordClosed, recordPaid, recordReceived, recordRefused } from './subscription/order-outcome'
import type { Change, Subscription } from './subscription/subscription'

export interface ReactionDeps {
  store: Store
  now: () => Date
  orderWaits: OrderWaits
  scheduler: Pick<Scheduler, 'wake' | 'answered'>
}

/** Handlers of orders' events: find, decide, commit. An order that no subscription asked for is not handled here. */
export function reactions({ store, now, orderWaits, scheduler }: ReactionDeps): Reactions {
  const record = (orderId: string, cause: Cause, decide: (subscription: Subscription) => Change) =>
    retryConflicts(async () => {
      const found = await store.subscriptions.findByOrder(orderId)
      if (!found) throw new Error(`No subscription asked for order ${orderId}.`)
      return store.subscriptions.commit(decide(found), cause)
    }, isConflict)
  const closed =
    (outcome: 'expired' | 'cancelled') =>
    async ({ id, data }: { id: string; data: EventData<'order.expired'> }) => {
      const { subscription_id, order, merchant_version: merchantVersion } = data
      if (subscription_id === null) return
      await record(order.id, { eventId: id, merchantVersion }, found => recordClosed(found, order.id, outcome, now()))
    }

  /** The request and its order are committed before orders receives it, so a missing one means that this database was restored to a moment before. */
  const adoptForgotten = (subscriptionId: string, order: ForgottenOrder, merchantVersion: number) =>
    retryConflicts(async () => {
      const subscription = await store.subscriptions.find(subscriptionId)
      if (!subscription) throw new Error(`Order ${order.id} is of subscription ${subscriptionId}, which does not exist.`)
      const [latest] = await store.subscriptions.latestCharges(subscriptionId, 1)
      const periodIndex = forgottenPeriod(subscription, order, latest?.periodIndex ?? -1)
      const found = await store.subscriptions.find(subscriptionId, periodIndex)
      // Looked up after the subscription, whose version reveals that another replica takes it in meanwhile.
      if (await store.subscriptions.findByOrder(order.id)) return
      if (found) await store.subscriptions.commit(adopt(found, order, periodIndex), { merchantVersion })
    }, isConflict)

  return {
    async 'order.created'({ id, data }) {
      const { order, merchant_version: merchantVersion } = data
      if (order.subscription_id === null) return
      const subscriptionId = order.subscription_id
      await scheduler.answered(data.merchant_id, async () => {
        if (await store.orders.recordCreated(data, id)) return
        await adoptForgotten(subscriptionId, order, merchantVersion)
        await store.orders.recordCreated(data, id)
      })
      orderWaits.created(order.id)
    },
    async 'order.paid'({ id, data: { order, merchant_version: merchantVersion } }) {
      if (order.subscription_id === null) return
      await record(order.id, { eventId: id, merchantVersion }, found => recordPaid(found, order, now()))
    },
    async 'order.received'({ id, data }) {
      await record(data.order_id, { eventId: id, merchantVersion: data.merchant_version }, found => recordReceived(found, data, now()))
    },
    async 'order.refused'({ id, data }) {
      const cause = { eventId: id, merchantVersion: data.merchant_version }
      await scheduler.answered(data.merchant_id, async () => {
        await record(data.order_id, cause, found => recordRefused(found, data.order_id, data.reason, now()))
      })
    },
    'order.updated': ({ id, data }) => store.orders.recordState(data, id),
    async 'order.waiting'({ id, data }) {
      await scheduler.answered(data.merchant_id, () => store.orders.recordWaiting(data.order_id, data.reason, id))
    },
    async 'merchant.updated'({ id, data }) {
      await store.merchants.save(data, id)
      if (data.payout_address !== null) scheduler.wake()
    },
    'order.expired': closed('expired'),
    'order.cancelled': closed('cancelled'),
  }
}
