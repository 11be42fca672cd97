import type { DeliveryBody, OrderStatus, SubscriptionBody } from '@ponte/contracts'
import type { Tone } from './states'

export const orderTone: Record<OrderStatus, Tone> = {
  pending: 'calm',
  confirming: 'wait',
  underpaid: 'warn',
  paid: 'good',
  expired: 'calm',
  cancelled: 'calm',
}
export const subscriptionTone: Record<SubscriptionBody['status'], Tone> = {
  active: 'good',
  past_due: 'warn',
  cancelled: 'calm',
  expired: 'calm',
}

/** A delivery that waits after a failure is not one that waits for its first attempt. */
export function deliveryTone({ status, attempts }: Pick<DeliveryBody, 'status' | 'attempts'>): Tone {
  if (status === 'delivered') return 'good'
  if (status === 'dead') return 'bad'
  return attempts > 0 ? 'warn' : 'wait'
}
