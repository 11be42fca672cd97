import type { Order, Ponte } from '@ponte/sdk'
import { UsageError } from './profile'

/** Chains whose USDC is worth nothing: this machine's, and public test nets. */
const TEST_CHAINS = new Set([31_337, 1_337, 84_532, 11_155_111, 80_002, 421_614, 11_155_420])

export interface SamplePayment {
  tx_hash: string
  amount: string
  via: string
}

export interface PayRequest {
  amount?: string
  via?: 'transfer' | 'router'
}

/** Refuses an order that would cost real money. */
export function demandTestChain({ payment }: Pick<Order, 'payment'>): void {
  if (TEST_CHAINS.has(payment.chain_id)) return
  throw new UsageError(`Chain ${payment.chain_id} is no test chain. Pay at ${payment.checkout_url}`)
}

/** Has the sample payer of a local system pay, by real transactions of its chain. This program holds no key and can spend nothing itself. */
export async function payOrder(baseUrl: string, order: Order, request: PayRequest): Promise<SamplePayment[]> {
  demandTestChain(order)
  const answer = await fetch(`${baseUrl}/sample-payer/orders/${order.id}/pay`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  })
  const body = (await answer.json()) as { payments?: SamplePayment[]; detail?: string }
  if (answer.status === 404)
    throw new UsageError(`${baseUrl} has no sample payer; only npm start has. Pay at ${order.payment.checkout_url}`)
  if (!answer.ok || !body.payments) throw new UsageError(body.detail ?? `The sample payer answered ${answer.status}.`)
  return body.payments
}

/** An order as the API shows it, by its id or its checkout link. */
export function findOrder(ponte: Ponte, idOrLink: string): Promise<Order> {
  const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i.exec(idOrLink)?.[0]
  if (!id) throw new UsageError(`${idOrLink} is neither an order's id nor a checkout link.`)
  return ponte.orders.get(id)
}
