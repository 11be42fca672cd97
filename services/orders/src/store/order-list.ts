import type { ListOrders } from '@ponte/contracts'
import { uuidv7Floor } from '@ponte/service-kit'
import type { Prisma, PrismaClient } from '../generated/client'
import type { Order } from '../order'
import { toOrder } from './order-row'

/**
 * Orders of a merchant, newest first. The id is the keyset: it begins with the time of creation, so that a span of time
 * is a span of ids, and every filter has an index that ends in the id. A page costs the same at any depth.
 */
export function orderList(prisma: PrismaClient) {
  return {
    /** One more than `limit` where there are more; oldest first when paging backwards. */
    async list(merchantId: string, query: ListOrders, limit: number): Promise<Order[]> {
      const backwards = query.ending_before !== undefined
      const rows = await prisma.order.findMany({
        where: { merchantId, ...filters(query), AND: [createdWithin(query), cursor(query)] },
        orderBy: { id: backwards ? 'asc' : 'desc' },
        take: limit + 1,
      })
      return rows.map(toOrder)
    },
  }
}

function filters(query: ListOrders): Prisma.OrderWhereInput {
  return {
    ...(query.status ? { status: query.status } : {}),
    ...(query.exception ? { exception: query.exception } : {}),
    ...(query.external_ref ? { externalRef: query.external_ref } : {}),
    ...(query.subscription_id ? { subscriptionId: query.subscription_id } : {}),
    ...(query.memo ? { memo: query.memo } : {}),
    ...(query.tx_hash ? { txHash: query.tx_hash } : {}),
  }
}

function cursor(query: ListOrders): Prisma.OrderWhereInput {
  if (query.starting_after) return { id: { lt: query.starting_after } }
  return query.ending_before ? { id: { gt: query.ending_before } } : {}
}

/** The exact filter on the time, and the span of ids that it amounts to: the plan seeks by the ids. */
function createdWithin(query: ListOrders): Prisma.OrderWhereInput {
  const from = query.created_gte === undefined ? undefined : instant(query.created_gte)
  const to = query.created_lt === undefined ? undefined : instant(query.created_lt)
  return {
    createdAt: { ...(from ? { gte: from } : {}), ...(to ? { lt: to } : {}) },
    id: { ...(from ? { gte: uuidv7Floor(from) } : {}), ...(to ? { lt: uuidv7Floor(to) } : {}) },
  }
}

/**
 * Orders are created at whole milliseconds, so what lies between two stands for the later one. Nothing was created before 1970,
 * and a year that the database cannot hold is of no use to a filter.
 */
function instant(text: string): Date {
  const between = /\.\d{3}\d*[1-9]/.test(text) ? 1 : 0
  return new Date(Math.max(0, Date.parse(text) + between))
}
