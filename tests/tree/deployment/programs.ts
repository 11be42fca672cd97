import { serviceNames } from '@ponte/all-in-one'
import { apiGatewayConfig, createApiGateway } from '@ponte/api-gateway'
import { chainListenerConfig, createChainListener, createRelayer, relayerConfig } from '@ponte/chain-listener'
import { createOrders, ordersConfig } from '@ponte/orders'
import { readConfig, silentLogger } from '@ponte/service-kit'
import { createSubscriptions, subscriptionsConfig } from '@ponte/subscriptions'
import { createWebhookDispatcher, webhookDispatcherConfig } from '@ponte/webhook-dispatcher'
import type { Variables } from './container'

/** Every process: the relayer is the listener's image, started in another way. */
export const programs = [...serviceNames, 'relayer'] as const
export type ProgramName = (typeof programs)[number]

export const configs = {
  'api-gateway': apiGatewayConfig,
  orders: ordersConfig,
  subscriptions: subscriptionsConfig,
  'chain-listener': chainListenerConfig,
  'webhook-dispatcher': webhookDispatcherConfig,
  relayer: relayerConfig,
}

const given = { logger: silentLogger }
/** Puts each together as its program does; nothing listens or connects yet. */
export const creators: Record<ProgramName, (env: Variables) => { stop(): Promise<void> }> = {
  'api-gateway': env => createApiGateway(readConfig(apiGatewayConfig, env), given),
  orders: env => createOrders(readConfig(ordersConfig, env), given),
  subscriptions: env => createSubscriptions(readConfig(subscriptionsConfig, env), given),
  'chain-listener': env => createChainListener(readConfig(chainListenerConfig, env), given),
  'webhook-dispatcher': env => createWebhookDispatcher(readConfig(webhookDispatcherConfig, env), given),
  relayer: env => createRelayer(readConfig(relayerConfig, env), given),
}

/** Names that are no setting of the program. */
export const unknownSettings = (program: ProgramName, names: readonly string[]): string[] => {
  const settings = Object.keys(configs[program].shape)
  return names.filter(name => !settings.includes(name))
}
