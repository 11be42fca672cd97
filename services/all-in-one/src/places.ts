import type { Mode } from '@ponte/contracts'

/** The five, in the order in which the data flows from the merchant's request to the merchant's webhook. */
export const serviceNames = ['api-gateway', 'orders', 'subscriptions', 'chain-listener', 'webhook-dispatcher'] as const
export type ServiceName = (typeof serviceNames)[number]
/** The relayer is a part of chain-listener, unless it is started as a process of its own. */
export const processNames = [...serviceNames, 'relayer'] as const
export type ProcessName = (typeof processNames)[number]

/** The name of its database, where one server has all five. */
export const databaseName = (service: ServiceName) => service.replaceAll('-', '_')

export type Environment = Record<string, string>

/** A network that orders may be paid on, as it is configured. */
export interface PlacedChain {
  /** `anvil` unless given. */
  network?: string
  rpcUrl: string
  wsUrl?: string
  chainId: number
  usdcAddress: string
  routerAddress: string
  rateFeedAddress?: string
  feeBps: number
  /** The chain's usual ones unless given. */
  confirmations?: number
  /** The relayer's account; without it deposit addresses are off. */
  relayerPrivateKey: string | undefined
  gaslessPrivateKey: string | undefined
}

/** Addresses and secrets that the services share, whether all-in-one starts them in one process or a test starts five. */
export interface Place {
  /** `development` unless given. */
  mode?: Mode
  databaseUrl: (service: ServiceName) => string
  amqp: { url: string; namespace: string }
  chain: PlacedChain
  /** Networks beside it, each with a listener and a database of its own. */
  others?: readonly (PlacedChain & { databaseUrl: string })[]
  identity: { url: string; issuer: string; audience: string; publicClientKey: string }
  publicUrl: string
  /** Ports of the services' own routes; 0 binds a free one. */
  ports: Record<ServiceName, number>
  /** Where the gateway finds the owners. */
  ownerUrls: { orders: string; subscriptions: string; webhooks: string; chainListener: string }
  secrets: {
    sealKey: string
    dossierKey: string
    ordersTokenSecret: string
    subscriptionsTokenSecret: string
    webhooksTokenSecret: string
    chainListenerTokenSecret: string
  }
  webhookAllowCidrs: string
  logLevel: string
}

/** Settings of each service that name the place; each other one has the service's own default. */
export function placeSettings(place: Place): Record<ServiceName, Environment> {
  const { chain, secrets } = place
  const common = (service: ServiceName): Environment => ({
    DATABASE_URL: place.databaseUrl(service),
    AMQP_URL: place.amqp.url,
    AMQP_NAMESPACE: place.amqp.namespace,
    HOST: '127.0.0.1',
    PORT: String(place.ports[service]),
    OPS_PORT: '0',
    LOG_LEVEL: place.logLevel,
    PONTE_MODE: place.mode ?? 'development',
  })
  const network: Environment = {
    CHAIN_ID: String(chain.chainId),
    TOKEN_ADDRESS: chain.usdcAddress,
    ...(chain.confirmations === undefined ? {} : { CONFIRMATIONS: String(chain.confirmations) }),
  }
  return {
    'api-gateway': {
      ...common('api-gateway'),
      PUBLIC_URL: place.publicUrl,
      AUTH_URL: place.identity.url,
      PUBLIC_CLIENT_KEY: place.identity.publicClientKey,
      JWKS_URL: `${place.identity.url}/auth/v1/.well-known/jwks.json`,
      JWT_ISSUER: place.identity.issuer,
      JWT_AUDIENCE: place.identity.audience,
      SEAL_KEY: secrets.sealKey,
      WEBHOOK_ALLOW_CIDRS: place.webhookAllowCidrs,
      ORDERS_URL: place.ownerUrls.orders,
      SUBSCRIPTIONS_URL: place.ownerUrls.subscriptions,
      WEBHOOKS_URL: place.ownerUrls.webhooks,
      CHAIN_LISTENER_URL: place.ownerUrls.chainListener,
      ORDERS_TOKEN_SECRET: secrets.ordersTokenSecret,
      SUBSCRIPTIONS_TOKEN_SECRET: secrets.subscriptionsTokenSecret,
      WEBHOOKS_TOKEN_SECRET: secrets.webhooksTokenSecret,
      CHAIN_LISTENER_TOKEN_SECRET: secrets.chainListenerTokenSecret,
    },
    orders: {
      ...common('orders'),
      ...network,
      GATEWAY_TOKEN_SECRET: secrets.ordersTokenSecret,
      PUBLIC_URL: place.publicUrl,
      NETWORK: chain.network ?? 'anvil',
      RPC_URLS: chain.rpcUrl,
      ROUTER_ADDRESS: chain.routerAddress,
      ...(chain.relayerPrivateKey === undefined ? {} : { DEPOSIT_FACTORY: chain.routerAddress }),
      PLATFORM_FEE_BPS: String(chain.feeBps),
      DOSSIER_KEY: secrets.dossierKey,
      ...(chain.rateFeedAddress === undefined
        ? {}
        : { RATE_CHAINLINK_RPC_URL: chain.rpcUrl, RATE_CHAINLINK_ADDRESS: chain.rateFeedAddress }),
      ...(place.others ? { OTHER_NETWORKS: JSON.stringify(place.others.map(offered)) } : {}),
    },
    subscriptions: {
      ...common('subscriptions'),
      GATEWAY_TOKEN_SECRET: secrets.subscriptionsTokenSecret,
      PUBLIC_URL: place.publicUrl,
    },
    'chain-listener': {
      ...common('chain-listener'),
      ...network,
      RPC_URLS: chain.rpcUrl,
      ...(chain.wsUrl === undefined ? {} : { WS_URL: chain.wsUrl }),
      ROUTER_ADDRESSES: chain.routerAddress,
      GATEWAY_TOKEN_SECRET: secrets.chainListenerTokenSecret,
      ...(chain.relayerPrivateKey === undefined ? {} : { RELAYER_PRIVATE_KEY: chain.relayerPrivateKey }),
      ...(chain.gaslessPrivateKey === undefined ? {} : { GASLESS_PRIVATE_KEY: chain.gaslessPrivateKey }),
      START_BLOCK: '0',
    },
    'webhook-dispatcher': {
      ...common('webhook-dispatcher'),
      GATEWAY_TOKEN_SECRET: secrets.webhooksTokenSecret,
      SEAL_KEY: secrets.sealKey,
      WEBHOOK_ALLOW_CIDRS: place.webhookAllowCidrs,
    },
  }
}

