import { queuesReadBy, topology } from '@ponte/contracts'
import {
  answerRetention,
  auditRoutes,
  consumer,
  createApp,
  httpServer,
  type Logger,
  type Metrics,
  type Overrides,
  outboxRelay,
  serviceParts,
} from '@ponte/service-kit'
import { createOrderWaits } from './api/order-wait'
import type { SubscriptionsConfig } from './config'
import { dueRoute } from './due-route'
import { reactions } from './reactions'
import { routes } from './routes'
import { createScheduler } from './scheduler'
import { openStore } from './store'
import { wakeAt } from './subscription/charges'
import type { Change } from './subscription/subscription'

export function createSubscriptions(config: SubscriptionsConfig, overrides: Overrides = {}) {
  const queues = queuesReadBy('subscriptions')
  const { logger, now, metrics, database, bus, assemble } = serviceParts('subscriptions', config, { topology, queues, overrides })
  const relay = outboxRelay(database, bus, logger, { outboxDays: config.OUTBOX_DAYS, inboxDays: config.INBOX_DAYS })

  const recordFacts = factRecorder(metrics, logger)
  const dunning = {
    noticeS: config.UPCOMING_NOTICE_S,
    retryAfterS: config.RETRY_AFTER_S,
    unpaidPeriodsMax: config.UNPAID_PERIODS_MAX,
    whenUnpaid: config.WHEN_UNPAID,
  }
  const store = openStore(database, {
    now,
    dunning,
    published: relay.wake,
    unreadable: (subscriptionId, error) =>
      logger.error('a subscription that is due cannot be read; a newer release may have written it', {
        subscription_id: subscriptionId,
        error,
      }),
    committed(change) {
      recordFacts(change)
      relay.wake()
      const next = wakeAt(change.subscription, now())
      if (next && next <= now()) scheduler.wake(change.subscription.merchantId)
    },
  })
  const scheduler = createScheduler({ store, now, logger, everyMs: config.SCHEDULER_MS })
  metrics.observed(
    'ponte_subscription_overdue_seconds',
    'How long the most overdue subscription waits already',
    store.subscriptions.overdueS,
  )
  metrics.observed(
    'ponte_subscriptions_awaiting_payout_address',
    'Plans whose period waits for a payout address',
    store.subscriptions.awaitingCount,
  )
  metrics.observed(
    'ponte_subscription_orders_undecided',
    'Orders of plans that ended more than an hour ago and whose end orders has not reported',
    store.subscriptions.undecidedCount,
  )
  const pruning = answerRetention(database, logger)
  const orderWaits = createOrderWaits(store.orders.body)

  const routing = routes({
    database,
    store,
    now,
    orderWaits,
    dunning,
    publicUrl: config.PUBLIC_URL,
    livemode: config.PONTE_MODE === 'live',
    orderWaitMs: config.ORDER_WAIT_MS,
    tokenSecrets: config.GATEWAY_TOKEN_SECRET,
  })
  const http = httpServer('http', createApp({ routes: routing, logger, database }), { host: config.HOST, port: config.PORT })
  const reacting = reactions({ store, now, orderWaits, scheduler })
  return assemble({
    parts: [relay, scheduler, pruning, consumer(bus, queues, reacting)],
    http,
    operators: dueRoute(store, scheduler).use(auditRoutes(database, audited)),
  })
}

/** Read row by row by an auditor. */
const audited = { merchants: ['id'], charges: ['subscription_id', 'period_index'], attempts: ['order_id'] }

const FACTS: Record<Change['facts'][number]['kind'], true> = {
  charge_requested: true,
  charged: true,
  superseded: true,
  duplicate: true,
  skipped: true,
  upcoming: true,
  past_due: true,
  paused: true,
  resumed: true,
  cancelled: true,
  expired: true,
}

/** Counts what happened, and logs what an operator should know of: a period that was paid twice. */
function factRecorder(metrics: Metrics, logger: Logger) {
  const happened = metrics.counter('ponte_subscription_facts_total', 'What happened to subscriptions', { fact: Object.keys(FACTS) })
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
