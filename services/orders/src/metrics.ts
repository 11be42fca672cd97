import { mismatchReason, orderException, orderStatus } from '@ponte/contracts'
import type { Metrics } from '@ponte/service-kit'
import type { Change } from './order/order'
import type { MismatchReason } from './payment/mismatch'

export function orderMetrics(metrics: Metrics) {
  const transitions = metrics.counter('ponte_order_transitions_total', 'Orders written, by the status before and after', {
    from: ['none', ...orderStatus.options],
    to: orderStatus.options,
    exception: ['none', ...orderException.options],
  })
  const unmatched = metrics.counter('ponte_unmatched_payments_total', 'Events about payments that match no order', {
    reason: mismatchReason.options,
  })
  const reorged = metrics.counter('ponte_reorged_payments_total', 'Confirmed payments that a reorg took away')
  const quarantined = metrics.counter('ponte_chain_time_quarantined_total', 'Chain times ahead of our clock that were not believed')
  return {
    quarantined: () => quarantined.inc(),
    committed: ({ from, order }: Change) =>
      transitions.inc({ from: from ?? 'none', to: order.status, exception: order.exception ?? 'none' }),
    unmatched: (reason: MismatchReason) => unmatched.inc({ reason }),
    reorged: () => reorged.inc(),
  }
}
