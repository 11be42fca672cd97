import { every, type Logger, type Metrics, type Part } from '@ponte/service-kit'
import type { ChainListenerConfig } from '../config'
import { createChecksums } from '../logs/checksums'
import type { Watch } from '../logs/filter'
import type { Change } from '../payment'
import { fetchHead } from '../proof/header'
import { createProver } from '../proof/prover'
import { createTrust } from '../proof/trust'
import { newHeads } from '../rpc/new-heads'
import type { Nodes } from '../rpc/pool'
import type { Store } from '../store'
import type { Leader } from '../store/leader'
import { createSteps } from './apply'
import { createBackfill } from './backfill'
import { createVotes, quorumOf } from './checks/quorum'
import { createReach } from './checks/reach'
import type { FindDeposits } from './fetch'
import { createFetchAhead } from './fetch-ahead'
import { createScanner, type Scanner } from './scanner'
import { createScanWriter } from './session'
import { type ScanStatus, statusOf } from './status'

export interface ScanOptions {
  store: Store
  nodes: Nodes
  leader: Leader
  metrics: Metrics
  now: () => Date
  logger: Logger
  /** Something was committed; `publishes` when the outbox has work by it. */
  committed(change: Change, publishes: boolean): void
  onHalt(error: Error): void
}

/** Everything that reads the chain: the scan, what wakes it, and what is known of it. */
export function createScan(config: ChainListenerConfig, options: ScanOptions) {
  const { store, nodes, leader, metrics, logger } = options
  const { CHAIN_ID: chainId, TOKEN_ADDRESS: token } = config
  // While no address was ever issued there is nothing to hold transfers against, and none are read.
  let transfers: Watch['transfers'] = 'none'
  const proofs = config.BLOCK_PROOF
  const watch: Watch = {
    chainId,
    sealed: proofs !== 'none',
    latestTime: () => options.now().getTime() / 1_000 + config.BLOCK_TIME_AHEAD_MAX_S,
    routers: config.ROUTER_ADDRESSES,
    token,
    get transfers() {
      return transfers
    },
  }
  const findDeposits: FindDeposits = seen => store.deposits.issued(seen.map(({ to }) => to))
  const window = Math.max(config.REORG_WINDOW, config.CONFIRMATIONS)
  const quorum = quorumOf(config.RPC_URLS.length, config.RPC_QUORUM)
  const undecided = metrics.counter('ponte_chain_votes_undecided_total', 'How often the RPC end points did not agree on what to confirm')
  const depths = metrics.histogram(
    'ponte_chain_reorg_depth_blocks',
    'Blocks undone by reorganisations',
    [],
    [1, 2, 3, 5, 8, 13, 21, 34, 64, 128],
  )
  let headTime = 0
  // Known to the reconciler, and to the database until it has looked.
  let differs = false
  const writer = createScanWriter({
    store,
    leader,
    naming: { chainId, token, checksum: createChecksums() },
    window,
    advanceEveryMs: config.ADVANCE_EVERY_MS,
    differs: () => differs,
    committed(change, step, head) {
      headTime = Math.max(headTime, head.time)
      options.committed(change, step.events.length > 0)
    },
  })
  const rangeMax = config.RANGE_MAX
  const reach = createReach({ nodes, rules: watch, quorum, tolerated: window, logger, undecided: () => undecided.inc() })
  const reading = createFetchAhead({ nodes, watch, window, rangeMax, stallMs: config.HEAD_STALL_MS, reach, logger })
  const steps = createSteps({
    writer,
    store,
    confirmations: config.CONFIRMATIONS,
    confirmsAlone: quorum === 1,
    votedAtOnce: reading.span,
    logger,
    reorganised: depth => depths.observe(depth),
  })
  const trust = createTrust({ mode: proofs, urls: config.RPC_URLS.length, quorum, metrics, logger })
  const prover = createProver({ nodes, mode: proofs })
  const votes = createVotes({
    nodes,
    watch,
    findDeposits,
    quorum,
    prover,
    logger,
    undecided: () => undecided.inc(),
    unproven: trust.unproven,
  })
  const synced = () => {
    if (transfers === 'all') return
    transfers = 'all'
    // What was read ahead was read without transfers.
    reading.restart()
  }
  const backfill = createBackfill({
    store: store.deposits,
    rescans: store.rescans,
    findDeposits,
    nodes,
    watch,
    votes,
    steps,
    rangeMax,
    logger,
    synced,
  })
  const scanner = createScanner({
    store,
    nodes,
    leader,
    watch,
    findDeposits,
    writer,
    steps,
    votes,
    reach,
    reading,
    backfill,
    startBlock: config.START_BLOCK,
    confirmsAlone: quorum === 1,
    logger,
    async loaded() {
      differs = await store.differences.any()
      if (await store.deposits.anySynced()) synced()
    },
    halted: options.onHalt,
  })
  metrics.observed('ponte_deposits_unsynced', 'Deposit addresses whose earlier blocks are not all read', store.deposits.countUnsynced)
  const scan = scanLoop(config, scanner, logger)
  const hasUnsynced = async () => (await store.deposits.anyUnsynced()) || (await store.rescans.next()) !== undefined
  const behind = () => isBehind({ scanner, nodes, leader, watch, logger, hasUnsynced, wake: scan.wake })
  const heads = config.WS_URL ? [newHeads({ url: config.WS_URL, silenceMs: config.HEAD_STALL_MS, wake: scan.wake, logger })] : []
  const parts: Part[] = [{ ...scan, busy: async () => (await scan.busy?.()) === true || (await behind()) }, ...heads]
  return {
    parts,
    /** How headers are judged. */
    rules: { sealed: watch.sealed, latestTime: watch.latestTime },
    wake: scan.wake,
    /** Whether the books and the chain differ: then no time is announced, and nothing expires. */
    differ(now: boolean): void {
      const ends = differs && !now
      differs = now
      if (ends) scan.wake()
    },
    confirmed: (): number | undefined => scanner.view().cursor?.confirmed.number,
    status: (): Promise<ScanStatus> =>
      statusOf({ chainId, token, leader, scanner, nodes, store, headTime: () => headTime, trust: trust.view }),
  }
}

