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
  openDatabase,
  opsServer,
  outboxRelay,
  rabbitmqBus,
  service,
  uuidv7,
} from '@ponte/service-kit'
import { createArrivals } from './arrival'
import { createCharges } from './charge'
import type { OrdersConfig } from './config'
import { depositAddresses } from './deposit'
import { expireDue } from './expiry'
import { orderMetrics } from './measures'
import { createOpening } from './opening'
import { operatorRoutes } from './operator-routes'
import type { Change } from './order'
import { rateSources } from './rate-sources'
import { openRates } from './rates'
import { reactions } from './reactions'
import { createReconciling } from './reconciling'
import { routes } from './routes'
import { openStore } from './store'

/** What the roof or a test may hand in; what is given belongs to the giver. */
export interface Given {
  bus?: Bus
  now?: () => Date
  logger?: Logger
}

/** The invoice and its settlement, as a list of parts. */
export function createOrders(config: OrdersConfig, given: Given = {}) {
  const logger = given.logger ?? createLogger({ service: 'orders', level: config.LOG_LEVEL })
  const now = given.now ?? (() => new Date())
  const metrics = createMetrics('orders')
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL, applicationName: 'orders' })
  const bus = given.bus ?? rabbitmqBus({ url: config.AMQP_URL, namespace: config.AMQP_NAMESPACE, topology, logger })
  const relay = outboxRelay(database, bus, logger)

  const measured = orderMetrics(metrics)
  const announce = (order: { id: string; merchantId: string }) => bus.announce(changed(order, now()))
  const committed = (change: Change) => {
    relay.wake()
    measured.committed(change)
    // Nobody watches an order that has only just been made.
    if (change.from !== null) announce(change.order)
  }
  const store = openStore(database, { now, committed })
  const rates = openRates(rateSources(config, now), {
    maxAgeS: config.RATE_MAX_AGE_S,
    maxSpreadBps: config.RATE_MAX_SPREAD_BPS,
    refreshMs: config.RATE_REFRESH_MS,
    now,
    logger,
  })
  metrics.observed('ponte_quote_age_seconds', 'Age of the exchange rate that orders are priced with', rates.ageS)
  metrics.observed('ponte_payment_events_missing', 'Payment events that expiry waits for', () =>
    store.missingPaymentEvents(config.CHAIN_ID),
  )

  const place = { network: config.NETWORK, publicUrl: config.PUBLIC_URL, confirmations: config.CONFIRMATIONS }
  const destination = { chainId: config.CHAIN_ID, tokenAddress: config.TOKEN_ADDRESS, routerAddress: config.ROUTER_ADDRESS }
  const depositAddress = depositAddresses(config.DEPOSIT_FACTORY)
  const opening = createOpening({ destination, feeBps: config.PLATFORM_FEE_BPS, place, quote: rates.current, depositAddress })
  const arrivals = createArrivals({ store, now, logger, onUnmatched: measured.unmatched, onReorged: measured.reorged })
  const charges = createCharges({ store, now, opening, arrivals, logger })
  const expiry = every('expiry', config.EXPIRY_SWEEP_MS, () => expireDue(store, config.CHAIN_ID, now), logger)
  const reconciling = createReconciling({ store, metrics, now, logger, chainId: config.CHAIN_ID, everyS: config.RECONCILE_EVERY_S })
  const pruning = every('idempotency pruning', 3_600_000, () => store.prune(), logger)

  const ways = routes({ store, opening, place, now, tokenSecret: config.GATEWAY_TOKEN_SECRET })
  const app = createApp({ routes: ways, logger })
  const http = httpServer('http', app, { host: config.HOST, port: config.PORT })
  const ops = opsServer({
    host: config.HOST,
    port: config.OPS_PORT,
    metrics,
    parts: () => parts,
    logger,
    routes: operatorRoutes(store, config.CHAIN_ID),
  })
  const parts = [
    database,
    ...(given.bus ? [] : [bus]),
    relay,
    rates,
    expiry,
    charges.waiting,
    pruning,
    reconciling,
    consumer(bus, 'orders', reactions({ store, now, arrivals, charges, chainMoved: expiry.wake, announce })),
    ops,
    http,
  ]
  return { ...service('orders', parts), http, ops }
}

/** Tells live pages that something a payer can see has changed; nobody waits for it and nothing is lost with it. */
function changed(order: { id: string; merchantId: string }, at: Date) {
  const event = {
    id: uuidv7(),
    type: 'order.changed',
    occurred_at: at.toISOString(),
    data: { merchant_id: order.merchantId, order_id: order.id },
    trace: null,
  }
  return { id: event.id, type: event.type, body: JSON.stringify(event) }
}
