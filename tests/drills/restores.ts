import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type ServiceName, serviceNames } from '@ponte/all-in-one'
import { until } from '@ponte/service-kit'
import { Client } from 'pg'
import { type Servers, startServers } from '../torture/cluster'
import { type Replicas, startReplicas, startWorld, type World } from '../world'
import { drill, type Started } from './drill'
import { type Follower, startFollower } from './follower'
import { lostLines, missingOf, sumOf } from './restored-books'
import { type Line, print, verdict } from './table'
import { startTraffic, type Traffic } from './traffic'

// Puts one database after the other back by DRILL_BACK_S seconds while merchants and payers go on, does what docs/operating/recover.md has to be done, and holds
// what merchants were answered and payers paid against what is there. DRILL_SERVICES names some of the five. Ends with 1 unless all is there or named.

const BACK_S = Number(process.env.DRILL_BACK_S ?? 120)
const WANTED = process.env.DRILL_SERVICES?.split(',') ?? serviceNames
const SETTLE_MS = 300_000
/** An event may have waited in a queue at the moment that is restored. */
const QUEUED_MS = 600_000
const operate = join(__dirname, '../../scripts/operate')
const databaseOf = (service: ServiceName) => service.replaceAll('-', '_')

interface Stage {
  world: World
  servers: Servers
  replicas: Replicas
  traffic: Traffic
  follower: Follower
  /** Orders that went with the database of orders, and the options that have the auditor name them. */
  lost: Set<string>
  spans: string[]
  /** Subscriptions that went with their database, and what the dead letters named of them. */
  forgotten: { subscriptions: string[]; named: string }
}

async function main(started: Started): Promise<void> {
  const servers = started(await startServers())
  const amqp = { url: servers.broker.url, namespace: 'ponte' }
  const world = started(await startWorld({ amqp, databaseUrl: servers.postgres.url }))
  const replicas = started(await startReplicas(world.place, 2, { LOG_LEVEL: 'warn', RECONCILE_EVERY_S: '5' }))
  const traffic = started(await startTraffic(world, replicas.gatewayUrl, { paysNewest: true }))
  await traffic.subscribe()
  await traffic.fill()
  traffic.run()
  const follower = started(startFollower(replicas.gatewayUrl, traffic.merchant.api_key))
  const stage = {
    world,
    servers,
    replicas,
    traffic,
    follower,
    lost: new Set<string>(),
    spans: [],
    forgotten: { subscriptions: [], named: '' },
  }
  const [lines, faults]: [Line[], string[]] = [[], []]
  for (const service of serviceNames.filter(name => WANTED.includes(name))) {
    const { line, wrong } = await restore(service, stage)
    lines.push(line)
    faults.push(...wrong.map(text => `${service}: ${text}`))
    for (const text of wrong) console.log(`WRONG  ${service}: ${text}`)
  }
  print(`One database put back by ${BACK_S} s under traffic`, lines, [
    'Lost are orders made since that the auditor names with their money; wrong is what is neither there nor named.',
  ])
  verdict(faults.length === 0, faults.length === 0 ? 'all is there, or named with its money.' : faults.join('\n'))
}

