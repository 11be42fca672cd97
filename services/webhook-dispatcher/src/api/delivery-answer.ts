import { ApiError } from '@ponte/contracts'
import type { Answer } from '@ponte/service-kit'
import { deliveryBody } from '../bodies'
import type { Store } from '../store'

const DELIVERY = /^delivery ([0-9a-f-]{36})$/

/** An answer that shows a delivery as it is when it is sent: its id is stored in place of the body. */
export const deliveryAnswer = (status: number, id: string): Answer => ({ status, body: `delivery ${id}` })

export async function withDelivery(store: Store, { status, body }: Answer): Promise<Answer> {
  const id = DELIVERY.exec(body)?.[1]
  const row = id === undefined ? null : await store.deliveries.find(id)
  if (!row) throw new ApiError('not_found', `There is no delivery ${id} any more.`)
  return { status, body: JSON.stringify(deliveryBody(row)) }
}
