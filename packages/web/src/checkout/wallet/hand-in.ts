import type { AuthorizePayment, PaymentAuthorizationBody } from '@ponte/contracts'
import { ask } from '../../problem'

/** Hands a signature in, or asks how far the one that was handed in has come. */
export async function handIn(orderId: string, signed: AuthorizePayment): Promise<PaymentAuthorizationBody> {
  const { body } = await ask<PaymentAuthorizationBody>(`/api/v1/checkout/${orderId}/authorization`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(signed),
  })
  return body
}
