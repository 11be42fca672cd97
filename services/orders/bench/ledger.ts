import { type Database, uuidv7 } from '@ponte/service-kit'
import { quantile, runBench, timesOf } from '@ponte/service-kit/testing'
import { figuresOf, withOrders } from './orders'

// Answers of a merchant's ledger with ten million entries in three years beside those of one with a hundred: how long they take over HTTP, and how large they are.

const MANY = Number(process.env.BENCH_ENTRIES ?? 10_000_000)
const FEW = 100
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 40)
const PART = 500_000

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

runBench(() =>
  withOrders(async ({ database, start, ask }) => {
    const [many, few] = [uuidv7(), uuidv7()]
    const indexes = await dropIndexes(database)
    await fill(database, few, FEW)
    await fill(database, many, MANY)
    for (const index of indexes) await database.query(`SET maintenance_work_mem = '1GB'; ${index}`)
    await database.query('VACUUM ANALYZE entries, entry_sums')
    await start()
    const rows: Row[] = []
    for (const [merchant, count] of [[few, FEW] as const, [many, MANY] as const]) {
      for (const [name, [path, query]] of Object.entries(questions(count))) {
        const get = () => ask(merchant, path, query)
        const bytes = await get()
        const times = await timesOf(ROUNDS, get)
        rows.push({ name, entries: count, p50Ms: quantile(times, 0.5), p95Ms: quantile(times, 0.95), bytes })
      }
    }
    return figuresOf(`The ledger of a merchant with ${FEW} and with ${MANY} entries, over HTTP, one client`, rows)
  }),
)