/** A chain that has been silent for so long gives no work; one that just failed to answer may well have some. */
const SILENT_MS = 10_000

/** Looks at the chain itself: idle means that what was just mined is read and published. */
async function isBehind(options: {
  scanner: Scanner
  nodes: Nodes
  leader: Leader
  watch: Watch
  logger: Logger
  hasUnsynced(): Promise<boolean>
  wake(): void
}): Promise<boolean> {
  const { scanner, nodes, leader, watch, logger } = options
  const { cursor, halt } = scanner.view()
  if (halt || leader.epoch() === undefined) return false
  if (!cursor || scanner.announcementDueMs() !== undefined || scanner.awaitsVotes() || scanner.hasAddedRouters()) return true
  try {
    const seen = await nodes.use(node => fetchHead(node, watch, cursor.scanned))
    if (seen.head.number === cursor.scanned.number && seen.at?.hash === cursor.scanned.hash && !(await options.hasUnsynced())) return false
    options.wake()
    return true
  } catch (error) {
    logger.debug('the head is not known', { error })
    return nodes.silentMs() < SILENT_MS || scanner.view().head > cursor.scanned.number
  }
}

/** The scan as a part: polls, is woken, and comes back by itself for a `chain.advanced` that was held back. */
function scanLoop(config: ChainListenerConfig, scanner: Scanner, logger: Logger) {
  let due: NodeJS.Timeout | undefined
  const loop = every(
    'scan',
    config.POLL_MS,
    async () => {
      const more = await scanner.step()
      clearTimeout(due)
      const dueMs = scanner.announcementDueMs()
      if (dueMs !== undefined) due = setTimeout(loop.wake, dueMs + 1)
      return more
    },
    logger,
  )
  return {
    ...loop,
    async stop() {
      await loop.stop?.()
      clearTimeout(due)
    },
  }
}
