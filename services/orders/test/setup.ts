import { topology } from '@ponte/contracts'
import { type Bus, memoryBus, readConfig, signCaller, silentLogger } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import pg from 'pg'
import { createOrders, ordersConfig, ordersMigrations } from '../src'

export const TOKEN_SECRET = 'a-test-secret-of-at-least-32-characters'
export const PAYOUT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const merchantId = '01981f3c-0000-7000-8000-000000000001'

/** The real service on a database of its own, with the in-process bus and a static rate. */
export async function startOrders(env: Record<string, string> = {}, given: { now?: () => Date } = {}) {
  const database = await testDatabase(ordersMigrations)
  const bus: Bus = memoryBus({ topology, logger: silentLogger })
  const config = readConfig(ordersConfig, {
    DATABASE_URL: database.url,
    AMQP_URL: 'amqp://unused',
    HOST: '127.0.0.1',
    PORT: '0',
    OPS_PORT: '0',
    GATEWAY_TOKEN_SECRET: TOKEN_SECRET,
    PUBLIC_URL: 'http://127.0.0.1:8080',
    NETWORK: 'anvil',
    CHAIN_ID: '31337',
    TOKEN_ADDRESS: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    ROUTER_ADDRESS: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
    PLATFORM_FEE_BPS: '100',
    RATE_STATIC: '5.42',
    EXPIRY_SWEEP_MS: '50',
    ...env,
  })
  const orders = createOrders(config, { bus, logger: silentLogger, ...given })
  await orders.start()
  const sql = new pg.Pool({ connectionString: database.url, max: 2 })
  return {
    orders,
    bus,
    config,
    sql,
    url: `http://127.0.0.1:${orders.http.port()}`,
    async stop() {
      await orders.stop()
      await sql.end()
      await database.drop()
    },
  }
}

/** The header that the gateway would send for this merchant. */
export function asMerchant(id = merchantId, payoutAddress: string | null = PAYOUT): { Authorization: string } {
  const terms = { merchant_id: id, version: 1, display_name: 'Padaria Estrela', payout_address: payoutAddress }
  return { Authorization: `Bearer ${signCaller({ kind: 'merchant', terms }, { secret: TOKEN_SECRET, audience: 'orders' })}` }
}
