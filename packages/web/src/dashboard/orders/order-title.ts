import type { OrderBody } from '@ponte/contracts'
import { shortened } from '../../amounts'

/** What people call an order: the merchant's reference, else what it is for. */
export const titleOf = (order: Pick<OrderBody, 'id' | 'external_ref' | 'description'>): string =>
  order.external_ref ?? order.description ?? shortened(order.id, 13)
