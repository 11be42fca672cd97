import { createHash, randomBytes } from 'node:crypto'
import {
  ApiError,
  type Caller,
  caller,
  createOrder,
  idempotencyKey,
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
import { isStale, parseRequest, requireCaller, uuidv7 } from '@ponte/service-kit'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import type { Opening } from './opening'
import { type Change, cancel } from './order'
import { checkoutBody, orderBody, type Place } from './order-body'
import type { Store } from './store'
import { type Answer, isRepeated, type KeyedRequest } from './store/idempotency'
import type { Ledger } from './store/orders'

export interface RouteDeps {
  store: Store
  opening: Opening
  place: Place
  now: () => Date
  tokenSecret: string
}

const LIMIT_DEFAULT = 20
const pathId = z.object({ id: idSchema })

export function routes(deps: RouteDeps): Router {
  const { store, place } = deps
  const router = Router()
  router.use(requireCaller({ secret: deps.tokenSecret, audience: 'orders', schema: caller }))

  router.post('/api/v1/orders', async (req, res) => {
    const terms = merchantOf(res)
    const body = parseRequest(createOrder, req.body, 'body')
    const keyed = keyedRequest(req, terms, 'POST /api/v1/orders')
    await answerOnce(store, keyed, res, async () => {
      const change = deps.opening.open({
        id: uuidv7(),
        memo: randomBytes(32).toString('hex'),
        terms,
        subscriptionId: null,
        externalRef: body.external_ref ?? null,
        description: body.description ?? null,
        metadata: body.metadata ?? {},
        brlCentavos: parseBrl(body.brl_amount),
        expiresAt: expiresAt(body, deps.now()),
      })
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
    parseRequest(z.strictObject({}), req.body, 'body')
    const keyed = keyedRequest(req, terms, `POST /api/v1/orders/${id}/cancel`)
    await answerOnce(store, keyed, res, async () => ({ status: 200, body: JSON.stringify(await cancelled(deps, req, terms, keyed)) }))
  })

  router.get('/api/v1/checkout/:id', async (req, res) => {
    const { id } = parseRequest(pathId, req.params, 'path')
    const found = await store.find({ id })
    if (!found) throw new ApiError('not_found', 'There is no such order; check the link.')
    res.json(checkoutBody(found.order, found.payments, await store.head(found.order.chainId), place))
  })

  return router
}

/** Cancels the caller's order; a payment that came in between is looked at again, and then the cancellation may be refused. */
async function cancelled(deps: RouteDeps, req: Request, terms: MerchantTerms, keyed: KeyedRequest | null): Promise<OrderBody> {
  for (;;) {
    const { order, payments } = await owned(deps.store, req, terms)
    const change: Change | null = cancel(order, payments, deps.now())
    if (!change) return orderBody(order, deps.place)
    const body = orderBody(change.order, deps.place)
    const answer: Answer | null = keyed && { ...keyed, status: 200, body: JSON.stringify(body) }
    try {
      await deps.store.commit(change, answer ? { answer } : {})
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

async function owned(store: Store, req: Request, terms: MerchantTerms): Promise<Ledger> {
  const { id } = parseRequest(pathId, req.params, 'path')
  const found = await store.find({ id })
  if (!found) throw new ApiError('not_found', `There is no order ${id}.`)
  if (found.order.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This order belongs to another merchant.')
  return found
}

function expiresAt(body: z.infer<typeof createOrder>, at: Date): Date {
  if (body.expires_at === undefined) return new Date(at.getTime() + (body.expires_in ?? ORDER_EXPIRES_IN_DEFAULT_S) * 1000)
  const wanted = new Date(body.expires_at)
  const seconds = (wanted.getTime() - at.getTime()) / 1000
  if (seconds >= ORDER_EXPIRES_IN_MIN_S && seconds <= ORDER_EXPIRES_IN_MAX_S) return wanted
  throw new ApiError('invalid_request', 'The body is not valid: expires_at must lie between 10 seconds and 7 days ahead.', {
    errors: [{ path: 'expires_at', message: 'must lie between 10 seconds and 7 days ahead' }],
  })
}

function keyedRequest(req: Request, terms: MerchantTerms, route: string): KeyedRequest | null {
  const given = req.headers['idempotency-key']
  if (given === undefined) return null
  const result = idempotencyKey.safeParse(given)
  if (!result.success) {
    throw new ApiError('invalid_request', 'The Idempotency-Key header must be 1 to 255 printable characters.', {
      errors: [{ path: 'Idempotency-Key', message: 'must be 1 to 255 printable characters' }],
    })
  }
  const bodyHash = createHash('sha256')
    .update(JSON.stringify(req.body ?? {}))
    .digest('hex')
  return { merchantId: terms.merchant_id, route, key: result.data, bodyHash }
}

/**
 * Does the work once per key. Its effect and its answer are one statement, so an equal request at the same moment waits on the key's
 * row, fails on it with nothing changed, and is given the first one's answer. Work that cannot be done (again) looks there too.
 */
async function answerOnce(
  store: Store,
  keyed: KeyedRequest | null,
  res: Response,
  work: () => Promise<{ status: number; body: string }>,
): Promise<void> {
  try {
    const { status, body } = await work()
    res.status(status).type('application/json').send(body)
  } catch (error) {
    const stored = keyed && (isRepeated(error) || error instanceof ApiError) ? await store.answered(keyed) : null
    if (!stored) throw error
    res.setHeader('Idempotency-Replayed', 'true')
    res.status(stored.status).type('application/json').send(stored.body)
  }
}
