import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { root, setUp } from './setup.mjs'
import { fail, StepError } from './steps.mjs'
import { startTestEnvironment } from './test-environment.mjs'

/** Each piece is a program: it prints its table and writes `bench/results/<piece>.json`. */
const pieces = {
  orders: 'services/all-in-one/bench/orders.ts',
  lists: 'services/orders/bench/lists.ts',
  webhooks: 'services/webhook-dispatcher/bench/webhooks.ts',
  chain: 'services/chain-listener/bench/chain.ts',
  e2e: 'services/all-in-one/bench/e2e.ts',
}

async function main() {
  const wanted = process.argv.slice(2).filter(name => !name.startsWith('-'))
  const unknown = wanted.find(name => !(name in pieces))
  if (unknown) throw new StepError(`There is no benchmark ${unknown}. Choose from: ${Object.keys(pieces).join(', ')}.`)
  await setUp()
  const { startPostgres } = createRequire(import.meta.url)('../services/all-in-one/dist/postgres.js')
  // Durable, as in production: a benchmark that does not wait for the disk measures something else.
  const environment = await startTestEnvironment(options => startPostgres({ ...options, durable: true }))
  mkdirSync(join(root, 'bench/results'), { recursive: true })
  console.log(`Node ${process.version}, ${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown'}`)
  try {
    for (const name of wanted.length > 0 ? wanted : Object.keys(pieces)) await run(name)
  } finally {
    await environment.stop()
  }
}

async function run(name) {
  const file = join(root, pieces[name])
  if (!existsSync(file)) throw new StepError(`The benchmark ${name} is missing: ${pieces[name]}.`)
  console.log(`\n${name}`)
  const env = { ...process.env, PONTE_BENCH_RESULT: join(root, `bench/results/${name}.json`) }
  const args = ['--require', join(root, 'scripts/register-typescript.cjs'), file]
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new StepError(`The benchmark ${name} ended with ${code}.`)
}

await main().catch(fail)
