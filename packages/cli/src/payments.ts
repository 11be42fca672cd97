import { isPonteError, type Order, type Ponte, type TestPayments } from '@ponte/sdk'
import { UsageError } from './profile'

export interface PayRequest {
  amount?: string
  via: 'transfer' | 'exchange' | 'router' | 'signature'
}

export const isVia = (text: string): text is PayRequest['via'] => /^(transfer|exchange|router|signature)$/.test(text)

/** Has the sample payer of a deployment for tests pay, by real transactions of its chain. This program holds no key and can spend nothing itself. */
export const payOrder = (ponte: Ponte, order: Order, request: PayRequest): Promise<TestPayments> =>
  inTests(() => ponte.testing.pay(order.id, request), `Pay at ${order.payment.checkout_url}`)

/** Where money is real nothing is played. */
export async function inTests<T>(ask: () => Promise<T>, instead = 'Use the URL and the key of one.'): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (isPonteError(error, 'not_found') && error.detail.startsWith('There is no route'))
      throw new UsageError(`This deployment has nothing to test with: only one for tests has, such as npm start. ${instead}`)
    throw error
  }
}

/** An order as the API shows it, by its id or its checkout link. */
export function findOrder(ponte: Ponte, idOrLink: string): Promise<Order> {
  const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i.exec(idOrLink)?.[0]
  if (!id) throw new UsageError(`${idOrLink} is neither an order's id nor a checkout link.`)
  return ponte.orders.get(id)
}
