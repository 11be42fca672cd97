import { setTimeout as pause } from 'node:timers/promises'
import { type Environment, environments, type Place, type ServiceName, serviceNames } from '@ponte/all-in-one'
import { freePort } from '@ponte/local-servers'
import { every, silentLogger } from '@ponte/service-kit'
import { type Balancer, startBalancer } from './balancer'
import { endProcess, isReady, type Running, startProcess } from './process'

/** Given to a pod by `preStop` on Kubernetes: requests that were sent to it just now still arrive. There it is 5 s. */
const LEAVING_MS = 250
/** The readiness probe of infra/kubernetes: every 5 s, out of the balancer after the third failure and in again after one success. */
const PROBE_MS = 5_000
const PROBE_FAILURES_MAX = 3

interface Replica extends Running {
  port: number
  opsPort: number
  /** Changes of its settings when it was last started. */
  settings: Environment
  /** Probes that failed since the last that did not. */
  failures: number
}

export interface ReplicasOptions {
  /** Of one service, another number. */
  others?: Partial<Record<ServiceName, number>>
  /** The built checkout whose code they run, when it is not this one. */
  root?: string | undefined
  /** The gateway is given the addresses of the replicas of each owner, instead of a balancer's. */
  isDirect?: boolean
  /** Probes take a replica out of its balancer and back, and one that ends by itself is started again at the next probe. */
  isOrchestrated?: boolean
}

export interface Replicas {
  gatewayUrl: string
  /** The running processes, by service and number: `orders 0`. */
  pids(): Record<string, number | undefined>
  /** Logged by the replicas, of those that were replaced too. */
  logged(): string[]
  /** Replicas that ended by themselves and were started again. */
  restarts(): number
  /** The ops port of each, by service and number; a replacement has its predecessor's. */
  opsUrls(): Record<string, string>
  /**
   * As a rolling update: out of the balancer, SIGTERM, and a new one in its place, with these settings changed from now on. Answers the exit code and how
   * long the old one took to end.
   */
  restart(name: ServiceName, index: number, settings?: Environment): Promise<{ code: number | null; stopMs: number }>
  /** Kills every replica of a service at once; `revive` starts as many again. */
  kill(name: ServiceName): Promise<void>
  revive(name: ServiceName): Promise<void>
  stop(): Promise<void>
}

