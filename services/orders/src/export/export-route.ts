import { exportOrders, type ListOrders, type MerchantTerms } from '@ponte/contracts'
import { csvPage, parseRequest, sendCsv } from '@ponte/service-kit'
import type { RequestHandler, Response } from 'express'
import type { Store } from '../store'
import { orderColumns } from './orders-csv'

/** A list of orders as one file. */
export const exportRoute =
  (store: Store, termsOf: (res: Response) => MerchantTerms, normalized: (query: ListOrders) => ListOrders): RequestHandler =>
  async (req, res) => {
    const query = normalized(parseRequest(exportOrders, req.query, 'query'))
    await sendCsv(req, res, {
      name: 'orders',
      columns: orderColumns,
      page: async (place, limit) => {
        const { orders, searchedTo } = await store.orders.list(termsOf(res).merchant_id, { ...query, ...place }, limit)
        const found = new Map((await store.orders.histories(orders.map(({ id }) => id))).map(history => [history.order.id, history]))
        return { rows: orders.flatMap(({ id }) => found.get(id) ?? []), next: csvPage(orders, limit, searchedTo).next }
      },
    })
  }
