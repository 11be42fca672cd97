import { setTimeout as pause } from 'node:timers/promises'
import { every, type Logger, type Loop, uuidv7 } from '@ponte/service-kit'
import { type AttemptDeps, attempt, toResult } from './attempt'
import type { DispatcherMetrics } from './dispatcher-metrics'
import { FIRST_WIDTH, type Flight } from './lane'
import { createLaneBook } from './lane-book'
import type { Store } from './store'
import type { Claimed, Endpoint } from './store/lanes'
import { createWriter, type Launch, START_WITHIN_MS } from './writer'

export interface WorkerDeps extends AttemptDeps {
  store: Store
  slots: number
  metrics: DispatcherMetrics
  logger: Logger
}

const POLL_MS = 250
const nowMs = () => performance.now()

/**
 * Takes due deliveries out of lanes, sends them with no transaction open, writes what came of them. It is woken by new rows and by its own
 * results; the poll is for what falls due by time and for rows that other replicas wrote.
 */
export function createWorker(deps: WorkerDeps): Loop {
  const { store, metrics, logger } = deps
  const book = createLaneBook(deps.slots)
  let leasedMany = false

  const launch: Launch = (lane, endpoint, { claimed, want }, askedAtMs) => {
    lane.drained = claimed.length < want
    // What a pause of this process kept for too long is not ours any more.
    if (nowMs() - askedAtMs > START_WITHIN_MS) return
    for (const row of claimed) {
      if (row.attempts === 0 && row.losses === 0) metrics.firstAttempt.observe(Math.max(0, row.age_s))
      const flight = book.start(lane, row.id, nowMs())
      fly(row, endpoint, flight).catch(error => {
        book.land(flight)
        logger.error('a delivery is left to the reaper', { delivery_id: row.id, error })
      })
    }
  }

  const fly = async (row: Claimed, endpoint: Endpoint, flight: Flight) => {
    const { outcome, durationMs } = await attempt(deps, row, endpoint)
    book.end(flight, { delivered: outcome.kind === 'delivered', durationMs })
    if (leasedMany && book.roomy()) loop.wake()
    const result = toResult(row, outcome, durationMs)
    const written = await writer.land({ flight, result })
    metrics.attempted(outcome, result.verdict.status, durationMs)
    const fields = { delivery_id: row.id, merchant_id: endpoint.merchantId, event_type: row.event_type, ms: durationMs, outcome }
    if (written) return logger.debug('delivery attempted', { ...fields, status: result.verdict.status })
    metrics.fenced.inc()
    logger.warn('an attempt ended after its lease and changed nothing', fields)
  }

  const lease = async () => {
    const free = book.free(nowMs())
    if (free.quick + free.slow === 0) return
    const token = uuidv7()
    const askedAtMs = nowMs()
    const lanes = await store.lease(token, { ...free, width: FIRST_WIDTH })
    for (const { endpoint, claimed, want, ...memory } of lanes) {
      launch(book.hold(endpoint.merchantId, token, memory, askedAtMs), endpoint, { claimed, want }, askedAtMs)
    }
    leasedMany = lanes.reduce((sum, { claimed }) => sum + claimed.length, 0) >= free.quick / 2
    if (book.hasIdle()) await writer.land(null)
  }

  const renew = async () => {
    const lanes = book.renewable(nowMs())
    if (lanes.length === 0) return
    await store.renew(lanes)
    for (const lane of lanes) lane.leasedAtMs = nowMs()
  }
  const loop = every('deliveries', POLL_MS, () => renew().then(lease), logger)
  const writer = createWriter({ store, logger, book, launch }, due => {
    if (due || (leasedMany && book.roomy())) loop.wake()
  })
  metrics.watchInFlight(book.inFlight)
  return {
    ...loop,
    busy: async () => book.inFlight() + writer.writing() > 0 || (await store.hasDueLanes()) || (await loop.busy?.()) === true,
    async stop() {
      await loop.stop?.()
      while (book.inFlight() + writer.writing() > 0) await pause(5)
    },
  }
}
