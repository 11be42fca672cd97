import type { EventData } from '@ponte/contracts'
import { createApp, type Database, type HttpServer, httpServer, type Logger, type Metrics, type Part } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import { createChecksums } from '../logs/checksums'
import type { ChainClient } from '../rpc/chain-client'
import type { Leader } from '../store/leader'
import { createAcceptance } from './acceptance'
import { toPayable } from './payable'
import { createRelayer } from './relayer'
import { authorizationRoutes } from './routes'
import { tokenDomain } from './signature'
import { authorizationStore } from './store/authorizations'
import { payableStore } from './store/payables'
import { relayStore } from './store/transactions'

export interface RelayOptions {
  database: Database
  chain: ChainClient
  leader: Leader
  chainId: number
  token: string
  routers: readonly string[]
  /** The account that pays for gas; without it nothing is swept and no signature is submitted. */
  privateKey: string | undefined
  /** Where the gateway hands in payers' signatures; without it there is no port for them. */
  http: { tokenSecret: string; host: string; port: number } | undefined
  depositMinUnits: bigint
  gaslessMinUnits: bigint
  batchMax: number
  ceilingGwei: number
  stuckMs: number
  pollMs: number
  confirmed(): number | undefined
  /** What can be swept has changed: the scan publishes it. */
  changed(): void
  metrics: Metrics
  now: () => Date
  logger: Logger
}

const GWEI = 1_000_000_000n

/** What has money at addresses of its own moved on, and submits what payers signed. */
export function createRelay(options: RelayOptions) {
  const { database, chain, chainId, token, routers, logger } = options
  const payables = payableStore(database, chainId)
  const authorizations = authorizationStore(database, chainId)
  const relayer =
    options.privateKey === undefined
      ? undefined
      : createRelayer({
          ...options,
          wallet: new Wallet(options.privateKey),
          payables,
          authorizations,
          relays: relayStore(database, chainId),
          minUnits: options.depositMinUnits,
          ceiling: BigInt(options.ceilingGwei) * GWEI,
        })
  if (relayer) logger.info('deposits are swept', { relayer: relayer.address })
  else logger.warn('RELAYER_PRIVATE_KEY is not set: nothing is swept and no signature is submitted')
  const accept = createAcceptance({
    chain,
    token,
    domain: tokenDomain(chain, chainId, token),
    relayer: relayer?.address,
    minUnits: options.gaslessMinUnits,
    payables,
    authorizations,
    now: options.now,
  })
  const http = openHttp(options, tokenSecret =>
    authorizationRoutes({ accept, accepted: () => relayer?.wake(), tokenSecret, checksum: createChecksums() }),
  )
  const parts: Part[] = [...(relayer ? [relayer] : []), ...(http ? [http] : [])]
  return {
    parts,
    /** The account that pays for gas. */
    relayer: relayer?.address,
    /** Where the gateway hands in payers' signatures; undefined without its secret. */
    http,
    /** Something in the chain or the lead has changed. */
    wake: () => relayer?.wake(),
    /** Keeps what an order asks for, also without a relayer: its address is watched, and a relayer may get its key later. */
    async orderCreated(data: EventData<'order.created'>, eventId: string): Promise<void> {
      await payables.add({ ...toPayable(data, routers, logger), eventId })
    },
    /** For operators. */
    async held() {
      const waiting = await payables.waiting(1_000)
      const { addresses, total, blocked } = await payables.totals(options.depositMinUnits)
      return { relayer: relayer?.address ?? null, waiting, addresses, total, blocked }
    },
  }
}

function openHttp(
  { http, logger }: RelayOptions,
  routes: (tokenSecret: string) => ReturnType<typeof authorizationRoutes>,
): HttpServer | undefined {
  if (!http) return undefined
  return httpServer('http', createApp({ routes: routes(http.tokenSecret), logger }), { host: http.host, port: http.port })
}

export type Relay = ReturnType<typeof createRelay>
