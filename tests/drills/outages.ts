import { setTimeout as pause } from 'node:timers/promises'
import type { ServiceName } from '@ponte/all-in-one'
import { type Fault, faults, startFaultProxy } from '@ponte/local-servers'
import { type Servers, startServers } from '../torture/cluster'
import { type Replicas, startReplicas, startWorld } from '../world'
import { drill, type Started } from './drill'
import { startPrometheus } from './prometheus'
import { type Line, print, verdict } from './table'
import { type Asked, startTraffic, type Traffic } from './traffic'

// Takes one server after the other away from two replicas of everything, under steady traffic, and prints what that cost: DRILL_OUTAGES names some of
// them, DRILL_SCALE shortens all.

interface Outage {
  name: string
  /** Nothing that a merchant asks needs it: no request may fail. */
  isSpare: boolean
  seconds: number
  begin(): unknown
  end(): unknown
}

type Prometheus = Awaited<ReturnType<typeof startPrometheus>>

const SCALE = Number(process.env.DRILL_SCALE ?? 1)
const WANTED = process.env.DRILL_OUTAGES?.split(',')
/** A payment whose webhook comes within this time is not late. */
const LATE_MS = 5_000
const SETTLE_MS = 600_000
const CALM_MS = 20_000
const LOOK_MS = 2_000
/** Here it runs inside the listener, as without RELAYER_PROCESS. */
const NO_RELAYER = 'PonteServiceAway relayer'
const UNLIMITED = { RATE_LIMIT_CALLER_PER_MINUTE: '100000000', RATE_LIMIT_ADDRESS_PER_MINUTE: '100000000' }

const outages = (servers: Servers, replicas: Replicas, node: { set(fault?: Fault): void }): Outage[] => {
  const service = (name: ServiceName, seconds: number): Outage => ({
    name,
    isSpare: name !== 'orders',
    seconds,
    begin: () => replicas.kill(name),
    end: () => replicas.revive(name),
  })
  return [
    { name: 'broker', isSpare: true, seconds: 180, begin: () => servers.broker.crash(), end: () => servers.broker.start() },
    {
      name: 'broker full',
      isSpare: true,
      seconds: 180,
      begin: () => servers.broker.control('set_vm_memory_high_watermark', '0.000001'),
      end: () => servers.broker.control('set_vm_memory_high_watermark', '0.4'),
    },
    { name: 'database', isSpare: false, seconds: 420, begin: () => servers.postgres.crash(), end: () => servers.postgres.start() },
    { name: 'nodes', isSpare: false, seconds: 420, begin: () => node.set(faults.hangUp()), end: () => node.set() },
    service('chain-listener', 180),
    service('webhook-dispatcher', 180),
    service('subscriptions', 180),
    service('orders', 180),
  ]
}

async function main(started: Started): Promise<void> {
  const servers = started(await startServers())
  const amqp = { url: servers.broker.url, namespace: 'ponte' }
  const world = started(await startWorld({ amqp, databaseUrl: servers.postgres.url }))
  const node = started(await startFaultProxy(world.chain.rpcUrl))
  const place = { ...world.place, chain: { ...world.place.chain, rpcUrl: node.url, wsUrl: '' } }
  const replicas = started(await startReplicas(place, 2, { ...UNLIMITED, LOG_LEVEL: 'warn' }))
  const prometheus = started(await startPrometheus(Object.values(replicas.opsUrls())))
  const traffic = started(await startTraffic(world, replicas.gatewayUrl))
  await traffic.fill()
  traffic.run()
  await pause(CALM_MS)
  const lines: Line[] = []
  const failed: string[] = []
  for (const outage of outages(servers, replicas, node)) {
    if (WANTED && !WANTED.includes(outage.name)) continue
    const line = await suffer(outage, traffic, prometheus)
    lines.push(line)
    if (outage.isSpare && !['POST failed', 'GET failed'].every(column => String(line[column]).startsWith('0 '))) failed.push(outage.name)
    await traffic.fill()
    await pause(CALM_MS)
  }
  print('Two replicas of each service; 4 orders, 4 lists and a payment a second', lines, [
    `A payment is late when its webhook comes more than ${LATE_MS / 1000} s after its block; recovery ends with the last failure and the last late webhook.`,
  ])
  verdict(failed.length === 0, `every payment was notified; requests failed that need not: ${failed.join(', ') || 'none'}.`)
}

/** One row of the table. */
async function suffer(outage: Outage, traffic: Traffic, prometheus: Prometheus): Promise<Line> {
  const seconds = outage.seconds * SCALE
  const fired = new Map<string, number>()
  const before = new Set(await prometheus.firing())
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
  await traffic.settled(SETTLE_MS)
  await pause(CALM_MS)

  const asked = traffic.asked.filter(({ at }) => at >= began)
  const failed = asked.filter(({ status }) => status === null || status >= 500)
  const late = traffic.paid
    .filter(({ at }) => at >= began - LATE_MS)
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
  const line = {
    away: outage.name,
    'for s': Math.round((restoring - began) / 1000),
    'POST failed': share('POST'),
    'GET failed': share('GET'),
    'webhooks late': late.length,
    'by at most s': Math.round(Math.max(0, ...late.map(({ delayMs }) => delayMs)) / 1000),
    'alerts, after s': [...fired].map(([name, ms]) => `${name} ${Math.round(ms / 1000)}`).join(', ') || 'none',
    'recovered s': Math.round((last - restored) / 100) / 10,
  }
  console.log(JSON.stringify(line))
  return line
}

drill(main)
