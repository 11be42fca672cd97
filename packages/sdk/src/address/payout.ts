import { PonteError } from '../failure.js'
import type { Order } from '../schemas.js'
import { depositAddress } from './deposit.js'

/** Where your money goes, from your own configuration and never from an answer of the API. */
export interface Payout {
  /** Your payout address. */
  address: string
  /** The payment router that you have checked, as the operator publishes it. */
  router: string
  /** USDC's contract, and the id of its chain; each is compared where it is given. */
  token?: string
  chainId?: number
}

/**
 * Throws `address_mismatch` when money that is paid for an order could go elsewhere than to your payout address: the order names another payout address, router,
 * token or chain, or a deposit address that does not follow from them. Then send nobody to its checkout.
 */
export function checkPayout(order: Pick<Order, 'id' | 'memo' | 'payment'>, payout: Payout): void {
  const { payment, memo } = order
  const { address, router, token = payment.token_address, chainId = payment.chain_id } = payout
  const deposit = payment.deposit_address && depositAddress({ router, memo, payoutAddress: address })
  const named = [
    ['payout address', payment.merchant_address, address],
    ['router', payment.router_address, router],
    ['token', payment.token_address, token],
    ['chain', String(payment.chain_id), String(chainId)],
    ['deposit address', payment.deposit_address ?? '', deposit ?? ''],
  ] as const
  const other = named.find(([, theirs, ours]) => theirs.toLowerCase() !== ours.toLowerCase())
  if (!other) return
  const [what, theirs, ours] = other
  const detail = `Order ${order.id} names the ${what} ${theirs}, and by your configuration it is ${ours}. Send nobody to its checkout, and ask who changed it.`
  throw new PonteError({ code: 'address_mismatch', detail, cause: order })
}
