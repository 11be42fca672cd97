import { topology } from '@ponte/contracts'
import { DeploymentMismatchError } from '@ponte/payment-router'
import {
  auditRoutes,
  consumer,
  deadLetterRoutes,
  type Overrides as KitOverrides,
  type Metrics,
  outboxAge,
  outboxRelay,
  serviceParts,
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
import { restReasons } from './rpc/health'
import { openNode } from './rpc/node'
import { openNodes } from './rpc/pool'
import { createScan } from './scan'
import { observeStatus } from './scan/metrics'
import { quorumOf } from './scan/quorum'
import type { Status } from './scan/status'
import { openStore } from './store'
import { createLeader } from './store/leader'

/** What all-in-one or a test hands in; it belongs to the caller. */
export interface Overrides extends KitOverrides {
  /** Milliseconds that never go back: how long an RPC node rests is measured by it. */
  clock?: () => number
}

/** The listener to one chain, as a list of parts. */
export function createChainListener(config: ChainListenerConfig, overrides: Overrides = {}) {
  const { logger, now, metrics, database, bus, assemble } = serviceParts('chain-listener', config, { topology, overrides })
  const endpoints = config.RPC_URLS.map((url, index) =>
    openNode(url, index, { chainId: config.CHAIN_ID, timeoutMs: config.RPC_TIMEOUT_MS, maxBytes: config.RPC_MAX_BYTES }),
  )
  const counters = countersOf(
    metrics,
    endpoints.map(({ name }) => name),
  )
  const outbox = outboxRelay(database, bus, logger)
  const store = openStore(database, config.CHAIN_ID, now)
  const nodes = openNodes(endpoints, {
    stallMs: config.HEAD_STALL_MS,
    clock: overrides.clock ?? (() => performance.now()),
    logger,
    onFailOver: (rpc, reason) => counters.failOvers.inc({ rpc, reason }),
  })
  const deployment = config.VERIFY_DEPLOYMENT
    ? createDeploymentCheck({
        ...{ chainId: config.CHAIN_ID, token: config.TOKEN_ADDRESS, routers: config.ROUTER_ADDRESSES },
        ...{ feeReceivers: config.FEE_RECEIVERS, feesBps: config.FEES_BPS, development: config.DEVELOPMENT_CHAIN },
        ...{ quorum: quorumOf(config.RPC_URLS.length, config.RPC_QUORUM), nodes, logger },
      })
    : undefined
  let halted: Error | undefined
  // Without the lease nothing is read, relayed or reconciled; the process stays up and names the reason, where an exit in a loop would hide it.
  const halt = (error: Error) => {
    halted ??= error
    logger.error('halted; see runbook PonteChainHalted', { error })
    void leader.stop?.()
  }
  const leader = createLeader(database, {
    lock: lockOf(config.CHAIN_ID),
    silenceMs: config.LEADER_SILENCE_MS,
    async takeLease() {
      await deployment?.ensure().catch(error => {
        if (error instanceof DeploymentMismatchError) halt(error)
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
    onHalt: halt,
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
    chainId: config.CHAIN_ID,
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
  const status = async (): Promise<Status> => ({ ...(await scan.status()), halted: halted?.message ?? null })
  observeStatus(metrics, status)
  metrics.observed('ponte_chain_halted', '1 when the chain that was followed is gone, or is not the configured one', () => (halted ? 1 : 0))
  metrics.observed('ponte_outbox_oldest_age_seconds', 'Age of the oldest event not yet published', () => outboxAge(database))

  const operators = routes(status, relay)
    .use(reconcileRoutes(config.CHAIN_ID, reconcile, scan.wake))
    .use(deadLetterRoutes(bus.deadLetters('chain-listener')))
    .use(auditRoutes(database, { payments: ['chain_id', 'tx_hash', 'ordinal'], payables: ['chain_id', 'order_id'] }))
  const parts = [
    outbox,
    { name: 'rpc', ready: () => nodes.view().some(node => node.resting === null), stop: nodes.close },
    ...(deployment ? [deployment] : []),
    { ...leader, ready: () => halted === undefined },
    ...scan.parts,
    ...relay.parts,
    reconcile.part,
    monitor,
    consumer(bus, 'chain-listener', reactions(relay)),
  ]
  return { ...assemble({ parts, http: undefined, operators }), http: relay.http, status }
}

const PUBLISHED: readonly Change['facts'][number]['type'][] = [
  'payment.detected',
  'payment.confirmed',
  'payment.orphaned',
  'sweep.confirmed',
  'sweep.orphaned',
]

function countersOf(metrics: Metrics, rpc: readonly string[]) {
  const payments = metrics.counter('ponte_chain_payments_total', 'Events published about payments and sweeps', { type: PUBLISHED })
  return {
    failOvers: metrics.counter('ponte_chain_rpc_failovers_total', 'How often an RPC end point was left, and why', {
      rpc,
      reason: restReasons,
    }),
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
