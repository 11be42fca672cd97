import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceNames, startProcesses } from '@ponte/all-in-one'
import { freePort } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { createMerchant, startWorld } from '../world'
import { usage } from './cpu'
import { load } from './load'
import { type Row, report } from './table'

// Times `npm start` for a newcomer, and measures the memory of the services as processes of their own.

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const LOAD_SECONDS = Number(process.env.BENCH_SECONDS ?? 10)
const ROOT = join(__dirname, '../..')
const PORTS = ['PONTE_PORT', 'PONTE_AUTH_PORT', 'PONTE_RECEIVER_PORT', 'PONTE_CHAIN_PORT', 'PONTE_PG_PORT']

const MEANING = [
  'Cold: a fresh clone, up to the first webhook of a payment; its packages come from the registry or its cache. Warm: once more. Fresh: with new data.',
]

async function main(): Promise<void> {
  const starts = await startTimes()
  const memory = await memoryOfServices()
  report(`npm start, and resident memory at rest and after ${LOAD_SECONDS} s of POST /orders`, [...starts, ...memory], MEANING)
}

async function startTimes(): Promise<Row[]> {
  const seconds = { cold: [] as number[], warm: [] as number[], fresh: [] as number[] }
  const memory: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'ponte-bench-'))
    // The database may have to run as another user, who must be able to come in.
    chmodSync(folder, 0o711)
    const clone = join(folder, 'ponte')
    try {
      execFileSync('git', ['clone', '--quiet', ROOT, clone])
      const ports = Object.fromEntries(await Promise.all(PORTS.map(async name => [name, String(await freePort())])))
      for (const [kind, args] of [
        ['cold', []],
        ['warm', []],
        ['fresh', ['--', '--fresh']],
      ] as const) {
        const { tookS, memoryMb, stop } = await start(clone, ports, args)
        seconds[kind].push(tookS)
        memory.push(memoryMb)
        await stop()
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return [
    ...Object.entries(seconds).map(([kind, all]): Row => ({ name: `${kind} start`, figures: { seconds: all } })),
    { name: 'all five in one process', figures: { 'MB at rest': memory } },
  ]
}

/** Runs `npm start` as a newcomer does, until it prints that it is ready. */
async function start(clone: string, ports: Record<string, string>, args: readonly string[]) {
  const since = performance.now()
  const child = spawn('npm', ['start', ...args], { cwd: clone, env: { ...process.env, ...ports }, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => output.push(String(chunk)))
  const ready = join(clone, '.ponte/embedded.json')
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}:\n${output.join('')}`)
      return existsSync(ready)
    },
    () => `npm start did not become ready:\n${output.join('')}`,
    300_000,
  )
  const tookS = (performance.now() - since) / 1000
  const { pid } = JSON.parse(readFileSync(ready, 'utf8')) as { pid: number }
  const memoryMb = usage({ pid }).pid?.memoryMb ?? Number.NaN
  const stop = async () => {
    const ended = once(child, 'exit')
    process.kill(pid, 'SIGINT')
    await ended
  }
  return { tookS, memoryMb, stop }
}

async function memoryOfServices(): Promise<Row[]> {
  const world = await startWorld({ amqp: testBroker() })
  const processes = await startProcesses(world.place)
  try {
    const pids = Object.fromEntries(serviceNames.map(name => [name, processes.pid(name)]))
    const merchant = await createMerchant(world, world.place.publicUrl, null)
    const rest = usage(pids)
    await load({
      url: `${world.place.publicUrl}/api/v1/orders`,
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${merchant.api_key}` },
      body: JSON.stringify({ brl_amount: '150.00' }),
      seconds: LOAD_SECONDS,
      connections: 32,
    })
    const busy = usage(pids)
    return serviceNames.map(name => ({
      name,
      figures: { 'MB at rest': [rest[name]?.memoryMb ?? Number.NaN], 'MB under load': [busy[name]?.memoryMb ?? Number.NaN] },
    }))
  } finally {
    await processes.stop()
    await world.stop()
  }
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
