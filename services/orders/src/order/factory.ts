import { uuidv7Time } from '@ponte/service-kit'
import type { Quote } from '../quote'
import { orderBody, type Place } from './body'
import { type Deployment, type NewOrder, open } from './new-order'
import type { Change } from './order'

export interface OrderFactoryDeps {
  deployment: Deployment
  place: Place
  /** An order for less than this has no deposit address: a sweep would cost more than it brings. */
  depositMinUnits: bigint
  /** The quote of this moment. Throws `rate_unavailable`. */
  quote(): Quote
  /** Where a plain transfer pays this memo and merchant; null where the network has no such addresses. */
  depositAddress(memo: string, merchantAddress: string): string | null
  /**
   * Throws `payout_address_refused`, or `service_unavailable` while the chain was not verified. Answers whether a contract stands at the address;
   * null when that could not be asked.
   */
  requirePayable(payoutAddress: string): Promise<{ isContract: boolean | null }>
  /** The head of the chain as last reported; null while it is unknown. */
  head(): number | null
}

export type OrderFactory = ReturnType<typeof createOrderFactory>

/** By how many blocks the head as reported may run ahead of the head that the listener sees after a reorganisation. */
const HEAD_MARGIN = 128

/** Makes orders on the terms of this deployment, for a merchant's request and for a subscription's charge alike. */
export const createOrderFactory = ({
  deployment,
  place,
  depositMinUnits,
  quote,
  depositAddress,
  requirePayable,
  head,
}: OrderFactoryDeps) => ({
  async open(input: NewOrder): Promise<Change> {
    const { payout_address } = input.terms
    const payout = payout_address === null ? undefined : await requirePayable(payout_address)
    // The id begins with the time at which the order was asked for, so lists by id are lists by time.
    const bare = open(input, quote(), deployment, uuidv7Time(input.id))
    const order = {
      ...bare,
      depositAddress: bare.usdcUnits < depositMinUnits ? null : depositAddress(bare.memo, bare.merchantAddress),
    }
    const data = {
      merchant_id: order.merchantId,
      merchant_version: order.merchantVersion,
      order: orderBody(order, place),
      watch_from_block: Math.max(0, (head() ?? 0) - HEAD_MARGIN),
      merchant_is_contract: payout?.isContract === true,
    }
    return { from: null, order, events: [{ type: 'order.created', data }] }
  },
})
