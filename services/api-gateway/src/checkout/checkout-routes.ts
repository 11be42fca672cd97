import {
  ApiError,
  type AuthorizePayment,
  type Caller,
  type CheckoutBody,
  invalidField,
  type LiveCheckouts,
  type OrderStatus,
  operations,
  pathWith,
} from '@ponte/contracts'
import { handling } from '../edge/handlers'
import { asking } from '../owners/answer-of'
import { passOn } from '../owners/forward'
import type { Owners } from '../owners/forwarding'
import type { Owner, OwnerAnswer } from '../owners/owner'
import type { LiveCheckout, LiveView } from './live-checkout'

const payer: Caller = { kind: 'checkout' }

/** For a payer with a link, beside the owners' answers: the live order, and signatures. */
export const checkoutHandlers = ({ orders, ...owners }: Owners, otherListeners: readonly Owner[], live: LiveCheckout) =>
  handling({
    streamCheckout: ({ params }, req, res) => live.open(params.order_id, req, res),
    async authorizePayment({ params, body }, req, res) {
      const listener = owners['chain-listener']
      // The listener answers a repeated signature even when nothing is due any more, so it decides with the status that orders reports.
      const { status, due, payment }: CheckoutBody = JSON.parse(await checkoutView(orders, params.order_id))
      if (!listener) throw notOffered()
      const path = `${pathWith(operations.acceptAuthorization.path, params)}?status=${status}&due=${due}`
      // A body of its own: the payer's request may end in a bare `?`, which would stand behind this query.
      const signed = asking(path, { ...body, chain_id: networkOf(payment, body) })
      const answer =
        otherListeners.length === 0
          ? await listener.ask(payer, signed)
          : await takenBy([listener, ...otherListeners], one => one.ask(payer, signed))
      passOn(answer, req, res)
    },
  })

const notOffered = () => new ApiError('invalid_state', 'Payments without gas are not offered here; pay in another way.')

function networkOf(payment: CheckoutBody['payment'], { chain_id: named = payment.chain_id }: AuthorizePayment): number {
  const chainIds = (payment.networks ?? [payment]).map(({ chain_id }) => chain_id)
  if (chainIds.includes(named)) return named
  throw invalidField('chain_id', `must be a network of the order: ${chainIds.join(' or ')}`)
}

/** By the listener that reads the network: each other one answers 404. Where none does, one that cannot answer may be the one. */
async function takenBy(listeners: readonly Owner[], ask: (listener: Owner) => Promise<OwnerAnswer>): Promise<OwnerAnswer> {
  const answers = await Promise.allSettled(listeners.map(ask))
  const given = answers.flatMap(answer => (answer.status === 'fulfilled' ? [answer.value] : []))
  // One whose database is away answers 503 before it looks at the network.
  const taken = given.find(({ status }) => status < 500 && status !== 404) ?? given.find(({ status }) => status !== 404)
  if (taken) return taken
  const silent = answers.find(({ status }) => status === 'rejected')
  throw silent?.status === 'rejected' ? silent.reason : notOffered()
}

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
