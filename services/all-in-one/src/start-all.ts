import { type ApiGatewayOverrides, apiGatewayConfig, apiGatewayMigrations, createApiGateway } from '@ponte/api-gateway'
import { chainListenerConfig, chainListenerMigrations, createChainListener } from '@ponte/chain-listener'
import { topologyWith } from '@ponte/contracts'
import { createOrders, ordersConfig, ordersMigrations } from '@ponte/orders'
import {
  createLogger,
  type Logger,
  type Message,
  memoryBus,
  migrate,
  type Part,
  readConfig,
  type Service,
  service,
} from '@ponte/service-kit'
import { createSubscriptions, subscriptionsConfig, subscriptionsMigrations } from '@ponte/subscriptions'
import { createWebhookDispatcher, webhookDispatcherConfig, webhookDispatcherMigrations } from '@ponte/webhook-dispatcher'
import { type Environment, environments, otherListeners, type Place, type ServiceName, serviceNames } from './places'

export const migrations: Record<ServiceName, string> = {
  'api-gateway': apiGatewayMigrations,
  orders: ordersMigrations,
  subscriptions: subscriptionsMigrations,
  'chain-listener': chainListenerMigrations,
  'webhook-dispatcher': webhookDispatcherMigrations,
}

export interface System {
  gatewayUrl: string
  ordersUrl: string
  opsUrls: Record<ServiceName, string>
  /** Of the listeners of further networks: `chain-listener-2` and so on. */
  otherOpsUrls: Record<string, string>
  /** Resolves when no service has work in hand and the bus is empty. */
  idle(timeoutMs?: number): Promise<void>
  stop(): Promise<void>
}

export interface StartOptions {
  now?: () => Date
  /** Of the gateway: logins and waits of accounts stay with the machine's clock where the others' is moved. */
  accountsNow?: () => Date
  logger?: (service: ServiceName) => Logger
  onDeadLetter?: (queue: string, message: Message) => void
  /** Replicas of orders beside the one that the gateway asks: they take their share of the events and of what is due. */
  moreOrders?: number
  /** Routes that the gateway has besides its own. */
  local?: ApiGatewayOverrides['local']
  /** Settings of single services in place of those that follow from the place. */
  settings?: Partial<Record<ServiceName, Environment>>
}

/**
 * The five services in one process, over one in-process bus: the same constructors and the same settings as five processes have.
 * HTTP between the gateway and the owners stays HTTP.
 */
export async function startAll(place: Place, options: StartOptions = {}): Promise<System> {
  const loggers = options.logger ?? (name => createLogger({ service: name, level: place.logLevel }))
  const others = place.others ?? []
  const databases = [
    ...serviceNames.map(name => ({ name, url: place.databaseUrl(name) })),
    ...others.map(chain => ({ name: 'chain-listener' as const, url: chain.databaseUrl })),
  ]
  await Promise.all(databases.map(({ name, url }) => migrate(url, migrations[name])))
  const topology = topologyWith(others.map(chain => chain.chainId))
  const bus = memoryBus({ topology, logger: loggers('orders'), ...(options.onDeadLetter ? { onDeadLetter: options.onDeadLetter } : {}) })
  const env = environments(place)
  for (const name of serviceNames) Object.assign(env[name], options.settings?.[name])
  const given = (name: ServiceName) => {
    const now = (name === 'api-gateway' && options.accountsNow) || options.now
    return { bus, logger: loggers(name), ...(now ? { now } : {}) }
  }

  const orders = createOrders(readConfig(ordersConfig, env.orders), given('orders'))
  const anywhere = { ...env.orders, PORT: '0', OPS_PORT: '0' }
  const moreOrders = Array.from({ length: options.moreOrders ?? 0 }, () =>
    createOrders(readConfig(ordersConfig, anywhere), given('orders')),
  )
  const subscriptions = createSubscriptions(readConfig(subscriptionsConfig, env.subscriptions), given('subscriptions'))
  const listener = createChainListener(readConfig(chainListenerConfig, env['chain-listener']), given('chain-listener'))
  const otherChains = otherListeners(place).map(settings =>
    createChainListener(readConfig(chainListenerConfig, settings), given('chain-listener')),
  )
  const dispatcher = createWebhookDispatcher(readConfig(webhookDispatcherConfig, env['webhook-dispatcher']), given('webhook-dispatcher'))
  const owners = service('owners', [dispatcher, subscriptions, orders, ...moreOrders, listener, ...otherChains])
  await owners.start()

  const ownerUrls = {
    ORDERS_URL: localUrl(orders.http),
    SUBSCRIPTIONS_URL: localUrl(subscriptions.http),
    WEBHOOKS_URL: localUrl(dispatcher.http),
    ...(listener.http ? { CHAIN_LISTENER_URL: localUrl(listener.http) } : {}),
    OTHER_CHAIN_LISTENER_URLS: otherChains.flatMap(({ http }) => (http ? [localUrl(http)] : [])).join(),
  }
  const gateway = createApiGateway(readConfig(apiGatewayConfig, { ...env['api-gateway'], ...ownerUrls }), {
    ...given('api-gateway'),
    local: options.local,
  })
  const all: Service = service('ponte', [bus, owners, gateway] satisfies Part[])
  await gateway.start()
  return {
    gatewayUrl: localUrl(gateway.http),
    ordersUrl: ownerUrls.ORDERS_URL,
    opsUrls: {
      'api-gateway': localUrl(gateway.ops),
      orders: localUrl(orders.ops),
      subscriptions: localUrl(subscriptions.ops),
      'chain-listener': localUrl(listener.ops),
      'webhook-dispatcher': localUrl(dispatcher.ops),
    },
    otherOpsUrls: Object.fromEntries(otherChains.map(({ ops }, index) => [`chain-listener-${index + 2}`, localUrl(ops)])),
    idle: timeoutMs => settledTwice(all, timeoutMs),
    async stop() {
      await gateway.stop()
      await owners.stop()
    },
  }
}

const localUrl = (server: { port(): number }) => `http://127.0.0.1:${server.port()}`

/** A message may move between two parts while they are asked one after the other: only the second quiet look in a row counts. */
async function settledTwice(all: Service, timeoutMs?: number): Promise<void> {
  do await all.idle(timeoutMs)
  while (await all.busy())
}
