import { randomBytes } from 'node:crypto'
import {
  ApiError,
  type Caller,
  type CreateOrder,
  caller,
  createOrder,
  id as idSchema,
  type List,
  listOrders,
  type MerchantTerms,
  ORDER_EXPIRES_IN_DEFAULT_S,
  ORDER_EXPIRES_IN_MAX_S,
  ORDER_EXPIRES_IN_MIN_S,
  type OrderBody,
  parseBrl,
} from '@ponte/contracts'
import { addLogFields, isStale, parseRequest, requireCaller, uuidv7At } from '@ponte/service-kit'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { answerOnce, keyedRequest } from './idempotency'
import type { Opening } from './opening'
import { cancel } from './order'
import { checkoutBody, orderBody, type Place } from './order-body'
import type { Store } from './store'
import type { KeyedRequest } from './store/idempotency'
import type { Ledger } from './store/ledger'

export interface RouteDeps {
  store: Store
  opening: Opening
  place: Place
  now: () => Date
  tokenSecret: string
}

const LIMIT_DEFAULT = 20
const pathId = z.object({ id: idSchema })
const nothing = z.strictObject({})

export function routes(deps: RouteDeps): Router {
  const { store, place } = deps
  const router = Router()
  router.use(requireCaller({ secret: deps.tokenSecret, audience: 'orders', schema: caller }))

  router.post('/api/v1/orders', async (req, res) => {
    const terms = merchantOf(res)
    parseRequest(nothing, req.query, 'query')
    const body = parseRequest(createOrder, req.body, 'body')
    const keyed = keyedRequest(req, terms.merchant_id, 'POST /api/v1/orders')
    await answerOnce(store, keyed, res, async () => {
      const at = deps.now()
      const change = deps.opening.open({
        id: uuidv7At(at),
        memo: randomBytes(32).toString('hex'),
        terms,
        subscriptionId: null,
        externalRef: body.external_ref ?? null,
        description: body.description ?? null,
        metadata: body.metadata ?? {},
        brlCentavos: parseBrl(body.brl_amount),
        expiresAt: expiresAt(body, at),
      })
      addLogFields({ order_id: change.order.id })
      const answer = { status: 201, body: JSON.stringify(orderBody(change.order, place)) }
      await store.insert(change, keyed ? { answer: { ...keyed, ...answer } } : {})
      return answer
    })
  })

  router.get('/api/v1/orders', async (req, res) => {
    const terms = merchantOf(res)
    const query = parseRequest(listOrders, req.query, 'query')
    const limit = query.limit ?? LIMIT_DEFAULT
    const orders = await store.list(terms.merchant_id, query, limit)
    const page = orders.slice(0, limit).map(order => orderBody(order, place))
    if (query.ending_before !== undefined) page.reverse()
    const list: List<OrderBody> = { object: 'list', data: page, has_more: orders.length > limit }
    res.json(list)
  })

  router.get('/api/v1/orders/:id', async (req, res) => {
    const { order, payments } = await owned(store, req, merchantOf(res))
    res.json(orderBody(order, place, payments))
  })

  router.post('/api/v1/orders/:id/cancel', async (req, res) => {
    const terms = merchantOf(res)
    const { id } = parseRequest(pathId, req.params, 'path')
    parseRequest(nothing, req.body, 'body')
    const keyed = keyedRequest(req, terms.merchant_id, `POST /api/v1/orders/${id.toLowerCase()}/cancel`)
    await answerOnce(store, keyed, res, async () => ({ status: 200, body: await cancelled(deps, req, terms, keyed) }))
  })

  router.get('/api/v1/checkout/:id', async (req, res) => {
    const found = await named(store, req)
    res.json(checkoutBody(found.order, found.payments, await store.head(found.order.chainId), place))
  })

  return router
}

/** Cancels the caller's order; a payment that came in between is looked at again, and then the cancellation may be refused. */
async function cancelled(
  { store, place, now }: RouteDeps,
  req: Request,
  terms: MerchantTerms,
  keyed: KeyedRequest | null,
): Promise<string> {
  for (;;) {
    const { order, payments } = await owned(store, req, terms)
    const change = cancel(order, payments, now())
    const body = JSON.stringify(orderBody(change?.order ?? order, place))
    const answer = keyed && { ...keyed, status: 200, body }
    try {
      if (change) await store.commit(change, answer ? { answer } : {})
      else if (answer) await store.keepAnswer(answer)
      return body
    } catch (error) {
      if (!isStale(error)) throw error
    }
  }
}

function merchantOf(res: Response): MerchantTerms {
  const who: Caller = res.locals.caller
  if (who.kind !== 'merchant') throw new ApiError('forbidden', 'A payer may read the checkout of an order and nothing else.')
  return who.terms
}

async function named(store: Store, req: Request): Promise<Ledger> {
  const { id } = parseRequest(pathId, req.params, 'path')
  parseRequest(nothing, req.query, 'query')
  const found = await store.find({ id })
  if (!found) throw new ApiError('not_found', `There is no order ${id}.`)
  return found
}

async function owned(store: Store, req: Request, terms: MerchantTerms): Promise<Ledger> {
  const found = await named(store, req)
  if (found.order.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This order belongs to another merchant.')
  return found
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
