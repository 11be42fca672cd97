import { deliveryOverview, listOf, type OverviewBody, operations, order, subscription } from '@ponte/contracts'
import { z } from 'zod'

/** The owners' answers as they came; null for an owner without one. */
export interface OverviewSources {
  orders: unknown
  subscriptions: unknown
  deliveries: unknown
}

/** One page of each owner, so that the cost of an overview does not grow with the merchant. */
export const overviewPaths = (at: Date) => ({
  orders: `${operations.listOrders.path}?limit=100&created_gte=${new Date(at.getTime() - DAY_MS).toISOString()}`,
  subscriptions: `${operations.listSubscriptions.path}?limit=100`,
  deliveries: operations.countDeliveries.path,
})

const DAY_MS = 24 * 3_600_000
const LATEST = 5
const OPEN: readonly string[] = ['pending', 'confirming', 'underpaid']

export function overviewOf(sources: OverviewSources): OverviewBody {
  const orders = listOf(order).nullable().parse(sources.orders)
  const subscriptions = listOf(subscription).nullable().parse(sources.subscriptions)
  return {
    object: 'overview',
    orders_24h: orders && {
      created: orders.data.length,
      open: orders.data.filter(({ status }) => OPEN.includes(status)).length,
      paid: orders.data.filter(({ status }) => status === 'paid').length,
      truncated: orders.has_more,
    },
    latest_orders: orders?.data.slice(0, LATEST) ?? null,
    subscriptions: subscriptions && {
      active: subscriptions.data.filter(({ status }) => status === 'active').length,
      past_due: subscriptions.data.filter(({ status }) => status === 'past_due').length,
      truncated: subscriptions.has_more,
    },
    deliveries: z.nullable(deliveryOverview).parse(sources.deliveries),
  }
}
