import { listenerQueueOf, queuesReadBy, topologyWith } from '@ponte/contracts'
import {
  auditRoutes,
  consumer,
  createLogger,
  createMetrics,
  deadLetterRoutes,
  openDatabase,
  opsServer,
  outboxAge,
  outboxRelay,
  type Part,
  service,
  serviceParts,
} from '@ponte/service-kit'
import { busyPayouts, payoutSpans } from './busy-payouts'
import { checkpointStore, createCheckpoints } from './checkpoints'
import type { ChainListenerConfig } from './config'
import { createContractMonitor } from './contract-monitor'
import { chainOf, type Overrides, openFoundation } from './foundation'
import { createChecksums } from './logs/checksums'
import type { PaymentKind } from './logs/payment-received'
import type { PaymentState } from './payment'
import { reactions } from './reactions'
import { publishAudit } from './reconcile/audit'
import { createReconcile } from './reconcile/job'
import { reconcileRoutes } from './reconcile/routes'
import { reconcileStore } from './reconcile/store'
import { createRecoveries } from './recoveries'
import { createRefunds, refundRoutes } from './refunds'
import { createIntake, createRelay } from './relay'
import { depositRoutes, routes } from './routes'
import { openChainClient } from './rpc/chain-client'
import { createScan } from './scan'
import type { Status } from './scan/status'
import { observeStatus } from './scan/status/metrics'
import { openStore } from './store'
import { createLeader, lockOf } from './store/leader'

/** Several networks have a listener and a relayer each. */
const labelsOf = ({ CHAIN_ID: chainId }: { CHAIN_ID: number }) => ({ chain_id: String(chainId) })

