import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { ServiceName } from '@ponte/all-in-one'
import { type Fault, faults, startFaultProxy } from '@ponte/local-servers'
import { type Servers, startServers } from '../torture/cluster'
import { buildRelease, type Replicas, startReplicas, startWorld } from '../world'
import { drill, type Started, withStarted } from './drill'
import { startPrometheus } from './prometheus'
import { type Line, print, verdict } from './table'
import { type Asked, startTraffic, type Traffic } from './traffic'

// Takes one server after the other away from two replicas of everything, under steady traffic, and prints what that cost: DRILL_OUTAGES names some of
// them, DRILL_SCALE shortens all. `--release d476cba,this` does so with the whole system of that commit, built in a clone, and then with this one: services,
// migrations and alert rules are the release's own, on databases of its own; the chain with its contracts is of this checkout.

interface Outage {
  name: string
  seconds: number
  begin(): unknown
  end(): unknown
}

interface System {
  servers: Servers
  replicas: Replicas
  node: { set(fault?: Fault): void }
  traffic: Traffic
  prometheus: Awaited<ReturnType<typeof startPrometheus>>
  /** Paid orders whose webhooks did not come in an earlier row; they are waited for no more. */
  lost: Set<string>
}

const THIS = 'this'
const { values } = parseArgs({ options: { release: { type: 'string', default: THIS } } })
const releases = values.release.split(',')

const SCALE = Number(process.env.DRILL_SCALE ?? 1)
const WANTED = process.env.DRILL_OUTAGES?.split(',')
/** Requests of merchants need these; while one of the others is away, none may fail. */
const NEEDED = new Set(['database', 'nodes', 'orders'])
/** A payment whose webhook comes within this time is not late. */
const LATE_MS = 5_000
const SETTLE_MS = 600_000
const CALM_MS = 20_000
const LOOK_MS = 2_000
/** Here it runs inside the listener, as without RELAYER_PROCESS. */
const NO_RELAYER = 'PonteServiceAway relayer'

const outages = ({ servers, replicas, node }: System): Outage[] => {
  const service = (name: ServiceName, seconds: number): Outage => ({
    name,
    seconds,
    begin: () => replicas.kill(name),
    end: () => replicas.revive(name),
  })
  return [
    { name: 'broker', seconds: 180, begin: () => servers.broker.crash(), end: () => servers.broker.start() },
    {
      name: 'broker full',
      seconds: 180,
      begin: () => servers.broker.control('set_vm_memory_high_watermark', '0.000001'),
      end: () => servers.broker.control('set_vm_memory_high_watermark', '0.4'),
    },
    { name: 'database', seconds: 420, begin: () => servers.postgres.crash(), end: () => servers.postgres.start() },
    { name: 'nodes', seconds: 420, begin: () => node.set(faults.hangUp()), end: () => node.set() },
    service('chain-listener', 180),
    service('webhook-dispatcher', 180),
    service('subscriptions', 180),
    service('orders', 180),
  ]
}

async function main(): Promise<void> {
  const measured: Line[][] = []
  for (const release of releases) measured.push(await withStarted(started => measure(release, started)))
  const [first = [], ...others] = measured
  const lines = others.reduce((before, after) => before.map((line, index) => joined(line, after[index] ?? {})), first)
  print(`Release ${releases.join(' → ')}: two replicas of each service; 4 orders, 4 lists and a payment a second`, lines, [
    `A payment is late when its webhook comes more than ${LATE_MS / 1000} s after its block; recovery ends with the last failure and the last late webhook.`,
  ])
  if (!releases.includes(THIS)) return
  const ours = measured[releases.indexOf(THIS)] ?? []
  const failed = ours.filter(line => spared(line).some(column => !String(line[column]).startsWith('0'))).map(({ away }) => away)
  verdict(failed.length === 0, `every payment was notified; requests failed that need not: ${failed.join(', ') || 'none'}.`)
}

/** The columns of a row that must be zero. */
const spared = ({ away }: Line) => (NEEDED.has(String(away)) ? ['never notified'] : ['POST failed', 'GET failed', 'never notified'])

/** One row of two releases: what differs stands as before and after. */
const joined = (before: Line, after: Line): Line =>
  Object.fromEntries(
    Object.keys({ ...before, ...after }).map(column => {
      const [was = '', is = ''] = [before[column], after[column]]
      return [column, was === is ? is : `${was} → ${is}`]
    }),
  )

