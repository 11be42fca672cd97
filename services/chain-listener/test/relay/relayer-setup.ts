import { type DepositWatch, topology } from '@ponte/contracts'
import {
  type FaultProxy,
  type LocalChain,
  type LocalChainOptions,
  startFaultProxy,
  startLocalChain,
  testAccounts,
} from '@ponte/local-servers'
import { depositAddress, PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { type Bus, memoryBus, silentLogger, uuidv7 } from '@ponte/service-kit'
import { hexlify, randomBytes } from 'ethers'
import type { Overrides } from '../../src'
import { collector, type Listening, startListener } from '../setup'

export const RELAYER = testAccounts[4]
export const GASLESS = testAccounts[9]
export const MERCHANT = testAccounts[2]

export interface RelayWorld {
  chain: LocalChain
  proxy: FaultProxy
  bus: Bus
  /** Starts the service again on the same database. */
  start(env?: Record<string, string>, overrides?: Overrides): Promise<Listening>
  /** Tells the listener of an order, to whose address money may have been sent by then, and waits until it knows it. */
  open(
    listening: Listening,
    more?: {
      id?: string
      usdc?: string
      expiresAt?: Date
      merchant?: string
      merchantIsContract?: boolean
      merchantId?: string
      watchFrom?: number
      generation?: string
      alreadySent?(address: string): Promise<unknown>
    },
  ): Promise<{ id: string; memo: string; address: string }>
  /** Publishes that an order was cancelled. */
  cancel(id: string): Promise<void>
  /** A plain transfer by an account that has nothing to do with us; resolves when sent. */
  pay(address: string, amount: bigint): Promise<string>
  /** PaymentReceived of a memo on the chain, and what the merchant got by them. */
  received(memo: string): Promise<bigint[]>
  /** Mines a block before each look. */
  mineUntil(listening: Listening, done: () => boolean | Promise<boolean>, message: string): Promise<void>
  stop(): Promise<void>
}

/** A real chain with the real contracts behind a proxy that can fail, and one database for one listener after the other. */
export async function startRelayWorld(options: LocalChainOptions = {}): Promise<RelayWorld> {
  const chain = await startLocalChain(options)
  const proxy = await startFaultProxy(chain.rpcUrl)
  const bus = memoryBus({ topology, logger: silentLogger })
  const published = collector(bus)
  let databaseUrl: string | undefined
  let first: Listening | undefined
  const running = new Set<Listening>()
  const start = async (env: Record<string, string> = {}, overrides: Overrides = {}) => {
    const listening = await startListener({
      ...{ rpcUrls: proxy.url, router: chain.routerAddress, given: { bus, published, ...overrides } },
      // No node hangs here; one that was left alone for being slow would hold up a busy machine.
      env: {
        RPC_TIMEOUT_MS: '10000',
        TOKEN_ADDRESS: chain.usdcAddress,
        RELAYER_PRIVATE_KEY: RELAYER.privateKey,
        GASLESS_PRIVATE_KEY: GASLESS.privateKey,
        ...env,
      },
      ...(databaseUrl === undefined ? {} : { databaseUrl }),
    })
    databaseUrl = listening.databaseUrl
    first ??= listening
    running.add(listening)
    return { ...listening, stop: async () => void (running.delete(listening) && (await listening.listener.stop())) }
  }
  const stranger = chain.wallet(7)
  const pay = async (address: string, amount: bigint) => {
    await chain.mintUsdc(stranger.address, amount)
    return (await chain.transferUsdc(stranger, address, amount)).hash
  }
  return {
    ...{ chain, proxy, bus, start, pay },
    async open(listening, { id = uuidv7(), alreadySent, merchant = MERCHANT.address, watchFrom = 0, ...more } = {}) {
      const memo = hexlify(randomBytes(32)).slice(2)
      const address = depositAddress({ router: chain.routerAddress, memo, merchant })
      await alreadySent?.(address)
      const event = depositWatch(chain, { id, memo, address, merchant, watchFrom, ...more })
      // It resolves when every reader has taken it, and subscriptions is not here.
      void bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })
      const known = async () => (await listening.sql.query('SELECT 1 FROM payables WHERE order_id = $1', [id])).rowCount === 1
      await listening.until(known, 'the order did not arrive')
      return { id, memo, address }
    },
    async cancel(id) {
      const order = { id, external_ref: null }
      const data = { merchant_id: uuidv7(), merchant_version: 1, subscription_id: null, order }
      const event = { id: uuidv7(), type: 'order.cancelled', occurred_at: new Date().toISOString(), data, trace: null }
      void bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })
    },
    async received(memo) {
      const topics = [PAYMENT_RECEIVED_TOPIC, `0x${memo}`]
      const logs = await chain.provider.getLogs({ address: chain.routerAddress, topics, fromBlock: 0, toBlock: 'latest' })
      return logs.map(log => BigInt(log.data.slice(0, 66)))
    },
    mineUntil: (listening, done, message) =>
      listening.until(async () => {
        await chain.mine(1)
        return done()
      }, message),
    async stop() {
      for (const listening of running) if (listening !== first) await listening.listener.stop()
      await first?.stop()
      await published.stop?.()
      await proxy.stop()
      await chain.stop()
    },
  }
}

export const relays = async ({ sql }: Listening) => (await sql.query('SELECT * FROM relays ORDER BY nonce')).rows

/** Takes the lead from the relayer until the answer is called: signatures are taken, and nothing leaves. */
export async function holdLead(listening: Listening): Promise<() => Promise<void>> {
  const held = await listening.sql.pool.connect()
  await listening.sql.query(
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7211 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
  )
  await held.query('SELECT pg_advisory_lock(7211, 31337)')
  return async () => {
    await held.query('SELECT pg_advisory_unlock(7211, 31337)')
    held.release()
  }
}

export function depositWatch(
  chain: Pick<LocalChain, 'chainId' | 'routerAddress'>,
  of: {
    id: string
    memo: string
    address: string | null
    merchant: string
    merchantIsContract?: boolean
    watchFrom: number
    merchantId?: string
    usdc?: string
    expiresAt?: Date
    generation?: string
  },
) {
  const now = new Date()
  const data: DepositWatch = {
    chain_id: chain.chainId,
    generation: of.generation ?? null,
    orders: [
      {
        ...{ order_id: of.id, merchant_id: of.merchantId ?? uuidv7(), memo: of.memo, router_address: chain.routerAddress },
        ...{ merchant_address: of.merchant, merchant_is_contract: of.merchantIsContract ?? false, deposit_address: of.address },
        ...{ watch_from: of.watchFrom, expires_at: (of.expiresAt ?? new Date(now.getTime() + 1_800_000)).toISOString() },
        ...{ asked_amount: of.usdc ?? '10.000000', cancelled_at: null },
      },
    ],
  }
  return { id: uuidv7(), type: 'deposit.watch', occurred_at: now.toISOString(), data, trace: null }
}
