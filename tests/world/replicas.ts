import { once } from 'node:events'
import { Agent, createServer, request, type Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { type Environment, environments, type Place, type ServiceName, serviceNames } from '@ponte/all-in-one'
import { freePort } from '@ponte/local-servers'
import { endProcess, type Running, startProcess } from './process'

/** What `preStop` gives a pod on Kubernetes: what was sent to it just now still arrives. There it is 5 s. */
const LEAVING_MS = 250

interface Replica extends Running {
  port: number
  opsPort: number
  /** What was changed of its settings when it was last started. */
  settings: Environment
}

/** What stands before the replicas of one service, as a Kubernetes Service does: each request to the next that is ready. */
interface Balancer {
  url: string
  ports: Set<number>
  close(): void
}

async function startBalancer(): Promise<Balancer> {
  const ports = new Set<number>()
  const agent = new Agent({ keepAlive: true })
  // Longer than its clients keep a connection, or one of them would now and then send into a closing one.
  const server: Server = createServer({ keepAliveTimeout: 120_000 }, (req, res) => {
    const [port] = ports
    if (port === undefined) return void res.writeHead(502).end('no replica')
    // To the end of the line.
    ports.delete(port)
    ports.add(port)
    const asked = request({ host: '127.0.0.1', port, agent, method: req.method, path: req.url, headers: req.headers }, answer => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    asked.on('error', error => res.writeHead(502).end(String(error)))
    req.pipe(asked)
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${port}`,
    ports,
    close() {
      server.close()
      server.closeAllConnections()
      agent.destroy()
    },
  }
}

export interface Replicas {
  gatewayUrl: string
  /** The running processes, by service and number: `orders 0`. */
  pids(): Record<string, number | undefined>
  /** What the replicas logged, of those that were replaced too. */
  logged(): string[]
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

/** So many replicas of each of the five as processes, from their built code, on one PostgreSQL and one RabbitMQ; of one service, another number. */
export async function startReplicas(
  place: Place,
  count: number,
  more: Environment = {},
  others: Partial<Record<ServiceName, number>> = {},
): Promise<Replicas> {
  const balancers = new Map<ServiceName, Balancer>()
  for (const name of serviceNames) balancers.set(name, await startBalancer())
  const urlOf = (name: ServiceName) => balancers.get(name)?.url ?? ''
  const env = environments({
    ...place,
    publicUrl: urlOf('api-gateway'),
    ownerUrls: {
      orders: urlOf('orders'),
      subscriptions: urlOf('subscriptions'),
      webhooks: urlOf('webhook-dispatcher'),
      chainListener: urlOf('chain-listener'),
    },
  })
  const replicas = new Map<string, Replica>()
  const outputs: string[][] = []

  const start = async (name: ServiceName, index: number, settings: Environment = {}) => {
    // A replacement has its predecessor's: another program may take a port between being found free and being used.
    const { port = await freePort(), opsPort = await freePort() } = replicas.get(`${name} ${index}`) ?? {}
    const started = startProcess(name, { ...env[name], ...more, ...settings, PORT: String(port), OPS_PORT: String(opsPort) })
    outputs.push(started.output)
    replicas.set(`${name} ${index}`, { ...started, port, opsPort, settings })
    await started.ready
    balancers.get(name)?.ports.add(port)
  }
  const replicasOf = (name: ServiceName) => [...replicas].filter(([key]) => key.startsWith(`${name} `))
  const counts = serviceNames.map(name => ({ name, count: others[name] ?? count }))
  for (let index = 0; index < Math.max(...counts.map(({ count }) => count)); index++)
    await Promise.all(counts.filter(({ count }) => index < count).map(({ name }) => start(name, index)))
  return {
    gatewayUrl: urlOf('api-gateway'),
    pids: () => Object.fromEntries([...replicas].map(([name, { child }]) => [name, child.pid])),
    logged: () => outputs.flat(),
    opsUrls: () => Object.fromEntries([...replicas].map(([name, { opsUrl }]) => [name, opsUrl])),
    async kill(name) {
      balancers.get(name)?.ports.clear()
      await Promise.all(replicasOf(name).map(([, { child }]) => endProcess(child, 'SIGKILL')))
    },
    async revive(name) {
      await Promise.all(replicasOf(name).map(([key, { settings }]) => start(name, Number(key.slice(name.length + 1)), settings)))
    },
    async restart(name, index, settings = {}) {
      const old = replicas.get(`${name} ${index}`)
      if (!old) throw new Error(`There is no replica ${index} of ${name}.`)
      balancers.get(name)?.ports.delete(old.port)
      await pause(LEAVING_MS)
      const since = Date.now()
      const code = await endProcess(old.child, 'SIGTERM')
      const stopMs = Date.now() - since
      await start(name, index, { ...old.settings, ...settings })
      return { code, stopMs }
    },
    async stop() {
      await Promise.all([...replicas.values()].map(({ child }) => endProcess(child, 'SIGTERM')))
      for (const balancer of balancers.values()) balancer.close()
    },
  }
}
