import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Event, topology } from '@ponte/contracts'
import { rabbitmqBus, silentLogger, until } from '@ponte/service-kit'
import { testBroker, testDatabase } from '@ponte/service-kit/testing'
import pg from 'pg'
import { webhookDispatcherMigrations } from '../src'
import { settings } from './setup'

const main = join(__dirname, '../dist/main.js')

/** The dispatcher as processes of its built code, on PostgreSQL and RabbitMQ that can be taken away from all of them. */
export async function startReplicas() {
  const database = await testDatabase(webhookDispatcherMigrations)
  const broker = testBroker()
  const proxies = { postgres: await startProxy(database.url, 5432), rabbitmq: await startProxy(broker.url, 5672) }
  const bus = rabbitmqBus({
    url: broker.url,
    namespace: broker.namespace,
    topology: { 'webhook-dispatcher': topology['webhook-dispatcher'] },
    logger: silentLogger,
  })
  await bus.start?.()
  await until(async () => (await bus.ready?.()) === true, 'no broker')
  const sql = new pg.Pool({ connectionString: database.url, max: 2 })
  const children: ChildProcess[] = []

  return {
    sql,
    ...proxies,
    async start() {
      const opsPort = await freePort()
      const env = {
        ...settings(proxies.postgres.url, { AMQP_URL: proxies.rabbitmq.url, AMQP_NAMESPACE: broker.namespace, OPS_PORT: String(opsPort) }),
        PATH: process.env.PATH,
      }
      const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      children.push(child)
      const output: string[] = []
      for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => output.push(String(chunk)))
      const ready = () =>
        fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
          answer => answer.ok,
          () => false,
        )
      await until(ready, () => `a replica did not become ready:\n${output.join('')}`, 60_000)
      return {
        metric: async (name: string) => {
          const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
          return Number(new RegExp(`^${name}\\{.*\\} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
        },
        signal: (signal: NodeJS.Signals) => child.kill(signal),
        async end(signal: NodeJS.Signals) {
          if (child.exitCode === null && child.signalCode === null) {
            child.kill(signal)
            await once(child, 'exit')
          }
          return child.exitCode
        },
      }
    },
    publish: async (...events: Event[]) => {
      await Promise.all(events.map(event => bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })))
    },
    /** Lets the leases taken until then end now; they are the database's time. */
    async endLeases(takenUntil = new Date()) {
      const values = [takenUntil]
      await sql.query(
        "UPDATE deliveries SET lease_until = now() WHERE status = 'in_flight' AND lease_until < $1::timestamptz + interval '45 s'",
        values,
      )
      await sql.query(
        "UPDATE lanes SET turn_at = now() WHERE lease_token IS NOT NULL AND turn_at < $1::timestamptz + interval '45 s'",
        values,
      )
    },
    async stop() {
      for (const child of children) child.kill('SIGKILL')
      await bus.stop?.()
      await sql.end()
      await Promise.all([proxies.postgres.stop(), proxies.rabbitmq.stop()])
      await database.drop()
    },
  }
}

/** A way to a server that can be cut: as a restart looks to its clients. */
async function startProxy(target: string, defaultPort: number) {
  const url = new URL(target)
  const sockets = new Set<Socket>()
  let down = false
  const server = createServer(client => {
    if (down) return client.resetAndDestroy()
    const upstream = connect(Number(url.port || defaultPort), url.hostname)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const proxied = new URL(target)
  proxied.hostname = '127.0.0.1'
  proxied.port = String((server.address() as AddressInfo).port)
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    url: proxied.href,
    /** Breaks every connection and refuses new ones for a while. */
    async restart(ms: number) {
      down = true
      cut()
      await new Promise(resolve => setTimeout(resolve, ms))
      down = false
    },
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        cut()
      }),
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
