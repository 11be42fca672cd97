import { topology } from '@ponte/contracts'
import { DeploymentMismatchError } from '@ponte/payment-router'
import {
  type Bus,
  consumer,
  createLogger,
  createMetrics,
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
import type { Change } from './payment'
import { reactions } from './reactions'
import { createReconciling } from './reconcile/job'
import { reconcileRoutes } from './reconcile/routes'
import { createRelaying } from './relay'
import { routes } from './routes'
import { createDeploymentCheck } from './rpc/deployment'
import { openNode } from './rpc/node'
import { openNodes } from './rpc/pool'
import { createScanning } from './scan'
import { observeStatus } from './scan/metrics'
import { quorumOf } from './scan/quorum'
import { openStore } from './store'
import { createLeader } from './store/leader'

/** What the roof or a test may hand in; what is given belongs to the giver. */
export interface Given {
  bus?: Bus
  now?: () => Date
  /** Milliseconds that never go back: how long an RPC node rests is measured by it. */
  clock?: () => number
  logger?: Logger
  /** The chain that was followed is gone, or is not the one that was configured: the service cannot go on. */
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
      clock: given.clock ?? (() => performance.now()),
      logger,
      onFailOver: (rpc, reason) => counters.failOvers.inc({ rpc, reason }),
    },
  )
  const deployment = config.VERIFY_DEPLOYMENT
    ? createDeploymentCheck({
        ...{ chainId: config.CHAIN_ID, token: config.TOKEN_ADDRESS, routers: config.ROUTER_ADDRESSES },
        ...{ feeReceivers: config.FEE_RECEIVERS, development: config.DEVELOPMENT_CHAIN },
        ...{ quorum: quorumOf(config.RPC_URLS.length, config.RPC_QUORUM), nodes, logger },
      })
    : undefined
  const leader = createLeader(database, {
    lock: lockOf(config.CHAIN_ID),
    silenceMs: config.LEADER_SILENCE_MS,
    async takeLease() {
      await deployment?.ensure().catch(error => {
        if (error instanceof DeploymentMismatchError) given.onHalt?.(error)
        throw error
      })
      return store.takeLease(config.START_BLOCK)
    },
    onChange() {
      scanning.wake()
      relaying.wake()
    },
    logger,
  })
  const confirmed = () => scanning.confirmed()
  const scan = () => scanning.wake()
  const relaying = createRelaying(config, { database, nodes, leader, confirmed, scan, metrics, now, logger })
  const scanning = createScanning(config, {
    store,
    nodes,
    leader,
    deposits: relaying.deposits,
    metrics,
    now,
    logger,
    onHalt: error => given.onHalt?.(error),
    committed(change, tells) {
      if (tells) relay.wake()
      relaying.wake()
      counters.told(change)
    },
  })
  const reconciling = createReconciling(config, { store, nodes, leader, metrics, now, logger })
  const { status } = scanning
  observeStatus(metrics, status)
  metrics.observed('ponte_outbox_oldest_age_seconds', 'Age of the oldest event not yet published', () => outboxAge(database))

  const operators = routes(status, relaying).use(reconcileRoutes(config.CHAIN_ID, reconciling))
  const ops = opsServer({ host: config.HOST, port: config.OPS_PORT, metrics, parts: () => parts, logger, routes: operators })
  const parts: Part[] = [
    database,
    ...(given.bus ? [] : [bus]),
    relay,
    { name: 'rpc', ready: () => nodes.view().some(node => node.resting === null), stop: nodes.close },
    ...(deployment ? [deployment] : []),
    leader,
    ...scanning.parts,
    ...relaying.parts,
    reconciling.part,
    consumer(bus, 'chain-listener', reactions(relaying)),
    ops,
  ]
  return { ...service('chain-listener', parts), ops, http: relaying.http, status }
}

function countersOf(metrics: Metrics) {
  const payments = metrics.counter('ponte_chain_payments_total', 'What was said about payments', ['type'])
  return {
    failOvers: metrics.counter('ponte_chain_rpc_failovers_total', 'How often an RPC end point was left, and why', ['rpc', 'reason']),
    told(change: Change) {
      for (const { type } of change.facts) payments.inc({ type })
    },
  }
}

/** An advisory lock is named by 32 bits; chain ids may be longer. */
const lockOf = (chainId: number) => (chainId ^ Math.floor(chainId / 2 ** 32)) | 0
