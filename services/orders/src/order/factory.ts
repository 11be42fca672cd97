import { type EventData, formatUsdc, type MerchantTerms, type NewEvent } from '@ponte/contracts'
import { uuidv7Time } from '@ponte/service-kit'
import { type OfferedNetwork, payoutAddressOn } from '../payment/payment'
import type { Quote } from '../quote/quote'
import { orderBody, type Place } from './body'
import { type Deployment, type NewOrder, open } from './new-order'
import type { Change, Order } from './order'

export interface OrderFactoryDeps {
  terms: Pick<Deployment, 'feeBps' | 'tolerance'>
  place: Place
  /** An order for less than this has no deposit address: a sweep would cost more than it brings. */
  depositMinUnits: bigint
  /** The quote of this moment. Throws `rate_unavailable`. */
  quote(): Quote
  /**
   * The networks, and where of these a merchant can and wants to be paid at this moment. Throws `payout_address_required`, `payout_address_refused`,
   * `invalid_request` on a network that is not the merchant's, or `service_unavailable` while the first chain was not verified.
   */
  offers(terms: MerchantTerms, chainIds?: readonly number[] | null): Promise<readonly [OfferedNetwork, ...OfferedNetwork[]]>
  /** The head of a chain as last reported; null while it is unknown. */
  head(chainId: number): number | null
  /** The present generation of a listener's history, as last reported; null while it is unknown. */
  generation(chainId: number): string | null
}

export type OrderFactory = ReturnType<typeof createOrderFactory>

/** By how many blocks the head as reported may run ahead of the head that the listener sees after a reorganisation. */
const HEAD_MARGIN = 128

/** Makes orders on the terms of this deployment, for a merchant's request and for a subscription's charge alike. */
export const createOrderFactory = ({ terms, place, depositMinUnits, quote, offers, head, generation }: OrderFactoryDeps) => ({
  async open(input: NewOrder): Promise<Change> {
    const [first, ...others] = await offers(input.terms, input.chainIds)
    // The id begins with the time at which the order was asked for, so lists by id are lists by time.
    const bare = open(input, quote(), { ...first, ...terms }, uuidv7Time(input.id))
    const placed = ({ depositAddress, ...network }: OfferedNetwork) => ({
      ...{ chainId: network.chainId, tokenAddress: network.tokenAddress, routerAddress: network.routerAddress },
      ...{ isOffered: network.isOffered, merchantIsContract: network.merchantIsContract },
      depositAddress: bare.usdcUnits >= depositMinUnits ? depositAddress(bare.memo, network.merchantAddress) : null,
      watchFrom: Math.max(0, (head(network.chainId) ?? 0) - HEAD_MARGIN),
    })
    const { isOffered: _, ...own } = placed(first)
    // Of networks on which it is paid out elsewhere than on its first.
    const elsewhere = others.filter(({ merchantAddress }) => merchantAddress !== bare.merchantAddress)
    const order: Order = {
      ...{ ...bare, ...own, watchFrom: BigInt(own.watchFrom), networks: others.map(placed) },
      merchantAddresses: Object.fromEntries(elsewhere.map(({ chainId, merchantAddress }) => [chainId, merchantAddress])),
    }
    const owner = { merchant_id: order.merchantId, merchant_version: order.merchantVersion }
    const created: NewEvent[] =
      order.subscriptionId === null ? [] : [{ type: 'order.created', data: { ...owner, order: orderBody(order, place) } }]
    // Listeners of other networks are asked for many orders at once.
    return { from: null, order, events: [watchEvent([order], order.chainId, generation(order.chainId)), ...created] }
  },
})

/** Asks the listener to watch these orders of one chain: the router for their memos, and their deposit addresses. */
export const watchEvent = (orders: readonly Order[], chainId: number, generation: string | null): NewEvent => ({
  type: 'deposit.watch',
  data: { chain_id: chainId, generation, orders: orders.map(order => watchFacts(order, chainId)) },
})

const watchFacts = (order: Order, chainId: number): EventData<'deposit.watch'>['orders'][number] => ({
  order_id: order.id,
  merchant_id: order.merchantId,
  memo: order.memo,
  merchant_address: payoutAddressOn(order, chainId),
  ...watchedAt(order.networks.find(network => network.chainId === chainId) ?? order),
  expires_at: order.expiresAt.toISOString(),
  asked_amount: formatUsdc(order.usdcUnits),
  cancelled_at: order.cancelledAt?.toISOString() ?? null,
})

const watchedAt = (network: Pick<Order, 'routerAddress' | 'depositAddress' | 'merchantIsContract'> & { watchFrom: bigint | number }) => ({
  router_address: network.routerAddress,
  merchant_is_contract: network.merchantIsContract,
  deposit_address: network.depositAddress,
  watch_from: Number(network.watchFrom),
})
