import { topology } from '@ponte/contracts'
import {
  type Bus,
  consumer,
  createApp,
  createLogger,
  createMetrics,
  every,
  httpServer,
  type Logger,
  type Loop,
  type Metrics,
  openDatabase,
  opsServer,
  outboxRelay,
  pruneAnswers,
  rabbitmqBus,
  service,
} from '@ponte/service-kit'
import { wakeAt } from './charging'
import type { SubscriptionsConfig } from './config'
import { createArrivals } from './order-arrival'
import { reactions } from './reactions'
import { routes } from './routes'
import { runDue } from './scheduler'
import { openStore } from './store'
import type { Change } from './subscription'

/** What the roof or a test may hand in; what is given belongs to the giver. */
export interface Given {
  bus?: Bus
  now?: () => Date
  logger?: Logger
}

/** The recurring charge, as a list of parts. */
export function createSubscriptions(config: SubscriptionsConfig, given: Given = {}) {
  const logger = given.logger ?? createLogger({ service: 'subscriptions', level: config.LOG_LEVEL })
  const now = given.now ?? (() => new Date())
  const metrics = createMetrics('subscriptions')
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL, applicationName: 'subscriptions' })
  const bus = given.bus ?? rabbitmqBus({ url: config.AMQP_URL, namespace: config.AMQP_NAMESPACE, topology, logger })
  const relay = outboxRelay(database, bus, logger)

  const tell = teller(metrics, logger)
  const store = openStore(database, {
    now,
    committed(change) {
      tell(change)
      relay.wake()
      const next = wakeAt(change.subscription, now())
      if (next && next <= now()) scheduler.wake()
    },
  })
  const loop = every('scheduler', config.SCHEDULER_MS, () => runDue({ store, now, logger }), logger)
  const scheduler: Loop = {
    ...loop,
    busy: async () => (await store.overdueS()) > 0 || (await loop.busy?.()) === true,
    observe: () =>
      metrics.observed('ponte_subscription_overdue_seconds', 'How long the most overdue subscription waits already', store.overdueS),
  }
  const pruning = every('idempotency pruning', 3_600_000, () => pruneAnswers(database), logger)
  const arrivals = createArrivals(store.orderBody)

  const routing = routes({
    database,
    store,
    now,
    arrivals,
    publicUrl: config.PUBLIC_URL,
    orderWaitMs: config.ORDER_WAIT_MS,
    tokenSecret: config.GATEWAY_TOKEN_SECRET,
  })
  const http = httpServer('http', createApp({ routes: routing, logger }), { host: config.HOST, port: config.PORT })
  const ops = opsServer({ host: config.HOST, port: config.OPS_PORT, metrics, parts: () => parts, logger })
  const parts = [
    database,
    ...(given.bus ? [] : [bus]),
    relay,
    scheduler,
    pruning,
    consumer(bus, 'subscriptions', reactions({ store, now, arrivals })),
    ops,
    http,
  ]
  return { ...service('subscriptions', parts), http, ops }
}

/** Counts what happened, and says aloud what a person should know of: money that came twice. */
function teller(metrics: Metrics, logger: Logger) {
  const happened = metrics.counter('ponte_subscription_facts_total', 'What happened to subscriptions', ['fact'])
  return ({ subscription, facts }: Change) => {
    for (const fact of facts) {
      happened.inc({ fact: fact.kind })
      if (fact.kind !== 'duplicate') continue
      const { orderId, periodIndex } = fact
      logger.warn('a period was paid twice; the second payment counts nothing', {
        subscription_id: subscription.id,
        order_id: orderId,
        period_index: periodIndex,
      })
    }
  }
}
