import { setTimeout as pause } from 'node:timers/promises'
import { every, type Logger, type Loop, uuidv7 } from '@ponte/service-kit'
import { FIRST_WIDTH, type InFlight } from '../lanes/lane'
import { createLaneBook } from '../lanes/lane-book'
import type { DispatcherMetrics } from '../metrics'
import type { Claimed, Recipient, Store } from '../store'
import { type AttemptDeps, attempt, toResult } from './attempt'
import { createResultWriter, START_WITHIN_MS, type StartClaimed } from './result-writer'

export interface WorkerDeps extends AttemptDeps {
  store: Store
  slots: number
  metrics: DispatcherMetrics
  logger: Logger
}

export interface Worker extends Loop {
  /** Something became due: in this lane, or in any. */
  due(endpointId?: string): void
}

const POLL_MS = 250
const nowMs = () => performance.now()

/**
 * Claims due deliveries from lanes, sends them with no transaction open, writes their results. It is woken by new rows and by its own
 * results; the poll is for what falls due by time and for rows that other replicas wrote.
 */
export function createWorker(deps: WorkerDeps): Worker {
  const { store, metrics, logger } = deps
  const book = createLaneBook(deps.slots)
  let leasedMany = false

  const start: StartClaimed = (lane, recipient, { claimed, want }, askedAtMs) => {
    book.limit(lane, recipient.maxInFlight)
    lane.drained = claimed.length < want
    lane.claimedAtMs = nowMs()
    // A claim that a pause of this process has outlasted may be another replica's by now.
    if (nowMs() - askedAtMs > START_WITHIN_MS) return
    for (const row of claimed) {
      if (row.attempts === 0 && row.losses === 0) metrics.firstAttempt.observe(Math.max(0, row.age_s))
      const inFlight = book.start(lane, row.id, nowMs())
      send(row, recipient, inFlight).catch(error => {
        book.complete(inFlight)
        logger.error('a delivery is left to the reaper', { delivery_id: row.id, error })
      })
    }
  }

  const send = async (row: Claimed, recipient: Recipient, inFlight: InFlight) => {
    const attempted = await attempt(deps, row, recipient)
    const { outcome, durationMs } = attempted
    book.end(inFlight, { delivered: outcome.kind === 'delivered', durationMs })
    if (leasedMany && book.roomy()) loop.wake()
    const result = toResult(row, attempted)
    const written = await writer.complete({ inFlight, result })
    metrics.attempted(outcome, result.verdict.status, durationMs)
    const fields = {
      delivery_id: row.id,
      merchant_id: recipient.merchantId,
      endpoint_id: recipient.endpointId,
      event_type: row.event_type,
      ms: durationMs,
      outcome,
    }
    if (written) return logger.debug('delivery attempted', { ...fields, status: result.verdict.status })
    metrics.fenced.inc()
    logger.warn('an attempt ended after its lease and changed nothing', fields)
  }

  const lease = async () => {
    const free = book.free(nowMs())
    if (free.quick + free.slow === 0) return
    const token = uuidv7()
    const askedAtMs = nowMs()
    const lanes = await store.lanes.lease(token, { ...free, width: FIRST_WIDTH })
    for (const { recipient, claimed, want, ...recorded } of lanes) {
      start(book.hold(recipient.endpointId, token, recorded, askedAtMs), recipient, { claimed, want }, askedAtMs)
    }
    leasedMany = lanes.reduce((sum, { claimed }) => sum + claimed.length, 0) >= free.quick / 2
    if (book.needsStep(nowMs())) await writer.complete(null)
  }

  const renew = async () => {
    const lanes = book.renewable(nowMs())
    if (lanes.length === 0) return
    await store.lanes.renew(lanes)
    for (const lane of lanes) lane.leasedAtMs = nowMs()
  }
  const loop = every('deliveries', POLL_MS, () => renew().then(lease), logger)
  const writer = createResultWriter({ store, logger, book, start }, due => {
    if (due || (leasedMany && book.roomy())) loop.wake()
  })
  let toppingUp = false
  /** Tops up the held lanes where something arrived; one round trip for all that arrive while it is under way. */
  const topUp = async () => {
    if (toppingUp) return
    toppingUp = true
    try {
      while (book.needsStep(nowMs())) await writer.complete(null)
    } catch (error) {
      logger.warn('lanes were not topped up; the next turn does it', { error })
    } finally {
      toppingUp = false
    }
  }
  metrics.watchInFlight(book.inFlight)
  return {
    ...loop,
    due(endpointId) {
      if (endpointId !== undefined && book.arrive(endpointId)) void topUp()
      else loop.wake()
    },
    // A claim in progress is in hand afterwards.
    busy: async () => (await store.lanes.hasDue()) || (await loop.busy?.()) === true || book.inFlight() + writer.writing() > 0,
    async stop() {
      await loop.stop?.()
      while (book.inFlight() + writer.writing() > 0) await pause(5)
    },
  }
}
