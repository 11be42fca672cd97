import { ApiError, type Caller, type CheckoutBody, type LiveCheckouts, type OrderStatus, operations, pathWith } from '@ponte/contracts'
import { handling } from '../edge/handlers'
import { forward } from '../owners/forward'
import type { Owners } from '../owners/forwarding'
import type { Owner } from '../owners/owner'
import type { LiveCheckout, LiveView } from './live-checkout'

const payer: Caller = { kind: 'checkout' }

/** For a payer with a link, beside the owners' answers: the live order, and signatures. */
export const checkoutHandlers = ({ orders, ...owners }: Owners, live: LiveCheckout) =>
  handling({
    streamCheckout: ({ params }, req, res) => live.open(params.order_id, req, res),
    async authorizePayment({ params }, req, res) {
      const listener = owners['chain-listener']
      // The listener answers a repeated signature even when nothing is due any more, so it decides with the status that orders reports.
      const { status, due }: CheckoutBody = JSON.parse(await checkoutView(orders, params.order_id))
      if (!listener) throw new ApiError('invalid_state', 'Payments without gas are not offered here; pay in another way.')
      await forward(listener, payer, `${pathWith(operations.acceptAuthorization.path, params)}?status=${status}&due=${due}`, req, res)
    },
  })

/** The payer's view of an order, asked of its owner. Throws `not_found`, or `service_unavailable`. */
async function checkoutView(orders: Owner, orderId: string): Promise<string> {
  const { status, body } = await orders.ask(payer, { method: 'GET', path: pathWith(operations.getCheckout.path, { order_id: orderId }) })
  if (status === 200) return body.toString('utf8')
  if (status === 404) throw new ApiError('not_found', 'There is no such order; check the link.')
  throw new ApiError('service_unavailable', 'The order cannot be read at the moment; try again shortly.', { retryAfterS: 2 })
}

/** Asked of the owner for many orders at once. Throws `service_unavailable`. */
export async function liveViews(orders: Owner, orderIds: readonly string[]): Promise<Map<string, LiveView>> {
  const body = Buffer.from(JSON.stringify({ ids: orderIds }))
  const answer = await orders.ask(payer, {
    method: 'POST',
    path: operations.getCheckouts.path,
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
