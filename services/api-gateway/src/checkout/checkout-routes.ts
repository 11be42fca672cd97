import {
  ApiError,
  authorizePayment,
  type Caller,
  type CheckoutBody,
  id as idSchema,
  type LiveCheckouts,
  type OrderStatus,
} from '@ponte/contracts'
import { parseRequest } from '@ponte/service-kit'
import { type Request, type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { jsonBody } from '../json-body'
import { forward, type Owner, type Owners } from '../owners'
import type { LiveCheckout, LiveView } from './live-checkout'

/** Below these are the payers' own routes. */
export const PAYERS_PATHS = ['/api/v1/checkout', '/api/v1/payer']

const payer: Caller = { kind: 'checkout' }
const path = z.object({ order_id: idSchema })
const payerPath = z.object({ payer_token: idSchema })
const subscriptionOf = (req: Request) => `/api/v1/payer/subscriptions/${parseRequest(payerPath, req.params, 'path').payer_token}`
const orderIdIn = (req: Request) => parseRequest(path, req.params, 'path').order_id

/** What a payer with a link may do: read the order, once or live, hand in a signature, and see a subscription with its receipts. */
export function checkoutRoutes(owners: Owners, live: LiveCheckout, knownQuery: RequestHandler): Router {
  const router = Router()
  const { orders, subscriptions } = owners
  router.get('/api/v1/payer/subscriptions/:payer_token', knownQuery, (req, res) =>
    forward(subscriptions, payer, subscriptionOf(req), req, res),
  )
  router.post('/api/v1/payer/subscriptions/:payer_token/order', knownQuery, (req, res) =>
    forward(subscriptions, payer, `${subscriptionOf(req)}/order`, req, res),
  )
  router.get('/api/v1/checkout/:order_id', knownQuery, (req, res) => forward(orders, payer, `/api/v1/checkout/${orderIdIn(req)}`, req, res))
  router.get('/api/v1/checkout/:order_id/stream', knownQuery, (req, res) => live.open(orderIdIn(req), req, res))
  router.post('/api/v1/checkout/:order_id/authorization', knownQuery, async (req, res) => {
    const orderId = orderIdIn(req)
    const listener = owners['chain-listener']
    // The listener answers a repeated signature even when nothing is due any more, so it decides with the status that orders reports.
    const { status, due }: CheckoutBody = JSON.parse(await checkoutView(orders, orderId))
    parseRequest(authorizePayment, jsonBody(req), 'body')
    if (!listener) throw new ApiError('invalid_state', 'Payments without gas are not offered here; pay in another way.')
    await forward(listener, payer, `/api/v1/checkout/${orderId}/authorization?status=${status}&due=${due}`, req, res)
  })
  return router
}

/** The payer's view of an order, asked of its owner. Throws `not_found`, or `service_unavailable`. */
async function checkoutView(orders: Owner, orderId: string): Promise<string> {
  const { status, body } = await orders.ask(payer, { method: 'GET', path: `/api/v1/checkout/${orderId}` })
  if (status === 200) return body.toString('utf8')
  if (status === 404) throw new ApiError('not_found', 'There is no such order; check the link.')
  throw new ApiError('service_unavailable', 'The order cannot be read at the moment; try again shortly.', { retryAfterS: 2 })
}

/** What live pages show, asked of the owner for many orders at once. Throws `service_unavailable`. */
export async function liveViews(orders: Owner, orderIds: readonly string[]): Promise<Map<string, LiveView>> {
  const body = Buffer.from(JSON.stringify({ ids: orderIds }))
  const answer = await orders.ask(payer, {
    method: 'POST',
    path: '/api/v1/checkouts',
    headers: { 'content-type': 'application/json' },
    body,
  })
  if (answer.status !== 200)
    throw new ApiError('service_unavailable', 'The order cannot be read at the moment; try again shortly.', { retryAfterS: 2 })
  const { data }: LiveCheckouts = JSON.parse(answer.body.toString('utf8'))
  return new Map(
    data.map(({ merchant_id: merchantId, checkout }) => [
      checkout.id,
      { merchantId, text: JSON.stringify(checkout), isFinal: FINAL.includes(checkout.status) },
    ]),
  )
}

const FINAL: readonly OrderStatus[] = ['paid', 'expired', 'cancelled']
