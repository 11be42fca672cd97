import type { PendingChargeBody } from '@ponte/contracts'
import { type Answer, sendAnswer } from '@ponte/service-kit'
import type { Response } from 'express'
import type { OrderWaits } from './order-wait'

const ORDER = /^order ([0-9a-f-]{36})$/

/** An answer whose body is an order that orders has yet to create: its id is stored in place of the body. */
export const orderAnswer = (status: number, orderId: string): Answer => ({ status, body: `order ${orderId}` })

/** Sends a body, or the order once orders has created it; when that takes too long, where it will be. */
export async function sendOrder(
  { orderWaits, orderWaitMs, publicUrl }: { orderWaits: OrderWaits; orderWaitMs: number; publicUrl: string },
  res: Response,
  answer: Answer,
): Promise<void> {
  const orderId = ORDER.exec(answer.body)?.[1]
  if (orderId === undefined) return sendAnswer(res, answer)
  const order = await orderWaits.wait(orderId, orderWaitMs)
  if (order !== null) return sendAnswer(res, { status: answer.status, body: order })
  const pending: PendingChargeBody = {
    object: 'charge',
    subscription_id: String(res.req.params.id),
    order_id: orderId,
    checkout_url: `${publicUrl}/pay/${orderId}`,
  }
  res.status(202).json(pending)
}
