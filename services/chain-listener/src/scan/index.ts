import { profileOf } from '@ponte/payment-router'
import { every, type Logger, type Metrics, type Part } from '@ponte/service-kit'
import type { ChainListenerConfig } from '../config'
import { createChecksums } from '../logs/checksums'
import type { Watch } from '../logs/filter'
import { fetchHead } from '../proof/header'
import { createProver } from '../proof/prover'
import { createTrust } from '../proof/trust'
import { newHeads } from '../rpc/new-heads'
import type { Nodes } from '../rpc/pool'
import type { Store } from '../store'
import type { Step } from '../store/commit'
import type { Leader } from '../store/leader'
import { createSteps } from './apply'
import { createVotes, quorumOf } from './checks/quorum'
import { createReach } from './checks/reach'
import type { FindDeposits } from './fetch'
import { createFetchAhead } from './fetch-ahead'
import { createGaps } from './gaps'
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
  /** Something was committed; the outbox has work when it has events. */
  committed(step: Step): void
  onHalt(error: Error): void
}

/** Everything that reads the chain: the scan, what wakes it, and what is known of it. */
export function createScan(config: ChainListenerConfig, options: ScanOptions) {
  const { store, nodes, leader, metrics, logger } = options
  const { CHAIN_ID: chainId, TOKEN_ADDRESS: token } = config
  // While no address was ever issued there is nothing to hold transfers against, and none are read.
  let transfers: Watch['transfers'] = 'none'
  const profile = profileOf(chainId)
  const proof = config.BLOCK_PROOF ?? (profile.header ? 'proven' : 'voted')
  const confirmations = config.CONFIRMATIONS ?? profile.confirmations
  const watch: Watch = {
    chainId,
    header: proof === 'proven' ? profile.header : null,
    latestTime: () => options.now().getTime() / 1_000 + config.BLOCK_TIME_AHEAD_MAX_S,
    routers: config.ROUTER_ADDRESSES,
    token,
    get transfers() {
      return transfers
    },
  }
  const findDeposits: FindDeposits = seen => store.coverage.issued(seen.map(({ to }) => to))
  const window = Math.max(config.REORG_WINDOW ?? Math.ceil((profile.windowS * 1_000) / profile.blockMs), confirmations)
  const quorum = quorumOf(config.RPC_URLS.length, config.RPC_QUORUM)
  const undecided = metrics.counter('ponte_chain_votes_undecided_total', 'How often the RPC end points did not agree on what to confirm')
  const depths = metrics.histogram(
    'ponte_chain_reorg_depth_blocks',
    'Blocks undone by reorganisations',
    [],
    [1, 2, 3, 5, 8, 13, 21, 34, 64, 128],
  )
  let headTime = 0
  const writer = createScanWriter({
    store,
    leader,
    naming: { chainId, token, checksum: createChecksums() },
    window,
    advanceEveryMs: config.ADVANCE_EVERY_MS,
    committed(step, head) {
      headTime = Math.max(headTime, head.time)
      prover.forget(step.cursor.confirmed.number)
      options.committed(step)
    },
  })
  const reach = createReach({ nodes, rules: watch, quorum, tolerated: window, logger, undecided: () => undecided.inc() })
  const reading = createFetchAhead({ nodes, watch, window, quorum, reach, votes: () => votes })
  // A block that is confirmed as soon as it is seen is not read a second time.
  const confirmsAlone = quorum === 1 && confirmations === 1
  const steps = createSteps({
    writer,
    store,
    confirmations,
    confirmsAlone,
    logger,
    reorganised: depth => depths.observe(depth),
  })
  const trust = createTrust({ mode: proof, urls: config.RPC_URLS.length, quorum, metrics, logger })
  const prover = createProver({ nodes, mode: proof, receipts: profile.receipts, watch, unproven: trust.unproven })
  const votes = createVotes({
    nodes,
    watch,
    findDeposits,
    quorum,
    prover,
    logger,
    undecided: () => undecided.inc(),
  })
  const gaps = createGaps({
    ...{ store: store.coverage, findDeposits, nodes, watch, votes, steps, logger },
    wake: () => scan.wake(),
  })
  const scanner = createScanner({
    store,
    nodes,
    leader,
    watch,
    writer,
    steps,
    votes,
    reach,
    reading,
    gaps,
    startBlock: config.START_BLOCK,
    confirmsAlone,
    logger,
    async loaded() {
      if (transfers === 'all' || !(await store.coverage.anyIssued())) return
      transfers = 'all'
      // It was read ahead without transfers.
      reading.restart()
    },
    halted: options.onHalt,
  })
  metrics.observed('ponte_deposits_unsynced', 'Deposit addresses whose earlier blocks are not all read', store.coverage.countMissing)
  const scan = scanLoop(config, scanner, logger)
  const owes = async () => (await store.position.owed()).isMissing || (await store.answers.due(1)).length > 0
  const behind = () => isBehind({ scanner, nodes, leader, watch, logger, owes, wake: scan.wake })
  const heads = config.WS_URL ? [newHeads({ url: config.WS_URL, silenceMs: config.HEAD_STALL_MS, wake: scan.wake, logger })] : []
  const parts: Part[] = [{ ...scan, busy: async () => (await scan.busy?.()) === true || (await behind()) }, ...heads]
  return {
    parts,
    rules: { header: watch.header, latestTime: watch.latestTime },
    quorum,
    window,
    votes,
    wake: scan.wake,
    wakeSoon: scan.wakeSoon,
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
  /** True when there is something to read or to publish besides. */
  owes(): Promise<boolean>
  wake(): void
}): Promise<boolean> {
  const { scanner, nodes, leader, watch, logger } = options
  const { cursor, halt } = scanner.view()
  if (halt || leader.epoch() === undefined) return false
  if (!cursor || scanner.announcementDueMs() !== undefined || scanner.awaitsVotes()) return true
  try {
    const seen = await nodes.use('head', node => fetchHead(node, watch, cursor.scanned))
    if (seen.head.number === cursor.scanned.number && seen.at?.hash === cursor.scanned.hash && !(await options.owes())) return false
    options.wake()
    return true
  } catch (error) {
    logger.debug('the head is not known', { error })
    return nodes.silentMs() < SILENT_MS || scanner.view().head > cursor.scanned.number
  }
}

/** Orders that are asked about within this time are answered by one turn: each costs some thirty statements, and nothing waits for an answer but expiry. */
const SOON_MS = 250

/** The scan as a part: polls, is woken, and comes back by itself for confirmed blocks that were held back. */
function scanLoop(config: ChainListenerConfig, scanner: Scanner, logger: Logger) {
  let due: NodeJS.Timeout | undefined
  let soon: NodeJS.Timeout | undefined
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
    wakeSoon() {
      soon ??= setTimeout(() => {
        soon = undefined
        loop.wake()
      }, SOON_MS)
    },
    async stop() {
      await loop.stop?.()
      clearTimeout(due)
      clearTimeout(soon)
    },
  }
}