export function createChainListener(config: ChainListenerConfig, overrides: Overrides = {}) {
  const queues = config.OTHER_NETWORK ? [listenerQueueOf(config.CHAIN_ID)] : queuesReadBy('chain-listener')
  const topology = topologyWith(config.OTHER_NETWORK ? [config.CHAIN_ID] : [])
  const { logger, now, metrics, database, bus, assemble } = serviceParts('chain-listener', config, {
    topology,
    queues,
    overrides,
    labels: labelsOf(config),
  })
  const payments = metrics.counter('ponte_chain_payments_total', 'Payments and sweeps, by what became of them', {
    kind: KINDS,
    state: STATES,
  })
  const outbox = outboxRelay(database, bus, logger, { outboxDays: config.OUTBOX_DAYS, inboxDays: config.INBOX_DAYS })
  const store = openStore(database, config.CHAIN_ID, now)
  let halted: Error | undefined
  // Without the lease nothing is read, relayed or reconciled; the process stays up and names the reason, where an exit in a loop would hide it.
  const halt = (error: Error) => {
    halted ??= error
    logger.error('halted; see runbook PonteChainHalted', { error })
    void leader.stop?.()
    void relay?.stop()
  }
  const { nodes, chain, readTransaction, verified, chainParts } = openFoundation(config, { overrides, metrics, logger, halt })
  const leader = createLeader(database, {
    name: 'leader',
    lock: lockOf('scan', config.CHAIN_ID),
    silenceMs: config.LEADER_SILENCE_MS,
    async takeLease() {
      await verified()
      return store.generation.takeLease(config.START_BLOCK)
    },
    onChange: () => scan.wake(),
    logger,
  })
  const relay =
    config.RELAYER_PROCESS === 'listener'
      ? createRelay({ settings: config, database, chain, readTransaction, verified, metrics, now, logger })
      : undefined
  const scan = createScan(config, {
    store,
    nodes,
    leader,
    metrics,
    now,
    logger,
    onHalt: halt,
    committed(step) {
      if (step.events.length > 0) outbox.wake()
      // An answer to orders alone moves no money.
      if (step.blocks.length > 0 || step.payments.length > 0) relay?.wake()
      refunds.wake()
      recoveries.wake()
      checkpoints.confirmed(step.cursor.confirmed.number)
      for (const { kind, state } of step.payments) payments.inc({ kind, state })
    },
  })
  const refunds = createRefunds({
    ...{ database, chainId: config.CHAIN_ID, leader, nodes, rules: { chainId: config.CHAIN_ID, ...scan.rules } },
    ...{ token: config.TOKEN_ADDRESS, quorum: scan.quorum, window: scan.window, now, logger, published: outbox.wake },
  })
  const recoveries = createRecoveries({
    ...{ database, chainId: config.CHAIN_ID, leader, nodes, rules: { chainId: config.CHAIN_ID, ...scan.rules } },
    ...{ quorum: scan.quorum, window: scan.window, now, logger, published: outbox.wake },
  })
  const checkpointed = checkpointStore(database, config.CHAIN_ID)
  const checkpoints = createCheckpoints({
    ...{ store: checkpointed, leader, nodes, rules: { chainId: config.CHAIN_ID, ...scan.rules }, quorum: scan.quorum, logger },
    ...{ token: config.TOKEN_ADDRESS, routers: config.ROUTER_ADDRESSES, blocks: config.CHECKPOINT_BLOCKS },
  })
  const another = openChainClient({ ...nodes, use: nodes.useAnother }, chainOf(config))
  const ledgers = reconcileStore(database, config.CHAIN_ID)
  const reconcile = createReconcile({
    store,
    ledgers,
    checkpoints: checkpointed,
    nodes,
    chain: another,
    // Where nodes vote, the one that is read from is worth a second look; where one suffices, it is the one that may have left something out.
    second: scan.quorum > 1 ? chain : another,
    leader,
    chainId: config.CHAIN_ID,
    ...scan.rules,
    votes: scan.votes,
    routers: config.ROUTER_ADDRESSES,
    token: config.TOKEN_ADDRESS,
    startBlock: config.START_BLOCK,
    newestBlocks: config.RECONCILE_BLOCKS,
    everyS: config.RECONCILE_EVERY_S,
    wake: scan.wake,
    async audited(from, to) {
      await publishAudit(database, ledgers, config.CHAIN_ID, from, to, now())
      outbox.wake()
    },
    metrics,
    now,
    logger,
  })
  const accounts = relay?.accounts ?? (async () => ({ sweeps: null, signatures: null }))
  const spans = payoutSpans({ database, chainId: config.CHAIN_ID, now, logger, checksum: createChecksums(), published: outbox.wake })
  const intake = createIntake({
    ...{ database, history: store.generation, chainId: config.CHAIN_ID, routers: config.ROUTER_ADDRESSES, now, logger },
    forgot: () => leader.resign('a new generation begins'),
    asked() {
      scan.wakeSoon()
      spans.wake()
    },
  })
  const monitor = createContractMonitor({
    store,
    nodes,
    leader,
    chainId: config.CHAIN_ID,
    token: config.TOKEN_ADDRESS,
    routers: config.ROUTER_ADDRESSES,
    accounts: async () => [...((await store.position.row())?.relayAccounts ?? []), ...(config.MONITOR_ACCOUNTS ?? [])],
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

  const operators = routes(status)
    .use(depositRoutes(database, config, accounts))
    .use(reconcileRoutes(config.CHAIN_ID, reconcile, scan.wake))
    .use(deadLetterRoutes(bus.deadLetters('chain-listener')))
    .use(refundRoutes(refunds.compare))
    .use(auditRoutes(database, audited))
  const parts = [
    outbox,
    ...chainParts,
    { ...leader, ready: () => halted === undefined },
    ...scan.parts,
    ...(relay?.parts ?? []),
    reconcile.part,
    refunds.part,
    recoveries.part,
    checkpoints.part,
    spans,
    busyPayouts({ coverage: store.coverage, isLeading: () => leader.epoch() !== undefined, metrics, logger }),
    monitor,
    consumer(bus, queues, reactions(intake, refunds, recoveries)),
  ]
  return { ...assemble({ parts, http: undefined, operators }), http: relay?.http, status }
}

/** Read row by row by an auditor. */
const audited = {
  payments: ['chain_id', 'block_hash', 'log_index'],
  payables: ['chain_id', 'order_id'],
  payouts: ['chain_id', 'address'],
  authorizations: {
    key: ['chain_id', 'memo', 'payer', 'salt'],
    shown: ['chain_id', 'memo', 'payer', 'salt', 'order_id', 'order_attempt', 'revision', 'state', 'units', 'valid_before', 'tx_hash'],
  },
  refund_watches: ['chain_id', 'refund_id'],
  checkpoints: ['chain_id', 'to_block'],
}

const KINDS: readonly PaymentKind[] = ['router', 'transfer', 'sweep']
const STATES: readonly PaymentState[] = ['detected', 'confirmed', 'orphaned']

/** The relayer as a process of its own, beside the listener on the same database: its keys are not where nodes' answers are read. */
export function createRelayer(config: ChainListenerConfig, overrides: Omit<Overrides, 'bus'> = {}) {
  const logger = overrides.logger ?? createLogger({ service: 'relayer', level: config.LOG_LEVEL })
  const metrics = createMetrics('relayer', labelsOf(config))
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL, applicationName: 'relayer' })
  let halted: Error | undefined
  const halt = (error: Error) => {
    halted ??= error
    logger.error('halted; see runbook PonteChainHalted', { error })
    void relay.stop()
  }
  const { chain, readTransaction, chainParts, verified } = openFoundation(config, { overrides, metrics, logger, halt })
  const now = overrides.now ?? (() => new Date())
  // The relayer's events go into the outbox, which the listener relays.
  const relay = createRelay({ settings: config, database, chain, readTransaction, verified, metrics, now, logger })
  const routes = depositRoutes(database, config, relay.accounts)
  const ops = opsServer({ host: config.HOST, port: config.OPS_PORT, metrics, parts: () => parts, logger, routes })
  const chainReady: Part = { name: 'chain as configured', ready: () => halted === undefined }
  const parts: Part[] = [database, ...chainParts, chainReady, ...relay.parts, ops]
  return { ...service('relayer', parts), ops, http: relay.http }
}

const expectedDeployment = (config: ChainListenerConfig) => ({
  chainId: config.CHAIN_ID,
  usdcAddress: config.TOKEN_ADDRESS,
  feeReceivers: config.FEE_RECEIVERS,
  feeBps: config.FEES_BPS,
  development: config.DEVELOPMENT_CHAIN,
})
