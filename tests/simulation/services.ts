import { environments, otherListeners, type Place, type ServiceName } from '@ponte/all-in-one'
import { apiGatewayConfig, createApiGateway } from '@ponte/api-gateway'
import { chainListenerConfig, createChainListener } from '@ponte/chain-listener'
import { topologyWith } from '@ponte/contracts'
import { createOrders, ordersConfig } from '@ponte/orders'
import { type Bus, type Logger, type Message, memoryBus, readConfig, type Service, until } from '@ponte/service-kit'
import type { Random } from '@ponte/service-kit/testing'
import { createSubscriptions, subscriptionsConfig } from '@ponte/subscriptions'
import { createWebhookDispatcher, webhookDispatcherConfig } from '@ponte/webhook-dispatcher'
import { unreliableBus } from './unreliable-bus'

/** The five services over one bus that delays and repeats; each can be stopped and started again while the others go on. */
export async function startServices(place: Place, options: { now: () => Date; random: Random; logger: Logger }) {
  const dead: Message[] = []
  const { logger, now } = options
  const topology = topologyWith((place.others ?? []).map(({ chainId }) => chainId))
  const bus = unreliableBus(memoryBus({ topology, logger, onDeadLetter: (_queue, message) => void dead.push(message) }), options.random)
  // Listeners ask as often together, however many there are.
  const haste = { POLL_MS: String(100 * (1 + (place.others ?? []).length)), ADVANCE_EVERY_MS: '50' }
  const env = withHaste(environments(place), haste)
  const offered = () =>
    (JSON.parse(env.orders.OTHER_NETWORKS ?? '[]') as { chain_id: number }[]).map(one => ({
      ...one,
      suspended: one.chain_id === suspended,
    }))
  let suspended: number | null = null
  const shared = (name: string): { bus: Bus; logger: Logger; now: () => Date } => ({ bus: bus.of(name), logger, now })
  const create = new Map<string, () => Service>(
    Object.entries({
      'webhook-dispatcher': () =>
        createWebhookDispatcher(readConfig(webhookDispatcherConfig, env['webhook-dispatcher']), shared('webhook-dispatcher')),
      subscriptions: () => createSubscriptions(readConfig(subscriptionsConfig, env.subscriptions), shared('subscriptions')),
      orders: () => createOrders(readConfig(ordersConfig, { ...env.orders, OTHER_NETWORKS: JSON.stringify(offered()) }), shared('orders')),
      'chain-listener': () => createChainListener(readConfig(chainListenerConfig, env['chain-listener']), shared('chain-listener')),
      'api-gateway': () => createApiGateway(readConfig(apiGatewayConfig, env['api-gateway']), shared('api-gateway')),
    } satisfies Record<ServiceName, () => Service>),
  )
  const listeners = ['chain-listener']
  for (const settings of otherListeners(place)) {
    const name = `chain-listener ${settings.CHAIN_ID}`
    listeners.push(name)
    create.set(name, () => createChainListener(readConfig(chainListenerConfig, { ...settings, ...haste }), shared(name)))
  }
  const running = new Map<string, Service>()
  const start = async (name: string) => {
    if (running.has(name)) return
    const service = create.get(name)?.()
    if (!service) throw new RangeError(`There is no service ${name}.`)
    running.set(name, service)
    await service.start()
  }
  const stop = async (name: string) => {
    // What it holds unheard would keep it from ending.
    bus.cutOff(name, null)
    const service = running.get(name)
    running.delete(name)
    await service?.stop()
  }
  const restart = async (name: string) => {
    await stop(name)
    await start(name)
  }
  const order = ['webhook-dispatcher', 'subscriptions', 'orders', ...listeners, 'api-gateway']
  for (const name of order) await start(name)
  const busy = async () => {
    const flags = await Promise.all([...running.values()].map(service => service.busy()))
    return flags.includes(true) || (await bus.busy?.()) === true
  }
  return {
    bus,
    dead,
    /** Of each network. */
    listeners,
    start,
    stop,
    restart,
    /** As an operator does it: orders are rolled with it in their settings; null: each network is offered. */
    async suspend(chainId: number | null): Promise<void> {
      suspended = chainId
      await restart('orders')
    },
    suspended: () => suspended,
    isRunning: (name: string) => running.has(name),
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

/** Waits are shorter: the simulation's hours pass in seconds. */
function withHaste(
  env: Record<ServiceName, Record<string, string>>,
  haste: Record<string, string>,
): Record<ServiceName, Record<string, string>> {
  return {
    ...env,
    // Payout addresses change at once: what they wait for is no part of this.
    'api-gateway': { ...env['api-gateway'], FRESH_LOGIN_S: '0', PAYOUT_DELAY_S: '0', PAYOUT_UNSIGNED_DELAY_S: '0', PAYOUT_HOLD_S: '0' },
    orders: { ...env.orders, RATE_REFRESH_MS: '200', EXPIRY_SWEEP_MS: '100' },
    'chain-listener': { ...env['chain-listener'], ...haste },
  }
}
