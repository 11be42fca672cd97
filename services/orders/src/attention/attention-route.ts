import { type AttentionItemBody, listAttention, type MerchantTerms } from '@ponte/contracts'
import { listPage, parseRequest } from '@ponte/service-kit'
import type { Request, RequestHandler, Response } from 'express'
import type { Place } from '../order'
import type { Store } from '../store'
import { orderItem, unmatchedItem } from './attention'

export interface AttentionDeps {
  store: Store
  place: Place
  feeBps: bigint
}

/** What does not simply settle, of orders and of money without one, newest first in one list. */
export const attentionRoute =
  ({ store, place, feeBps }: AttentionDeps, termsOf: (res: Response) => MerchantTerms): RequestHandler =>
  async (req: Request, res: Response) => {
    const terms = termsOf(res)
    const query = parseRequest(listAttention, req.query, 'query')
    const find = async (limit: number): Promise<AttentionItemBody[]> => {
      const [orderIds, unmatched] = await Promise.all([
        store.attention.orderIds(terms.merchant_id, query, limit),
        terms.payout_address === null ? [] : store.attention.unmatched(terms.payout_address, query, limit),
      ])
      const histories = await store.orders.histories(orderIds)
      const items = [...histories.map(history => orderItem(history, place)), ...unmatched.map(money => unmatchedItem(money, feeBps))]
      const newestFirst = items.sort((a, b) => (a.id < b.id ? 1 : -1))
      return (query.ending_before === undefined ? newestFirst : newestFirst.reverse()).slice(0, limit)
    }
    res.json(await listPage(query, find, item => item))
  }
