import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { environments, type ServiceName, serviceNames } from '@ponte/all-in-one'
import { type FaultProxy, freePort, startFaultProxy } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { isReady, mainOf, type World } from '../../world'
import { createProxy, type Line } from './proxy'

export interface Replica {
  name: ServiceName
  index: number
  port: number
  opsPort: number
  child: ChildProcess | null
  /** The last lines it logged, to find out why. */
  output: string[]
}

export interface Cluster {
  replicas: readonly Replica[]
  /** Cut by name: `orders database`, `orders broker`, `chain`, `orders http`. */
  proxies: ReadonlyMap<string, Line>
  gatewayUrls: readonly string[]
  /** The RPC end points of the listener, all of one chain: what one of them states wrongly the others do not. */
  rpcs: readonly FaultProxy[]
  signal(replica: Replica, signal: NodeJS.Signals): void
  /** From now on this replica's clock is so far ahead, or behind; a replica that starts anew has the right time. */
  moveClock(replica: Replica, aheadMs: number): void
  /** Wakes what is stopped, lets all parties reach each other again, and waits until all are ready. */
  heal(): Promise<void>
  stop(): Promise<void>
}

export interface ClusterOptions {
  routers: readonly string[]
  /** Where each replica's whole output is kept; only its end is without one. */
  logFolder: string | undefined
}

const REPLICAS_EACH = 2
const OUTPUT_LINES = 400
const RESTART_MS = 1_000
/** Ten processes start at once, on whatever machine this is. */
const READY_WAIT_MS = 180_000
const RPC_COUNT = 3
/** A change of payout address is in force when it is answered. */
const AT_ONCE = { FRESH_LOGIN_S: '0', PAYOUT_DELAY_S: '0', PAYOUT_UNSIGNED_DELAY_S: '0', PAYOUT_HOLD_S: '0' }
const MOVED_CLOCK = join(__dirname, 'moved-clock.cjs')

/** Every service twice, as processes, with a proxy between each and its database, its broker, the chain and its peers. */
export async function startCluster(world: World, { routers, logFolder }: ClusterOptions): Promise<Cluster> {
  const proxies = new Map<string, Line>()
  const replicas: Replica[] = []
  for (const name of serviceNames) {
    for (let index = 0; index < REPLICAS_EACH; index++) {
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
    CHAIN_LISTENER_URL: await balanced('chain-listener'),
  }
  const rpcs = await Promise.all(Array.from({ length: RPC_COUNT }, () => startFaultProxy(world.chain.rpcUrl)))
  const rpcUrls = await Promise.all(rpcs.map((rpc, index) => through(`chain ${index + 1}`, rpc.url)))
  const heads = await through('chain heads', world.chain.rpcUrl)
  const chain = {
    RPC_URLS: rpcUrls.join(),
    WS_URL: heads.replace('http', 'ws'),
    ROUTER_ADDRESSES: routers.join(),
    RPC_TIMEOUT_MS: '2000',
  }
  const env = environments(world.place)
  const urls = new Map<ServiceName, { DATABASE_URL: string; AMQP_URL: string }>()
  for (const name of serviceNames) {
    urls.set(name, {
      DATABASE_URL: await through(`${name} database`, world.place.databaseUrl(name)),
      AMQP_URL: (await through(`${name} broker`, world.place.amqp.url)).replace(/\/$/, ''),
    })
  }

  let stopping = false
  const start = (replica: Replica) => {
    if (replica.child || stopping) return
    const ports = { PORT: String(replica.port), OPS_PORT: String(replica.opsPort) }
    const gateway = { ...owners, ...AT_ONCE, RATE_LIMIT_CALLER_PER_MINUTE: '1000000', RATE_LIMIT_ADDRESS_PER_MINUTE: '1000000' }
    const more = replica.name === 'chain-listener' ? chain : replica.name === 'api-gateway' ? gateway : {}
    const settings = { ...env[replica.name], ...urls.get(replica.name), ...ports, ...more }
    const child = spawn(process.execPath, ['--require', MOVED_CLOCK, mainOf(replica.name)], {
      env: { PATH: process.env.PATH, ...settings },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    // A message to one that dies at this moment.
    child.on('error', error => replica.output.push(String(error)))
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', chunk => {
        replica.output.push(String(chunk))
        if (logFolder !== undefined) appendFileSync(join(logFolder, `${replica.name}-${replica.index}.jsonl`), chunk)
        if (replica.output.length > OUTPUT_LINES) replica.output.shift()
      })
    }
    replica.child = child
    // As an orchestrator does: what ended is started again after a moment.
    child.once('exit', () => {
      replica.child = null
      if (!stopping) setTimeout(() => start(replica), RESTART_MS)
    })
  }
  const signal = (replica: Replica, sent: NodeJS.Signals) => void replica.child?.kill(sent)
  const moveClock = ({ child }: Replica, aheadMs: number) => {
    if (child?.connected) child.send({ aheadMs })
  }
  const heal = async () => {
    for (const proxy of proxies.values()) {
      proxy.refuse(false)
      proxy.stall(false)
      proxy.delay(0)
    }
    for (const rpc of rpcs) rpc.set()
    for (const replica of replicas) {
      signal(replica, 'SIGCONT')
      moveClock(replica, 0)
    }
    await Promise.all(
      replicas.map(replica =>
        until(
          () => isReady(`http://127.0.0.1:${replica.opsPort}`),
          () => `${replica.name} ${replica.index} does not become ready:\n${replica.output.slice(-20).join('')}`,
          READY_WAIT_MS,
        ),
      ),
    )
  }
  for (const replica of replicas) start(replica)
  await heal()
  return {
    replicas,
    proxies,
    gatewayUrls: replicas.filter(({ name }) => name === 'api-gateway').map(({ port }) => `http://127.0.0.1:${port}`),
    rpcs,
    signal,
    moveClock,
    heal,
    async stop() {
      stopping = true
      await Promise.all(replicas.map(replica => end(replica)))
      await Promise.all([...proxies.values(), ...rpcs].map(proxy => proxy.stop()))
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
