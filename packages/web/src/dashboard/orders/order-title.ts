import type { OrderBody } from '@ponte/contracts'
import { shortened } from '../../amounts'

/** A person's name for an order: the merchant's reference, else its description. */
export const titleOf = (order: Pick<OrderBody, 'id' | 'external_ref' | 'description'>): string =>
  order.external_ref ?? order.description ?? shortened(order.id, 13)
