import { ApiError, type Caller, id as idSchema } from '@ponte/contracts'
import { parseRequest } from '@ponte/service-kit'
import { type Request, Router } from 'express'
import { z } from 'zod'
import { forward, type Owner } from './forward'
import type { Live } from './live'

const payer: Caller = { kind: 'checkout' }
const path = z.object({ order_id: idSchema })
const orderIdIn = (req: Request) => parseRequest(path, req.params, 'path').order_id

/** What a payer with a link may read, once or live. */
export function checkoutRoutes(orders: Owner, live: Live): Router {
  const router = Router()
  router.get('/api/v1/checkout/:order_id', (req, res) => forward(orders, payer, `/api/v1/checkout/${orderIdIn(req)}`, req, res))
  router.get('/api/v1/checkout/:order_id/stream', (req, res) => live.open(orderIdIn(req), req, res))
  return router
}

/** The payer's view of an order, asked of its owner. Throws `not_found`, or `service_unavailable`. */
export async function checkoutView(orders: Owner, orderId: string): Promise<string> {
  const { status, body } = await orders.ask(payer, { method: 'GET', path: `/api/v1/checkout/${orderId}` })
  if (status === 200) return body.toString('utf8')
  if (status === 404) throw new ApiError('not_found', 'There is no such order; check the link.')
  throw new ApiError('service_unavailable', 'The order cannot be read at the moment; try again shortly.', { retryAfterS: 2 })
}
