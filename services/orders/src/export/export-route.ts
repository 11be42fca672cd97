import { pipeline } from 'node:stream/promises'
import { exportOrders, type ListOrders, type MerchantTerms } from '@ponte/contracts'
import { csvLine, parseRequest } from '@ponte/service-kit'
import type { RequestHandler, Response } from 'express'
import type { OrderHistory } from '../order'
import type { Store } from '../store'
import { orderCells, orderColumns } from './orders-csv'

const PAGE = 500
/** Spreadsheets read a file without it as of their own code page. */
const BYTE_ORDER_MARK = '\ufeff'

/** All pages of a list as one file, written as fast as the caller reads it. A file that breaks off is no complete answer. */
export const exportRoute =
  (store: Store, termsOf: (res: Response) => MerchantTerms, normalized: (query: ListOrders) => ListOrders): RequestHandler =>
  async (req, res) => {
    const query = normalized(parseRequest(exportOrders, req.query, 'query'))
    res.setHeader('Content-Type', 'text/csv; charset=utf-8')
    res.setHeader('Content-Disposition', 'attachment; filename="orders.csv"')
    if (req.method === 'HEAD') return void res.end()
    await pipeline(linesOf(store, termsOf(res).merchant_id, query), res).catch(error => {
      if (!isGone(error)) throw error
    })
  }

/** The caller has closed the connection. */
const isGone = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'

async function* linesOf(store: Store, merchantId: string, query: ListOrders): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(orderColumns)
  for await (const page of pagesOf(store, merchantId, query)) yield page.map(history => csvLine(orderCells(history))).join('')
}

async function* pagesOf(store: Store, merchantId: string, query: ListOrders): AsyncGenerator<OrderHistory[]> {
  let place: string | undefined
  do {
    const page = await store.orders.list(merchantId, { ...query, ...(place ? { starting_after: place } : {}) }, PAGE)
    const found = new Map((await store.orders.histories(page.orders.map(({ id }) => id))).map(history => [history.order.id, history]))
    yield page.orders.flatMap(({ id }) => found.get(id) ?? [])
    place = page.orders.length === PAGE ? page.orders.at(-1)?.id : (page.searchedTo ?? undefined)
  } while (place !== undefined)
}
