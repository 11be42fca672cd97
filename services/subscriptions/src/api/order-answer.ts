import type { PendingChargeBody } from '@ponte/contracts'
import type { Answer } from '@ponte/service-kit'
import type { OrderWaits } from './order-wait'

const ORDER = /^order ([0-9a-f-]{36})$/

/** An answer whose body is an order that orders has yet to create: its id is stored in place of the body. */
export const orderAnswer = (status: number, orderId: string): Answer => ({ status, body: `order ${orderId}` })

/** The answer with the order in it once orders has created it; when that takes too long, where it will be. */
export async function withOrder(
  { orderWaits, orderWaitMs, publicUrl }: { orderWaits: OrderWaits; orderWaitMs: number; publicUrl: string },
  subscriptionId: string,
  answer: Answer,
): Promise<Answer> {
  const orderId = ORDER.exec(answer.body)?.[1]
  if (orderId === undefined) return answer
  const order = await orderWaits.wait(orderId, orderWaitMs)
  if (order !== null) return { status: answer.status, body: order }
  const pending: PendingChargeBody = {
    object: 'charge',
    subscription_id: subscriptionId,
    order_id: orderId,
    checkout_url: `${publicUrl}/pay/${orderId}`,
  }
  return { status: 202, body: JSON.stringify(pending) }
}
