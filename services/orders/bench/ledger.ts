import { writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { topology } from '@ponte/contracts'
import { createOrders, ordersConfig, ordersMigrations } from '@ponte/orders'
import { type Database, memoryBus, openDatabase, readConfig, signCaller, silentLogger, uuidv7 } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'

// Answers of a merchant's ledger with ten million entries in three years beside those of one with a hundred: how long they take over HTTP, and how large they are.

const MANY = Number(process.env.BENCH_ENTRIES ?? 10_000_000)
const FEW = 100
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 40)
const PART = 500_000
const SECRET = 'a-bench-secret-of-at-least-32-characters'

// A payment, its fee and what settled, one after another, spread over three years up to now.
const FILL = `
  INSERT INTO entries (merchant_id, sequence, kind, units, brl_centavos, order_id, at, chain_id, tx_hash, log_index, block_number, block_time, payer_address, address, booked_at)
  SELECT $1, n, (ARRAY['payment', 'fee', 'settled'])[1 + n % 3], 27675277, 15000, gen_random_uuid(), moment, 1, md5(n::text), n % 100, n, moment, '0x', '0x', moment
  FROM (SELECT n, date_trunc('milliseconds', now() - interval '3 years' * (1 - n::float8 / $4)) AS moment FROM generate_series($2::bigint, $3::bigint) AS n) AS rows`
const SUM = `
  INSERT INTO entry_sums SELECT merchant_id, date_bin('15 minutes', at, '2000-01-01T00:00:00Z'), kind, count(*), sum(units), sum(brl_centavos)
  FROM entries WHERE merchant_id = $1 GROUP BY 1, 2, 3`

interface Row {
  name: string
  entries: number
  p50Ms: number
  p95Ms: number
  bytes: number
}

async function fill(database: Database, merchant: string, count: number): Promise<void> {
  for (let first = 1; first <= count; first += PART) {
    await database.query(FILL, [merchant, first, Math.min(count, first + PART - 1), count])
    process.stdout.write(`\r${Math.min(count, first + PART - 1)} of ${count} entries`)
  }
  await database.query(SUM, [merchant])
  await database.query('INSERT INTO ledgers VALUES ($1, $2)', [merchant, count])
  console.log()
}

/** Ten million rows are written in a tenth of the time without them. Answers the statements that make them again. */
async function dropIndexes(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ indexname: string; indexdef: string }>(
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'entries' AND indexname <> 'entries_pkey'",
  )
  for (const { indexname } of rows) await database.query(`DROP INDEX ${indexname}`)
  return rows.map(({ indexdef }) => indexdef)
}

const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString()
const civil = (ago: number) => day(ago).slice(0, 10)
const timezone = 'America/Sao_Paulo'

const questions = (count: number): Record<string, [path: string, query: Record<string, string>]> => ({
  'entries, first page': ['entries', { limit: '100' }],
  'entries, last page': ['entries', { limit: '100', after: String(count - 50) }],
  'entries of a day': ['entries', { limit: '100', at_gte: day(400), at_lt: day(399) }],
  'entries of a kind': ['entries', { limit: '100', kind: 'fee', after: String(Math.floor(count / 2)) }],
  'summary of 31 days': ['summary', { from: civil(30), to: civil(0), timezone }],
  'summary of 12 months': ['summary', { from: civil(365), to: civil(0), timezone, by: 'month' }],
  'summary of 36 months': ['summary', { from: civil(1_090), to: civil(0), timezone, by: 'month' }],
})

async function main(): Promise<void> {
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
    const [many, few] = [uuidv7(), uuidv7()]
    const indexes = await dropIndexes(database)
    await fill(database, few, FEW)
    await fill(database, many, MANY)
    for (const index of indexes) await database.query(`SET maintenance_work_mem = '1GB'; ${index}`)
    await database.query('VACUUM ANALYZE entries, entry_sums')
    await orders.start()
    const rows: Row[] = []
    for (const [merchant, count] of [[few, FEW] as const, [many, MANY] as const]) {
      for (const [name, [path, query]] of Object.entries(questions(count))) {
        const get = () => ask(`http://127.0.0.1:${orders.http.port()}/api/v1/${path}?${new URLSearchParams(query)}`, merchant)
        const bytes = await get()
        const times: number[] = []
        for (let round = 0; round < ROUNDS; round++) {
          const begun = performance.now()
          await get()
          times.push(performance.now() - begun)
        }
        times.sort((a, b) => a - b)
        const at = (share: number) => times[Math.floor(ROUNDS * share)] ?? Number.NaN
        rows.push({ name, entries: count, p50Ms: at(0.5), p95Ms: at(0.95), bytes })
      }
    }
    print(rows)
  } finally {
    await orders.stop()
    await database.stop?.()
    await home.drop()
  }
}

async function ask(url: string, merchant: string): Promise<number> {
  const terms = { merchant_id: merchant, version: 1, display_name: 'Many', payout_address: null }
  const token = signCaller({ kind: 'merchant', terms }, { secrets: [SECRET], audience: 'orders' })
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } })
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.arrayBuffer()).byteLength
}

function print(rows: readonly Row[]): void {
  const title = `The ledger of a merchant with ${FEW} and with ${MANY} entries, over HTTP, one client`
  console.log(`\n${title}`)
  console.table(rows.map(row => ({ ...row, p50Ms: row.p50Ms.toFixed(1), p95Ms: row.p95Ms.toFixed(1) })))
  const file = process.env.PONTE_BENCH_RESULT
  if (file) writeFileSync(file, `${JSON.stringify({ title, node: process.version, rows }, null, 2)}\n`)
}

main().catch(error => {
  console.error(error)
  process.exitCode = 1
})
