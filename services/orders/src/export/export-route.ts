import type { ListOrders, Operations } from '@ponte/contracts'
import { csvPage, type OwnersAsked, sendCsv } from '@ponte/service-kit'
import type { Request, Response } from 'express'
import type { OrderHistory, Place } from '../order/body'
import type { Store } from '../store'
import { networkOf, orderColumns, paymentColumns, paymentNetwork, paymentRows } from './orders-csv'

export const exportOrders =
  (store: Store, { networks }: Place, normalized: (query: ListOrders) => ListOrders) =>
  async ({ query: { rows, ...query }, terms }: OwnersAsked<Operations['exportOrders']>, req: Request, res: Response) => {
    const filters = normalized(query)
    const page = async (place: { starting_after?: string }, limit: number) => {
      const found = await store.orders.list(terms.merchant_id, { ...filters, ...place }, limit)
      const ids = found.rows.map(({ id }) => id)
      const histories = new Map((await store.orders.histories(ids)).map(history => [history.order.id, history]))
      const inOrder: OrderHistory[] = ids.flatMap(id => histories.get(id) ?? [])
      return { rows: inOrder, ids, next: csvPage(found.rows, limit, found.searchedTo).next }
    }
    if (rows === 'payments') {
      return sendCsv(req, res, {
        name: 'payments',
        columns: networks.size === 1 ? paymentColumns : [...paymentColumns, paymentNetwork],
        async page(place, limit) {
          const { rows, next } = await page(place, limit)
          return {
            rows: rows.flatMap(paymentRows).filter(row => filters.chain_id === undefined || networkOf(row) === filters.chain_id),
            next,
          }
        },
      })
    }
    await sendCsv(req, res, {
      name: 'orders',
      columns: orderColumns,
      async page(place, limit) {
        const { rows, ids, next } = await page(place, limit)
        const moved = await store.ledger.moved(terms.merchant_id, ids)
        const invoicingOf = await store.invoicing.ofAll(ids)
        const rowOf = (history: OrderHistory) => {
          const { id } = history.order
          return { ...history, moved: moved.get(id), fiscalDocument: invoicingOf(id).fiscalDocument }
        }
        return { rows: rows.map(rowOf), next }
      },
    })
  }
