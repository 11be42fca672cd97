import { CENT, PAYMENT_TOLERANCE_MAX, parseRate } from '@ponte/contracts'
import { modeFault, profileOf } from '@ponte/payment-router'
import { commonSettings, integer, list, secrets } from '@ponte/service-kit'
import { z } from 'zod'
import { httpRateSettings } from './quote/http-rate'

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x address')

const rate = z.string().transform((text, context) => {
  try {
    return parseRate(text)
  } catch {
    context.addIssue('must be a decimal such as 5.42')
    return z.NEVER
  }
})

const factory = z.string().regex(/^(0x[0-9a-fA-F]{40}|none)$/, 'must be a 0x address, or none')

const network = z.strictObject({
  network: z.string().min(1),
  chain_id: z.int().min(1),
  rpc_urls: z.array(z.url({ protocol: /^https?$/ })).default([]),
  token_address: address,
  router_address: address,
  deposit_factory: factory,
  confirmations: z.int().min(1).max(10_000).optional(),
  /** New orders do not offer it. */
  suspended: z.boolean().default(false),
})

const settings = z.object({
  ...commonSettings,
  /** Secret of the gateway's tokens for this service, or several while it is changed. */
  GATEWAY_TOKEN_SECRET: secrets,
  /** Where checkout pages are served; goes into `checkout_url`. */
  PUBLIC_URL: z.url().transform(url => url.replace(/\/$/, '')),
  /** The network's name as merchants and payers read it. */
  NETWORK: z.string(),
  CHAIN_ID: integer(1),
  /** RPC end points of that chain, best first, to verify it by and to ask for the token's block list. Must be set unless DEVELOPMENT_CHAIN is. */
  RPC_URLS: list.pipe(z.array(z.url({ protocol: /^https?$/ }))).default([]),
  /** The chain is a developer's own: it need not be on the list of supported chains, and must not be a main net. */
  DEVELOPMENT_CHAIN: z
    .enum(['true', 'false'])
    .default('false')
    .transform(text => text === 'true'),
  /** The listener's chain time, and a round of the feed, may lie this far ahead of our clock; what is further ahead is not believed. */
  BLOCK_TIME_AHEAD_MAX_S: integer(1).default(120),
  /** USDC on that network. */
  TOKEN_ADDRESS: address,
  /** The PaymentRouter that new orders are paid through. */
  ROUTER_ADDRESS: address,
  /** Networks that orders may be paid on beside that one: a JSON list of `{network, chain_id, rpc_urls, token_address, router_address, deposit_factory, confirmations?, suspended?}`. */
  OTHER_NETWORKS: z
    .string()
    .default('[]')
    .transform((text, context) => {
      const networks = z.array(network).safeParse(parsed(text))
      if (networks.success) return networks.data
      context.addIssue(`must be a JSON list of networks: ${z.prettifyError(networks.error)}`)
      return z.NEVER
    }),
  /** The fee that this router takes, in basis points; must equal the contract's. */
  PLATFORM_FEE_BPS: integer(0, 1000).transform(BigInt),
  /** Blocks after which the listener confirms a payment; shown to payers. The chain's usual ones by default, as at the listener. */
  CONFIRMATIONS: integer(1, 10_000).optional(),
  /** An order is paid when it is short by no more than this, or by a hundredth of it if that is less: exchanges round to a cent. For whom nothing else was chosen. */
  PAYMENT_TOLERANCE_UNITS: integer(0).transform(BigInt).default(CENT),
  /** The most that a merchant may choose instead; and never more than a tenth of an order. As at the gateway, which refuses more. */
  PAYMENT_TOLERANCE_MAX_UNITS: integer(0).transform(BigInt).default(PAYMENT_TOLERANCE_MAX),
  /** An order for less than this has no deposit address: a sweep would cost more gas than its fee brings. */
  DEPOSIT_MIN_UNITS: integer(0).transform(BigInt).default(CENT),
  /** An order for less than this is not relayed without gas, for the same reason. */
  GASLESS_MIN_UNITS: integer(0).transform(BigInt).default(CENT),
  /** The contract whose clones are deposit addresses: the router itself; `none` without a relayer: orders have no address then, and no payment is relayed. Must be set unless DEVELOPMENT_CHAIN is. */
  DEPOSIT_FACTORY: factory.optional(),
  /** A node of the chain with Chainlink's BRL / USD feed, and the feed's address there. */
  RATE_CHAINLINK_RPC_URL: z.url().optional(),
  RATE_CHAINLINK_ADDRESS: address.optional(),
  /** JSON endpoints to ask: a JSON list of `{name, url, path, as_of_path?, as_of_unit?, inverted?}`. */
  RATE_HTTP_SOURCES: z
    .string()
    .default('[]')
    .transform((text, context) => {
      const sources = z.array(httpRateSettings).safeParse(parsed(text))
      if (sources.success) return sources.data
      context.addIssue(`must be a JSON list of sources: ${z.prettifyError(sources.error)}`)
      return z.NEVER
    }),
  /** Fixed BRL per USDC, for places without a market source. */
  RATE_STATIC: rate.optional(),
  /** BRL per USDC outside these bounds prices nothing, whichever source gives it. */
  RATE_MIN: rate.default(parseRate('1')),
  RATE_MAX: rate.default(parseRate('50')),
  /** Age that a round of the feed may have: its heartbeat and a little; RATE_MAX_AGE_S when it is not given. */
  RATE_CHAINLINK_MAX_AGE_S: integer(1).optional(),
  /** A rate older than this prices nothing, where its source has no maximum age of its own. */
  RATE_MAX_AGE_S: integer(1).default(300),
  /** Sources that differ by more than this price nothing. */
  RATE_MAX_SPREAD_BPS: integer(0, 10_000).default(150),
  /** Pause between two questions to the sources. */
  RATE_REFRESH_MS: integer(100).default(15_000),
  /** The central bank's OData service of PTAX, by which entries are valued besides; without it they have none. */
  PTAX_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Seed of the Ed25519 key that signs origin dossiers; without it this installation gives none. */
  DOSSIER_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'must be 64 hex characters; make one with: openssl rand -hex 32')
    .optional(),
  /** Public keys that signed before, as `GET /dossier-keys` gave their `x`: dossiers that they signed are verified by them. */
  DOSSIER_FORMER_KEYS: list.pipe(z.array(z.string().regex(/^[\w-]{43}$/, 'must be 43 characters of base64url'))).default([]),
  /** No order is opened, of a merchant or of a plan; everything else goes on: payments, expiry, refunds, webhooks. */
  ORDERS_PAUSED: z
    .enum(['true', 'false'])
    .default('false')
    .transform(text => text === 'true'),
  /** New orders do not offer the first network: the next one of `OTHER_NETWORKS` that they offer takes its place. */
  NETWORK_SUSPENDED: z
    .enum(['true', 'false'])
    .default('false')
    .transform(text => text === 'true'),
  /** A network of which nothing was confirmed for this long is suspended: new orders do not offer it. 0 never; a developer's chain stands still between two payments. */
  NETWORK_SUSPENDED_AFTER_S: integer(0, 604_800).optional(),
  /** Pause between two looks for expired orders; the confirmed chain time decides, this only asks. */
  EXPIRY_SWEEP_MS: integer(10).default(1_000),
  /** For how long blocks of the listener that fail for an unknown reason are tried again, before they are parked in the dead letters. */
  CHAIN_EVENT_PATIENCE_S: integer(0, 86_400).default(300),
  /** Pause between two comparisons of orders with their payments. */
  RECONCILE_EVERY_S: integer(1, 86_400).default(60),
})

