import { join } from 'node:path'
import { queuesReadBy, topology } from '@ponte/contracts'
import {
  auditRoutes,
  consumer,
  createApp,
  every,
  httpServer,
  type Logger,
  type Overrides,
  outboxRelay,
  resealRoutes,
  seal,
  serviceParts,
  unseal,
} from '@ponte/service-kit'
import { forgetKeyRequests } from './account/key-routes'
import { accountOperatorRoutes } from './account/operator-routes'
import { settleChanges } from './account/settle'
import { reportUnknown } from './account/team'
import { logoRoutes } from './branding/branding-routes'
import { liveViews } from './checkout/checkout-routes'
import { HEARTBEAT_MS, liveCheckout } from './checkout/live-checkout'
import type { ApiGatewayConfig } from './config'
import { type IdentityProvider, openIdentityProvider } from './credentials/identity-provider'
import { sessionTokens } from './credentials/session-token'
import { docsRoutes } from './docs/docs-routes'
import { interfaceHeaders } from './edge/interface-headers'
import { limitAddress } from './limits/limit-handlers'
import { localLimit, sharedLimit, WINDOW_MS } from './limits/rate-limit'
import { createMailer, type MailerDeps } from './mail/mailer'
import { openSmtp } from './mail/smtp'
import { openOwner } from './owners/owner'
import { errorPage } from './pages/error-page'
import { pages } from './pages/pages'
import { pagePreviews } from './pages/previews'
import { securityHeaders } from './pages/security-headers'
import { reactions } from './reactions'
import { type RouteDeps, routes } from './routes'
import { openStore } from './store'

const CHANGES_EVERY_MS = 5_000
const UNANSWERED_EVERY_MS = 60_000
const FORGET_REQUESTS_EVERY_MS = 600_000
/** Live pages have so many connections to orders. */
const LIVE_CONNECTIONS = 4
const builtPages = join(__dirname, '../../../packages/web/dist')

/** `local` are routes that only a gateway on a developer's machine has; the deployed process gives none. */
export type ApiGatewayOverrides = Overrides & { local?: RouteDeps['local'] | undefined }

