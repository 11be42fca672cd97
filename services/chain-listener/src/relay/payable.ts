import { type EventData, parseUsdc } from '@ponte/contracts'
import { depositAddress } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import type { NewPayable } from './store/payables'

/**
 * What an order asks for, as its address is watched and swept. A deposit address that does not follow from memo and merchant is not watched:
 * no sweep could ever reach it. Transfers to an address of a router that is not watched are read all the same, and not swept.
 */
export function toPayable(
  { order, merchant_id, watch_from_block = 0, merchant_is_contract = false }: EventData<'order.created'>,
  routers: readonly string[],
  logger: Logger,
): NewPayable {
  const { router_address, merchant_address, deposit_address } = order.payment
  const [router, merchant] = [router_address.toLowerCase(), merchant_address.toLowerCase()]
  const ours = deposit_address === null ? null : depositAddress({ router, memo: order.memo, merchant })
  const agrees = ours?.toLowerCase() === deposit_address?.toLowerCase()
  if (!agrees) logger.error('an order names a deposit address that is not its own', { order_id: order.id, deposit_address, ours })
  if (!routers.includes(router)) logger.error('an order is paid through a router that is not watched', { order_id: order.id, router })
  return {
    orderId: order.id,
    memo: order.memo,
    merchant,
    merchantId: merchant_id,
    router,
    askedUnits: parseUsdc(order.usdc_amount),
    address: agrees ? (ours?.toLowerCase() ?? null) : null,
    expiresAt: new Date(order.expires_at),
    merchantIsContract: merchant_is_contract,
    watchFrom: watch_from_block,
  }
}
