import { CHECKPOINT_BLOCKS } from '@ponte/contracts'
import { modeFault, supportedChains } from '@ponte/payment-router'
import { commonSettings, integer, list } from '@ponte/service-kit'
import { z } from 'zod'
import { proofModes } from './proof/prover'
import { relaySettings } from './relay/settings'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const address = z
  .string()
  .regex(ADDRESS, 'must be a 0x address')
  .transform(text => text.toLowerCase())
const urls = (protocol: RegExp, what: string) =>
  list.refine(items => items.length > 0 && items.every(item => URL.canParse(item) && protocol.test(new URL(item).protocol)), {
    error: `must be ${what}`,
    abort: true,
  })
const isEachOnce = (items: readonly string[]) => new Set(items.map(item => new URL(item).href)).size === items.length

const addresses = list
  .refine(items => items.length > 0 && items.every(item => ADDRESS.test(item)), 'must be a comma-separated list of 0x addresses')
  .transform(items => [...new Set(items.map(item => item.toLowerCase()))])
const flag = (byDefault: 'true' | 'false') =>
  z
    .enum(['true', 'false'])
    .default(byDefault)
    .transform(text => text === 'true')

const settings = z.object({
  ...commonSettings,
  CHAIN_ID: integer(1),
  /** It follows one of the OTHER_NETWORKS of orders, and reads a queue of its own. */
  OTHER_NETWORK: flag('false'),
  /** RPC end points of that chain, best first. With two or more, nothing is confirmed on the word of one (see RPC_QUORUM); one alone is trusted. */
  RPC_URLS: urls(/^https?:$/, 'a comma-separated list of http(s) URLs').refine(
    isEachOnce,
    'must name each end point once: one node that is named twice is not two that agree',
  ),
  /** A WebSocket end point whose new heads wake the scan; without one it only polls. */
  WS_URL: z.url({ protocol: /^wss?$/ }).optional(),
  /** The PaymentRouters to watch. One that is added later is read from START_BLOCK on, too. */
  ROUTER_ADDRESSES: addresses,
  /** The token those routers take. */
  TOKEN_ADDRESS: address,
  /** Where those routers may send their fee. Must be set unless DEVELOPMENT_CHAIN is. */
  FEE_RECEIVERS: addresses.optional(),
  /** The fees, in basis points, that those routers may take. Must be set unless DEVELOPMENT_CHAIN is. */
  FEES_BPS: list.pipe(z.array(integer(0, 1_000)).nonempty('must be a comma-separated list of basis points')).optional(),
  /** The chain is a developer's own: it need not be on the list of supported chains, and must not be a main net. */
  DEVELOPMENT_CHAIN: flag('false'),
  /** Refuse to start unless chain, token and routers are what is configured. Only a development chain goes without. */
  VERIFY_DEPLOYMENT: flag('true'),
  /** Depth at which a payment is confirmed; a payment in the newest block has one confirmation. The chain's usual one by default. */
  CONFIRMATIONS: integer(1, 10_000).optional(),
  /** The first block to read on an empty database: no later than the routers' deployment. */
  START_BLOCK: integer(0).default(0),
  /**
   * Blocks that are remembered by hash and read one by one; a deeper reorganisation halts the service. At least CONFIRMATIONS, and by default as many as
   * the chain makes in the time within which it may be reorganised.
   */
  REORG_WINDOW: integer(1, 10_000).optional(),
  /** End points that must agree before a payment is confirmed. A majority by default, of two both. With 1, one is trusted. */
  RPC_QUORUM: integer(1, 20).optional(),
  /**
   * `proven`: what a block's receipts show, held against its hash, is what it holds. `voted`: what enough end points show is. It follows from the chain;
   * to be set only when a fork has changed how the chain's blocks are hashed, until a release knows it.
   */
  BLOCK_PROOF: z.enum(proofModes).optional(),
  /** A block's time may lie this far ahead of our clock; what is further ahead is refused. */
  BLOCK_TIME_AHEAD_MAX_S: integer(1).default(120),
  /** Pause between looks at the head when nothing wakes the scan. */
  POLL_MS: integer(10, 600_000).default(1_000),
  /** At most one `chain.advanced` in this time; the last one is never left out. */
  ADVANCE_EVERY_MS: integer(0, 600_000).default(1_000),
  /** Deadline of one RPC request. */
  RPC_TIMEOUT_MS: integer(100, 120_000).default(10_000),
  /** Larger answers are refused, and a smaller range is asked for. */
  RPC_MAX_BYTES: integer(10_000).default(16_777_216),
  /** Most blocks asked for at once while catching up. */
  RANGE_MAX: integer(1, 100_000).default(5_000),
  /** An end point whose head has not moved for so long is compared with the others. */
  HEAD_STALL_MS: integer(100).default(60_000),
  /** A leader whose connection is silent for so long loses the lease. */
  LEADER_SILENCE_MS: integer(500, 60_000).default(4_000),
  /** Pause between two comparisons of the books with the chain. */
  RECONCILE_EVERY_S: integer(1, 86_400).default(60),
  /** The newest confirmed blocks that are compared each time; the older ones come round in turn. */
  RECONCILE_BLOCKS: integer(1, 5_000).default(1_000),
  /** Blocks of one checkpoint. A development chain may have fewer; elsewhere it is that of the contract. */
  CHECKPOINT_BLOCKS: integer(1, 1_000_000).default(CHECKPOINT_BLOCKS),
  /** Pause between looks at the contracts: upgrades and blocks of the token, strays, sweeps without a fee. */
  MONITOR_EVERY_S: integer(1, 86_400).default(60),
  /** More accounts that the token should not block, besides routers, fee receivers and the relayer's. */
  MONITOR_ACCOUNTS: addresses.optional(),
  /** The newest confirmed blocks in which payments without a fee are looked for. */
  MONITOR_BLOCKS: integer(1, 5_000).default(1_000),
  ...relaySettings,
})

