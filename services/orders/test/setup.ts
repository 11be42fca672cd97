import { type EventData, type MerchantTerms, OPT_IN_EVENTS, queuesReadBy, topology } from '@ponte/contracts'
import { type Bus, type Logger, memoryBus, openDatabase, readConfig, signCaller, silentLogger } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { createOrders, ordersConfig, ordersMigrations } from '../src'

export const TOKEN_SECRET = 'a-test-secret-of-at-least-32-characters'
export const PAYOUT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const ROUTER = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
export const merchantId = '01981f3c-0000-7000-8000-000000000001'

/** Settings shared by every process of the service here. */
export const settings = (databaseUrl: string): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  AMQP_URL: 'amqp://unused',
  HOST: '127.0.0.1',
  PORT: '0',
  OPS_PORT: '0',
  GATEWAY_TOKEN_SECRET: TOKEN_SECRET,
  PUBLIC_URL: 'http://127.0.0.1:8080',
  NETWORK: 'anvil',
  CHAIN_ID: '31337',
  DEVELOPMENT_CHAIN: 'true',
  PONTE_MODE: 'development',
  TOKEN_ADDRESS: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  ROUTER_ADDRESS: ROUTER,
  PLATFORM_FEE_BPS: '100',
  RATE_STATIC: '5.42',
  // Tests move the chain's clock to the end of an order.
  BLOCK_TIME_AHEAD_MAX_S: '31536000',
  EXPIRY_SWEEP_MS: '50',
})

export interface PublishedEvent {
  type: string
  data: { order: Record<string, unknown> }
}
/** The orders that the listener was asked to watch. */
export const asked = new WeakMap<Bus, { orders: Map<string, EventData<'deposit.watch'>['orders'][number]>; idle(): Promise<void> }>()
const isOptIn = (type: string) => OPT_IN_EVENTS.some(each => each === type)

/** The real service on a database of its own, with the in-process bus and a static rate. */
export async function startOrders(env: Record<string, string> = {}, given: { now?: () => Date; logger?: Logger } = {}) {
  const database = await testDatabase(ordersMigrations)
  const bus: Bus = memoryBus({ topology, logger: silentLogger })
  const config = readConfig(ordersConfig, { ...settings(database.url), ...env })
  const orders = createOrders(config, { bus, logger: silentLogger, ...given })
  const watched = new Map<string, EventData<'deposit.watch'>['orders'][number]>()
  asked.set(bus, { orders: watched, idle: () => orders.idle() })
  // The other consumers: without them the relay would wait.
  const mine = queuesReadBy('orders')
  const others = Object.keys(topology)
    .filter(queue => !mine.includes(queue))
    .map(queue =>
      bus.consume(queue, async ({ type, body }) => {
        if (type !== 'deposit.watch') return
        for (const order of JSON.parse(body).data.orders) watched.set(order.order_id, order)
      }),
    )
  for (const other of others) await other.start?.()
  try {
    await orders.start()
  } catch (error) {
    await orders.stop()
    for (const other of others) await other.stop?.()
    await database.drop()
    throw error
  }
  const sql = openDatabase({ url: database.url, poolSize: 2 })
  const eventsOf = async (orderId: string): Promise<PublishedEvent[]> => {
    const { rows } = await sql.query<{ event: PublishedEvent }>(
      "SELECT body::jsonb AS event FROM outbox WHERE body::jsonb->'data'->'order'->>'id' = $1 ORDER BY id",
      [orderId],
    )
    return rows.map(row => row.event).filter(event => event.type !== 'order.created')
  }
  return {
    orders,
    bus,
    config,
    database,
    sql,
    url: `http://127.0.0.1:${orders.http.port()}`,
    ops: `http://127.0.0.1:${orders.ops.port()}`,
    /** The events about this order that every merchant gets, in the order they were written. */
    published: async (orderId: string): Promise<PublishedEvent[]> => (await eventsOf(orderId)).filter(({ type }) => !isOptIn(type)),
    /** Events that go only where they were chosen. */
    chosen: async (orderId: string): Promise<PublishedEvent[]> => (await eventsOf(orderId)).filter(({ type }) => isOptIn(type)),
    async stop() {
      await orders.stop()
      for (const other of others) await other.stop?.()
      await sql.stop?.()
      await database.drop()
    },
  }
}

/** The header that the gateway would send for a payer with a link. */
export const asPayer = (): { Authorization: string } => ({
  Authorization: `Bearer ${signCaller({ kind: 'checkout' }, { secrets: [TOKEN_SECRET], audience: 'orders' })}`,
})

/** The same for this merchant. */
export function asMerchant(
  id = merchantId,
  payoutAddress: string | null = PAYOUT,
  userId?: string,
  more: Partial<MerchantTerms> = {},
  memberIds?: readonly string[],
): { Authorization: string } {
  const terms = { merchant_id: id, version: 1, display_name: 'Padaria Estrela', payout_address: payoutAddress, ...more }
  const by = { kind: 'merchant', terms, ...(userId ? { user_id: userId } : {}), ...(memberIds ? { member_ids: memberIds } : {}) }
  return { Authorization: `Bearer ${signCaller(by, { secrets: [TOKEN_SECRET], audience: 'orders' })}` }
}
