import type { ListOrders, Operations } from '@ponte/contracts'
import { csvPage, type OwnersAsked, sendCsv } from '@ponte/service-kit'
import type { Request, Response } from 'express'
import type { OrderHistory } from '../order/body'
import type { Store } from '../store'
import { orderColumns } from './orders-csv'

/** A list of orders as one file. */
export const exportOrders =
  (store: Store, normalized: (query: ListOrders) => ListOrders) =>
  async (asked: OwnersAsked<Operations['exportOrders']>, req: Request, res: Response) => {
    const query = normalized(asked.query)
    await sendCsv(req, res, {
      name: 'orders',
      columns: orderColumns,
      page: async (place, limit) => {
        const { rows: orders, searchedTo } = await store.orders.list(asked.terms.merchant_id, { ...query, ...place }, limit)
        const ids = orders.map(({ id }) => id)
        const moved = await store.ledger.moved(asked.terms.merchant_id, ids)
        const histories = await store.orders.histories(ids)
        const invoicingOf = await store.invoicing.ofAll(ids)
        const rowOf = (history: OrderHistory) => {
          const { id } = history.order
          return [id, { ...history, moved: moved.get(id), fiscalDocument: invoicingOf(id).fiscalDocument }] as const
        }
        const found = new Map(histories.map(rowOf))
        return { rows: orders.flatMap(({ id }) => found.get(id) ?? []), next: csvPage(orders, limit, searchedTo).next }
      },
    })
  }