/** So many replicas of each of the five as processes, from their built code, on one PostgreSQL and one RabbitMQ. */
export async function startReplicas(
  place: Place,
  count: number,
  more: Environment = {},
  { others = {}, root, isDirect = false, isOrchestrated = false }: ReplicasOptions = {},
): Promise<Replicas> {
  const balancers = new Map<ServiceName, Balancer>()
  for (const name of serviceNames) balancers.set(name, await startBalancer())
  const urlOf = (name: ServiceName) => balancers.get(name)?.url ?? ''
  const countOf = (name: ServiceName) => others[name] ?? count
  const portsOf = new Map<ServiceName, number[]>()
  if (isDirect) for (const name of serviceNames) portsOf.set(name, await Promise.all(Array.from({ length: countOf(name) }, freePort)))
  const ownerUrl = (name: ServiceName) =>
    isDirect
      ? (portsOf
          .get(name)
          ?.map(port => `http://127.0.0.1:${port}`)
          .join() ?? '')
      : urlOf(name)
  const env = environments({
    ...place,
    publicUrl: urlOf('api-gateway'),
    ownerUrls: {
      orders: ownerUrl('orders'),
      subscriptions: ownerUrl('subscriptions'),
      webhooks: ownerUrl('webhook-dispatcher'),
      chainListener: ownerUrl('chain-listener'),
    },
  })
  const replicas = new Map<string, Replica>()
  const outputs: string[][] = []

  /** Ended on purpose. */
  const away = new Set<string>()
  let restarts = 0

  const launch = async (name: ServiceName, index: number, settings: Environment = {}) => {
    // A replacement has its predecessor's: another program may take a port between being found free and being used.
    const { port = portsOf.get(name)?.[index] ?? (await freePort()), opsPort = await freePort() } = replicas.get(`${name} ${index}`) ?? {}
    const started = startProcess(name, { ...env[name], ...more, ...settings, PORT: String(port), OPS_PORT: String(opsPort) }, root)
    outputs.push(started.output)
    replicas.set(`${name} ${index}`, { ...started, port, opsPort, settings, failures: 0 })
    return { ready: started.ready, port }
  }
  const start = async (name: ServiceName, index: number, settings?: Environment) => {
    const { ready, port } = await launch(name, index, settings)
    await ready
    balancers.get(name)?.ports.add(port)
    away.delete(`${name} ${index}`)
  }
  const probe = async (name: ServiceName, index: number) => {
    const key = `${name} ${index}`
    const replica = replicas.get(key)
    const ports = balancers.get(name)?.ports
    if (!replica || away.has(key)) return
    if (replica.child.exitCode !== null || replica.child.signalCode !== null) {
      ports?.delete(replica.port)
      restarts += 1
      const { ready } = await launch(name, index, replica.settings)
      // The next probe looks whether it is.
      return void ready.catch(() => undefined)
    }
    replica.failures = (await isReady(replica.opsUrl)) ? 0 : replica.failures + 1
    if (away.has(key)) return
    if (replica.failures === 0) ports?.add(replica.port)
    if (replica.failures >= PROBE_FAILURES_MAX) ports?.delete(replica.port)
  }
  const replicasOf = (name: ServiceName) => [...replicas].filter(([key]) => key.startsWith(`${name} `))
  const counts = serviceNames.map(name => ({ name, count: countOf(name) }))
  const indexes = Array.from({ length: Math.max(...counts.map(({ count }) => count)) }, (_, index) => index)
  const at = (index: number) => counts.filter(({ count }) => index < count).map(({ name }) => name)
  for (const index of indexes) await Promise.all(at(index).map(name => start(name, index)))
  const probeAll = () => Promise.all(indexes.flatMap(index => at(index).map(name => probe(name, index))))
  const probes = every('probes', PROBE_MS, probeAll, { ...silentLogger, error: (text, fields) => console.error(text, fields) })
  if (isOrchestrated) await probes.start?.()
  return {
    gatewayUrl: urlOf('api-gateway'),
    pids: () => Object.fromEntries([...replicas].map(([name, { child }]) => [name, child.pid])),
    logged: () => outputs.flat(),
    restarts: () => restarts,
    opsUrls: () => Object.fromEntries([...replicas].map(([name, { opsUrl }]) => [name, opsUrl])),
    async kill(name) {
      for (const [key] of replicasOf(name)) away.add(key)
      balancers.get(name)?.ports.clear()
      await Promise.all(replicasOf(name).map(([, { child }]) => endProcess(child, 'SIGKILL')))
    },
    async revive(name) {
      await Promise.all(replicasOf(name).map(([key, { settings }]) => start(name, Number(key.slice(name.length + 1)), settings)))
    },
    async restart(name, index, settings = {}) {
      const old = replicas.get(`${name} ${index}`)
      if (!old) throw new Error(`There is no replica ${index} of ${name}.`)
      away.add(`${name} ${index}`)
      balancers.get(name)?.ports.delete(old.port)
      await pause(LEAVING_MS)
      const since = Date.now()
      const code = await endProcess(old.child, 'SIGTERM')
      const stopMs = Date.now() - since
      await start(name, index, { ...old.settings, ...settings })
      return { code, stopMs }
    },
    async stop() {
      await probes.stop?.()
      await Promise.all([...replicas.values()].map(({ child }) => endProcess(child, 'SIGTERM')))
      for (const balancer of balancers.values()) balancer.close()
    },
  }
}