export const ordersConfig = settings
  .superRefine((config, context) => {
    const { PONTE_MODE: mode, DEVELOPMENT_CHAIN: development } = config
    for (const [index, { chainId, rpcUrls, routerAddress, depositFactory }] of networksOf(config).entries()) {
      const refuse = (setting: string, message: string) =>
        context.addIssue({
          code: 'custom',
          ...(index === 0 ? { path: [setting], message } : { path: ['OTHER_NETWORKS'], message: `${message} (chain ${chainId})` }),
        })
      const fault = modeFault(mode, { chainId, development })
      if (fault) refuse('PONTE_MODE', fault)
      if (!development && rpcUrls.length === 0) refuse('RPC_URLS', 'must be set: no order is opened on terms that the chain contradicts')
      if (![undefined, routerAddress.toLowerCase()].includes(depositFactory?.toLowerCase()))
        refuse('DEPOSIT_FACTORY', 'must equal ROUTER_ADDRESS: money at an address of another router would settle nothing')
    }
  })
  .refine(config => networksOf(config).some(({ isSuspended }) => !isSuspended), {
    path: ['NETWORK_SUSPENDED'],
    message: 'leaves no network that new orders may be paid on: pause orders with ORDERS_PAUSED',
  })
  .refine(config => new Set(networksOf(config).map(({ chainId }) => chainId)).size === config.OTHER_NETWORKS.length + 1, {
    path: ['OTHER_NETWORKS'],
    message: 'must name each chain_id once, and not CHAIN_ID',
  })
  .refine(
    config => config.RATE_CHAINLINK_RPC_URL !== undefined || config.RATE_STATIC !== undefined || config.RATE_HTTP_SOURCES.length > 0,
    {
      path: ['RATE_HTTP_SOURCES'],
      message: 'no exchange rate source is set: set it, or RATE_CHAINLINK_RPC_URL and RATE_CHAINLINK_ADDRESS, RATE_STATIC, or several',
    },
  )
  .refine(config => (config.RATE_CHAINLINK_RPC_URL === undefined) === (config.RATE_CHAINLINK_ADDRESS === undefined), {
    path: ['RATE_CHAINLINK_ADDRESS'],
    message: 'goes together with RATE_CHAINLINK_RPC_URL',
  })
  .refine(config => config.DEVELOPMENT_CHAIN || config.DEPOSIT_FACTORY !== undefined, {
    path: ['DEPOSIT_FACTORY'],
    message: 'must be set: to ROUTER_ADDRESS where a relayer sweeps deposit addresses, else to none, and orders have no deposit address',
  })
