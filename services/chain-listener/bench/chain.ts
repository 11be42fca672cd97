import { chainListenerMigrations } from '@ponte/chain-listener'
import { startFaultProxy } from '@ponte/local-servers'
import { type Bus, openDatabase, until } from '@ponte/service-kit'
import { cpuSeconds, quantile, runBench, testDatabase } from '@ponte/service-kit/testing'
import { type Chain, memoOf, startChain } from '../test/chain'
import { listenerOn, swallowing } from './listener'
import { fill } from './long-chain'
import { type PonderRun, ponder } from './ponder'
import { bareLoop, queryFilter } from './rivals'

const BLOCKS = Number(process.env.PONTE_BENCH_BLOCKS ?? 5_000)
const PER_BLOCK = 20
/** ponder is far slower, so it reads the chain's beginning only. */
const PONDER_BLOCKS = Number(process.env.PONTE_BENCH_PONDER_BLOCKS ?? 1_000)
const FAR_MS = 80
const LATENCY_ROUNDS = Number(process.env.PONTE_BENCH_LATENCY_ROUNDS ?? 200)

interface Row {
  name: string
  payments: number
  seconds: number
  per_second: number
  /** Microseconds of processor for one payment: of this process, of the node it asks, and of PostgreSQL. */
  cpu_us: number | null
  anvil_cpu_us: number | null
  postgres_cpu_us: number | null
  peak_rss_mb: number | null
}

interface Seen {
  payments: number
  postgresS?: number
}

/** Times work, and watches the process's memory meanwhile. */
async function timed(chain: Chain, name: string, work: () => Promise<Seen>): Promise<Row> {
  globalThis.gc?.()
  let peak = process.memoryUsage().rss
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 20)
  const [start, cpu, anvil] = [performance.now(), process.cpuUsage(), cpuSeconds([chain.anvil.pid])]
  const { payments, postgresS } = await work()
  const seconds = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  clearInterval(watch)
  const each = (wholeS: number) => (Number.isFinite(wholeS) ? round((wholeS * 1e6) / payments, 1) : null)
  return report({
    ...{ name, payments, seconds: round(seconds, 2), per_second: Math.round(payments / seconds) },
    ...{ cpu_us: each((user + system) / 1e6), anvil_cpu_us: each(cpuSeconds([chain.anvil.pid]) - anvil) },
    ...{ postgres_cpu_us: each(postgresS ?? Number.NaN), peak_rss_mb: Math.round(peak / 2 ** 20) },
  })
}

function report(row: Row): Row {
  console.log(`  ${row.name}: ${row.per_second} payments/s`)
  return row
}

async function ponderRows(chain: Chain): Promise<Row[]> {
  const blocks = Math.min(BLOCKS, PONDER_BLOCKS)
  try {
    // The first block holds the emitter.
    const { cold, cached } = await ponder(chain, blocks + 1, blocks * PER_BLOCK)
    const row = (name: string, { seconds, payments }: PonderRun) =>
      report({
        ...{ name, payments, seconds: round(seconds, 2), per_second: Math.round(payments / seconds) },
        ...{ cpu_us: null, anvil_cpu_us: null, postgres_cpu_us: null, peak_rss_mb: null },
      })
    return [row('ponder, a sample, cold', cold), row('ponder, a sample, the chain in its cache: its transforming', cached)]
  } catch (error) {
    console.log(`  ponder is left out: ${error instanceof Error ? error.message : error}`)
    return []
  }
}

const round = (value: number, digits: number) => Number(value.toFixed(digits))

const listenerAt = (chain: Chain, DATABASE_URL: string, env: Record<string, string>, bus = swallowing) =>
  listenerOn({ DATABASE_URL, RPC_URLS: chain.anvil.rpcUrl, ROUTER_ADDRESSES: chain.emitter, TOKEN_ADDRESS: chain.emitter, ...env }, bus)

