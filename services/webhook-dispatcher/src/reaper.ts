import type { Logger } from '@ponte/service-kit'
import { afterLoss, describeFailure } from './delivery'
import type { DispatcherMetrics } from './dispatcher-metrics'
import type { Store } from './store'
import type { LaneStep } from './store/results'
import type { ExpiredLane } from './store/upkeep'

const BATCH = 100

/**
 * Takes back the lanes of lost workers and what was in flight under them, under the worker's own token: whichever of the two writes first is
 * the only one to write. Answers true when there may be more.
 */
export async function reap({ store, metrics, logger }: { store: Store; metrics: DispatcherMetrics; logger: Logger }): Promise<boolean> {
  const expired = await store.expiredLanes(BATCH)
  if (expired.length === 0) return false
  const finished = await store.finish(expired.map(giveBack))
  const reaped = finished.reduce((sum, { written }) => sum + written, 0)
  metrics.reaped.inc(reaped)
  if (reaped > 0) logger.warn('deliveries of a lost worker are taken back', { deliveries: reaped })
  return expired.length === BATCH
}

function giveBack({ merchantId, token, slow, failStreak, silentMs, inFlight }: ExpiredLane): LaneStep {
  const lost = { kind: 'failed', code: 'worker_lost' } as const
  const attempt = { outcome: 'failed', httpStatus: null, errorCode: lost.code, snippet: null, durationMs: silentMs } as const
  const results = inFlight.map(({ id, ...progress }) => ({ id, verdict: afterLoss(progress), error: describeFailure(lost), attempt }))
  return { lane: { merchantId, token }, results, flying: [], next: { slow, failStreak } }
}
