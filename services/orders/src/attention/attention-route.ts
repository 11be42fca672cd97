import { ApiError, type AttentionItemBody, type ListAttention, type MerchantTerms, operations, userIdOf } from '@ponte/contracts'
import { answersTo, csvPage, type Database, listPage, type StoredAnswer, sendCsv, serve, serveOnce } from '@ponte/service-kit'
import type { Router } from 'express'
import type { Intake } from '../intake'
import { orderBody, type Place } from '../order/body'
import type { Order } from '../order/order'
import type { Mark, Seen, UnmatchedMoney } from '../payment/mismatch'
import type { Payout } from '../payment/payment'
import { promisedOf } from '../refund/stored-refund'
import type { Store } from '../store'
import { type Beside, factsOf, foreignItem, orderItem, reasonsOf, seenOf, unmatchedItem } from './attention'
import { attentionColumns } from './attention-csv'

export interface AttentionDeps {
  store: Store
  database: Database
  place: Place
  feeBps: bigint
  now: () => Date
  attach: Intake['attach']
  /** Whether a merchant can be paid at this address on that network now. */
  isPayable(payout: Payout, chainId: number): Promise<boolean>
}

/** One case as it is now. */
interface Found {
  seen: Seen
  body(mark: Mark | null): AttentionItemBody
  write(mark: (Mark & Seen) | null, answers: StoredAnswer[]): Promise<void>
}

