import { createApp, type Database, type HttpServer, httpServer, type Logger, type Metrics, type Part } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import type { Router } from 'express'
import type { ChainListenerConfig } from '../config'
import { createChecksums } from '../logs/checksums'
import type { Nodes } from '../rpc/pool'
import { depositStore } from '../store/deposits'
import type { Leader } from '../store/leader'
import { createAcceptance } from './acceptance'
import { toPayable } from './payable'
import { createRelayer } from './relayer'
import { authorizationRoutes } from './routes'
import { tokenDomain } from './signature'
import { authorizationStore } from './store/authorizations'
import { payableStore } from './store/payables'
import { relayStore } from './store/transactions'
import { openWire } from './wire'

export interface RelayingOptions {
  database: Database
  nodes: Nodes
  leader: Leader
  confirmed(): number | undefined
  /** Wakes the scan: money was found at old addresses, whose transfers are to be read. */
  scan(): void
  metrics: Metrics
  now: () => Date
  logger: Logger
}

const GWEI = 1_000_000_000n

/** What waits for money at addresses of its own, and the relayer when there is a key for it. */
export function createRelaying(config: ChainListenerConfig, options: RelayingOptions) {
  const { database, nodes, logger } = options
  const payables = payableStore(database, config.CHAIN_ID)
  const authorizations = authorizationStore(database, config.CHAIN_ID)
  const wire = openWire(nodes, config.TOKEN_ADDRESS)
  const checksum = createChecksums()
  const relayer =
    config.RELAYER_PRIVATE_KEY === undefined
      ? undefined
      : createRelayer({
          ...options,
          ...{ chainId: config.CHAIN_ID, token: config.TOKEN_ADDRESS, routers: config.ROUTER_ADDRESSES },
          ...{
            wallet: new Wallet(config.RELAYER_PRIVATE_KEY),
            wire,
            payables,
            authorizations,
            relays: relayStore(database, config.CHAIN_ID),
          },
          ...{ minUnits: config.DEPOSIT_MIN_USDC, batchMax: config.DEPOSIT_BATCH_MAX, pollMs: config.POLL_MS },
          old: { days: config.DEPOSIT_OLD_DAYS, everyS: config.DEPOSIT_OLD_EVERY_S },
          ...{ ceiling: BigInt(config.RELAYER_MAX_FEE_GWEI) * GWEI, stuckMs: config.RELAYER_STUCK_MS },
        })
  if (relayer) logger.info('deposit addresses are on', { relayer: relayer.address })
  else logger.warn('deposit addresses are off: RELAYER_PRIVATE_KEY is not set, so nothing is swept and no signature is submitted')
  const accept = createAcceptance({
    ...{ wire, payables, authorizations, now: options.now, token: config.TOKEN_ADDRESS, minUnits: config.DEPOSIT_MIN_USDC },
    ...{ domain: tokenDomain(wire, config.CHAIN_ID, config.TOKEN_ADDRESS), relayer: relayer?.address },
  })
  const http = openHttp(config, logger, tokenSecret =>
    authorizationRoutes({ accept, accepted: () => relayer?.wake(), tokenSecret, checksum }),
  )
  const parts: Part[] = [...(relayer ? [relayer] : []), ...(http ? [http] : [])]
  return {
    parts,
    /** The addresses that the scan watches; undefined when they are off. */
    deposits: relayer && depositStore(database, config.CHAIN_ID),
    /** Where the gateway hands in payers' signatures; undefined without its secret. */
    http,
    /** Something in the chain or the lead has changed. */
    wake: () => relayer?.wake(),
    /** Keeps what an order asks for, also without a relayer: it may get its key later. The scan reads new addresses before it reads another block. */
    async opened(order: Parameters<typeof toPayable>[0], eventId: string): Promise<void> {
      const payable = toPayable(order, config.ROUTER_ADDRESSES, logger)
      if (!payable) return
      await payables.add({ ...payable, eventId })
    },
    /** For operators. */
    async held() {
      const waiting = await payables.waiting(1_000)
      const { addresses, total } = await payables.totals()
      return { relayer: relayer?.address ?? null, waiting, addresses, total }
    },
  }
}

function openHttp(config: ChainListenerConfig, logger: Logger, routes: (tokenSecret: string) => Router): HttpServer | undefined {
  if (config.GATEWAY_TOKEN_SECRET === undefined) return undefined
  const app = createApp({ routes: routes(config.GATEWAY_TOKEN_SECRET), logger })
  return httpServer('http', app, { host: config.HOST, port: config.PORT })
}

export type Relaying = ReturnType<typeof createRelaying>
