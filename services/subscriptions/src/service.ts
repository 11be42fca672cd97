import { topology } from '@ponte/contracts'
import {
  consumer,
  createApp,
  every,
  httpServer,
  type Logger,
  type Loop,
  type Metrics,
  type Overrides,
  outboxRelay,
  pruneAnswers,
  serviceParts,
} from '@ponte/service-kit'
import { wakeAt } from './charging'
import type { SubscriptionsConfig } from './config'
import { createArrivals } from './order-arrival'
import { reactions } from './reactions'
import { routes } from './routes'
import { runDue } from './scheduler'
import { openStore } from './store'
import type { Change } from './subscription'

/** The recurring charge, as a list of parts. */
export function createSubscriptions(config: SubscriptionsConfig, overrides: Overrides = {}) {
  const { logger, now, metrics, database, bus, assemble } = serviceParts('subscriptions', config, { topology, overrides })
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
  return assemble({ parts: [relay, scheduler, pruning, consumer(bus, 'subscriptions', reactions({ store, now, arrivals }))], http })
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
