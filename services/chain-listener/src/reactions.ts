import type { Reactions } from '@ponte/service-kit'
import type { Relay } from './relay'

/** The scan knows memos and addresses, not orders; an order's event brings the address to watch and who may pay without gas. */
export const reactions = (relay: Relay): Reactions => ({
  'order.created': event => relay.orderCreated(event.data, event.id),
})