/** Public API gateway, as a list of parts. */
export function createApiGateway(config: ApiGatewayConfig, overrides: ApiGatewayOverrides = {}) {
  const queues = queuesReadBy('api-gateway')
  const { logger, metrics, database, bus, now, assemble } = serviceParts('api-gateway', config, { topology, queues, overrides })
  // Windows are measured, not dated: the database numbers those that replicas share, and a clock that is set back must refuse no one for longer.
  const elapsed = () => performance.now()
  const provider = identityProvider(config, logger)
  const relay = outboxRelay(database, bus, logger, { outboxDays: config.OUTBOX_DAYS, inboxDays: config.INBOX_DAYS })
  const store = openStore(database, {
    ...{ now, mails: config.SMTP_URL !== undefined },
    committed() {
      relay.wake()
      wakeMail()
    },
  })
  const wakeMail = () => {
    for (const mailer of mailers) mailer.wake()
  }
  const mailers = createMailers(config, { mails: store.mails, now, logger })
  const owners = openOwners(config, logger)
  const otherListeners = openOtherListeners(config, logger)
  // Connections of their own, so that no request waits behind live pages.
  const pagesOwner = openOwner({
    ...ownerOptions(config, logger),
    ...{ name: 'orders', urls: config.ORDERS_URL, secrets: config.ORDERS_TOKEN_SECRET, connections: LIVE_CONNECTIONS },
  })
  const live = liveCheckout({
    views: orderIds => liveViews(pagesOwner, orderIds),
    streamsMax: config.STREAMS_MAX,
    streamsPerAddressMax: config.STREAMS_PER_ADDRESS_MAX,
    streamsPerMerchantMax: config.STREAMS_PER_MERCHANT_MAX,
    logger,
  })
  const pruning = every('rate window pruning', WINDOW_MS, store.rateWindows.prune, logger)
  metrics.observed(
    'ponte_owner_replicas_silent',
    'Replicas of owners that accept connections and answer nothing, as this replica sees them',
    () => [...Object.values(owners), ...otherListeners].reduce((sum, owner) => sum + owner.silentReplicas(), 0),
  )
  metrics.observed('ponte_live_streams', 'Checkout streams open in this replica', live.count)

  const payoutGuard = {
    ...{ delayMs: config.PAYOUT_DELAY_S * 1_000, unsignedDelayMs: config.PAYOUT_UNSIGNED_DELAY_S * 1_000 },
    ...{ ownerDelayMs: config.OWNER_DELAY_S * 1_000, payoutHoldMs: config.PAYOUT_HOLD_S * 1_000 },
  }
  const app = createApp({
    database,
    before: [securityHeaders(config.AUTH_URL), interfaceHeaders, limitAddress(localLimit(config.RATE_LIMIT_ADDRESS_PER_MINUTE, elapsed))],
    routes: routes({
      store,
      owners,
      otherListeners,
      live,
      logger,
      now,
      tokens: sessionTokens({ keys: tokenKeys(config), issuer: config.JWT_ISSUER, audience: config.JWT_AUDIENCE, now, logger }),
      takeCaller: sharedLimit(config.RATE_LIMIT_CALLER_PER_MINUTE, store.rateWindows.lease, elapsed),
      takeChange: sharedLimit(config.RATE_LIMIT_CHANGES_PER_MINUTE, store.rateWindows.lease, elapsed),
      takeOpening: localLimit(config.RATE_LIMIT_LINK_ORDERS_PER_MINUTE, elapsed),
      countUnchanged: localLimit(config.RATE_LIMIT_UNCHANGED_PER_MINUTE, elapsed),
      concurrency: {
        reads: { running: config.MERCHANT_READS_MAX, contended: config.MERCHANT_READS_CONTENDED, waiting: config.MERCHANT_WAITING_MAX },
        files: { running: config.MERCHANT_READS_MAX, waiting: config.MERCHANT_WAITING_MAX },
        writes: { running: config.MERCHANT_WRITES_MAX, contended: config.MERCHANT_WRITES_CONTENDED, waiting: config.MERCHANT_WAITING_MAX },
      },
      sealKeys: config.SEAL_KEY,
      mode: config.PONTE_MODE,
      isMailing: config.SMTP_URL !== undefined,
      freshLoginMs: config.FRESH_LOGIN_S * 1_000,
      provider,
      payoutGuard,
      toleranceMaxUnits: config.PAYMENT_TOLERANCE_MAX_UNITS,
      webhooks: { allowed: config.WEBHOOK_ALLOW_CIDRS, denied: config.WEBHOOK_DENY_CIDRS },
      ...(overrides.local ? { local: overrides.local } : {}),
      docs: docsRoutes({ publicUrl: config.PUBLIC_URL }),
      pages: pages({
        previews: pagePreviews({ orders: pagesOwner, merchants: store.merchants, publicUrl: config.PUBLIC_URL ?? null, logger }),
        mode: config.PONTE_MODE,
        logos: logoRoutes(store),
        folder: config.WEB_FOLDER ?? builtPages,
        settings: {
          auth_url: config.AUTH_URL ?? null,
          public_client_key: config.PUBLIC_CLIENT_KEY ?? null,
          sandbox: config.SANDBOX_URL !== undefined,
        },
        session: {
          provider,
          sessions: store.sessions,
          now,
          secure: config.PUBLIC_URL?.startsWith('https:') ?? false,
          clock: elapsed,
          logger,
        },
      }),
    }),
    rawBody: true,
    errorPage,
    logger,
  })
  app.set('trust proxy', config.TRUSTED_PROXIES)
  const http = httpServer('http', app, { host: config.HOST, port: config.PORT })
  return assemble({
    parts: [
      relay,
      pruning,
      every('changes that wait', CHANGES_EVERY_MS, () => settleChanges({ store, now, payoutGuard }), logger),
      every('requests without an answer', UNANSWERED_EVERY_MS, () => reportUnknown({ store }), logger),
      every('sessions not seen for long', FORGET_REQUESTS_EVERY_MS, () => store.sessions.forget(now()), logger),
      every('requests for keys', FORGET_REQUESTS_EVERY_MS, () => forgetKeyRequests(store), logger),
      ...Object.values(owners),
      ...otherListeners,
      pagesOwner,
      ...mailers,
      consumer(
        bus,
        queues,
        reactions({
          mails: config.SMTP_URL === undefined ? null : store.mails,
          sealFor: (id, text) => seal(text, config.SEAL_KEY, id),
          wake: wakeMail,
          now,
        }),
      ),
      bus.listen(['order.changed'], live.notify),
      every('live checkout heartbeat', HEARTBEAT_MS, live.heartbeat, logger),
    ],
    http,
    operators: accountOperatorRoutes({ store, now, payoutGuard }).use(
      auditRoutes(database, audited),
      resealRoutes(database, config.SEAL_KEY, [
        { table: 'merchants', column: 'sealed_webhook_secret' },
        { table: 'merchants', column: 'sealed_pending_secret' },
      ]),
    ),
    // Started last and stopped first: the HTTP part's stop waits for open answers, and a stream never ends by itself.
    last: [live],
  })
}

