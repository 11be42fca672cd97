import { type Change, type Destination, type NewOrder, open } from './order'
import { orderBody, type Place } from './order-body'
import type { Quote } from './quote'

export interface OpeningDeps {
  destination: Omit<Destination, 'merchantAddress'>
  feeBps: bigint
  place: Place
  /** The quote of this moment. Throws `rate_unavailable`. */
  quote(): Quote
  now(): Date
}

export type Opening = ReturnType<typeof createOpening>

/** Opens orders on the terms of this deployment, for a merchant's request and for a subscription's charge alike. */
export const createOpening = (deps: OpeningDeps) => ({
  open(input: NewOrder): Change {
    const order = open(input, deps.quote(), deps.feeBps, deps.destination, deps.now())
    const owner = { merchant_id: order.merchantId, merchant_version: order.merchantVersion }
    return { order, events: [{ type: 'order.created', data: { ...owner, order: orderBody(order, deps.place) } }] }
  },
})
