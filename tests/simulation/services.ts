import { environments, type Place, type ServiceName, serviceNames } from '@ponte/all-in-one'
import { apiGatewayConfig, apiGatewayMigrations, createApiGateway } from '@ponte/api-gateway'
import { chainListenerConfig, chainListenerMigrations, createChainListener } from '@ponte/chain-listener'
import { topology } from '@ponte/contracts'
import { createOrders, ordersConfig, ordersMigrations } from '@ponte/orders'
import { type Bus, type Logger, type Message, memoryBus, migrate, readConfig, type Service, until } from '@ponte/service-kit'
import { createSubscriptions, subscriptionsConfig, subscriptionsMigrations } from '@ponte/subscriptions'
import { createWebhookDispatcher, webhookDispatcherConfig, webhookDispatcherMigrations } from '@ponte/webhook-dispatcher'
import type { Random } from '../torture/random'
import { unreliableBus } from './unreliable-bus'

const migrations: Record<ServiceName, string> = {
  'api-gateway': apiGatewayMigrations,
  orders: ordersMigrations,
  subscriptions: subscriptionsMigrations,
  'chain-listener': chainListenerMigrations,
  'webhook-dispatcher': webhookDispatcherMigrations,
}

/** The five services over one bus that delays and repeats; each can be stopped and started again while the others go on. */
export async function startServices(place: Place, options: { now: () => Date; random: Random; logger: Logger }) {
  await Promise.all(serviceNames.map(name => migrate(place.databaseUrl(name), migrations[name])))
  const dead: Message[] = []
  const { logger, now } = options
  const bus = unreliableBus(memoryBus({ topology, logger, onDeadLetter: (_queue, message) => void dead.push(message) }), options.random)
  const env = withHaste(environments(place))
  const shared: { bus: Bus; logger: Logger; now: () => Date } = { bus, logger, now }
  const create: Record<ServiceName, () => Service> = {
    'webhook-dispatcher': () => createWebhookDispatcher(readConfig(webhookDispatcherConfig, env['webhook-dispatcher']), shared),
    subscriptions: () => createSubscriptions(readConfig(subscriptionsConfig, env.subscriptions), shared),
    orders: () => createOrders(readConfig(ordersConfig, env.orders), shared),
    'chain-listener': () => createChainListener(readConfig(chainListenerConfig, env['chain-listener']), shared),
    'api-gateway': () => createApiGateway(readConfig(apiGatewayConfig, env['api-gateway']), shared),
  }
  const running = new Map<ServiceName, Service>()
  const start = async (name: ServiceName) => {
    if (running.has(name)) return
    const service = create[name]()
    running.set(name, service)
    await service.start()
  }
  const stop = async (name: ServiceName) => {
    const service = running.get(name)
    running.delete(name)
    await service?.stop()
  }
  const order: ServiceName[] = ['webhook-dispatcher', 'subscriptions', 'orders', 'chain-listener', 'api-gateway']
  for (const name of order) await start(name)
  const busy = async () => {
    const flags = await Promise.all([...running.values()].map(service => service.busy()))
    return flags.includes(true) || (await bus.busy?.()) === true
  }
  return {
    bus,
    dead,
    start,
    stop,
    isRunning: (name: ServiceName) => running.has(name),
    /** Resolves when two looks in a row find no work anywhere. */
    idle: (timeoutMs = 60_000) =>
      until(
        async () => !(await busy()) && !(await busy()),
        () => 'the services are still busy',
        timeoutMs,
      ),
    async stopAll() {
      for (const name of order.toReversed()) await stop(name)
    },
  }
}

/** What only waits is done sooner: the simulation's hours pass in seconds. */
function withHaste(env: Record<ServiceName, Record<string, string>>): Record<ServiceName, Record<string, string>> {
  return {
    ...env,
    orders: { ...env.orders, RATE_REFRESH_MS: '200', EXPIRY_SWEEP_MS: '100' },
    'chain-listener': { ...env['chain-listener'], POLL_MS: '100', ADVANCE_EVERY_MS: '50' },
  }
}
