import { randomBytes } from 'node:crypto'
import {
  ApiError,
  address,
  askCheckouts,
  type CreateOrder,
  caller,
  createOrder,
  id as idSchema,
  type ListOrders,
  type LiveCheckouts,
  listOrders,
  type MerchantTerms,
  ORDER_EXPIRES_IN_DEFAULT_S,
  ORDER_EXPIRES_IN_MAX_S,
  ORDER_EXPIRES_IN_MIN_S,
  parseBrl,
  summaryQuery,
  termsOf,
} from '@ponte/contracts'
import {
  addLogFields,
  answerOnce,
  answersTo,
  type Database,
  type KeyedRequest,
  keyedRequest,
  parseRequest,
  requireCaller,
  retryConflicts,
  searchedPage,
  uuidv7At,
} from '@ponte/service-kit'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { attentionRoutes } from './attention'
import { checksumAddress, type PayoutAddresses } from './chain'
import { exportRoute } from './export'
import { cancel, checkoutBody, historyBody, type Ledger, type OrderFactory, type OrderHistory, orderBody, type Place } from './order'
import type { Store } from './store'

export interface RouteDeps {
  store: Store
  /** Where answers of keyed requests are kept. */
  database: Database
  orderFactory: OrderFactory
  payoutAddresses: PayoutAddresses
  place: Place
  feeBps: bigint
  now: () => Date
  tokenSecrets: readonly string[]
}

const pathId = z.object({ id: idSchema })
const pathAddress = z.object({ address })
const nothing = z.strictObject({})

export function routes(deps: RouteDeps): Router {
  const { store, place } = deps
  const router = Router()
  router.use(requireCaller({ secrets: deps.tokenSecrets, audience: 'orders', schema: caller }))

  router.post('/api/v1/orders', async (req, res) => {
    const terms = merchantOf(res)
    parseRequest(nothing, req.query, 'query')
    const body = parseRequest(createOrder, req.body, 'body')
    const keyed = keyedRequest(req, terms.merchant_id)
    await answerOnce(deps.database, keyed, res, async () => {
      const at = deps.now()
      const change = await deps.orderFactory.open({
        id: uuidv7At(at),
        memo: randomBytes(32).toString('hex'),
        terms,
        subscriptionId: null,
        externalRef: body.external_ref ?? null,
        description: body.description ?? null,
        successUrl: body.success_url ?? null,
        cancelUrl: body.cancel_url ?? null,
        metadata: body.metadata ?? {},
        brlCentavos: parseBrl(body.brl_amount),
        expiresAt: expiresAt(body, at),
      })
      addLogFields({ order_id: change.order.id })
      const answer = { status: 201, body: JSON.stringify(orderBody(change.order, place)) }
      await store.orders.insert(change, { answers: answersTo(keyed, answer) })
      return answer
    })
  })

  router.get('/api/v1/orders', async (req, res) => {
    const terms = merchantOf(res)
    const query = parseRequest(listOrders, req.query, 'query')
    const filter = withChecksum(query)
    const find = async (limit: number) => {
      const { orders: rows, searchedTo } = await store.orders.list(terms.merchant_id, filter, limit)
      return { rows, searchedTo }
    }
    res.json(await searchedPage(query, find, order => orderBody(order, place)))
  })

  router.get('/api/v1/orders.csv', exportRoute(store, merchantOf, withChecksum))

  router.use(attentionRoutes(deps))

  router.get('/api/v1/orders/:id', async (req, res) => {
    const history = await historyOf(store, req)
    requireOwner(history, merchantOf(res))
    res.json(historyBody(history, place))
  })

  router.post('/api/v1/orders/:id/cancel', async (req, res) => {
    const terms = merchantOf(res)
    const { id } = parseRequest(pathId, req.params, 'path')
    parseRequest(nothing, req.query, 'query')
    parseRequest(nothing, req.body, 'body')
    const keyed = keyedRequest(req, terms.merchant_id)
    await answerOnce(deps.database, keyed, res, async () => ({ status: 200, body: await cancelOrder(deps, id, terms, keyed) }))
  })

  router.get('/api/v1/summary', async (req, res) => {
    const query = parseRequest(summaryQuery, req.query, 'query')
    res.json(await store.summary(merchantOf(res).merchant_id, query))
  })

  router.get('/api/v1/checkout/:id', async (req, res) => {
    const history = await historyOf(store, req)
    res.json(checkoutBody(history, await store.chain.head(history.order.chainId), place))
  })

  router.post('/api/v1/checkouts', async (req, res) => {
    const { ids } = parseRequest(askCheckouts, req.body, 'body')
    const found = await store.orders.histories(ids)
    const chains = [...new Set(found.map(({ order }) => order.chainId))]
    const heads = new Map(await Promise.all(chains.map(async chainId => [chainId, await store.chain.head(chainId)] as const)))
    const data = found.map(history => ({
      merchant_id: history.order.merchantId,
      checkout: checkoutBody(history, heads.get(history.order.chainId) ?? 0n, place),
    }))
    res.json({ data } satisfies LiveCheckouts)
  })

  router.get('/api/v1/payout-addresses/:address', async (req, res) => {
    const { address } = parseRequest(pathAddress, req.params, 'path')
    parseRequest(nothing, req.query, 'query')
    const { isContract } = await deps.payoutAddresses.require(address)
    if (isContract === null)
      throw new ApiError('service_unavailable', 'The chain cannot be asked about this address at the moment. Try again shortly.', {
        retryAfterS: 30,
      })
    res.json({ object: 'payout_address', address: checksumAddress(address), is_contract: isContract })
  })

  return router
}

