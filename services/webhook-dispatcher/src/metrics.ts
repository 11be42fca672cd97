import { failureCode } from '@ponte/contracts'
import type { Metrics } from '@ponte/service-kit'
import type { Outcome } from './delivery/delivery'
import type { Store } from './store'

export type DispatcherMetrics = ReturnType<typeof createDispatcherMetrics>

const FIRST_ATTEMPT_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300]

export function createDispatcherMetrics(metrics: Metrics) {
  const attempts = metrics.counter('ponte_webhook_attempts_total', 'Attempts by outcome', {
    outcome: ['delivered', 'refused', 'not_attempted', ...failureCode.options],
  })
  const deliveries = metrics.counter('ponte_webhook_deliveries_total', 'Deliveries that ended, by how', { status: ['delivered', 'dead'] })
  const duration = metrics.histogram('ponte_webhook_attempt_seconds', 'Time of one attempt, from DNS to the status line', ['outcome'])
  return {
    fenced: metrics.counter('ponte_webhook_fenced_total', 'Attempts that ended after their lease and changed nothing'),
    reaped: metrics.counter('ponte_webhook_leases_reaped_total', 'Deliveries whose worker was lost'),
    firstAttempt: metrics.histogram(
      'ponte_webhook_first_attempt_delay_seconds',
      'From the event to its first attempt',
      [],
      FIRST_ATTEMPT_BUCKETS,
    ),
    attempted(outcome: Outcome, status: string, durationMs: number): void {
      const label = outcome.kind === 'failed' ? outcome.code : outcome.kind
      attempts.inc({ outcome: label })
      duration.observe({ outcome: outcome.kind }, durationMs / 1000)
      if (status !== 'pending') deliveries.inc({ status })
    },
    watchInFlight(read: () => number): void {
      metrics.observed('ponte_webhook_in_flight', 'Deliveries on their way now', read)
    },
    watchStore(store: Store): void {
      metrics.observed('ponte_webhook_oldest_due_age_seconds', 'How long the delivery waits that is due longest', store.upkeep.oldestDueAge)
      metrics.observed('ponte_webhook_backlog', 'Deliveries due and not yet claimed, counted up to 100000', store.upkeep.backlog)
      metrics.observed('ponte_webhook_waiting_events', 'Events whose merchant is not known in their version yet', store.events.countWaiting)
    },
  }
}
