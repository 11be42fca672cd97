import { type DepositWatch, parseUsdc } from '@ponte/contracts'
import { depositAddress } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import type { NewPayable } from './store/payables'

/**
 * What an order asks for, as its address is watched and swept. A deposit address that does not follow from memo and merchant is not watched:
 * no sweep could ever reach it. An order of a router that is not watched is never called watched, and so never expires.
 */
export function toPayable(
  order: DepositWatch['orders'][number],
  routers: readonly string[],
  logger: Logger,
): NewPayable & { cancelledAt: Date | null } {
  const [router, merchant] = [order.router_address.toLowerCase(), order.merchant_address.toLowerCase()]
  const ours = order.deposit_address === null ? null : depositAddress({ router, memo: order.memo, merchant })
  const agrees = ours?.toLowerCase() === order.deposit_address?.toLowerCase()
  const about = { order_id: order.order_id, deposit_address: order.deposit_address, ours }
  if (!agrees) logger.error('an order names a deposit address that is not its own', about)
  if (!routers.includes(router)) logger.error('an order is paid through a router that is not watched', { order_id: order.order_id, router })
  return {
    orderId: order.order_id,
    memo: order.memo,
    merchant,
    merchantId: order.merchant_id,
    router,
    askedUnits: parseUsdc(order.asked_amount),
    address: agrees ? (ours?.toLowerCase() ?? null) : null,
    expiresAt: new Date(order.expires_at),
    merchantIsContract: order.merchant_is_contract,
    watchFrom: order.watch_from,
    cancelledAt: order.cancelled_at === null ? null : new Date(order.cancelled_at),
  }
}
