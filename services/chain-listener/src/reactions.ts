import type { Reactions } from '@ponte/service-kit'
import type { Relaying } from './relay'

/** The scan knows memos and addresses, not orders; the relayer learns from an order which address to watch and who may pay without gas. */
export const reactions = (relaying: Relaying): Reactions => ({
  'order.created': event => relaying.opened(event.data.order, event.id),
})
