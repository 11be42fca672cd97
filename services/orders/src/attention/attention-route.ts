import {
  ApiError,
  type AttentionItemBody,
  caller,
  exportAttention,
  handleAttention,
  id as idSchema,
  type ListAttention,
  listAttention,
  type MerchantTerms,
  termsOf,
} from '@ponte/contracts'
import { csvPage, listPage, parseRequest, sendCsv } from '@ponte/service-kit'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import type { Place } from '../order'
import type { Mark, Seen } from '../payment'
import type { Store } from '../store'
import { factsOf, orderItem, reasonsOf, seenOf, unmatchedItem } from './attention'
import { attentionColumns } from './attention-csv'

export interface AttentionDeps {
  store: Store
  place: Place
  feeBps: bigint
  now: () => Date
}

const path = z.object({ id: idSchema })
const nothing = z.strictObject({})
const BASE = '/api/v1/attention'

/** One case as it is now. */
interface Found {
  seen: Seen
  body(mark: Mark | null): AttentionItemBody
  write(mark: (Mark & Seen) | null): Promise<void>
}

/** What does not simply settle, of orders and of money without one, newest first in one list; and what of it is handled. */
export function attentionRoutes({ store, place, feeBps, now }: AttentionDeps): Router {
  const router = Router()

  const list = async (terms: MerchantTerms, query: ListAttention, limit: number): Promise<AttentionItemBody[]> => {
    const [orderIds, unmatched] = await Promise.all([
      store.attention.orderIds(terms.merchant_id, query, limit),
      terms.payout_address === null
        ? []
        : store.attention.unmatched({ merchantId: terms.merchant_id, payoutAddress: terms.payout_address }, query, limit),
    ])
    const marks = query.handled === 'true' ? await store.attention.marks(orderIds) : new Map<string, Mark>()
    const histories = await store.orders.histories(orderIds)
    const ofOrders = histories.map(history => orderItem(history, place, marks.get(history.order.id)))
    const items = [...ofOrders, ...unmatched.map(money => unmatchedItem(money, feeBps))]
    const newestFirst = items.sort((a, b) => (a.id < b.id ? 1 : -1))
    return (query.ending_before === undefined ? newestFirst : newestFirst.reverse()).slice(0, limit)
  }

  router.get(BASE, async (req, res) => {
    const query = parseRequest(listAttention, req.query, 'query')
    const find = (limit: number) => list(termsOf(res.locals.caller), query, limit)
    res.json(await listPage(query, find, item => item))
  })

  router.get(`${BASE}.csv`, async (req, res) => {
    const query = parseRequest(exportAttention, req.query, 'query')
    await sendCsv(req, res, {
      name: 'attention',
      columns: attentionColumns,
      page: async (from, limit) => csvPage(await list(termsOf(res.locals.caller), { ...query, ...from }, limit), limit),
    })
  })

  const found = async (req: Request, res: Response): Promise<Found> => {
    const terms = termsOf(res.locals.caller)
    const { id } = parseRequest(path, req.params, 'path')
    parseRequest(nothing, req.query, 'query')
    const history = await store.orders.history(id)
    if (history && history.order.merchantId !== terms.merchant_id)
      throw new ApiError('forbidden', 'This order belongs to another merchant.')
    if (history && reasonsOf(history).length > 0) {
      return {
        seen: seenOf(history),
        body: mark => orderItem(history, place, mark),
        write: mark => store.attention.markOrder(id, mark),
      }
    }
    const { merchant_id: merchantId, payout_address: payoutAddress } = terms
    const money = payoutAddress === null ? null : await store.attention.findUnmatched({ merchantId, payoutAddress }, id)
    if (!money) throw new ApiError('not_found', 'Nothing with this id needs attention.')
    return {
      seen: { facts: money.facts, blocked: null },
      body: mark => unmatchedItem({ ...money, mark }, feeBps),
      write: mark => store.attention.markPayment(merchantId, money.payment.id, mark),
    }
  }

  router.post(`${BASE}/:id/handle`, async (req, res) => {
    const { seen, body, write } = await found(req, res)
    const { facts } = parseRequest(handleAttention, req.body, 'body')
    if (facts !== factsOf(seen)) throw new ApiError('invalid_state', 'Something new is known of it; look at it again.')
    const from = caller.parse(res.locals.caller)
    const mark = { at: now(), by: from.kind === 'merchant' ? (from.user_id ?? null) : null }
    await write({ ...mark, ...seen })
    res.json(body(mark))
  })

  router.post(`${BASE}/:id/reopen`, async (req, res) => {
    parseRequest(nothing, req.body, 'body')
    const { body, write } = await found(req, res)
    await write(null)
    res.json(body(null))
  })
  return router
}
