import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Environment,
  environments,
  hasEnded,
  isReady,
  type Processes,
  type ServiceName,
  serviceNames,
  startProcesses,
} from '@ponte/all-in-one'
import { type FaultProxy, startFaultProxy, startTcpProxy, type TcpProxy } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import type { World } from '../../world'

export type Replica = Pick<ReturnType<Processes['replica']>, 'name' | 'index'>

export interface Cluster {
  replicas: readonly Replica[]
  /** Cut by name: `orders database`, `orders broker`, `chain`, `orders http`. */
  proxies: ReadonlyMap<string, TcpProxy>
  gatewayUrls: readonly string[]
  /** The RPC end points of each listener, all of one chain: what one of them states wrongly the others do not. */
  rpcs: readonly (readonly FaultProxy[])[]
  signal(replica: Replica, signal: NodeJS.Signals): void
  /** From now on this replica's clock is so far ahead, or behind; a replica that starts anew has the right time. */
  moveClock(replica: Replica, aheadMs: number): void
  /** Rolls orders, as an operator does, with one of the further networks suspended, or none. */
  suspend(chainId: number | null): Promise<void>
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
const OUTPUT_LINES = 20
const RESTART_MS = 1_000
/** Ten processes become ready at once, on whatever machine this is. */
const READY_WAIT_MS = 180_000
const RPC_COUNT = 3
/** A change of payout address is in force when it is answered. */
const AT_ONCE = { FRESH_LOGIN_S: '0', PAYOUT_DELAY_S: '0', PAYOUT_UNSIGNED_DELAY_S: '0', PAYOUT_HOLD_S: '0' }
const MOVED_CLOCK = join(__dirname, 'moved-clock.cjs')

/** Every service twice, as processes, with a proxy between each and its database, its broker, the chain and its peers. */
export async function startCluster(world: World, { routers, logFolder }: ClusterOptions): Promise<Cluster> {
  const proxies = new Map<string, TcpProxy>()
  let processes: Processes | undefined
  const replicas = () => processes?.replicas() ?? []
  const open = async (name: string, targets: () => readonly string[]) => {
    const proxy = await startTcpProxy(targets)
    proxies.set(name, proxy)
    return proxy
  }
  const through = async (name: string, url: string) => (await open(name, () => [url])).through(url)
  const targetsOf = (name: ServiceName) => () =>
    replicas()
      .filter(replica => replica.name === name && (name !== 'chain-listener' || replica.index < REPLICAS_EACH) && !hasEnded(replica.child))
      .map(({ port }) => `http://127.0.0.1:${port}`)
  const balanced = async (name: ServiceName) => (await open(`${name} http`, targetsOf(name))).url

  const ownerUrls = {
    orders: await balanced('orders'),
    subscriptions: await balanced('subscriptions'),
    webhooks: await balanced('webhook-dispatcher'),
    chainListener: await balanced('chain-listener'),
  }
  const rpcs: FaultProxy[][] = []
  const serversOf = async (name: string, databaseUrl: string): Promise<Environment> => ({
    DATABASE_URL: await through(`${name} database`, databaseUrl),
    AMQP_URL: (await through(`${name} broker`, world.place.amqp.url)).replace(/\/$/, ''),
  })
  const chainOf = async (name: string, rpcUrl: string): Promise<Environment> => {
    const nodes = await Promise.all(Array.from({ length: RPC_COUNT }, () => startFaultProxy(rpcUrl)))
    rpcs.push(nodes)
    const rpcUrls = await Promise.all(nodes.map(({ url }, index) => through(`${name} ${index + 1}`, url)))
    const heads = await through(`${name} heads`, rpcUrl)
    return { RPC_URLS: rpcUrls.join(), WS_URL: heads.replace('http', 'ws'), ROUTER_ADDRESSES: routers.join(), RPC_TIMEOUT_MS: '2000' }
  }
  const chain = await chainOf('chain', world.chain.rpcUrl)
  const settings: Partial<Record<ServiceName, Environment>> = {}
  for (const name of serviceNames) {
    settings[name] = {
      ...(await serversOf(name, world.place.databaseUrl(name))),
      ...(name === 'chain-listener' ? chain : name === 'api-gateway' ? AT_ONCE : {}),
    }
  }
  const otherSettings: Environment[] = []
  for (const { chainId, rpcUrl, databaseUrl } of world.place.others ?? [])
    otherSettings.push({ ...(await serversOf(`listener of ${chainId}`, databaseUrl)), ...(await chainOf(`chain ${chainId}`, rpcUrl)) })
  processes = await startProcesses(world.place, settings, {
    otherSettings,
    counts: Object.fromEntries(serviceNames.map(name => [name, REPLICAS_EACH])),
    ownerUrls,
    nodeArgs: ['--require', MOVED_CLOCK],
    hasChannel: true,
    // As an orchestrator does.
    restartMs: RESTART_MS,
    onOutput({ name, index }, text) {
      if (logFolder !== undefined) appendFileSync(join(logFolder, `${name}-${index}.jsonl`), text)
    },
  })
  const { replica: newest, stop, start, end } = processes
  const childOf = ({ name, index }: Replica) => newest(name, index).child
  const signal = (replica: Replica, sent: NodeJS.Signals) => void childOf(replica).kill(sent)
  const moveClock = (replica: Replica, aheadMs: number) => {
    const child = childOf(replica)
    if (child.connected) child.send({ aheadMs })
  }
  const suspend = async (chainId: number | null) => {
    const networks = JSON.parse(environments(world.place).orders.OTHER_NETWORKS ?? '[]') as { chain_id: number }[]
    const OTHER_NETWORKS = JSON.stringify(networks.map(network => ({ ...network, suspended: network.chain_id === chainId })))
    for (let index = 0; index < REPLICAS_EACH; index++) {
      // One that was killed starts by itself, and would then be there twice.
      await until(() => !hasEnded(newest('orders', index).child), `orders ${index} does not start again`, READY_WAIT_MS)
      signal({ name: 'orders', index }, 'SIGCONT')
      await end('orders', 'SIGTERM', index)
      // It starts again with these settings, where what it needs is away just now.
      await start('orders', index, { OTHER_NETWORKS }).catch(() => undefined)
    }
  }
  const heal = async () => {
    for (const proxy of proxies.values()) {
      proxy.refuse(false)
      proxy.stall(false)
      proxy.delay(0)
    }
    for (const rpc of rpcs.flat()) rpc.set()
    for (const replica of replicas()) {
      signal(replica, 'SIGCONT')
      moveClock(replica, 0)
    }
    await Promise.all(
      replicas().map(({ name, index, opsUrl }) =>
        until(
          () => isReady(opsUrl),
          () => `${name} ${index} does not become ready:\n${newest(name, index).output.slice(-OUTPUT_LINES).join('')}`,
          READY_WAIT_MS,
        ),
      ),
    )
  }
  return {
    replicas: replicas().map(({ name, index }) => ({ name, index })),
    proxies,
    gatewayUrls: replicas()
      .filter(({ name }) => name === 'api-gateway')
      .map(({ url }) => url),
    rpcs,
    signal,
    moveClock,
    suspend,
    heal,
    async stop() {
      await stop()
      await Promise.all([...proxies.values(), ...rpcs.flat()].map(proxy => proxy.stop()))
    },
  }
}
