import { every, type Logger, type Metrics, type Part } from '@ponte/service-kit'
import type { ChainListenerConfig } from '../config'
import { createChecksums } from '../logs/checksums'
import type { Watch } from '../logs/filter'
import type { Deposit } from '../logs/transfer'
import type { Change } from '../payment'
import { newHeads } from '../rpc/new-heads'
import type { Nodes } from '../rpc/pool'
import type { Store } from '../store'
import type { DepositStore } from '../store/deposits'
import type { Leader } from '../store/leader'
import { createSteps } from './apply'
import { createLateDeposits } from './backfill-deposits'
import { look } from './fetch'
import { createReading } from './fetch-ahead'
import { createVotes, quorumOf } from './quorum'
import { createScanner, type Scanner } from './scanner'
import { createBook } from './session'
import { type Status, statusOf } from './status'

export interface ScanningOptions {
  store: Store
  nodes: Nodes
  leader: Leader
  /** Which deposit addresses there are; undefined when they are off. */
  deposits: DepositStore | undefined
  metrics: Metrics
  now: () => Date
  logger: Logger
  /** Something was committed; `tells` when the outbox has work by it. */
  committed(change: Change, tells: boolean): void
  onHalt(error: Error): void
}

/** Everything that reads the chain: the scan, what wakes it, and what is known of it. */
export function createScanning(config: ChainListenerConfig, options: ScanningOptions) {
  const { store, nodes, leader, metrics, logger } = options
  const deposits = new Map<string, Deposit>()
  const watch: Watch = { chainId: config.CHAIN_ID, routers: config.ROUTER_ADDRESSES, token: config.TOKEN_ADDRESS, deposits }
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
  const book = createBook({
    ...{ store, leader, window, chainId: config.CHAIN_ID, token: config.TOKEN_ADDRESS, advanceEveryMs: config.ADVANCE_EVERY_MS },
    checksum: createChecksums(),
    hasDeposits: options.deposits !== undefined,
    committed(change, step, head) {
      headTime = Math.max(headTime, head.time)
      options.committed(change, step.events.length > 0)
    },
  })
  const reorganised = (depth: number) => depths.observe(depth)
  const steps = createSteps({ book, store, confirmations: config.CONFIRMATIONS, confirmsAlone: quorum === 1, logger, reorganised })
  const votes = createVotes({ nodes, watch, quorum, logger, undecided: () => undecided.inc() })
  const reading = createReading({ nodes, watch, window, rangeMax: config.RANGE_MAX, stallMs: config.HEAD_STALL_MS, logger })
  const scanner = createScanner({
    ...{ store, nodes, leader, watch, book, steps, votes, reading, logger, startBlock: config.START_BLOCK },
    lateDeposits:
      options.deposits && createLateDeposits({ store: options.deposits, nodes, watch, deposits, votes, steps, reading, now: options.now }),
    halted: options.onHalt,
  })
  const scan = scanLoop(config, scanner, logger)
  const hasNew = async () => ((await options.deposits?.late(options.now())) ?? []).length > 0
  const behind = () => isBehind({ scanner, nodes, leader, watch, logger, hasNew, wake: scan.wake })
  const heads = config.WS_URL ? [newHeads({ url: config.WS_URL, silenceMs: config.HEAD_STALL_MS, wake: scan.wake, logger })] : []
  const parts: Part[] = [
    { ...scan, ready: () => scanner.view().halt === undefined, busy: async () => (await scan.busy?.()) === true || (await behind()) },
    ...heads,
  ]
  return {
    parts,
    wake: scan.wake,
    confirmed: (): number | undefined => scanner.view().cursor?.confirmed.number,
    status: (): Promise<Status> => statusOf({ chainId: config.CHAIN_ID, leader, scanner, nodes, store, headTime: () => headTime }),
  }
}

/** A chain that has been silent for so long gives no work; one that just failed to answer may well have some. */
const SILENT_MS = 10_000

/** Looks at the chain itself: whoever waits for this service to be idle means that what was just mined is read and told. */
async function isBehind(options: {
  scanner: Scanner
  nodes: Nodes
  leader: Leader
  watch: Watch
  logger: Logger
  /** Whether there are deposit addresses that are not level with the scan yet. */
  hasNew(): Promise<boolean>
  wake(): void
}): Promise<boolean> {
  const { scanner, nodes, leader, watch, logger } = options
  const { cursor, halt } = scanner.view()
  if (halt || leader.epoch() === undefined) return false
  if (!cursor || scanner.announcementDueMs() !== undefined || scanner.awaitsVotes() || scanner.hasLate()) return true
  try {
    const seen = await nodes.use(node => look(node, watch, cursor.scanned))
    if (seen.head.number === cursor.scanned.number && seen.at?.hash === cursor.scanned.hash && !(await options.hasNew())) return false
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
