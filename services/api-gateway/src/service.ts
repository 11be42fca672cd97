import { join } from 'node:path'
import { topology } from '@ponte/contracts'
import {
  type Bus,
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
} from '@ponte/service-kit'
import { checkoutView, HEARTBEAT_MS, liveCheckout } from './checkout'
import type { ApiGatewayConfig } from './config'
import { sessionTokens } from './credentials'
import { limitAddress, localLimit, sharedLimit, WINDOW_MS } from './limits'
import { docsRoutes } from './openapi'
import { openOwner } from './owners'
import { pages, securityHeaders } from './pages'
import { routes } from './routes'
import { openStore } from './store'

/** What all-in-one or a test may pass in; its life cycle stays with the caller. */
export interface Overrides {
  bus?: Bus
  now?: () => Date
  logger?: Logger
}

const builtPages = join(__dirname, '../../../packages/web/dist')

/** Public API gateway, as a list of parts. */
export function createApiGateway(config: ApiGatewayConfig, overrides: Overrides = {}) {
  const logger = overrides.logger ?? createLogger({ service: 'api-gateway', level: config.LOG_LEVEL })
  const now = overrides.now ?? (() => new Date())
  const clock = () => now().getTime()
  const metrics = createMetrics('api-gateway')
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL, applicationName: 'api-gateway' })
  const bus = overrides.bus ?? rabbitmqBus({ url: config.AMQP_URL, namespace: config.AMQP_NAMESPACE, topology, logger })
  const relay = outboxRelay(database, bus, logger)
  const store = openStore(database, { now, committed: relay.wake })
  const owners = openOwners(config, logger)
  const live = liveCheckout({
    view: orderId => checkoutView(owners.orders, orderId),
    streamsMax: config.STREAMS_MAX,
    streamsPerAddressMax: config.STREAMS_PER_ADDRESS_MAX,
    logger,
  })
  const pruning = every('rate window pruning', WINDOW_MS, store.rateWindows.prune, logger)
  metrics.observed('ponte_live_streams', 'Checkout streams open in this replica', live.count)

  const app = createApp({
    before: [securityHeaders(config.AUTH_URL), limitAddress(localLimit(config.RATE_LIMIT_ADDRESS_PER_MINUTE, clock))],
    routes: routes({
      store,
      owners,
      live,
      now,
      tokens: sessionTokens({ keys: tokenKeys(config), issuer: config.JWT_ISSUER, audience: config.JWT_AUDIENCE, now, logger }),
      takeCaller: sharedLimit(config.RATE_LIMIT_CALLER_PER_MINUTE, store.rateWindows.lease, clock),
      sealKey: config.SEAL_KEY,
      docs: docsRoutes({ publicUrl: config.PUBLIC_URL }),
      pages: pages({
        folder: config.WEB_FOLDER ?? builtPages,
        settings: { auth_url: config.AUTH_URL ?? null, public_client_key: config.PUBLIC_CLIENT_KEY ?? null },
        session: {
          refreshUrl: refreshUrl(config),
          clientKey: config.PUBLIC_CLIENT_KEY ?? '',
          secure: config.PUBLIC_URL?.startsWith('https:') ?? false,
          logger,
        },
      }),
    }),
    rawBody: true,
    logger,
  })
  app.set('trust proxy', config.TRUSTED_PROXIES)
  const http = httpServer('http', app, { host: config.HOST, port: config.PORT })
  const ops = opsServer({ host: config.HOST, port: config.OPS_PORT, metrics, parts: () => parts, logger })
  const parts = [
    database,
    ...(overrides.bus ? [] : [bus]),
    relay,
    pruning,
    ...Object.values(owners),
    bus.listen(['order.changed'], live.notify),
    every('live checkout heartbeat', HEARTBEAT_MS, live.heartbeat, logger),
    ops,
    http,
    // Started last and stopped first: the HTTP part's stop waits for open answers, and a stream never ends by itself.
    live,
  ]
  return { ...service('api-gateway', parts), http, ops }
}

function openOwners(config: ApiGatewayConfig, logger: Logger) {
  const open = (name: string, url: string, secret: string) => openOwner({ name, url, secret, timeoutMs: config.OWNER_TIMEOUT_MS, logger })
  return {
    orders: open('orders', config.ORDERS_URL, config.ORDERS_TOKEN_SECRET),
    subscriptions: open('subscriptions', config.SUBSCRIPTIONS_URL, config.SUBSCRIPTIONS_TOKEN_SECRET),
    'webhook-dispatcher': open('webhook-dispatcher', config.WEBHOOKS_URL, config.WEBHOOKS_TOKEN_SECRET),
    ...(config.CHAIN_LISTENER_URL !== undefined && config.CHAIN_LISTENER_TOKEN_SECRET !== undefined
      ? { 'chain-listener': open('chain-listener', config.CHAIN_LISTENER_URL, config.CHAIN_LISTENER_TOKEN_SECRET) }
      : {}),
  }
}

/** Where sessions are refreshed: beside the provider's keys, which this process reaches, or else where browsers log in. */
function refreshUrl({ AUTH_URL, JWKS_URL }: ApiGatewayConfig): string | null {
  if (AUTH_URL === undefined) return null
  const keys = JWKS_URL?.endsWith('/.well-known/jwks.json') ? JWKS_URL : `${AUTH_URL.replace(/\/$/, '')}/auth/v1/.well-known/jwks.json`
  return new URL('../token?grant_type=refresh_token', keys).href
}

function tokenKeys(config: ApiGatewayConfig) {
  if (config.JWKS_URL !== undefined) return { jwksUrl: config.JWKS_URL }
  if (config.JWT_SECRET !== undefined) return { sharedSecret: config.JWT_SECRET }
  throw new Error('Set either JWKS_URL or JWT_SECRET.')
}