type Settings = z.infer<typeof settings>

const KEYS = ['RELAYER', 'GASLESS'].flatMap(name => [`${name}_PRIVATE_KEY`, `${name}_KEY_FILE`, `${name}_KMS_KEY`] as const)
const keysOf = (config: Settings, account: 'RELAYER' | 'GASLESS') =>
  KEYS.filter(key => key.startsWith(account) && Reflect.get(config, key) !== undefined)
const relays = (config: Settings) => keysOf(config, 'RELAYER').length + keysOf(config, 'GASLESS').length > 0

/** The keys of infra/make-env.mjs, which are public. */
const PUBLIC_KEYS = [
  '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a',
  '0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6',
]
const isPublic = (key: string | undefined) => key !== undefined && PUBLIC_KEYS.includes(key.toLowerCase())

const checked = settings
  .refine(config => keysOf(config, 'RELAYER').length <= 1, { path: ['RELAYER_PRIVATE_KEY'], message: 'name the account in one way' })
  .refine(config => keysOf(config, 'GASLESS').length <= 1, { path: ['GASLESS_PRIVATE_KEY'], message: 'name the account in one way' })
  .refine(config => config.RELAYER_PRIVATE_KEY === undefined || config.RELAYER_PRIVATE_KEY !== config.GASLESS_PRIVATE_KEY, {
    path: ['GASLESS_PRIVATE_KEY'],
    message: 'must be another one than RELAYER_PRIVATE_KEY: each account has a line of nonces of its own',
  })
  .refine(config => config.DEVELOPMENT_CHAIN || !relays(config) || config.COIN_USDC !== undefined, {
    path: ['COIN_USDC'],
    message: 'must be set: what a native coin is worth in USDC',
  })
  .refine(config => config.DATABASE_POOL >= 4, { path: ['DATABASE_POOL'], message: 'must be at least 4: two connections hold locks' })

const shared = checked
  .superRefine((config, context) => {
    const fault = modeFault(config.PONTE_MODE, { chainId: config.CHAIN_ID, development: config.DEVELOPMENT_CHAIN })
    if (fault) context.addIssue({ code: 'custom', path: ['PONTE_MODE'], message: fault })
  })
  .refine(config => config.DEVELOPMENT_CHAIN || !isPublic(config.RELAYER_PRIVATE_KEY), {
    path: ['RELAYER_PRIVATE_KEY'],
    message: 'is the public one of .env.example, for development chains only',
  })
  .refine(config => config.DEVELOPMENT_CHAIN || !isPublic(config.GASLESS_PRIVATE_KEY), {
    path: ['GASLESS_PRIVATE_KEY'],
    message: 'is the public one of .env.example, for development chains only',
  })
  .refine(config => !config.DEVELOPMENT_CHAIN || supportedChains[config.CHAIN_ID]?.isTestNet !== false, {
    path: ['DEVELOPMENT_CHAIN'],
    message: 'must not be set on a main net',
  })
  .refine(config => config.DEVELOPMENT_CHAIN || config.VERIFY_DEPLOYMENT, {
    path: ['VERIFY_DEPLOYMENT'],
    message: 'may be false on a development chain only',
  })
  .refine(config => config.DEVELOPMENT_CHAIN || config.CHECKPOINT_BLOCKS === CHECKPOINT_BLOCKS, {
    path: ['CHECKPOINT_BLOCKS'],
    message: `may differ from ${CHECKPOINT_BLOCKS} on a development chain only`,
  })
  .refine(config => config.DEVELOPMENT_CHAIN || config.FEE_RECEIVERS !== undefined, {
    path: ['FEE_RECEIVERS'],
    message: 'must be set: the accounts that the routers may send their fee to',
  })
  .refine(config => config.DEVELOPMENT_CHAIN || config.FEES_BPS !== undefined, {
    path: ['FEES_BPS'],
    message: 'must be set: the fees in basis points that the routers may take',
  })

/** Of the relayer as a process of its own. */
export const relayerConfig = shared.refine(config => config.DEVELOPMENT_CHAIN || relays(config), {
  path: ['RELAYER_KMS_KEY'],
  message:
    'must be set, or GASLESS_KMS_KEY, or both (…_KEY_FILE and …_PRIVATE_KEY are other ways): without an account this process does nothing',
})

export const chainListenerConfig = shared.refine(config => config.RELAYER_PROCESS === 'listener' || !relays(config), {
  path: ['RELAYER_PROCESS'],
  message: 'is own: the keys of RELAYER_… and GASLESS_… belong to that process alone',
})
export type ChainListenerConfig = z.infer<typeof chainListenerConfig>
