import { uuidv7Time } from '@ponte/service-kit'
import { type Change, type Destination, type NewOrder, open } from './order'
import { orderBody, type Place } from './order-body'
import type { Quote } from './quote'

export interface OpeningDeps {
  destination: Omit<Destination, 'merchantAddress' | 'depositAddress'>
  feeBps: bigint
  place: Place
  /** The quote of this moment. Throws `rate_unavailable`. */
  quote(): Quote
  /** Where a plain transfer pays this memo and merchant; null where the network has no such addresses. */
  depositAddress(memo: string, merchantAddress: string): string | null
}

export type Opening = ReturnType<typeof createOpening>

/** Opens orders on the terms of this deployment, for a merchant's request and for a subscription's charge alike. */
export const createOpening = ({ destination, feeBps, place, quote, depositAddress }: OpeningDeps) => ({
  open(input: NewOrder): Change {
    // The id begins with the time at which whoever wanted the order made it, so lists by id are lists by time.
    const bare = open(input, quote(), feeBps, { ...destination, depositAddress: null }, uuidv7Time(input.id))
    const order = { ...bare, depositAddress: depositAddress(bare.memo, bare.merchantAddress) }
    const owner = { merchant_id: order.merchantId, merchant_version: order.merchantVersion }
    return { from: null, order, events: [{ type: 'order.created', data: { ...owner, order: orderBody(order, place) } }] }
  },
})
