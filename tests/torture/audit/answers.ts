import type { OrderBody } from '@ponte/contracts'
import { call } from '../../world'
import { REFUSED } from '../steps'
import type { Audited } from '.'

/** Every request that was answered with 2xx is visible; every one that was refused changed nothing; each key had one effect. */
export async function answersAgainstEffects({ cluster, ledger, traffic }: Audited): Promise<string[]> {
  const differences = [...traffic.requests.wrong]
  for (const { order, merchant } of traffic.answered.values()) {
    try {
      const read = await call<OrderBody>(cluster.gatewayUrls[0] ?? '', 'GET', `/api/v1/orders/${order.id}`, merchant.body.api_key)
      const fixed = ['memo', 'usdc_amount', 'expected', 'expires_at', 'created_at', 'external_ref'] as const
      for (const field of fixed)
        if (read[field] !== order[field])
          differences.push(`order ${order.id} was answered with ${field} ${order[field]} and has ${read[field]}`)
    } catch (error) {
      differences.push(`order ${order.id} was answered and is not there: ${error instanceof Error ? error.message : error}`)
    }
  }
  for (const service of ['orders', 'subscriptions'] as const) {
    for (const { id, external_ref } of await ledger.query(
      service,
      `SELECT id, external_ref FROM ${service} WHERE external_ref LIKE '${REFUSED}%'`,
    ))
      differences.push(`${id} of ${service} is the effect of a request that was refused (${external_ref})`)
  }
  for (const { external_ref, count } of await ledger.query(
    'orders',
    'SELECT external_ref, count(*) FROM orders WHERE external_ref IS NOT NULL GROUP BY external_ref HAVING count(*) > 1',
  ))
    differences.push(`the key ${external_ref} made ${count} orders`)
  // Cancelling a subscription cancels its open order.
  for (const { id } of await ledger.query('orders', 'SELECT id FROM orders WHERE cancelled_at IS NOT NULL AND subscription_id IS NULL'))
    if (!traffic.cancelled.has(String(id))) differences.push(`order ${id} is cancelled, and its merchant never asked for it`)
  return differences
}
