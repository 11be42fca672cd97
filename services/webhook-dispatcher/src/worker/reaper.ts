import type { Logger } from '@ponte/service-kit'
import { afterLoss, describeFailure } from '../delivery/delivery'
import type { LaneStep } from '../lanes/lane-steps'
import type { DispatcherMetrics } from '../metrics'
import type { ExpiredLane, Store } from '../store'

const LANES_PER_TURN = 100

/**
 * Releases the lanes of lost workers with what was in flight under them, under the worker's own token: of the two, only the first to write
 * writes. Resolves to true when there may be more.
 */
export async function reap({ store, metrics, logger }: { store: Store; metrics: DispatcherMetrics; logger: Logger }): Promise<boolean> {
  const expired = await store.upkeep.expiredLanes(LANES_PER_TURN)
  if (expired.length === 0) return false
  const finished = await store.results.finish(expired.map(releaseOf))
  const reaped = finished.reduce((sum, { written }) => sum + written, 0)
  metrics.reaped.inc(reaped)
  if (reaped > 0) logger.warn('deliveries of a lost worker are taken back', { deliveries: reaped })
  return expired.length === LANES_PER_TURN
}

function releaseOf({ endpointId, token, slow, failStreak, silentMs, inFlight }: ExpiredLane): LaneStep {
  const lost = { kind: 'failed', code: 'worker_lost' } as const
  const attempt = {
    outcome: 'failed',
    httpStatus: null,
    errorCode: lost.code,
    snippet: null,
    durationMs: silentMs,
    url: null,
    requestHeaders: null,
  } as const
  const results = inFlight.map(({ id, ...progress }) => ({ id, verdict: afterLoss(progress), error: describeFailure(lost), attempt }))
  return { lane: { endpointId, token }, results, remaining: [], next: { slow, failStreak } }
}
