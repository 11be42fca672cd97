import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { until } from '@ponte/service-kit'
import { environments, type ServiceName, serviceNames } from '../src'
import { freePort, type World } from '../test/system'
import { createProxy, type Line } from './proxy'

export interface Replica {
  name: ServiceName
  index: number
  port: number
  opsPort: number
  child: ChildProcess | null
  /** The last lines it said, for whoever has to find out why. */
  output: string[]
}

export interface Cluster {
  replicas: readonly Replica[]
  /** What can be cut, by name: `orders database`, `orders broker`, `chain`, `orders http`. */
  proxies: ReadonlyMap<string, Line>
  gatewayUrls: readonly string[]
  start(replica: Replica): Promise<void>
  signal(replica: Replica, signal: NodeJS.Signals): void
  /** Starts what is dead, wakes what is stopped, and lets everybody reach everything again. */
  heal(): Promise<void>
  stop(): Promise<void>
}

const OUTPUT_LINES = 400

/** Every service twice, as processes, with a proxy between each and its database, its broker, the chain and its peers. */
export async function startCluster(world: World, replicasEach = 2): Promise<Cluster> {
  const proxies = new Map<string, Line>()
  const replicas: Replica[] = []
  for (const name of serviceNames) {
    for (let index = 0; index < replicasEach; index++) {
      replicas.push({ name, index, port: await freePort(), opsPort: await freePort(), child: null, output: [] })
    }
  }
  const open = async (name: string, targets: () => readonly { host: string; port: number }[]) => {
    const proxy = await createProxy(targets)
    proxies.set(name, proxy)
    return proxy.port
  }
  const through = async (name: string, url: string) => {
    const { hostname: host, port } = new URL(url)
    const proxied = new URL(url)
    proxied.hostname = '127.0.0.1'
    proxied.port = String(await open(name, () => [{ host, port: Number(port) }]))
    return proxied.href
  }
  const balanced = async (name: ServiceName) =>
    `http://127.0.0.1:${await open(`${name} http`, () => replicas.filter(replica => replica.name === name && replica.child).map(({ port }) => ({ host: '127.0.0.1', port })))}`

  const owners = {
    ORDERS_URL: await balanced('orders'),
    SUBSCRIPTIONS_URL: await balanced('subscriptions'),
    WEBHOOKS_URL: await balanced('webhook-dispatcher'),
  }
  const rpc = await through('chain', world.chain.rpcUrl)
  const env = environments(world.place)
  const urls = new Map<ServiceName, { DATABASE_URL: string; AMQP_URL: string }>()
  for (const name of serviceNames) {
    urls.set(name, {
      DATABASE_URL: await through(`${name} database`, world.place.databaseUrl(name)),
      AMQP_URL: (await through(`${name} broker`, world.place.amqp.url)).replace(/\/$/, ''),
    })
  }

  const start = async (replica: Replica) => {
    const ports = { PORT: String(replica.port), OPS_PORT: String(replica.opsPort) }
    const chain = replica.name === 'chain-listener' ? { RPC_URLS: rpc, WS_URL: rpc.replace('http', 'ws') } : {}
    const gateway =
      replica.name === 'api-gateway' ? { ...owners, RATE_LIMIT_CALLER_PER_MINUTE: '1000000', RATE_LIMIT_ADDRESS_PER_MINUTE: '1000000' } : {}
    const settings = { ...env[replica.name], ...urls.get(replica.name), ...ports, ...chain, ...gateway }
    const child = spawn(process.execPath, [join(__dirname, '../..', replica.name, 'dist/main.js')], {
      env: { PATH: process.env.PATH, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', chunk => {
        replica.output.push(String(chunk))
        if (replica.output.length > OUTPUT_LINES) replica.output.shift()
      })
    }
    replica.child = child
    child.once('exit', () => {
      if (replica.child === child) replica.child = null
    })
  }
  const signal = (replica: Replica, sent: NodeJS.Signals) => void replica.child?.kill(sent)
  const ready = async (replica: Replica) => {
    if (!replica.child) await start(replica)
    return isReady(replica)
  }
  const heal = async () => {
    for (const proxy of proxies.values()) {
      proxy.refuse(false)
      proxy.stall(false)
      proxy.delay(0)
    }
    for (const replica of replicas) signal(replica, 'SIGCONT')
    await Promise.all(
      replicas.map(replica =>
        until(
          () => ready(replica),
          () => `${replica.name} ${replica.index} does not become ready:\n${replica.output.slice(-20).join('')}`,
          60_000,
        ),
      ),
    )
  }
  await heal()
  return {
    replicas,
    proxies,
    gatewayUrls: replicas.filter(({ name }) => name === 'api-gateway').map(({ port }) => `http://127.0.0.1:${port}`),
    start,
    signal,
    heal,
    async stop() {
      await Promise.all(replicas.map(replica => end(replica)))
      await Promise.all([...proxies.values()].map(proxy => proxy.stop()))
    },
  }
}

async function end({ child }: Replica): Promise<void> {
  if (!child) return
  const ended = once(child, 'exit')
  child.kill('SIGCONT')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await ended
  clearTimeout(timer)
}

async function isReady(replica: Replica): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${replica.opsPort}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}
