import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@ponte/local-servers'
import { paymentRouterAbi } from '@ponte/payment-router'
import { openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import type { Chain } from '../test/chain'

const VERSION = '0.16.10'
/** Outside the workspace: its many dependencies are no one's here. Kept for the next run. */
const folder = join(tmpdir(), `ponte-bench-ponder-${VERSION}`)
const INSTALL_MS = 300_000
const RUN_MS = 600_000

const files = {
  'package.json': JSON.stringify({
    private: true,
    type: 'module',
    dependencies: { ponder: VERSION, viem: '2.38.0', hono: '4.9.9' },
  }),
  'tsconfig.json': JSON.stringify({ compilerOptions: { module: 'ESNext', moduleResolution: 'bundler', target: 'ES2022', strict: true } }),
  'ponder.config.ts': `import { createConfig } from 'ponder'
export default createConfig({
  ordering: 'omnichain',
  database: { kind: 'postgres', connectionString: process.env.DATABASE_URL },
  chains: { anvil: { id: 31337, rpc: process.env.RPC_URL } },
  contracts: { Router: { abi: ${JSON.stringify(paymentRouterAbi)}, chain: 'anvil', address: process.env.ROUTER, startBlock: 0, endBlock: Number(process.env.HEIGHT) } },
})`,
  'ponder.schema.ts': `import { onchainTable } from 'ponder'
export const payment = onchainTable('payment', t => ({
  id: t.text().primaryKey(), memo: t.hex(), merchant: t.hex(), payer: t.hex(), share: t.bigint(), fee: t.bigint(), block: t.bigint(), txHash: t.hex(),
}))`,
  'src/index.ts': `import { ponder } from 'ponder:registry'
import { payment } from 'ponder:schema'
ponder.on('Router:PaymentReceived', async ({ event, context }) => {
  const { memo, merchant, payer, merchantShare, fee } = event.args
  await context.db.insert(payment).values({ id: event.id, memo, merchant, payer, share: merchantShare, fee, block: event.block.number, txHash: event.transaction.hash })
})`,
  'src/api/index.ts': `import { Hono } from 'hono'
export default new Hono()`,
}

/** Installs ponder from the registry once; throws when that is not possible here. */
async function install(): Promise<void> {
  await mkdir(join(folder, 'src/api'), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  if (existsSync(join(folder, 'node_modules/ponder'))) return
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, timeout: INSTALL_MS })
}

export interface PonderRun {
  seconds: number
  payments: number
}

/**
 * ponder on the same node and the same PostgreSQL, with a handler that does no more than insert: cold, from an empty database, and again with
 * the chain's data in its cache, which leaves its own transforming. Seconds run from the process's start, as ours do from an empty service.
 */
export async function ponder(chain: Chain, height: number, payments: number): Promise<{ cold: PonderRun; cached: PonderRun }> {
  await install()
  const database = await testDatabase()
  try {
    const once = () => run(chain, height, payments, database.url)
    return { cold: await once(), cached: await once() }
  } finally {
    await database.drop()
  }
}

async function run(chain: Chain, height: number, payments: number, databaseUrl: string): Promise<PonderRun> {
  const [port, schema] = [await freePort(), `bench_${randomBytes(4).toString('hex')}`]
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['node_modules/ponder/dist/esm/bin/ponder.js', 'start', '--schema', schema, '-p', String(port)], {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, HOME: folder, DATABASE_URL: databaseUrl, RPC_URL: chain.anvil.rpcUrl },
      ...{ ROUTER: chain.emitter, HEIGHT: String(height), PONDER_TELEMETRY_DISABLED: '1' },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => output.push(String(chunk)))
  try {
    await isReady(child, port, output)
    const seconds = (performance.now() - startedAt) / 1_000
    const sql = openDatabase({ url: databaseUrl, poolSize: 1 })
    const { rows } = await sql.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${schema}.payment`)
    await sql.stop?.()
    if (rows[0]?.n !== payments) throw new Error(`ponder has ${rows[0]?.n} of ${payments} payments`)
    return { seconds, payments }
  } finally {
    const gone = once(child, 'exit')
    if (child.exitCode === null && child.kill('SIGTERM')) await gone
  }
}

async function isReady(child: ChildProcess, port: number, output: readonly string[]): Promise<void> {
  const deadline = performance.now() + RUN_MS
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/ready`).then(
      answer => answer.ok,
      () => false,
    )
    if (ready) return
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`ponder did not get there:\n${output.join('').slice(-2_000)}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
