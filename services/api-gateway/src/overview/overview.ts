import {
  deliveryOverview,
  formatBrl,
  formatUsdc,
  listOf,
  type OverviewBody,
  order,
  parseBrl,
  parseUsdc,
  subscription,
} from '@ponte/contracts'
import { z } from 'zod'

/** What the owners answered, as they answered it; null when one did not. */
export interface OverviewSources {
  orders: unknown
  subscriptions: unknown
  deliveries: unknown
}

/** What an overview asks of the owners: one page each, so that its cost does not grow with the merchant. */
export const overviewPaths = (at: Date) => ({
  orders: `/api/v1/orders?limit=100&created_gte=${new Date(at.getTime() - DAY_MS).toISOString()}`,
  subscriptions: '/api/v1/subscriptions?limit=100',
  deliveries: '/api/v1/deliveries/overview',
})

const DAY_MS = 24 * 3_600_000
const LATEST = 5
const OPEN: readonly string[] = ['pending', 'confirming', 'underpaid']
const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)

/** Puts the owners' answers together. */
export function overviewOf(sources: OverviewSources): OverviewBody {
  const orders = listOf(order).nullable().parse(sources.orders)
  const subscriptions = listOf(subscription).nullable().parse(sources.subscriptions)
  const paid = orders?.data.filter(({ status }) => status === 'paid') ?? []
  return {
    object: 'overview',
    orders_24h: orders && {
      created: orders.data.length,
      open: orders.data.filter(({ status }) => OPEN.includes(status)).length,
      paid: paid.length,
      paid_brl: formatBrl(sum(paid.map(({ brl_amount }) => parseBrl(brl_amount)))),
      received_usdc: formatUsdc(sum(orders.data.map(({ received }) => parseUsdc(received)))),
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
