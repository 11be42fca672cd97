import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type ServiceName, serviceNames } from '@ponte/all-in-one'
import { until } from '@ponte/service-kit'
import { Client } from 'pg'
import { type Servers, startServers } from '../torture/cluster'
import { type Replicas, startReplicas, startWorld } from '../world'
import { drill, type Started } from './drill'
import { type Line, print } from './table'
import { startTraffic, type Traffic } from './traffic'

// Puts one database after the other back by DRILL_BACK_S seconds while merchants and payers go on, does what docs/operating/recover.md has to be done, and lets the
// auditor look: DRILL_SERVICES names some of the five.

const BACK_S = Number(process.env.DRILL_BACK_S ?? 120)
const WANTED = process.env.DRILL_SERVICES?.split(',') ?? serviceNames
const SETTLE_MS = 180_000
/** An event may have waited in a queue at the moment that is restored. */
const QUEUED_MS = 600_000
const UNLIMITED = { RATE_LIMIT_CALLER_PER_MINUTE: '100000000', RATE_LIMIT_ADDRESS_PER_MINUTE: '100000000' }
const operate = join(__dirname, '../../scripts/operate')
const databaseOf = (service: ServiceName) => service.replaceAll('-', '_')

interface Stage {
  servers: Servers
  replicas: Replicas
  traffic: Traffic
}

async function main(started: Started): Promise<void> {
  const servers = started(await startServers())
  const amqp = { url: servers.broker.url, namespace: 'ponte' }
  const world = started(await startWorld({ amqp, databaseUrl: servers.postgres.url }))
  const replicas = started(await startReplicas(world.place, 2, { ...UNLIMITED, LOG_LEVEL: 'warn', RECONCILE_EVERY_S: '5' }))
  const traffic = started(await startTraffic(world, replicas.gatewayUrl))
  await traffic.fill()
  traffic.run()
  const lines: Line[] = []
  for (const service of serviceNames.filter(name => WANTED.includes(name)))
    lines.push(await restore(service, { servers, replicas, traffic }))
  print(`One database put back by ${BACK_S} s under traffic`, lines, [
    'Orders gone are those that were made since; not notified are payments of the others whose webhook never came.',
  ])
}

/** One row: the service's database becomes what it was, and its replicas start on that. */
async function restore(service: ServiceName, { servers, replicas, traffic }: Stage): Promise<Line> {
  const [name, kept] = [databaseOf(service), `${databaseOf(service)}_kept`]
  // A copy of a database needs a moment without connections; what stands in for a base backup takes the service away for it.
  const restoredTo = await away(service, replicas, () => administer(servers, `CREATE DATABASE ${kept} TEMPLATE ${name}`))
  await pause(BACK_S * 1000)
  const gone = await away(service, replicas, async () => {
    await administer(servers, `DROP DATABASE ${name} WITH (FORCE)`, `ALTER DATABASE ${kept} RENAME TO ${name}`)
    if (service === 'chain-listener') await continueNumbers(servers)
  })
  const began = Date.now()
  const since = new Date(restoredTo.at - QUEUED_MS).toISOString()
  const only = service === 'chain-listener' ? ['--service', 'orders'] : []
  const published = service === 'api-gateway' ? '' : (await run(replicas, 'republish.mjs', '--since', since, ...only)).output
  const notified = await traffic.settled(SETTLE_MS).then(
    () => 0,
    () => traffic.paid.filter(({ id }) => !traffic.notifiedAt.has(id)).length,
  )
  let audited = { code: 1 as number | null, output: '' }
  await until(
    async () => {
      audited = await run(replicas, 'reconcile.mjs')
      return audited.code === 0
    },
    () => '',
    SETTLE_MS,
  ).catch(() => undefined)
  const differences = audited.output.match(/^DIFFERENCE .*$/gm) ?? []
  console.log(`${service}, put back to ${since}\n${published}\n${audited.output}`)
  await traffic.fill()
  const made = traffic.asked.filter(
    ({ what, at, status }) => what === 'POST' && status === 201 && at > restoredTo.at && at < gone.at,
  ).length
  return {
    'put back': service,
    'away s': Math.round(gone.seconds),
    'orders gone': service === 'orders' ? made : 0,
    'payments since': traffic.paid.filter(({ at }) => at > restoredTo.at && at < gone.at).length,
    'not notified': notified,
    differences: differences.length,
    'agrees after s': Math.round((Date.now() - began) / 1000),
  }
}

/** When the work was done without the service, and for how long it was away. */
async function away(service: ServiceName, replicas: Replicas, work: () => Promise<unknown>) {
  const since = Date.now()
  await replicas.kill(service)
  await work()
  const at = Date.now()
  await replicas.revive(service)
  return { at, seconds: (Date.now() - since) / 1000 }
}

/** docs/operating/recover.md: what orders has seen of the numbers of the listener's events. */
async function continueNumbers(servers: Servers): Promise<void> {
  const highest = `SELECT greatest((SELECT max(sequence) FROM chain_advances), (SELECT max(sequence) FROM payment_sequences), max(watermark))::text AS number FROM chain_cursors`
  const [row] = await query(servers.postgres.url('orders'), highest)
  await query(servers.postgres.url('chain-listener'), `UPDATE chain_cursor SET sequence = greatest(sequence, ${row?.number})`)
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

async function administer(servers: Servers, ...statements: string[]): Promise<void> {
  const url = new URL(servers.postgres.url('orders'))
  url.pathname = '/postgres'
  for (const statement of statements) await query(url.href, statement)
}

/** One of the operator's commands. */
async function run(replicas: Replicas, script: string, ...args: string[]) {
  const urls = replicas.opsUrls()
  const ports = serviceNames.map(name => [`${name.toUpperCase().replaceAll('-', '_')}_OPS_URL`, urls[`${name} 0`] ?? ''])
  const child = spawn(process.execPath, [join(operate, script), ...args], {
    env: { PATH: process.env.PATH, ...Object.fromEntries(ports) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

drill(main)
