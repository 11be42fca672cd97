import type { Reactions } from '@ponte/service-kit'
import type { Intake } from './relay'

/** The scan knows memos and addresses, not orders; an order's event brings the address to watch and who may pay without gas. */
export const reactions = (intake: Intake): Reactions => ({
  'order.created': event => intake.created(event.data, event.id),
  'order.cancelled': event => intake.cancelled(event.data, event.id),
})