/** Read row by row by an auditor, who needs no address of a person. */
const audited = {
  merchants: ['id'],
  members: { key: ['id'], shown: ['id', 'merchant_id', 'user_id', 'role', 'created_at', 'role_since'] },
  api_keys: { key: ['merchant_id', 'created_at'], shown: ['merchant_id', 'created_at', 'hash'] },
  named_keys: { key: ['id'], shown: ['id', 'merchant_id', 'scopes', 'created_at', 'hash'] },
}

function createMailers(
  { SMTP_URL, MAIL_FROM, PUBLIC_URL, SEAL_KEY }: ApiGatewayConfig,
  deps: Pick<MailerDeps, 'mails' | 'now' | 'logger'>,
) {
  if (SMTP_URL === undefined || MAIL_FROM === undefined || PUBLIC_URL === undefined) return []
  const smtp = openSmtp({ url: SMTP_URL, from: MAIL_FROM })
  return [createMailer({ ...deps, smtp, dashboard: `${PUBLIC_URL}/dashboard`, unseal: (sealed, id) => unseal(sealed, SEAL_KEY, id) })]
}

const ownerOptions = (config: ApiGatewayConfig, logger: Logger) => ({
  timeoutMs: config.OWNER_TIMEOUT_MS,
  connectionAgeMs: config.OWNER_CONNECTION_AGE_MS,
  logger,
})

function openOwners(config: ApiGatewayConfig, logger: Logger) {
  const open = (name: string, urls: readonly string[], secrets: readonly string[], more: { longAnswers?: number } = {}) =>
    openOwner({ name, urls, secrets, ...ownerOptions(config, logger), ...more })
  return {
    orders: open('orders', config.ORDERS_URL, config.ORDERS_TOKEN_SECRET),
    subscriptions: open('subscriptions', config.SUBSCRIPTIONS_URL, config.SUBSCRIPTIONS_TOKEN_SECRET),
    'webhook-dispatcher': open('webhook-dispatcher', config.WEBHOOKS_URL, config.WEBHOOKS_TOKEN_SECRET, {
      longAnswers: config.EVENT_WAITS_MAX,
    }),
    ...(config.CHAIN_LISTENER_URL !== undefined && config.CHAIN_LISTENER_TOKEN_SECRET !== undefined
      ? { 'chain-listener': open('chain-listener', config.CHAIN_LISTENER_URL, config.CHAIN_LISTENER_TOKEN_SECRET) }
      : {}),
    ...(config.SANDBOX_URL !== undefined && config.SANDBOX_TOKEN_SECRET !== undefined
      ? { sandbox: open('sandbox', config.SANDBOX_URL, config.SANDBOX_TOKEN_SECRET) }
      : {}),
  }
}

const openOtherListeners = (config: ApiGatewayConfig, logger: Logger) =>
  config.OTHER_CHAIN_LISTENER_URLS.map(url =>
    openOwner({ name: 'chain-listener', urls: [url], secrets: config.CHAIN_LISTENER_TOKEN_SECRET ?? [], ...ownerOptions(config, logger) }),
  )

/** Beside the provider's keys, which this process reaches, or else where browsers log in. Null without `AUTH_URL`. */
function identityProvider({ AUTH_URL, JWKS_URL, PUBLIC_CLIENT_KEY }: ApiGatewayConfig, logger: Logger): IdentityProvider | null {
  if (AUTH_URL === undefined) return null
  const keys = JWKS_URL?.endsWith('/.well-known/jwks.json') ? JWKS_URL : `${AUTH_URL.replace(/\/$/, '')}/auth/v1/.well-known/jwks.json`
  return openIdentityProvider({ url: new URL('../', keys).href, clientKey: PUBLIC_CLIENT_KEY ?? '', logger })
}

function tokenKeys(config: ApiGatewayConfig) {
  if (config.JWKS_URL !== undefined) return { jwksUrl: config.JWKS_URL }
  if (config.JWT_SECRET !== undefined) return { sharedSecret: config.JWT_SECRET }
  throw new Error('Set either JWKS_URL or JWT_SECRET.')
}
