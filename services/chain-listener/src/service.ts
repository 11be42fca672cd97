import { topology } from '@ponte/contracts'
import { DeploymentMismatchError } from '@ponte/payment-router'
import {
  auditRoutes,
  type Bus,
  consumer,
  createLogger,
  createMetrics,
  deadLetterRoutes,
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
import type { ChainListenerConfig } from './config'
import { createContractMonitor } from './contract-monitor'
import type { Change } from './payment'
import { reactions } from './reactions'
import { publishAudit } from './reconcile/audit'
import { createReconcile } from './reconcile/job'
import { reconcileRoutes } from './reconcile/routes'
import { reconcileStore } from './reconcile/store'
import { createRelay } from './relay'
import { routes } from './routes'
import { openChainClient } from './rpc/chain-client'
import { createDeploymentCheck } from './rpc/deployment'
import { openNode } from './rpc/node'
import { openNodes } from './rpc/pool'
import { createScan } from './scan'
import { observeStatus } from './scan/metrics'
import { quorumOf } from './scan/quorum'
import { openStore } from './store'
import { createLeader } from './store/leader'

/** What all-in-one or a test hands in; it belongs to the caller. */
export interface Overrides {
  bus?: Bus
  now?: () => Date
  /** Milliseconds that never go back: how long an RPC node rests is measured by it. */
  clock?: () => number
  logger?: Logger
  /** The chain that was followed is gone, or is not the one that was configured: the service cannot go on. */
  onHalt?(error: Error): void
}

/** The listener to one chain, as a list of parts. */
export function createChainListener(config: ChainListenerConfig, overrides: Overrides = {}) {
  const logger = overrides.logger ?? createLogger({ service: 'chain-listener', level: config.LOG_LEVEL })
  const now = overrides.now ?? (() => new Date())
  const metrics = createMetrics('chain-listener')
  const counters = countersOf(metrics)
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL, applicationName: 'chain-listener' })
  const bus = overrides.bus ?? rabbitmqBus({ url: config.AMQP_URL, namespace: config.AMQP_NAMESPACE, topology, logger })
  const outbox = outboxRelay(database, bus, logger)
  const store = openStore(database, config.CHAIN_ID, now)
  const nodes = openNodes(
    config.RPC_URLS.map((url, index) =>
      openNode(url, index, { chainId: config.CHAIN_ID, timeoutMs: config.RPC_TIMEOUT_MS, maxBytes: config.RPC_MAX_BYTES }),
    ),
    {
      stallMs: config.HEAD_STALL_MS,
      clock: overrides.clock ?? (() => performance.now()),
      logger,
      onFailOver: (rpc, reason) => counters.failOvers.inc({ rpc, reason }),
    },
  )
  const deployment = config.VERIFY_DEPLOYMENT
    ? createDeploymentCheck({
        ...{ chainId: config.CHAIN_ID, token: config.TOKEN_ADDRESS, routers: config.ROUTER_ADDRESSES },
        ...{ feeReceivers: config.FEE_RECEIVERS, feesBps: config.FEES_BPS, development: config.DEVELOPMENT_CHAIN },
        ...{ quorum: quorumOf(config.RPC_URLS.length, config.RPC_QUORUM), nodes, logger },
      })
    : undefined
  const leader = createLeader(database, {
    lock: lockOf(config.CHAIN_ID),
    silenceMs: config.LEADER_SILENCE_MS,
    async takeLease() {
      await deployment?.ensure().catch(error => {
        if (error instanceof DeploymentMismatchError) overrides.onHalt?.(error)
        throw error
      })
      return store.position.takeLease(config.START_BLOCK)
    },
    onChange() {
      scan.wake()
      relay.wake()
    },
    logger,
  })
  const chain = openChainClient(nodes, config.TOKEN_ADDRESS)
  const relay = createRelay({
    ...relayOptions(config),
    database,
    chain,
    leader,
    confirmed: () => scan.confirmed(),
    changed: () => scan.wake(),
    metrics,
    now,
    logger,
  })
  const scan = createScan(config, {
    store,
    nodes,
    leader,
    metrics,
    now,
    logger,
    onHalt: error => overrides.onHalt?.(error),
    committed(change, publishes) {
      if (publishes) outbox.wake()
      relay.wake()
      counters.published(change)
    },
  })
  const reconcile = createReconcile({
    store,
    ledgers: reconcileStore(database, config.CHAIN_ID),
    nodes,
    chain: openChainClient({ ...nodes, use: nodes.useAnother }, config.TOKEN_ADDRESS),
    leader,
    chainId: config.CHAIN_ID,
    ...scan.rules,
    routers: config.ROUTER_ADDRESSES,
    token: config.TOKEN_ADDRESS,
    startBlock: config.START_BLOCK,
    newestBlocks: config.RECONCILE_BLOCKS,
    everyS: config.RECONCILE_EVERY_S,
    differ: scan.differ,
    async audited(from, to) {
      await publishAudit(database, config.CHAIN_ID, from, to, now())
      outbox.wake()
    },
    metrics,
    now,
    logger,
  })
  const monitor = createContractMonitor({
    store,
    nodes,
    leader,
    token: config.TOKEN_ADDRESS,
    routers: config.ROUTER_ADDRESSES,
    relayer: relay.relayer,
    expected: config.VERIFY_DEPLOYMENT ? expectedDeployment(config) : undefined,
    startBlock: config.START_BLOCK,
    newestBlocks: config.MONITOR_BLOCKS,
    everyS: config.MONITOR_EVERY_S,
    metrics,
    now,
    logger,
  })
  const { status } = scan
  observeStatus(metrics, status)
  metrics.observed('ponte_outbox_oldest_age_seconds', 'Age of the oldest event not yet published', () => outboxAge(database))

  const operators = routes(status, relay)
    .use(reconcileRoutes(config.CHAIN_ID, reconcile, scan.wake))
    .use(deadLetterRoutes(bus.deadLetters('chain-listener')))
    .use(auditRoutes(database, { payments: ['chain_id', 'tx_hash', 'ordinal'], payables: ['chain_id', 'order_id'] }))
  const ops = opsServer({ host: config.HOST, port: config.OPS_PORT, metrics, parts: () => parts, logger, routes: operators })
  const parts: Part[] = [
    database,
    ...(overrides.bus ? [] : [bus]),
    outbox,
    { name: 'rpc', ready: () => nodes.view().some(node => node.resting === null), stop: nodes.close },
    ...(deployment ? [deployment] : []),
    leader,
    ...scan.parts,
    ...relay.parts,
    reconcile.part,
    monitor,
    consumer(bus, 'chain-listener', reactions(relay)),
    ops,
  ]
  return { ...service('chain-listener', parts), ops, http: relay.http, status }
}

