import { lower, type Row, text } from './rows'

/** The listener of one network, by its own word. */
export interface Listened {
  /** The listener's history of now. */
  generation: string | null
  token: string | null
}

/** Of every network that orders follow, by chain. */
export type Networks = ReadonlyMap<string, Listened>

/** Where an order may be paid: its own columns for the first network, `networks` for each other one. */
export interface Offer {
  chain: string
  merchant: string | null
  router: string | null
  token: string | null
  deposit: string | null
  watchFrom: unknown
  merchantIsContract: unknown
  /** It is watched there, and what comes counts for nothing otherwise. */
  isOffered: boolean
}

/** Where a merchant was paid on a chain, by one of their versions: what they named for it, or for all others. */
export const payoutOn = ({ of_networks, payout_address }: Row, chain: unknown): string | null =>
  lower(Object(of_networks)[String(chain)] ?? payout_address)

/** The same of an order. */
export const orderPayoutOn = ({ merchant_addresses, merchant_address }: Row, chain: unknown): string | null =>
  lower(Object(merchant_addresses)[String(chain)] ?? merchant_address)

/** Addresses by chain, to be compared. */
export const ownPayouts = (named: unknown): string => JSON.stringify(Object.entries(Object(named)).toSorted()).toLowerCase()

/** Chains whose listener is gone for good: what is of one of them is held against nothing. */
export type Retired = ReadonlySet<string>

/** Of an id of a payment or a sweep. */
export const chainOfId = (id: unknown): string => String(id).split(':')[0] ?? ''

export const offersOf = (order: Row): Offer[] => [
  offer(
    order.chain_id,
    order,
    order.router_address,
    order.token_address,
    order.deposit_address,
    order.watch_from,
    order.merchant_is_contract,
    true,
  ),
  ...(Array.isArray(order.networks) ? order.networks.map(Object) : []).map(other =>
    offer(
      other.chainId,
      order,
      other.routerAddress,
      other.tokenAddress,
      other.depositAddress,
      other.watchFrom,
      other.merchantIsContract,
      other.isOffered !== false,
    ),
  ),
]

/** Undefined where the order may not be paid on that chain. */
export const offerOn = (order: Row | undefined, chain: unknown): Offer | undefined =>
  order && offersOf(order).find(one => one.isOffered && one.chain === text(chain))

const offer = (
  chain: unknown,
  order: Row,
  router: unknown,
  token: unknown,
  deposit: unknown,
  watchFrom: unknown,
  merchantIsContract: unknown,
  isOffered: boolean,
) => ({
  ...{ chain: String(chain), merchant: orderPayoutOn(order, chain), router: lower(router), token: lower(token), deposit: lower(deposit) },
  ...{ watchFrom, merchantIsContract, isOffered },
})
