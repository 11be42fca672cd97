import type { Logger } from '@ponte/service-kit'
import { afterLoss, describeFailure } from './delivery'
import type { DispatcherMetrics } from './dispatcher-metrics'
import type { Store } from './store'
import type { Result } from './store/lanes'

const BATCH = 500

/**
 * Takes back what a lost worker left in flight, under the worker's own token: whichever of the two writes first is the only one to write.
 * Answers true when there may be more.
 */
export async function reap({ store, metrics, logger }: { store: Store; metrics: DispatcherMetrics; logger: Logger }): Promise<boolean> {
  const expired = await store.expired(BATCH)
  if (expired.length === 0) return false
  const lost = { kind: 'failed', code: 'worker_lost' } as const
  const results = expired.map(
    (delivery): Result => ({
      id: delivery.id,
      token: delivery.token,
      laneToken: null,
      verdict: afterLoss(delivery),
      error: describeFailure(lost),
      attempt: { outcome: 'failed', httpStatus: null, errorCode: lost.code, snippet: null, durationMs: delivery.duration_ms },
    }),
  )
  const reaped = await store.finish(results, [])
  metrics.reaped.inc(reaped.length)
  if (reaped.length > 0) logger.warn('deliveries of a lost worker are taken back', { deliveries: reaped.length })
  return expired.length === BATCH
}
