import { topology } from '@ponte/contracts'
import { createOrders, ordersConfig, ordersMigrations } from '@ponte/orders'
import { type Database, memoryBus, openDatabase, readConfig, signCaller, silentLogger } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'

const SECRET = 'a-bench-secret-of-at-least-32-characters'

export interface OrdersRig {
  database: Database
  /** Serves once the database is filled. */
  start(): Promise<void>
  /** Bytes of the answer to a merchant. */
  ask(merchantId: string, path: string, query: Record<string, string>): Promise<number>
}

/** Runs work with the service of orders on a database of its own. */
export async function withOrders<T>(work: (rig: OrdersRig) => Promise<T>): Promise<T> {
  const home = await testDatabase(ordersMigrations)
  const database = openDatabase({ url: home.url, poolSize: 2, statementTimeoutMs: 3_600_000 })
  const config = readConfig(ordersConfig, {
    ...{ DATABASE_URL: home.url, AMQP_URL: 'amqp://unused', HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0', GATEWAY_TOKEN_SECRET: SECRET },
    ...{ PUBLIC_URL: 'http://127.0.0.1:8080', NETWORK: 'bench', CHAIN_ID: '1', PLATFORM_FEE_BPS: '100', RATE_STATIC: '5.42' },
    ...{ DEVELOPMENT_CHAIN: 'true', PONTE_MODE: 'development' },
    ...{ TOKEN_ADDRESS: `0x${'01'.repeat(20)}`, ROUTER_ADDRESS: `0x${'02'.repeat(20)}` },
  })
  const orders = createOrders(config, { bus: memoryBus({ topology, logger: silentLogger }), logger: silentLogger })
  try {
    return await work({
      database,
      start: () => orders.start(),
      async ask(merchantId, path, query) {
        const terms = { merchant_id: merchantId, version: 1, display_name: 'Many', payout_address: null }
        const token = signCaller({ kind: 'merchant', terms }, { secrets: [SECRET], audience: 'orders' })
        const url = `http://127.0.0.1:${orders.http.port()}/api/v1/${path}?${new URLSearchParams(query)}`
        const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } })
        if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
        return (await answer.arrayBuffer()).byteLength
      },
    })
  } finally {
    await orders.stop()
    await database.stop?.()
    await home.drop()
  }
}

/** Prints rows with their times. Answers the figures to be kept. */
export function figuresOf(title: string, rows: readonly { p50Ms: number; p95Ms: number }[]): object {
  console.log(`\n${title}`)
  console.table(rows.map(row => ({ ...row, p50Ms: row.p50Ms.toFixed(1), p95Ms: row.p95Ms.toFixed(1) })))
  return { title, node: process.version, rows }
}
