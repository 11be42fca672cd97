import { topology } from '@ponte/contracts'
import {
  type Bus,
  consumer,
  createLogger,
  createMetrics,
  every,
  type Logger,
  type Metrics,
  openDatabase,
  opsServer,
  outboxAge,
  outboxRelay,
  type Part,
  rabbitmqBus,
  service,
} from '@ponte/service-kit'
import { createBook } from './book'
import { createChecksums } from './checksums'
import type { ChainListenerConfig } from './config'
import { observeStatus } from './gauges'
import { newHeads } from './heads'
import { createLeader } from './leader'
import { openNodes } from './nodes'
import type { Change } from './payment'
import { quorumOf } from './quorum'
import { reactions } from './reactions'
import { look, watchOf } from './reader'
import { createReading } from './reading'
import { createRelaying } from './relaying'
import { routes } from './routes'
import { openNode } from './rpc'
import { createScanner } from './scanner'
import { statusOf } from './status'
import { createSteps } from './steps'
import { openStore } from './store'
import { createVotes } from './votes'

/** What the roof or a test may hand in; what is given belongs to the giver. */
export interface Given {
  bus?: Bus
  now?: () => Date
  logger?: Logger
  /** The chain that was followed is gone and the scan has stopped for good. */
  onHalt?(error: Error): void
}

/** What the ledger network says, as a list of parts. */
export function createChainListener(config: ChainListenerConfig, given: Given = {}) {
  const logger = given.logger ?? createLogger({ service: 'chain-listener', level: config.LOG_LEVEL })
  const now = given.now ?? (() => new Date())
  const metrics = createMetrics('chain-listener')
  const counters = countersOf(metrics)
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL, applicationName: 'chain-listener' })
  const bus = given.bus ?? rabbitmqBus({ url: config.AMQP_URL, namespace: config.AMQP_NAMESPACE, topology, logger })
  const relay = outboxRelay(database, bus, logger)
  const store = openStore(database, config.CHAIN_ID, now)
  const nodes = openNodes(
    config.RPC_URLS.map((url, index) =>
      openNode(url, index, { chainId: config.CHAIN_ID, timeoutMs: config.RPC_TIMEOUT_MS, maxBytes: config.RPC_MAX_BYTES }),
    ),
    {
      stallMs: config.HEAD_STALL_MS,
      clock: () => performance.now(),
      logger,
      onFailOver: (rpc, reason) => counters.failOvers.inc({ rpc, reason }),
    },
  )
  const leader = createLeader(database, {
    lock: lockOf(config.CHAIN_ID),
    silenceMs: config.LEADER_SILENCE_MS,
    takeLease: () => store.takeLease(config.START_BLOCK),
    onChange() {
      scan.wake()
      relaying.wake()
    },
    logger,
  })
  const watch = watchOf(config.CHAIN_ID, config.ROUTER_ADDRESSES)
  const window = Math.max(config.REORG_WINDOW, config.CONFIRMATIONS)
  const quorum = quorumOf(config.RPC_URLS.length, config.RPC_QUORUM)
  let headTime = 0
  const book = createBook({
    store,
    leader,
    chainId: config.CHAIN_ID,
    token: config.TOKEN_ADDRESS,
    checksum: createChecksums(),
    window,
    advanceEveryMs: config.ADVANCE_EVERY_MS,
    committed(change, step, head) {
      headTime = Math.max(headTime, head.time)
      if (step.events.length > 0) relay.wake()
      relaying.wake()
      counters.told(change)
    },
  })
  const scanner = createScanner({
    store,
    nodes,
    leader,
    watch,
    book,
    steps: createSteps({
      book,
      store,
      confirmations: config.CONFIRMATIONS,
      confirmsAlone: quorum === 1,
      logger,
      reorganised: depth => counters.depth.observe(depth),
    }),
    votes: createVotes({ nodes, watch, quorum, logger, undecided: () => counters.undecided.inc() }),
    reading: createReading({ nodes, watch, window, rangeMax: config.RANGE_MAX, stallMs: config.HEAD_STALL_MS, logger }),
    startBlock: config.START_BLOCK,
    logger,
    halted: error => given.onHalt?.(error),
  })
  const scan = scanLoop(config, { scanner, logger })
  const confirmed = () => scanner.view().cursor?.confirmed.number
  const relaying = createRelaying(config, { database, nodes, leader, confirmed, metrics, now, logger })
  const status = () => statusOf({ chainId: config.CHAIN_ID, leader, scanner, nodes, store, headTime: () => headTime })
  observeStatus(metrics, status)
  metrics.observed('ponte_outbox_oldest_age_seconds', 'Age of the oldest event not yet published', () => outboxAge(database))

  /** Looks at the chain itself: whoever waits for this service to be idle means that what was just mined is read and told. */
  const behind = async () => {
    const { cursor, halt } = scanner.view()
    if (halt || leader.epoch() === undefined) return false
    if (!cursor || scanner.announcementDueMs() !== undefined || scanner.awaitsVotes()) return true
    try {
      const seen = await nodes.use(node => look(node, watch, cursor.scanned))
      if (seen.head.number === cursor.scanned.number && seen.at?.hash === cursor.scanned.hash) return false
      scan.wake()
      return true
    } catch (error) {
      logger.debug('the head is not known', { error })
      return scanner.view().head > cursor.scanned.number
    }
  }
  const ops = opsServer({ host: config.HOST, port: config.OPS_PORT, metrics, parts: () => parts, logger, routes: routes(status, relaying) })
  const parts: Part[] = [
    database,
    ...(given.bus ? [] : [bus]),
    relay,
    { name: 'rpc', ready: () => scanner.view().halt === undefined && nodes.view().some(node => node.resting === null), stop: nodes.close },
    leader,
    { ...scan, busy: async () => (await scan.busy?.()) === true || (await behind()) },
    ...(config.WS_URL ? [newHeads({ url: config.WS_URL, silenceMs: config.HEAD_STALL_MS, wake: scan.wake, logger })] : []),
    ...relaying.parts,
    consumer(bus, 'chain-listener', reactions(relaying)),
    ops,
  ]
  return { ...service('chain-listener', parts), ops, http: relaying.http, status }
}

/** The scan as a part: polls, is woken, and comes back by itself for a `chain.advanced` that was held back. */
function scanLoop(config: ChainListenerConfig, { scanner, logger }: { scanner: ReturnType<typeof createScanner>; logger: Logger }) {
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

function countersOf(metrics: Metrics) {
  const payments = metrics.counter('ponte_chain_payments_total', 'What was said about payments', ['type'])
  return {
    failOvers: metrics.counter('ponte_chain_rpc_failovers_total', 'How often an RPC end point was left, and why', ['rpc', 'reason']),
    undecided: metrics.counter('ponte_chain_votes_undecided_total', 'How often the RPC end points did not agree on what to confirm'),
    depth: metrics.histogram(
      'ponte_chain_reorg_depth_blocks',
      'Blocks undone by reorganisations',
      [],
      [1, 2, 3, 5, 8, 13, 21, 34, 64, 128],
    ),
    told(change: Change) {
      for (const { type } of change.facts) payments.inc({ type })
    },
  }
}

/** An advisory lock is named by 32 bits; chain ids may be longer. */
const lockOf = (chainId: number) => (chainId ^ Math.floor(chainId / 2 ** 32)) | 0