/** An element of OTHER_NETWORKS. */
const offered = (chain: PlacedChain) => ({
  network: chain.network ?? `anvil-${chain.chainId}`,
  chain_id: chain.chainId,
  rpc_urls: [chain.rpcUrl],
  token_address: chain.usdcAddress,
  router_address: chain.routerAddress,
  deposit_factory: chain.relayerPrivateKey === undefined ? 'none' : chain.routerAddress,
  confirmations: chain.confirmations ?? 1,
})

const RELAYER_KEYS = /^(?:RELAYER|GASLESS)_(?:PRIVATE_KEY|KEY_FILE|KMS_KEY)$/

/** The listener's settings as those of two processes, of which the relayer alone has the keys. */
export function withOwnRelayer(settings: Record<ServiceName, Environment>): Record<ProcessName, Environment> {
  const relayer = { ...settings['chain-listener'], RELAYER_PROCESS: 'own' }
  const listener = Object.fromEntries(Object.entries(relayer).filter(([name]) => !RELAYER_KEYS.test(name)))
  return { ...settings, 'chain-listener': listener, relayer }
}

const DEVELOPER: Environment = {
  // No load balancer must be shown a stop here; idle connections between the services end within a second.
  LAME_DUCK_MS: '1500',
  NODE_ENV: 'development',
}
export const DEVELOPMENT_CHAIN: Environment = {
  DEVELOPMENT_CHAIN: 'true',
  // A developer moves this chain's clock, and waits for no order to expire.
  BLOCK_TIME_AHEAD_MAX_S: '31536000',
}
/** On a developer's machine everything comes from one address, and a load test is no attack. */
const LIMITS: Environment = {
  RATE_LIMIT_CALLER_PER_MINUTE: '100000000',
  RATE_LIMIT_ADDRESS_PER_MINUTE: '100000000',
  RATE_LIMIT_CHANGES_PER_MINUTE: '100000000',
  RATE_LIMIT_LINK_ORDERS_PER_MINUTE: '100000000',
  RATE_LIMIT_UNCHANGED_PER_MINUTE: '100000000',
}

/** The environment of each service on a developer's machine, the same variables that an operator sets: embedded mode has no other way in. */
export function environments(place: Place): Record<ServiceName, Environment> {
  const settings = placeSettings(place)
  for (const name of serviceNames) Object.assign(settings[name], DEVELOPER)
  for (const name of ['orders', 'chain-listener'] as const) Object.assign(settings[name], DEVELOPMENT_CHAIN)
  Object.assign(settings['api-gateway'], LIMITS)
  return settings
}

/** The same of each listener of a network beside the first. */
export const otherListeners = (place: Place): Environment[] =>
  (place.others ?? []).map(chain => {
    const { 'chain-listener': settings } = placeSettings({ ...place, chain, databaseUrl: () => chain.databaseUrl })
    return { ...settings, PORT: '0', OTHER_NETWORK: 'true', ...DEVELOPER, ...DEVELOPMENT_CHAIN }
  })