function countersOf(metrics: Metrics) {
  const payments = metrics.counter('ponte_chain_payments_total', 'Events published about payments and sweeps', ['type'])
  return {
    failOvers: metrics.counter('ponte_chain_rpc_failovers_total', 'How often an RPC end point was left, and why', ['rpc', 'reason']),
    published(change: Change) {
      for (const { type } of change.facts) payments.inc({ type })
    },
  }
}

const expectedDeployment = (config: ChainListenerConfig) => ({
  chainId: config.CHAIN_ID,
  usdcAddress: config.TOKEN_ADDRESS,
  feeReceivers: config.FEE_RECEIVERS,
  feeBps: config.FEES_BPS,
  development: config.DEVELOPMENT_CHAIN,
})

const relayOptions = (config: ChainListenerConfig) => ({
  chainId: config.CHAIN_ID,
  token: config.TOKEN_ADDRESS,
  routers: config.ROUTER_ADDRESSES,
  privateKey: config.RELAYER_PRIVATE_KEY,
  http:
    config.GATEWAY_TOKEN_SECRET === undefined
      ? undefined
      : { tokenSecret: config.GATEWAY_TOKEN_SECRET, host: config.HOST, port: config.PORT },
  depositMinUnits: config.DEPOSIT_MIN_UNITS,
  gaslessMinUnits: config.GASLESS_MIN_UNITS,
  batchMax: config.DEPOSIT_BATCH_MAX,
  ceilingGwei: config.RELAYER_MAX_FEE_GWEI,
  stuckMs: config.RELAYER_STUCK_MS,
  pollMs: config.POLL_MS,
})

/** An advisory lock is named by 32 bits; chain ids may be longer. */
const lockOf = (chainId: number) => (chainId ^ Math.floor(chainId / 2 ** 32)) | 0
