import { setTimeout as pause } from 'node:timers/promises'
import {
  type Environment,
  isReady,
  OUTPUT_MAX,
  type Place,
  type Replica,
  type ServiceName,
  serviceNames,
  startProcesses,
} from '@ponte/all-in-one'
import { every, silentLogger } from '@ponte/service-kit'
import { type Balancer, startBalancer } from './balancer'

/** Given to a pod by `preStop` on Kubernetes: requests that were sent to it just now still arrive. There it is 5 s. */
const LEAVING_MS = 250
/** The readiness probe of infra/kubernetes: every 5 s, out of the balancer after the third failure and in again after one success. */
const PROBE_MS = 5_000
const PROBE_FAILURES_MAX = 3
const RESTART_MS = 1_000

export interface ReplicasOptions {
  /** Of one service, another number. */
  others?: Partial<Record<ServiceName, number>>
  /** The built checkout whose code they run, when it is not this one. */
  root?: string | undefined
  /** Probes take a replica out of its balancer and back, and one that ends by itself is started again. */
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
   * As a rolling update: out of the balancer, SIGTERM, and a new one in its place. Answers the exit code and how
   * long the old one took to end.
   */
  restart(name: ServiceName, index: number): Promise<{ code: number | null; stopMs: number }>
  /** Kills every replica of a service at once; `revive` starts as many again. */
  kill(name: ServiceName): Promise<void>
  revive(name: ServiceName): Promise<void>
  stop(): Promise<void>
}

/** So many replicas of each of the five as processes behind a balancer for each service, on one PostgreSQL and one RabbitMQ. */
export async function startReplicas(
  place: Place,
  count: number,
  more: Environment = {},
  { others = {}, root, isOrchestrated = false }: ReplicasOptions = {},
): Promise<Replicas> {
  const balancers = new Map<Replica['name'], Balancer>()
  for (const name of serviceNames) balancers.set(name, await startBalancer())
  const urlOf = (name: ServiceName) => balancers.get(name)?.url ?? ''
  const ofEach = <T>(value: (name: ServiceName) => T) =>
    Object.fromEntries(serviceNames.map(name => [name, value(name)])) as Record<ServiceName, T>
  const log: string[] = []
  /** Failed probes of each since the last that did not. */
  const failures = new Map<string, number>()
  /** Out of its balancer on purpose. */
  const away = new Set<string>()
  let restarts = 0
  const keyOf = ({ name, index }: Pick<Replica, 'name' | 'index'>) => `${name} ${index}`
  const portsOf = (name: Replica['name']) => balancers.get(name)?.ports

  const processes = await startProcesses(
    { ...place, publicUrl: urlOf('api-gateway') },
    ofEach(() => more),
    {
      counts: ofEach(name => others[name] ?? count),
      ...(root === undefined ? {} : { roots: ofEach(() => root) }),
      ownerUrls: {
        orders: urlOf('orders'),
        subscriptions: urlOf('subscriptions'),
        webhooks: urlOf('webhook-dispatcher'),
        chainListener: urlOf('chain-listener'),
      },
      ...(isOrchestrated ? { restartMs: RESTART_MS } : {}),
      onOutput(_, text) {
        log.push(text)
        if (log.length > OUTPUT_MAX) log.splice(0, OUTPUT_MAX / 2)
      },
      onEnd({ name, port }) {
        restarts += 1
        if (isOrchestrated) portsOf(name)?.delete(port)
      },
    },
  )
  for (const { name, port } of processes.replicas()) portsOf(name)?.add(port)

  const start = async (replica: Replica) => {
    await processes.start(replica.name, replica.index)
    portsOf(replica.name)?.add(replica.port)
    away.delete(keyOf(replica))
  }
  const probe = async (replica: Replica) => {
    const key = keyOf(replica)
    if (away.has(key)) return
    const failed = (await isReady(replica.opsUrl)) ? 0 : (failures.get(key) ?? 0) + 1
    failures.set(key, failed)
    if (away.has(key)) return
    if (failed === 0) portsOf(replica.name)?.add(replica.port)
    if (failed >= PROBE_FAILURES_MAX) portsOf(replica.name)?.delete(replica.port)
  }
  const probeAll = () => Promise.all(processes.replicas().map(probe))
  const probes = every('probes', PROBE_MS, probeAll, { ...silentLogger, error: (text, fields) => console.error(text, fields) })
  if (isOrchestrated) await probes.start?.()
  const replicasOf = (name: ServiceName) => processes.replicas().filter(replica => replica.name === name)
  const byKey = <T>(value: (replica: Replica) => T) =>
    Object.fromEntries(processes.replicas().map(replica => [keyOf(replica), value(replica)]))
  return {
    gatewayUrl: urlOf('api-gateway'),
    pids: () => byKey(({ child }) => child.pid),
    logged: () => log,
    restarts: () => restarts,
    opsUrls: () => byKey(({ opsUrl }) => opsUrl),
    async kill(name) {
      for (const replica of replicasOf(name)) away.add(keyOf(replica))
      portsOf(name)?.clear()
      await Promise.all(replicasOf(name).map(({ index }) => processes.end(name, 'SIGKILL', index)))
    },
    async revive(name) {
      await Promise.all(replicasOf(name).map(replica => start(replica)))
    },
    async restart(name, index) {
      const old = processes.replica(name, index)
      away.add(keyOf(old))
      portsOf(name)?.delete(old.port)
      await pause(LEAVING_MS)
      const since = Date.now()
      const code = await processes.end(name, 'SIGTERM', index)
      const stopMs = Date.now() - since
      await start(old)
      return { code, stopMs }
    },
    async stop() {
      await probes.stop?.()
      await processes.stop()
      for (const balancer of balancers.values()) balancer.close()
    },
  }
}