/** One row: the service's database becomes what it was, its replicas start on that, and the runbook is followed. */
async function restore(service: ServiceName, stage: Stage): Promise<{ line: Line; wrong: string[] }> {
  const { servers, replicas, traffic, follower } = stage
  const resets = follower.resets()
  const [name, kept] = [databaseOf(service), `${databaseOf(service)}_kept`]
  // A copy of a database needs a moment without connections; what stands in for a base backup takes the service away for it.
  const restoredTo = await away(service, replicas, () => administer(servers, `CREATE DATABASE ${kept} TEMPLATE ${name}`))
  const made = service === 'subscriptions' ? await traffic.subscribe() : null
  await pause(BACK_S * 1000)
  const gone = await away(service, replicas, async () => {
    await administer(servers, `DROP DATABASE ${name} WITH (FORCE)`, `ALTER DATABASE ${kept} RENAME TO ${name}`)
  })
  const since = Date.now()
  if (made !== null) {
    traffic.subscriptions.splice(traffic.subscriptions.indexOf(made), 1)
    stage.forgotten.subscriptions.push(made)
  }
  const earlier = new Date(restoredTo.at - QUEUED_MS).toISOString()
  const only = service === 'chain-listener' ? ['--service', 'orders'] : []
  const published = service === 'api-gateway' ? '' : (await run(replicas, 'republish.mjs', '--since', earlier, ...only)).output
  if (service === 'orders') stage.spans.push('--restored', `${new Date(restoredTo.at).toISOString()}/${new Date(gone.at).toISOString()}`)
  console.log(`${service}, put back to ${new Date(restoredTo.at).toISOString()} at ${new Date(gone.at).toISOString()}\n${published}`)

  const wrong: string[] = []
  const before = stage.lost.size
  let audited = { code: 1 as number | null, output: '' }
  const agrees = async () => {
    audited = await run(replicas, 'reconcile.mjs', ...stage.spans)
    return audited.code === 0
  }
  await until(agrees, () => audited.output, SETTLE_MS).catch(() =>
    wrong.push(...(audited.output.match(/^DIFFERENCE .*$/gm) ?? [audited.output])),
  )
  const named = lostLines(audited.output)
  for (const { id } of named) stage.lost.add(id)
  const ofForgotten = traffic.made.filter(one => stage.forgotten.subscriptions.includes(String(one.subscriptionId)))
  const withoutWebhook = new Set([...stage.lost, ...ofForgotten.map(({ id }) => id)])
  await traffic.settled(SETTLE_MS, withoutWebhook).catch((error: Error) => wrong.push(error.message))
  wrong.push(...(await missingOf({ gatewayUrl: replicas.gatewayUrl, traffic, named })))
  let status = { code: 1 as number | null, output: '' }
  const isWell = async () => {
    await clearParked(stage)
    status = await run(replicas, 'status.mjs')
    return status.code === 0
  }
  await until(isWell, () => status.output, SETTLE_MS).catch(() => wrong.push(...(status.output.match(/^ +WRONG.*$/gm) ?? [status.output])))
  for (const { id } of ofForgotten.filter(one => !stage.forgotten.named.includes(one.id)))
    wrong.push(`order ${id} of a subscription that is gone was not parked`)
  let missed: string[] = []
  const hasSeenAll = async () => {
    missed = await follower.missing()
    return missed.length === 0
  }
  await until(hasSeenAll, () => `a follower did not see ${missed.join(', ')}`, SETTLE_MS).catch((error: Error) => wrong.push(error.message))
  await traffic.fill()
  const paidSince = traffic.paid.filter(({ at }) => at > restoredTo.at && at < gone.at)
  const paidAndLost = traffic.paid.filter(({ id }) => named.some(one => one.id === id))
  return {
    line: {
      'put back': service,
      'away s': Math.round(gone.seconds),
      'payments since': paidSince.length,
      'orders lost': stage.lost.size - before,
      'of them paid': service === 'orders' ? paidAndLost.length : 0,
      'USDC named': service === 'orders' ? Number(sumOf(paidAndLost.map(({ units }) => units))) / 1e6 : 0,
      'follower put back': follower.resets() - resets,
      wrong: wrong.length,
      'well after s': Math.round((Date.now() - since) / 1000),
    },
    wrong,
  }
}

/** Events of subscriptions that went with their database are parked, and named there: each is removed by its id, any other is tried again. */
async function clearParked({ replicas, forgotten }: Stage): Promise<void> {
  const { output } = await run(replicas, 'dead.mjs', 'list', '--service', 'subscriptions')
  for (const [, id = ''] of output.matchAll(/^ {2}(\S+) /gm)) {
    const shown = await run(replicas, 'dead.mjs', 'show', id)
    const isForgotten = forgotten.subscriptions.some(one => shown.output.includes(one))
    const done = await run(replicas, 'dead.mjs', isForgotten ? 'discard' : 'retry', id)
    console.log(done.output.trimEnd())
    if (isForgotten) forgotten.named += shown.output
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
