import {
  ApiError,
  authorizePayment,
  type Caller,
  caller,
  formatUsdc,
  id as idSchema,
  orderStatus,
  type PaymentAuthorizationBody,
  parseUsdc,
  usdcAmount,
} from '@ponte/contracts'
import { parseRequest, requireCaller } from '@ponte/service-kit'
import { Router } from 'express'
import { z } from 'zod'
import type { Acceptance } from './acceptance'
import type { Authorization } from './store/authorizations'

const path = z.object({ order_id: idSchema })
/** The order's state in orders, asked by the gateway just now. */
const query = z.strictObject({ status: orderStatus, due: usdcAmount })

/** Payers' signatures, handed on by the gateway alone. */
export function authorizationRoutes(deps: {
  accept: Acceptance
  accepted(): void
  tokenSecret: string
  checksum(address: string): string
}): Router {
  const router = Router()
  router.use(requireCaller({ secret: deps.tokenSecret, audience: 'chain-listener', schema: caller }))
  router.post('/api/v1/checkout/:order_id/authorization', async (req, res) => {
    const who = res.locals.caller as Caller
    if (who.kind !== 'checkout') throw new ApiError('forbidden', 'A payer signs, not a merchant.')
    const { order_id } = parseRequest(path, req.params, 'path')
    const { status, due } = parseRequest(query, req.query, 'query')
    const body = parseRequest(authorizePayment, req.body, 'body')
    const authorization = await deps.accept(order_id, body, { status, dueUnits: parseUsdc(due) })
    deps.accepted()
    res.status(202).json(toBody(authorization, deps.checksum))
  })
  return router
}

const toBody = (one: Authorization, checksum: (address: string) => string): PaymentAuthorizationBody => ({
  object: 'authorization',
  order_id: one.orderId,
  payer_address: checksum(one.payer),
  amount: formatUsdc(one.amountUnits),
  status: one.state,
  tx_hash: one.txHash,
  detail: DETAILS[one.state](one),
})

const DETAILS: Record<Authorization['state'], (one: Authorization) => string> = {
  accepted: () => 'It is sent to the network within seconds, at our cost; the checkout then shows the payment.',
  submitted: () => 'It is on the network and waits to be mined; the checkout then shows the payment.',
  paid: () => 'It is mined; the checkout shows the payment.',
  failed: one => FAILURES[one.reason ?? ''] ?? 'It could not be sent; nothing was taken. Pay in another way.',
}
const FAILURES: Record<string, string> = {
  expired: 'It ended before it could be sent; nothing was taken. Sign again with a later valid_before.',
  nonce_used: 'The account used or cancelled this signature elsewhere; nothing was taken here. Pay in another way.',
  refused_by_token: 'The token refuses it, for example because the balance is gone; nothing was taken. Pay in another way.',
}
