import { PonteError } from '../failure.js'
import type { Order } from '../schemas.js'
import { depositAddress } from './deposit.js'

/** Where your money goes, from your own configuration and never from an answer of the API. */
export interface Payout {
  /** Your payout address. */
  address: string
  /** Other ones that you have named, by the number of their network. */
  addresses?: Readonly<Record<string, string>>
  /** The payment router that you have checked, as the operator publishes it. */
  router: string
  /** USDC's contract, and the id of its chain; each is compared where it is given. */
  token?: string
  chainId?: number
}

/**
 * Throws `address_mismatch` when money that is paid for an order could go elsewhere than to your payout address: the order names another payout address, router,
 * token or chain, or a deposit address that does not follow from them, on any of its networks. Then send no payer to its checkout.
 */
export function checkPayout(order: Pick<Order, 'id' | 'memo' | 'payment'>, payout: Payout): void {
  const { payment, memo } = order
  const { address, addresses = {}, router, token = payment.token_address, chainId = payment.chain_id } = payout
  const [first, ...others] = [payment, ...(payment.networks?.filter(({ chain_id }) => chain_id !== payment.chain_id) ?? [])]
  const named = [
    ['token', first.token_address, token],
    ['chain', String(first.chain_id), String(chainId)],
    ...[first, ...others].flatMap(({ chain_id, merchant_address = first.merchant_address, router_address, deposit_address }) => {
      const payoutAddress = addresses[chain_id] ?? address
      const deposit = deposit_address && depositAddress({ router, memo, payoutAddress })
      return [
        ['payout address', merchant_address, payoutAddress],
        ['router', router_address, router],
        ['deposit address', deposit_address ?? '', deposit ?? ''],
      ] as const
    }),
  ] as const
  const other = named.find(([, theirs, ours]) => theirs.toLowerCase() !== ours.toLowerCase())
  if (!other) return
  const [what, theirs, ours] = other
  const detail = `Order ${order.id} names the ${what} ${theirs}, and by your configuration it is ${ours}. Send no payer to its checkout, and ask who changed it.`
  throw new PonteError({ code: 'address_mismatch', detail, cause: order })
}
