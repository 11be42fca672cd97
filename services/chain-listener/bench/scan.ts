import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { chainListenerMigrations } from '@ponte/chain-listener'
import { openDatabase, until } from '@ponte/service-kit'
import { cpuSeconds, runBench, testDatabase } from '@ponte/service-kit/testing'
import { bloomBits } from '../src/logs/bloom'
import { TRANSFER_TOPIC } from '../src/logs/transfer'
import { listenerOn } from './listener'

const OPEN = Number(process.env.PONTE_BENCH_OPEN ?? 100_000)
const ISSUED = Number(process.env.PONTE_BENCH_ISSUED ?? 10_000_000)
const CATCH_UP = Number(process.env.PONTE_BENCH_BLOCKS ?? 10_000)
const NEAR_HEAD = Number(process.env.PONTE_BENCH_NEAR ?? 100)
/** Ethereum's USDC has about as many. */
const PER_BLOCK = 150
const START = 1_000_000
const TOKEN = `0x${'a0'.repeat(20)}`
const ROUTER = `0x${'b0'.repeat(20)}`
const CHAIN_ID = 31_337

const addressOf = (n: number) => `0x${(BigInt(n) * 2_654_435_761n).toString(16).padStart(40, '0')}`

function bloom(): string {
  const bits = [...bloomBits(TOKEN), ...bloomBits(TRANSFER_TOPIC)]
  const bytes = new Uint8Array(256)
  for (const bit of bits) bytes[255 - (bit >> 3)] = (bytes[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7))
  return `0x${Buffer.from(bytes).toString('hex')}`
}

/** The node, in a process of its own: what it costs is not the listener's. */
async function startNode(ours: readonly string[]) {
  const settings = {
    chainId: CHAIN_ID,
    token: TOKEN,
    bloom: bloom(),
    transferTopic: TRANSFER_TOPIC,
    perBlock: PER_BLOCK,
    oursEvery: 50,
    ours,
  }
  const child: ChildProcess = spawn(process.execPath, [join(__dirname, 'token-traffic.mjs'), JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const [port] = child.stdout ? await once(child.stdout, 'data') : ['']
  const url = `http://127.0.0.1:${Number(port)}`
  return {
    url,
    head: (number: number) => fetch(`${url}/head`, { method: 'POST', body: String(number) }),
    stop: () => child.disconnect(),
  }
}

interface Row {
  addresses: string
  near_head_ms: number
  near_head_cpu_ms: number
  near_head_postgres_ms: number
  catch_up_s: number
  catch_up_cpu_s: number
  catch_up_postgres_s: number
  found: number
}

async function measure(name: string, count: number): Promise<Row> {
  const ours = Array.from({ length: Math.min(count, 1_000) }, (_, index) =>
    addressOf(1 + index * Math.floor(count / Math.min(count, 1_000))),
  )
  const node = await startNode(ours)
  const database = await testDatabase(chainListenerMigrations)
  const sql = openDatabase({
    url: database.url,
    poolSize: 1,
    statementTimeoutMs: 600_000,
    settings: ['work_mem=64MB', 'maintenance_work_mem=512MB'],
  })
  const listener = () =>
    listenerOn({
      ...{ DATABASE_URL: database.url, RPC_URLS: node.url, ROUTER_ADDRESSES: ROUTER, TOKEN_ADDRESS: TOKEN },
      ...{ START_BLOCK: String(START), POLL_MS: '20', RECONCILE_EVERY_S: '86400' },
      // The stand-in's headers are made up.
      BLOCK_PROOF: 'voted',
    })
  await node.head(START + 20)
  const first = listener()
  await first.start()
  await until(async () => (await first.status()).scanned_block === START + 20, 'the first blocks were not scanned')
  await first.stop()
  if (count > 0) await issue(sql, count)

  const running = listener()
  await running.start()
  const pids = async () =>
    (
      await sql.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'chain-listener' AND datname = current_database()",
      )
    ).rows.map(({ pid }) => pid)
  const scanned = (block: number) =>
    until(async () => (await running.status()).scanned_block === block, `block ${block} was not scanned`, 3_600_000)
  const timed = async (work: () => Promise<void>) => {
    const [startedAt, cpu, postgres] = [performance.now(), process.cpuUsage(), cpuSeconds(await pids())]
    await work()
    const { user, system } = process.cpuUsage(cpu)
    return { s: (performance.now() - startedAt) / 1_000, cpuS: (user + system) / 1e6, postgresS: cpuSeconds(await pids()) - postgres }
  }
  let head = START + 20
  const step = async (blocks: number) => {
    head += blocks
    await node.head(head)
    await scanned(head)
  }
  // The first blocks fill the caches.
  for (let n = 0; n < 20; n++) await step(1)
  const near = await timed(async () => {
    for (let n = 0; n < NEAR_HEAD; n++) await step(1)
  })
  const far = await timed(() => step(CATCH_UP))
  const { rows } = await sql.query<{ n: number }>('SELECT count(*)::int AS n FROM payments')
  await running.stop()
  await sql.stop?.()
  await database.drop()
  node.stop()
  const found = rows[0]?.n ?? 0
  const expected = Math.floor(head / 50) - Math.floor((START + 20) / 50)
  if (count > 0 && found !== expected) throw new Error(`${found} transfers to our addresses were found, there were ${expected}`)
  const round = (value: number) => Number(value.toFixed(2))
  return {
    addresses: name,
    near_head_ms: round((near.s * 1_000) / NEAR_HEAD),
    near_head_cpu_ms: round((near.cpuS * 1_000) / NEAR_HEAD),
    near_head_postgres_ms: round((near.postgresS * 1_000) / NEAR_HEAD),
    catch_up_s: round(far.s),
    catch_up_cpu_s: round(far.cpuS),
    catch_up_postgres_s: round(far.postgresS),
    found,
  }
}

async function issue(sql: ReturnType<typeof openDatabase>, count: number): Promise<void> {
  await sql.query('DROP INDEX payables_by_address')
  await sql.query(
    `INSERT INTO payables (chain_id, order_id, memo, merchant, router, address, expires_at, watch_from)
     SELECT ${CHAIN_ID}, lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(n), 64, '0'), '0x${'c0'.repeat(20)}', '${ROUTER}',
       '0x' || lpad(to_hex(n * 2654435761), 40, '0'), now() + interval '1 hour', ${START}
     FROM generate_series(1::bigint, ${count}) AS n`,
  )
  await sql.query("INSERT INTO coverage SELECT chain_id, address, '{(,)}' FROM payables")
  await sql.query('CREATE INDEX payables_by_address ON payables (address) WHERE address IS NOT NULL')
  await sql.query('VACUUM (ANALYZE) payables, coverage')
}

runBench(async () => {
  const rows: Row[] = []
  for (const [name, count] of [
    ['none', 0],
    [`${OPEN.toLocaleString('en')} open`, OPEN],
    [`${ISSUED.toLocaleString('en')} ever issued`, ISSUED],
  ] as const) {
    const row = await measure(name, count)
    rows.push(row)
    console.log(`  ${name}: ${row.near_head_ms} ms a block near the head, ${row.catch_up_s} s for ${CATCH_UP} blocks`)
  }
  console.table(rows)
  return { per_block: PER_BLOCK, catch_up_blocks: CATCH_UP, rows }
})
