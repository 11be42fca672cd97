import { queuesReadBy, topology } from '@ponte/contracts'
import {
  answerRetention,
  auditRoutes,
  consumer,
  createApp,
  every,
  httpServer,
  type Overrides as KitOverrides,
  outboxRelay,
  resealRoutes,
  seal,
  serviceParts,
  unseal,
} from '@ponte/service-kit'
import type { WebhookDispatcherConfig } from './config'
import { hurryRoute } from './hurry-route'
import { memoize } from './memoize'
import { createDispatcherMetrics } from './metrics'
import { createPull } from './pull'
import { reactions } from './reactions'
import { routes } from './routes'
import { createResolver } from './send/resolver'
import { createSender } from './send/sender'
import { openStore, PLANNER } from './store'
import { upkeep } from './upkeep'
import { createWorker } from './worker/worker'

/** Handed in by all-in-one or a test, and started and stopped by them. */
export interface Overrides extends KitOverrides {
  /** Certificate authorities instead of the well-known ones. */
  ca?: string
}

/** Where secrets are kept, each sealed for the id of its row. */
const SEALED = [
  { table: 'merchants', column: 'sealed_webhook_secret' },
  { table: 'merchants', column: 'sealed_pending_webhook_secret' },
  { table: 'endpoints', column: 'sealed_secret' },
  { table: 'endpoints', column: 'sealed_pending_secret' },
  { table: 'endpoints', column: 'sealed_headers' },
]
/** Unsealing costs as much as signing twice. */
const UNSEALED_MAX = 2_000
const ADMIT_MS = 1_000
const SWEEP_MS = 10_000

export function createWebhookDispatcher(config: WebhookDispatcherConfig, overrides: Overrides = {}) {
  const queues = queuesReadBy('webhook-dispatcher')
  const {
    logger,
    metrics: kit,
    database,
    bus,
    assemble,
  } = serviceParts('webhook-dispatcher', config, {
    topology,
    queues,
    overrides,
    database: { settings: PLANNER },
  })
  const metrics = createDispatcherMetrics(kit)
  const store = openStore(database)
  const relay = outboxRelay(database, bus, logger, { outboxDays: config.OUTBOX_DAYS, inboxDays: config.INBOX_DAYS })
  metrics.watchStore(store)

  const sender = createSender({
    resolve: createResolver({ servers: config.WEBHOOK_DNS_SERVERS }),
    allowed: config.WEBHOOK_ALLOW_CIDRS,
    denied: config.WEBHOOK_DENY_CIDRS,
    ca: overrides.ca,
  })
  const memoizedUnseal = memoize(UNSEALED_MAX, (sealed: string, endpointId: string) => unseal(sealed, config.SEAL_KEY, endpointId))
  const worker = createWorker({ store, sender, unseal: memoizedUnseal, slots: config.WEBHOOK_SLOTS, metrics, logger })
  const admit = async () => {
    const more = await store.events.admitWaiting()
    worker.due()
    return more
  }
  const admission = every('admission', ADMIT_MS, admit, logger)

  const pull = createPull(store)
  const endpoints = {
    store,
    database,
    seal: (plain: string, endpointId: string) => seal(plain, config.SEAL_KEY, endpointId),
    unseal: memoizedUnseal,
    addresses: { allowed: config.WEBHOOK_ALLOW_CIDRS, denied: config.WEBHOOK_DENY_CIDRS },
    due: worker.due,
    logger,
  }
  const app = createApp({
    database,
    routes: routes({
      store,
      pull,
      livemode: config.PONTE_MODE === 'live',
      retentionDays: config.EVENT_RETENTION_DAYS,
      endpoints,
      tokenSecrets: config.GATEWAY_TOKEN_SECRET,
      due: worker.due,
    }),
    logger,
  })
  const http = httpServer('http', app, { host: config.HOST, port: config.PORT })
  return assemble({
    parts: [
      { name: 'sender', stop: sender.stop },
      every('idle connections', SWEEP_MS, async () => sender.sweep(), logger),
      ...upkeep({ store, metrics, logger, retentionDays: config.EVENT_RETENTION_DAYS, due: worker.due, published: relay.wake }),
      relay,
      answerRetention(database, logger),
      worker,
      { ...admission, busy: async () => (await store.events.hasAdmissible()) || (await admission.busy?.()) === true },
      consumer(bus, queues, reactions({ store, due: worker.due, admit: admission.wake, stored: pull.arrived })),
    ],
    http,
    operators: auditRoutes(database, audited).use(
      resealRoutes(database, config.SEAL_KEY, SEALED),
      ...(config.PONTE_MODE === 'live' ? [] : [hurryRoute(store, worker.due)]),
    ),
    // Stopped before HTTP, which waits for its answers.
    last: [pull],
  })
}

/** Read row by row by an auditor. */
const audited = {
  events: ['id'],
  deliveries: ['id'],
  merchants: ['id'],
  attempts: { key: ['delivery_id', 'ordinal'], shown: ['delivery_id', 'ordinal', 'outcome', 'http_status'] },
}