async function measure(release: string, started: Started): Promise<Line[]> {
  const root = release === THIS ? undefined : await buildRelease(release)
  const servers = started(await startServers())
  const amqp = { url: servers.broker.url, namespace: 'ponte' }
  const world = started(await startWorld({ amqp, databaseUrl: servers.postgres.url }))
  const node = started(await startFaultProxy(world.chain.rpcUrl))
  const place = { ...world.place, chain: { ...world.place.chain, rpcUrl: node.url, wsUrl: '' } }
  const replicas = started(await startReplicas(place, 2, { LOG_LEVEL: 'warn' }, { root, isOrchestrated: true }))
  const prometheus = started(await startPrometheus(Object.values(replicas.opsUrls()), root))
  const traffic = started(await startTraffic(world, replicas.gatewayUrl))
  const system = { servers, replicas, node, traffic, prometheus, lost: new Set<string>() }
  await traffic.fill()
  traffic.run()
  const lines: Line[] = []
  for (const outage of outages(system)) {
    if (WANTED && !WANTED.includes(outage.name)) continue
    try {
      await traffic.fill()
      await pause(CALM_MS)
      lines.push(await suffer(outage, system))
    } catch (error) {
      if (release === THIS) throw error
      // An earlier release may not come through: its row is left with the reason.
      lines.push({ away: outage.name, 'recovered s': `not driven: ${error}` })
    }
    console.log(`${release} ${JSON.stringify(lines.at(-1))}`)
  }
  return lines
}

/** One row of the table. */
async function suffer(outage: Outage, { traffic, prometheus, replicas, lost }: System): Promise<Line> {
  const seconds = outage.seconds * SCALE
  const fired = new Map<string, number>()
  const before = new Set(await prometheus.firing())
  const restarts = replicas.restarts()
  const began = Date.now()
  await outage.begin()
  while (Date.now() < began + seconds * 1000) {
    const firing = (await prometheus.firing()).filter(alert => alert !== NO_RELAYER && !before.has(alert))
    for (const alert of firing) if (!fired.has(alert)) fired.set(alert, Date.now() - began)
    await pause(LOOK_MS)
  }
  const restoring = Date.now()
  await outage.end()
  const restored = Date.now()
  const due = [...traffic.paid]
  await traffic.settled(SETTLE_MS, lost).catch(error => console.error(error))
  const never = due.filter(({ id }) => !traffic.notifiedAt.has(id) && !lost.has(id))
  for (const { id } of never) lost.add(id)
  await pause(CALM_MS)

  const asked = traffic.asked.filter(({ at }) => at >= began)
  const failed = asked.filter(({ status }) => status === null || status >= 500)
  if (!NEEDED.has(outage.name)) {
    for (const { what, at, endedAt, status, reason } of failed)
      console.log(`${what} failed ${Math.round((at - began) / 1000)} s after the beginning, within ${endedAt - at} ms: ${status} ${reason}`)
  }
  const late = traffic.paid
    .filter(({ id, at }) => at >= began - LATE_MS && !lost.has(id))
    .map(({ id, at }) => ({
      delayMs: (traffic.notifiedAt.get(id) ?? Date.now()) - at,
      notifiedAt: traffic.notifiedAt.get(id) ?? Date.now(),
    }))
    .filter(({ delayMs }) => delayMs > LATE_MS)
  const last = Math.max(restored, ...failed.map(({ endedAt }) => endedAt), ...late.map(({ notifiedAt }) => notifiedAt))
  const share = (what: Asked['what']) => {
    const of = (all: readonly Asked[]) => all.filter(each => each.what === what).length
    return `${of(failed)} of ${of(asked)}`
  }
  return {
    away: outage.name,
    'for s': Math.round((restoring - began) / 1000),
    'POST failed': share('POST'),
    'GET failed': share('GET'),
    'webhooks late': late.length,
    'never notified': never.length,
    'by at most s': Math.round(Math.max(0, ...late.map(({ delayMs }) => delayMs)) / 1000),
    'alerts, after s': [...fired].map(([name, ms]) => `${name} ${Math.round(ms / 1000)}`).join(', ') || 'none',
    'processes ended': replicas.restarts() - restarts,
    'recovered s': Date.now() - last < CALM_MS / 2 ? 'not yet' : Math.round((last - restored) / 100) / 10,
  }
}

drill(main)
