import { writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { topology } from '@ponte/contracts'
import { createOrders, ordersConfig, ordersMigrations } from '@ponte/orders'
import { memoryBus, openDatabase, readConfig, signCaller, silentLogger, uuidv7 } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { fillOrders, listQueries, type Plan, plansOf } from './many-orders'

// A page of a merchant with a million orders beside a page of one with a hundred: what it reads and how long it takes, by filter.

const MANY = Number(process.env.BENCH_ORDERS ?? 1_000_000)
const FEW = 100
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 60)
const SECRET = 'a-bench-secret-of-at-least-32-characters'

interface Row extends Plan {
  name: string
  orders: number
  p50Ms: number
  p95Ms: number
}

async function main(): Promise<void> {
  const home = await testDatabase(ordersMigrations)
  const database = openDatabase({ url: home.url, poolSize: 2, statementTimeoutMs: 600_000 })
  const config = readConfig(ordersConfig, {
    ...{ DATABASE_URL: home.url, AMQP_URL: 'amqp://unused', HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0', GATEWAY_TOKEN_SECRET: SECRET },
    ...{ PUBLIC_URL: 'http://127.0.0.1:8080', NETWORK: 'bench', CHAIN_ID: '1', PLATFORM_FEE_BPS: '100', RATE_STATIC: '5.42' },
    ...{ DEVELOPMENT_CHAIN: 'true', PONTE_MODE: 'development' },
    ...{ TOKEN_ADDRESS: `0x${'01'.repeat(20)}`, ROUTER_ADDRESS: `0x${'02'.repeat(20)}` },
  })
  const orders = createOrders(config, { bus: memoryBus({ topology, logger: silentLogger }), logger: silentLogger })
  try {
    const [many, few] = [uuidv7(), uuidv7()]
    const start = performance.now()
    await fillOrders(database, few, FEW)
    await fillOrders(database, many, MANY)
    console.log(`${MANY} and ${FEW} orders written in ${((performance.now() - start) / 1000).toFixed(0)} s`)
    await orders.start()
    const rows: Row[] = []
    for (const [merchant, count] of [[few, FEW] as const, [many, MANY] as const]) {
      for (const [name, query] of Object.entries(await listQueries(database, merchant))) {
        const get = () => list(`http://127.0.0.1:${orders.http.port()}`, merchant, query)
        const [plan] = await plansOf(database, get)
        if (!plan) throw new Error(`No statement was seen for ${name}.`)
        const times: number[] = []
        for (let round = 0; round < ROUNDS; round++) {
          const begun = performance.now()
          await get()
          times.push(performance.now() - begun)
        }
        times.sort((a, b) => a - b)
        const [p50Ms, p95Ms] = [times[Math.floor(ROUNDS * 0.5)] ?? Number.NaN, times[Math.floor(ROUNDS * 0.95)] ?? Number.NaN]
        rows.push({ name, orders: count, ...plan, p50Ms, p95Ms })
      }
    }
    print(rows)
  } finally {
    await orders.stop()
    await database.stop?.()
    await home.drop()
  }
}

async function list(url: string, merchant: string, query: Record<string, string>): Promise<void> {
  const terms = { merchant_id: merchant, version: 1, display_name: 'Many', payout_address: null }
  const token = signCaller({ kind: 'merchant', terms }, { secrets: [SECRET], audience: 'orders' })
  const answer = await fetch(`${url}/api/v1/orders?${new URLSearchParams(query)}`, { headers: { Authorization: `Bearer ${token}` } })
  if (answer.status !== 200) throw new Error(`A list answered ${answer.status}.`)
  await answer.arrayBuffer()
}

function print(rows: readonly Row[]): void {
  const title = `Lists: a page of 20 of ${FEW} and of ${MANY} orders, over HTTP, one client`
  console.log(`\n${title}`)
  console.table(rows.map(row => ({ ...row, p50Ms: row.p50Ms.toFixed(1), p95Ms: row.p95Ms.toFixed(1) })))
  const file = process.env.PONTE_BENCH_RESULT
  if (file) writeFileSync(file, `${JSON.stringify({ title, node: process.version, rows }, null, 2)}\n`)
}

main().catch(error => {
  console.error(error)
  process.exitCode = 1
})