/** Orders and payments without one, newest first in one list, with a mark on those that are handled. */
export function attentionRoutes(router: Router, { store, database, place, feeBps, now, attach, isPayable }: AttentionDeps): void {
  const beside = async ({ merchant_id }: MerchantTerms, orderIds: readonly string[]): Promise<(orderId: string) => Beside> => {
    const [moved, paidByAnother, refundsOf] = await Promise.all([
      store.ledger.moved(merchant_id, orderIds),
      store.links.paidByAnother(orderIds),
      store.refunds.ofOrders(orderIds),
    ])
    return id => ({ moved: moved.get(id), isElsewhere: paidByAnother.has(id) || promisedOf(refundsOf(id)) > 0n })
  }
  const list = async (terms: MerchantTerms, query: ListAttention, limit: number): Promise<AttentionItemBody[]> => {
    const [orderIds, unmatched, foreign] = await Promise.all([
      store.attention.orderIds(terms.merchant_id, query, limit),
      store.merchants
        .payoutPlaces(terms)
        .then(places => store.attention.unmatched({ merchantId: terms.merchant_id, places }, query, limit)),
      store.foreignTokens.list(terms.merchant_id, query, limit),
    ])
    const marks = query.handled === 'true' ? await store.attention.marks(orderIds) : new Map<string, Mark>()
    const histories = await store.orders.histories(orderIds)
    const besideOf = await beside(terms, orderIds)
    const ofOrders = histories.map(history => orderItem(history, besideOf(history.order.id), place, marks.get(history.order.id)))
    const owners = new Map(
      (await store.orders.histories(foreign.map(({ token }) => token.orderId))).map(history => [history.order.id, history]),
    )
    const ofTokens = foreign.flatMap(one => {
      const history = owners.get(one.token.orderId)
      return history ? [foreignItem(one, history, place)] : []
    })
    const items = [...ofOrders, ...unmatched.map(money => unmatchedItem(money, feeBps)), ...ofTokens]
    const newestFirst = items.sort((a, b) => (a.id < b.id ? 1 : -1))
    return (query.ending_before === undefined ? newestFirst : newestFirst.reverse()).slice(0, limit)
  }

  serve(router, operations.listAttention, async ({ query, terms }, _req, res) => {
    const find = (limit: number) => list(terms, query, limit)
    res.json(await listPage(query, find, item => item))
  })

  serve(router, operations.exportAttention, async ({ query, terms }, req, res) => {
    await sendCsv(req, res, {
      name: 'attention',
      columns: attentionColumns,
      page: async (from, limit) => csvPage(await list(terms, { ...query, ...from }, limit), limit),
    })
  })

  const unmatched = async (id: string, terms: MerchantTerms) =>
    store.attention.findUnmatched({ merchantId: terms.merchant_id, places: await store.merchants.payoutPlaces(terms) }, id)
  const found = async (id: string, terms: MerchantTerms): Promise<Found> => {
    const history = await store.orders.history(id)
    if (history) requireOwner(history.order, terms)
    if (history && reasonsOf(history).length > 0) {
      const besideOf = await beside(terms, [id])
      return {
        seen: seenOf(history),
        body: mark => orderItem(history, besideOf(id), place, mark),
        write: (mark, answers) => store.attention.markOrder(id, mark, answers),
      }
    }
    const merchantId = terms.merchant_id
    const foreign = history ? null : await store.foreignTokens.find(id)
    const owner = foreign && (await store.orders.history(foreign.token.orderId))
    if (foreign && owner) {
      requireOwner(owner.order, terms)
      return {
        seen: foreign.seen,
        body: mark => foreignItem({ ...foreign, mark }, owner, place),
        write: (mark, answers) => store.foreignTokens.mark(id, mark, answers),
      }
    }
    const money = await unmatched(id, terms)
    if (!money) throw new ApiError('not_found', 'Nothing with this id needs attention.')
    return {
      seen: { facts: money.facts, blocked: null },
      body: mark => unmatchedItem({ ...money, mark }, feeBps),
      write: (mark, answers) => store.attention.markPayment(merchantId, money.payment.id, mark, answers),
    }
  }

  serveOnce(router, operations.handleAttention, database, async ({ params, body: { facts, note = null }, caller, terms, keyed }) => {
    const { seen, body, write } = await found(params.id, terms)
    if (facts !== factsOf(seen)) throw new ApiError('invalid_state', 'Something new is known of it; look at it again.')
    const mark = { at: now(), by: userIdOf(caller), note }
    const answer = { status: 200, body: JSON.stringify(body(mark)) }
    await write({ ...mark, ...seen }, answersTo(keyed, answer))
    return answer
  })

  /** Anyone can name any address as their own: where several did, it is the word of those whom its key has signed for, or else of the first. Throws `invalid_state`. */
  const requireOwnMoney = async (
    { payment: { chain_id, merchant_address, block_time } }: UnmatchedMoney,
    terms: MerchantTerms,
  ): Promise<void> => {
    if (!(await store.merchants.isClaimedByAnother(terms.merchant_id, merchant_address, chain_id, block_time))) return
    const spans = await store.merchants.provenSpans(terms, chain_id)
    const isProven = spans.some(
      ({ payoutAddress, proof }) => proof !== null && payoutAddress.toLowerCase() === merchant_address.toLowerCase(),
    )
    if (!isProven)
      throw new ApiError(
        'invalid_state',
        'Another merchant has named this payout address before you, or signed with its key: show by a signature of its key that it is yours (POST /api/v1/merchants/me/payout-address/sign), then count the payment.',
      )
  }

  serveOnce(router, operations.attachAttention, database, async ({ params, body, caller, terms, keyed }) => {
    const money = await unmatched(params.id, terms)
    const [named, order] = (await Promise.all([params.id, body.order_id].map(store.orders.find))).map(ledger => ledger?.order)
    if (named) requireOwner(named, terms)
    if (!order) throw new ApiError('not_found', `There is no order ${body.order_id}.`)
    requireOwner(order, terms)
    if (money) await requireOwnMoney(money, terms)
    const offered = money?.payment.reason === 'wrong_chain' ? money.payment.chain_id : order.chainId
    if (offered !== order.chainId && !(await isPayable(order, offered)))
      throw new ApiError(
        'invalid_state',
        'The payout address cannot be paid on that network now: no contract stands at it there, or the network cannot be asked or is not followed. What is counted offers the network to payers.',
      )
    const invoicing = await store.invoicing.of(order.id)
    const answerOf = (changed: Order) => ({ status: 200, body: JSON.stringify(orderBody(changed, place, invoicing)) })
    const changed =
      money &&
      (await attach(
        {
          ...{ paymentId: money.payment.id, orderId: order.id, memo: money.payment.memo },
          ...{ reason: body.reason, attachedBy: userIdOf(caller), attachedAt: now() },
        },
        money.payment.chain_id,
        attached => answersTo(keyed, answerOf(attached)),
      ))
    if (!changed) throw new ApiError('not_found', 'No money without an order has this id; it may count for one by now.')
    return answerOf(changed)
  })

  serveOnce(router, operations.reopenAttention, database, async ({ params, terms, keyed }) => {
    const { body, write } = await found(params.id, terms)
    const answer = { status: 200, body: JSON.stringify(body(null)) }
    await write(null, answersTo(keyed, answer))
    return answer
  })
}

function requireOwner({ merchantId }: Order, terms: MerchantTerms): void {
  if (merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This order belongs to another merchant.')
}
