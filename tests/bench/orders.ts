import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { serviceNames, startProcesses } from '@ponte/all-in-one'
import { freePort } from '@ponte/local-servers'
import { openDatabase, until } from '@ponte/service-kit'
import { testBroker, testDatabase } from '@ponte/service-kit/testing'
import { createMerchant, startWorld } from '../world'
import { cpuPerUnit, usage } from './cpu'
import { type Load, type LoadOptions, load } from './load'
import { median, type Row, report } from './table'

// POST /api/v1/orders through the gateway, as five processes on RabbitMQ and PostgreSQL with every check on, beside the bare limits.

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 6)
const CONNECTIONS = 32
const BODY = JSON.stringify({ brl_amount: '150.00', external_ref: 'INV-7' })
const HEADERS = { 'Content-Type': 'application/json' }

async function startBare(kind: 'express' | 'fastify', databaseUrl: string) {
  const port = await freePort()
  const child = spawn(
    process.execPath,
    ['--require', join(__dirname, '../../scripts/test/register-typescript.cjs'), join(__dirname, 'bare.ts'), kind],
    {
      env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, PORT: String(port), NODE_ENV: 'production' },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  const url = `http://127.0.0.1:${port}/orders`
  const answers = async () => (await fetch(url, { method: 'POST', headers: HEADERS, body: BODY }).catch(() => null))?.ok === true
  await until(answers, `bare ${kind} did not start`)
  return { url, pid: child.pid, stop: () => child.kill() }
}

async function main(): Promise<void> {
  const world = await startWorld({ amqp: testBroker() })
  const database = await testDatabase()
  const processes = await startProcesses(world.place)
  const bare = { express: await startBare('express', database.url), fastify: await startBare('fastify', database.url) }
  try {
    const merchant = await createMerchant(world, world.place.publicUrl, null)
    const ours = { url: `${world.place.publicUrl}/api/v1/orders`, headers: { ...HEADERS, Authorization: `Bearer ${merchant.api_key}` } }
    const runs: Record<string, () => Promise<Load>> = {
      'Ponte, gateway to row and outbox': () => shoot(ours),
      'Ponte, half of them with an Idempotency-Key': () => shoot({ ...ours, halfKeyed: true }),
      'Express 5, one INSERT': () => shoot({ url: bare.express.url, headers: HEADERS }),
      'Fastify, one INSERT': () => shoot({ url: bare.fastify.url, headers: HEADERS }),
    }
    const pids = {
      ...Object.fromEntries(serviceNames.map(name => [name, processes.pid(name)])),
      ...{ Express: bare.express.pid, Fastify: bare.fastify.pid },
    }
    const settle = () => vacuum([database.url, ...serviceNames.map(world.place.databaseUrl)])
    report(`POST /api/v1/orders, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s`, ...(await measure(runs, pids, settle)))
  } finally {
    for (const { stop } of Object.values(bare)) stop()
    await processes.stop()
    await world.stop()
    await database.drop()
  }
}

const shoot = (at: Pick<LoadOptions, 'url' | 'headers' | 'halfKeyed'>) =>
  load({ ...at, method: 'POST', body: BODY, seconds: SECONDS, connections: CONNECTIONS })

/** Autovacuum does it within a minute: until then the planner knows nothing of tables that are seconds old. */
async function vacuum(urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    const database = openDatabase({ url, poolSize: 1, statementTimeoutMs: 600_000 })
    await database.query('VACUUM ANALYZE')
    await database.stop?.()
  }
}

async function measure(
  runs: Record<string, () => Promise<Load>>,
  pids: Record<string, number | undefined>,
  settle: () => Promise<void>,
): Promise<[Row[], string[]]> {
  const rows: Row[] = Object.keys(runs).map(name => ({ name, figures: { 'requests/s': [], 'p50 ms': [], 'p99 ms': [], 'not 2xx': [] } }))
  const costs: Record<string, Record<string, number>> = {}
  for (let round = 0; round <= ROUNDS; round++) {
    if (round === 1) await settle()
    for (const { name, figures } of rows) {
      const before = usage(pids)
      const result = await runs[name]?.()
      // The first round warms everything up and is not counted.
      if (!result || round === 0) continue
      costs[name] = cpuPerUnit(before, usage(pids), result.requestsPerS * SECONDS)
      figures['requests/s']?.push(result.requestsPerS)
      figures['p50 ms']?.push(result.p50Ms)
      figures['p99 ms']?.push(result.p99Ms)
      figures['not 2xx']?.push(result.not2xx)
    }
  }
  const rate = (index: number) => median(rows[index]?.figures['requests/s'] ?? [])
  const notes = [
    `Ponte / bare Express: ${(rate(0) / rate(2)).toFixed(2)} without Idempotency-Key and ${(rate(1) / rate(2)).toFixed(2)} with one on half of them (goal 0.6)`,
  ]
  console.log('CPU milliseconds for one request, last round')
  console.table(costs)
  return [rows, notes]
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