export type OrdersConfig = z.infer<typeof ordersConfig>

export interface NetworkSettings {
  network: string
  chainId: number
  rpcUrls: readonly string[]
  tokenAddress: string
  routerAddress: string
  /** Undefined where orders have no deposit address. */
  depositFactory: string | undefined
  confirmations: number
  isSuspended: boolean
}

/** The networks that orders may be paid on, the first one first. */
export const networksOf = (config: z.infer<typeof settings>): [NetworkSettings, ...NetworkSettings[]] => [
  networkOf({
    network: config.NETWORK,
    chain_id: config.CHAIN_ID,
    rpc_urls: config.RPC_URLS,
    token_address: config.TOKEN_ADDRESS,
    router_address: config.ROUTER_ADDRESS,
    deposit_factory: config.DEPOSIT_FACTORY ?? 'none',
    confirmations: config.CONFIRMATIONS,
    suspended: config.NETWORK_SUSPENDED,
  }),
  ...config.OTHER_NETWORKS.map(networkOf),
]

const networkOf = ({ network: name, ...facts }: z.infer<typeof network>): NetworkSettings => ({
  network: name,
  chainId: facts.chain_id,
  rpcUrls: facts.rpc_urls,
  tokenAddress: facts.token_address,
  routerAddress: facts.router_address,
  depositFactory: facts.deposit_factory === 'none' ? undefined : facts.deposit_factory,
  confirmations: facts.confirmations ?? profileOf(facts.chain_id).confirmations,
  isSuspended: facts.suspended,
})

/** After which time without a confirmed block a network is suspended; 0 for never. */
export const suspendedAfterMs = ({ NETWORK_SUSPENDED_AFTER_S: seconds, DEVELOPMENT_CHAIN: development }: OrdersConfig): number =>
  (seconds ?? (development ? 0 : 3_600)) * 1_000

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
