import { every, type Logger, type Part, retention } from '@ponte/service-kit'
import type { DispatcherMetrics } from './metrics'
import type { Store } from './store'
import { reap } from './worker/reaper'

const REAP_MS = 5_000
const REPAIR_MS = 300_000
const NOTICES_MS = 60_000

interface UpkeepDeps {
  store: Store
  metrics: DispatcherMetrics
  logger: Logger
  retentionDays: number
  /** Called when something may be due. */
  due(): void
  published(): void
}

/** Periodic work besides deliveries; each part is safe in any number of replicas. */
export function upkeep({ store, metrics, logger, retentionDays, due, published }: UpkeepDeps): Part[] {
  const reaper = async () => {
    const more = await reap({ store, metrics, logger })
    due()
    return more
  }
  const repairStuckLanes = async () => {
    const repaired = await store.upkeep.repairStuckLanes()
    if (repaired > 0) logger.error('lanes with work had no turn; they are due now', { lanes: repaired })
  }
  const forget = async (limit: number, after: Date | null) => {
    const removed = await store.upkeep.forgetEvents(retentionDays, limit, after)
    await store.upkeep.forgetEndpoints(retentionDays, limit)
    return removed
  }
  const notices = async () => {
    if ((await store.notices.publish()) > 0) published()
  }
  return [
    every('failing endpoints', NOTICES_MS, notices, logger),
    every('reaper', REAP_MS, reaper, logger),
    every('stuck lanes', REPAIR_MS, repairStuckLanes, logger),
    retention('retention', forget, logger),
  ]
}
