import { topology } from '@ponte/contracts'
import {
  type Bus,
  consumer,
  createApp,
  createLogger,
  every,
  httpServer,
  type Logger,
  openDatabase,
  opsServer,
  type Part,
  rabbitmqBus,
  service,
  unseal,
} from '@ponte/service-kit'
import type { WebhookDispatcherConfig } from './config'
import { createDispatcherMetrics, type DispatcherMetrics } from './dispatcher-metrics'
import { reactions } from './reactions'
import { reap } from './reaper'
import { remembered } from './remembered'
import { createResolver } from './resolve'
import { routes } from './routes'
import { createSender } from './send'
import { openStore, PLANNER, type Store } from './store'
import { createWorker } from './worker'

/** What the roof or a test may hand in; what is given belongs to the giver. */
export interface Given {
  bus?: Bus
  logger?: Logger
  /** Certificate authorities instead of the well-known ones. */
  ca?: string
}

/** Opening a sealed secret costs as much as signing with it twice. */
const SECRETS_KEPT = 2_000
const ADMIT_MS = 1_000
const REAP_MS = 5_000
const SWEEP_MS = 10_000
const MEND_MS = 300_000
const FORGET_MS = 3_600_000
const FORGET_BATCH = 1_000

/** Telling the merchant, as a list of parts. */
export function createWebhookDispatcher(config: WebhookDispatcherConfig, given: Given = {}) {
  const logger = given.logger ?? createLogger({ service: 'webhook-dispatcher', level: config.LOG_LEVEL })
  const metrics = createDispatcherMetrics()
  const database = openDatabase({
    url: config.DATABASE_URL,
    settings: PLANNER,
    poolSize: config.DATABASE_POOL,
    applicationName: 'webhook-dispatcher',
  })
  const bus = given.bus ?? rabbitmqBus({ url: config.AMQP_URL, namespace: config.AMQP_NAMESPACE, topology, logger })
  const store = openStore(database)
  metrics.watchStore(store)

  const sender = createSender({
    resolve: createResolver({ servers: config.WEBHOOK_DNS_SERVERS }),
    allowed: config.WEBHOOK_ALLOW_CIDRS,
    ...(given.ca ? { ca: given.ca } : {}),
  })
  const open = remembered(SECRETS_KEPT, (sealed: string, merchantId: string) => unseal(sealed, config.SEAL_KEY, merchantId))
  const worker = createWorker({ store, sender, unseal: open, slots: config.WEBHOOK_SLOTS, metrics, logger })
  const admission = every(
    'admission',
    ADMIT_MS,
    async () => {
      const more = await store.admitWaiting()
      worker.wake()
      return more
    },
    logger,
  )

  const http = httpServer(
    'http',
    createApp({ routes: routes({ store, tokenSecret: config.GATEWAY_TOKEN_SECRET, due: worker.wake }), logger }),
    {
      host: config.HOST,
      port: config.PORT,
    },
  )
  const ops = opsServer({ host: config.HOST, port: config.OPS_PORT, metrics: metrics.kit, parts: () => parts, logger })
  const parts: Part[] = [
    database,
    ...(given.bus ? [] : [bus]),
    { name: 'sender', stop: sender.stop },
    every('idle connections', SWEEP_MS, async () => sender.sweep(), logger),
    ...upkeep(config, { store, metrics, logger, wake: worker.wake }),
    worker,
    { ...admission, busy: async () => (await store.hasAdmissible()) || (await admission.busy?.()) === true },
    consumer(bus, 'webhook-dispatcher', reactions({ store, due: worker.wake, admit: admission.wake })),
    ops,
    http,
  ]
  return { ...service('webhook-dispatcher', parts), http, ops }
}

interface Upkeep {
  store: Store
  metrics: DispatcherMetrics
  logger: Logger
  wake(): void
}

/** What keeps the house in order; each is safe in any number of replicas. */
function upkeep(config: WebhookDispatcherConfig, { store, metrics, logger, wake }: Upkeep): Part[] {
  const reaper = every(
    'reaper',
    REAP_MS,
    async () => {
      const more = await reap({ store, metrics, logger })
      wake()
      return more
    },
    logger,
  )
  const mender = every(
    'lanes',
    MEND_MS,
    async () => {
      const mended = await store.mendLanes()
      metrics.mended.inc(mended)
      if (mended > 0) logger.error('lanes with work had no turn; they are mended', { lanes: mended })
    },
    logger,
  )
  const retention = every(
    'retention',
    FORGET_MS,
    async () => (await store.forgetEvents(config.EVENT_RETENTION_DAYS, FORGET_BATCH)) === FORGET_BATCH,
    logger,
  )
  return [reaper, mender, retention]
}
