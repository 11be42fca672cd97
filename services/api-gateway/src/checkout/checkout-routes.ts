import { ApiError, authorizePayment, type Caller, type CheckoutBody, id as idSchema } from '@ponte/contracts'
import { parseRequest } from '@ponte/service-kit'
import { type Request, type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { jsonBody } from '../json-body'
import { forward, type Owner, type Owners } from '../owners'
import type { LiveCheckout } from './live-checkout'

const payer: Caller = { kind: 'checkout' }
const path = z.object({ order_id: idSchema })
const orderIdIn = (req: Request) => parseRequest(path, req.params, 'path').order_id

/** What a payer with a link may do: read the order, once or live, and hand in a signature. */
export function checkoutRoutes(owners: Owners, live: LiveCheckout, knownQuery: RequestHandler): Router {
  const router = Router()
  const { orders } = owners
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
export async function checkoutView(orders: Owner, orderId: string): Promise<string> {
  const { status, body } = await orders.ask(payer, { method: 'GET', path: `/api/v1/checkout/${orderId}` })
  if (status === 200) return body.toString('utf8')
  if (status === 404) throw new ApiError('not_found', 'There is no such order; check the link.')
  throw new ApiError('service_unavailable', 'The order cannot be read at the moment; try again shortly.', { retryAfterS: 2 })
}
