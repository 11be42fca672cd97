import { type EventData, parseUsdc } from '@ponte/contracts'
import { depositAddress } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import type { NewPayable } from './store/payables'

/**
 * What an order asks for, as the relayer needs it; undefined when it is to be paid through a router that we do not watch. A deposit address
 * that does not follow from memo and merchant is not watched: a sweep could never reach it.
 */
export function toPayable(order: EventData<'order.created'>['order'], routers: readonly string[], logger: Logger): NewPayable | undefined {
  const { router_address, merchant_address, deposit_address } = order.payment
  const [router, merchant] = [router_address.toLowerCase(), merchant_address.toLowerCase()]
  if (!routers.includes(router)) return undefined
  const ours = deposit_address === null ? null : depositAddress({ router, memo: order.memo, merchant })
  const agrees = ours?.toLowerCase() === deposit_address?.toLowerCase()
  if (!agrees) logger.error('an order names a deposit address that is not its own', { order_id: order.id, deposit_address, ours })
  return {
    orderId: order.id,
    memo: order.memo,
    merchant,
    router,
    address: agrees ? (ours?.toLowerCase() ?? null) : null,
    askedUnits: parseUsdc(order.usdc_amount),
    expiresAt: new Date(order.expires_at),
    createdAt: new Date(order.created_at),
  }
}