/** Cancels the caller's order. A payment that came in between is looked at again, and then the cancellation may be refused. */
const cancelOrder = (
  { store, database, place, now }: RouteDeps,
  id: string,
  terms: MerchantTerms,
  keyed: KeyedRequest | null,
): Promise<string> =>
  retryConflicts(async () => {
    const found = await store.orders.find({ id })
    if (!found) throw notFound(id)
    requireOwner(found, terms)
    const change = cancel(found, now())
    const body = JSON.stringify(orderBody(change?.order ?? found.order, place))
    const answers = answersTo(keyed, { status: 200, body })
    if (change) await store.orders.commit(change, { answers })
    else if (keyed) await database.commit({ answers })
    return body
  })

const merchantOf = (res: Response): MerchantTerms => termsOf(res.locals.caller)

/** Addresses are kept in EIP-55 form, whatever case they are asked for in. */
const withChecksum = ({ deposit_address, ...query }: ListOrders): ListOrders =>
  deposit_address === undefined ? query : { ...query, deposit_address: checksumAddress(deposit_address) }

const notFound = (id: string) => new ApiError('not_found', `There is no order ${id}.`)

async function historyOf(store: Store, req: Request): Promise<OrderHistory> {
  const { id } = parseRequest(pathId, req.params, 'path')
  parseRequest(nothing, req.query, 'query')
  const found = await store.orders.history(id)
  if (!found) throw notFound(id)
  return found
}

function requireOwner({ order }: Pick<Ledger, 'order'>, terms: MerchantTerms): void {
  if (order.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This order belongs to another merchant.')
}

function expiresAt(body: CreateOrder, at: Date): Date {
  if (body.expires_at === undefined) return new Date(at.getTime() + (body.expires_in ?? ORDER_EXPIRES_IN_DEFAULT_S) * 1000)
  const wanted = new Date(body.expires_at)
  const seconds = (wanted.getTime() - at.getTime()) / 1000
  if (seconds >= ORDER_EXPIRES_IN_MIN_S && seconds <= ORDER_EXPIRES_IN_MAX_S) return wanted
  throw new ApiError('invalid_request', 'The body is not valid: expires_at must lie between 10 seconds and 7 days ahead.', {
    errors: [{ path: 'expires_at', message: 'must lie between 10 seconds and 7 days ahead' }],
  })
}
