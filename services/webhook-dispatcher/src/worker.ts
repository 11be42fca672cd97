import { setTimeout as pause } from 'node:timers/promises'
import { every, isTransient, type Logger, type Loop, uuidv7 } from '@ponte/service-kit'
import { type AttemptDeps, attempt, toResult } from './attempt'
import { createBatch } from './batch'
import type { DispatcherMetrics } from './dispatcher-metrics'
import { FIRST_WIDTH } from './lane'
import { createLaneBook, type Flight, type Held } from './lane-book'
import type { Store } from './store'
import { type Claimed, type ClaimedLane, LEASE_S, type Result } from './store/lanes'

export interface WorkerDeps extends AttemptDeps {
  store: Store
  slots: number
  metrics: DispatcherMetrics
  logger: Logger
}

const POLL_MS = 250
const RESULTS_PER_COMMIT = 500
/** A claimed delivery that could not be started by now may be somebody else's before it ends. */
const START_WITHIN_MS = (LEASE_S - 25) * 1000

interface Landing {
  flight: Flight
  result: Result
}

const nowMs = () => performance.now()

/**
 * Claims what is due, sends it with no transaction open, writes what came of it. It is woken by new rows and by its own results; the poll is
 * for what falls due by time and for rows that other replicas wrote.
 */
export function createWorker(deps: WorkerDeps): Loop {
  const { store, metrics, logger } = deps
  const book = createLaneBook(deps.slots)
  let claimWasFull = false
  /** Commits of results under way: a landed attempt is over only when it is written. */
  let writing = 0

  // All writing goes through this one queue: a lane must not be given back before the results that came before are written.
  const land = createBatch<Landing | null, boolean>(RESULTS_PER_COMMIT, async items => {
    const landings = items.filter(item => item !== null)
    for (const { flight } of landings) book.land(flight)
    writing += 1
    const results = landings.map(landing => landing.result)
    const written = await write(deps, results, book.releasable(nowMs()), book.forget).finally(() => {
      writing -= 1
    })
    const more = claimWasFull || book.hungry(nowMs())
    if ((more && book.roomy()) || landings.some(({ flight }) => flight.lane.health.slow)) loop.wake()
    return items.map(item => item !== null && written.has(item.result.id))
  })

  const fly = async (row: Claimed, token: string, flight: Flight, open: AttemptDeps['unseal']) => {
    const { lane } = flight
    const { outcome, durationMs } = await attempt({ sender: deps.sender, unseal: open }, row)
    book.end(flight, { delivered: outcome.kind === 'delivered', durationMs })
    if (claimWasFull && book.roomy()) loop.wake()
    const result = toResult(row, { token, laneToken: lane.token }, outcome, durationMs)
    const written = await land({ flight, result })
    metrics.attempted(outcome, result.verdict.status, durationMs)
    const fields = { delivery_id: row.id, merchant_id: row.merchant_id, event_type: row.event_type, ms: durationMs, outcome }
    if (written) return logger.debug('delivery attempted', { ...fields, status: result.verdict.status })
    metrics.fenced.inc()
    logger.warn('an attempt ended after its lease and changed nothing', fields)
  }

  const launch = (lane: Held, { claimed, want }: ClaimedLane, token: string, askedAtMs: number) => {
    lane.drained = claimed.length < want
    // What a pause of this process kept for too long is left to the reaper.
    if (nowMs() - askedAtMs > START_WITHIN_MS) return
    const open = once(deps.unseal)
    for (const row of claimed) {
      if (row.attempts === 0 && row.losses === 0) metrics.firstAttempt.observe(Math.max(0, (Date.now() - row.occurred_at.getTime()) / 1000))
      const flight = book.start(lane, nowMs())
      fly(row, token, flight, open).catch(error => {
        book.land(flight)
        logger.error('a delivery is left to the reaper', { delivery_id: row.id, error })
      })
    }
  }

  const claim = async () => {
    const free = book.free(nowMs())
    if (free.quick + free.slow === 0) return
    const refills = book.refills(nowMs(), free.quick)
    const held = refills.map(({ lane, want }) => ({ merchantId: lane.merchantId, token: lane.token, want }))
    const quick = free.quick - held.reduce((sum, lane) => sum + lane.want, 0)
    const token = uuidv7()
    const askedAtMs = nowMs()
    try {
      const lanes = await store.claim(token, { quick, slow: free.slow, width: FIRST_WIDTH }, held)
      const known = new Map(refills.map(({ lane }) => [lane.merchantId, lane]))
      for (const claimed of lanes) {
        const lane = claimed.memory ? book.hold(claimed.merchantId, token, claimed.memory, askedAtMs) : known.get(claimed.merchantId)
        if (lane) launch(lane, claimed, token, askedAtMs)
        known.delete(claimed.merchantId)
      }
      // A lane that is not answered for is no longer ours.
      for (const lane of known.values()) book.forget(lane)
      claimWasFull = lanes.reduce((sum, { claimed }) => sum + claimed.length, 0) >= free.quick / 2
    } finally {
      for (const { lane } of refills) lane.asked = false
    }
    if (book.hasReleasable(nowMs())) await land(null)
  }

  const renew = async () => {
    const lanes = book.renewable(nowMs())
    if (lanes.length === 0) return
    await store.renew(lanes)
    for (const lane of lanes) lane.leasedAtMs = nowMs()
  }
  const loop = every('deliveries', POLL_MS, () => renew().then(claim), logger)
  metrics.watchInFlight(book.inFlight)
  return {
    ...loop,
    busy: async () => book.inFlight() + writing > 0 || (await store.hasDueLanes()) || (await loop.busy?.()) === true,
    async stop() {
      await loop.stop?.()
      while (book.inFlight() + writing > 0) await pause(5)
    },
  }
}

/** Writes results and gives lanes back; a database that is away is waited for as long as the leases last. */
async function write(
  { store, logger }: WorkerDeps,
  results: readonly Result[],
  lanes: readonly Held[],
  forget: (lane: Held) => void,
): Promise<Set<string>> {
  const releases = lanes.map(({ merchantId, token, health: { slow, failStreak } }) => ({ merchantId, token, slow, failStreak }))
  const giveUpAtMs = nowMs() + START_WITHIN_MS
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      const written = await store.finish(results, releases)
      for (const lane of lanes) forget(lane)
      return new Set(written)
    } catch (error) {
      if (!isTransient(error) || nowMs() > giveUpAtMs) {
        for (const lane of lanes) lane.asked = false
        throw error
      }
      logger.warn('results could not be written and will be again', { results: results.length, error })
      await pause(waitMs)
    }
  }
}

/** Deliveries claimed together for one merchant share one opening of its secret. */
function once(unseal: AttemptDeps['unseal']): AttemptDeps['unseal'] {
  let known: { sealed: string; secret: string } | undefined
  return (sealed, merchantId) => {
    if (known?.sealed !== sealed) known = { sealed, secret: unseal(sealed, merchantId) }
    return known.secret
  }
}