/** The real service, from an empty database to the head: payments, cursor and outbox committed to PostgreSQL, and everything published. */
async function ours(chain: Chain, height: number, env: Record<string, string> = {}): Promise<Seen> {
  const database = await testDatabase(chainListenerMigrations)
  const listener = listenerAt(chain, database.url, { CONFIRMATIONS: '1', ...env })
  const sql = openDatabase({ url: database.url, poolSize: 2 })
  const count = async (text: string) => (await sql.query<{ n: number }>(text)).rows[0]?.n ?? 0
  await listener.start()
  await until(async () => (await listener.status()).scanned_block === height, 'the head was never reached', 300_000)
  await until(
    async () => (await count('SELECT count(*)::int AS n FROM outbox WHERE sent_at IS NULL')) === 0,
    'the outbox is not empty',
    300_000,
  )
  const payments = await count('SELECT count(*)::int AS n FROM payments')
  const published = await count("SELECT sum(jsonb_array_length(body::jsonb -> 'data' -> 'payments'))::int AS n FROM outbox")
  const backends = await sql.query<{ pid: number }>('SELECT pid FROM pg_stat_activity WHERE datname = current_database()')
  const postgresS = cpuSeconds(backends.rows.map(({ pid }) => pid))
  await sql.stop?.()
  await listener.stop()
  await database.drop()
  if (published !== payments) throw new Error(`${payments} payments, but ${published} published`)
  return { payments, postgresS }
}

async function farAway(url: string, ms: number) {
  const proxy = await startFaultProxy(url)
  proxy.set({
    whole: () => new Promise(resolve => setTimeout(() => resolve(false), ms)),
  })
  return proxy
}

/** From the moment a block is mined to its payment on the bus, with a WebSocket head. */
async function latency(): Promise<{ p50: number; p95: number; p99: number; rounds: number }> {
  const chain = await startChain({ noMining: true })
  const database = await testDatabase(chainListenerMigrations)
  const waiting = new Map<string, (at: number) => void>()
  const bus: Bus = {
    ...swallowing,
    async publish({ type, body }) {
      if (type !== 'chain.blocks') return
      for (const { memo } of JSON.parse(body).data.payments) waiting.get(memo)?.(performance.now())
    },
  }
  const listener = listenerAt(chain, database.url, { WS_URL: chain.anvil.wsUrl, CONFIRMATIONS: '2' }, bus)
  await listener.start()
  await listener.idle()
  const times: number[] = []
  for (let n = 1; n <= LATENCY_ROUNDS; n++) {
    const memo = memoOf(n)
    const detected = new Promise<number>(resolve => waiting.set(memo, resolve))
    await chain.pay([{ memo }])
    const start = performance.now()
    await chain.rpc('evm_mine')
    times.push((await detected) - start)
  }
  await listener.stop()
  await database.drop()
  await chain.stop()
  times.sort((a, b) => a - b)
  const at = (share: number) => round(quantile(times, share), 1)
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), rounds: times.length }
}

async function benchChain() {
  const chain = await startChain({ noMining: true })
  try {
    const started = performance.now()
    await fill(chain, BLOCKS, PER_BLOCK)
    // Beyond what ponder takes for the end of finished history.
    await chain.mine(64)
    const height = await chain.height()
    console.log(
      `  a chain of ${height} blocks with ${BLOCKS * PER_BLOCK} payments, made in ${round((performance.now() - started) / 1_000, 0)} s`,
    )
    const rows: Row[] = []
    for (const blocks of [50, 250])
      rows.push(await timed(chain, `bare eth_getLogs + hand decode, ${blocks} blocks at once`, () => bareLoop(chain, height, blocks)))
    rows.push(await timed(chain, 'chain-listener, committed and published', () => ours(chain, height)))
    rows.push(await timed(chain, 'chain-listener, BLOCK_PROOF=voted', () => ours(chain, height, { BLOCK_PROOF: 'voted' })))
    const far = await farAway(chain.anvil.rpcUrl, FAR_MS)
    rows.push(await timed(chain, `chain-listener, a node ${FAR_MS} ms away`, () => ours(chain, height, { RPC_URLS: far.url })))
    await far.stop()
    for (const blocks of [50, 250])
      rows.push(
        await timed(chain, `bare eth_getLogs + hand decode, ${blocks} blocks at once, again`, () => bareLoop(chain, height, blocks)),
      )
    const sample = Math.min(height, 500)
    rows.push(await timed(chain, 'ethers queryFilter, a sample', () => queryFilter(chain, sample, 100)))
    rows.push(...(await ponderRows(chain)))
    return { payments: BLOCKS * PER_BLOCK, blocks: height, rows, detected_after_block_ms: await latency() }
  } finally {
    await chain.stop()
  }
}

runBench(async () => {
  const result = await benchChain()
  console.table(result.rows)
  console.log('block mined to its payment on the bus, WebSocket head (ms):', result.detected_after_block_ms)
  return result
})
