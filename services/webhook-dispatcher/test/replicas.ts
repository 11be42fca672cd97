import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Event, topology } from '@ponte/contracts'
import { freePort, startCrashableServers } from '@ponte/local-servers'
import { migrate, rabbitmqBus, seal, silentLogger, until, uuidv7 } from '@ponte/service-kit'
import pg from 'pg'
import { webhookDispatcherMigrations } from '../src'
import type { Kind } from './endpoints/kinds'
import { merchantUpdated, SEAL_KEY, settings } from './setup'

const main = join(__dirname, '../dist/main.js')
const NAMESPACE = 'faults'
const DATABASE = 'webhook_dispatcher'

/** The dispatcher as processes of its built code, on a PostgreSQL and a RabbitMQ of their own, which can crash. */
export async function startReplicas() {
  const servers = await startCrashableServers([DATABASE])
  const databaseUrl = servers.postgres.url(DATABASE)
  const amqpUrl = servers.broker.url
  await migrate(databaseUrl, webhookDispatcherMigrations)
  const bus = rabbitmqBus({
    url: amqpUrl,
    namespace: NAMESPACE,
    topology: { 'webhook-dispatcher': topology['webhook-dispatcher'], 'webhook-dispatcher.2': topology['webhook-dispatcher.2'] },
    logger: silentLogger,
  })
  await bus.start?.()
  await until(() => bus.accepts(), 'no broker')
  const sql = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  sql.on('error', () => undefined)
  const children: ChildProcess[] = []

  return {
    sql,
    /** Ends the server as a crash does, and starts it again on the same port and data. */
    async restart(server: 'postgres' | 'broker') {
      await servers[server].crash()
      await servers[server].start()
    },
    async start() {
      const opsPort = await freePort()
      const env = {
        ...settings(databaseUrl, { AMQP_URL: amqpUrl, AMQP_NAMESPACE: NAMESPACE, OPS_PORT: String(opsPort) }),
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
    /** Until the broker has it, as an outbox does. */
    publish: async (...events: Event[]) => {
      const publish = (event: Event) =>
        bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) }).then(
          () => true,
          () => false,
        )
      await Promise.all(events.map(event => until(() => publish(event), 'an event could not be published', 60_000)))
    },
    /** Makes this URL the one place where the merchant is notified; resolves to the event that makes them known. */
    async notifyAt(kind: Kind, merchantId: string, url: string): Promise<Event> {
      if (kind === 'webhook_url') return merchantUpdated(merchantId, { webhook_url: url })
      const id = uuidv7()
      await sql.query(
        `INSERT INTO endpoints (id, merchant_id, place, url, events, format, sealed_secret, created_at)
         VALUES ($1, $2, 1, $3, '{*}', $4, $5, now())`,
        [id, merchantId, url, kind, seal('whsec_c2VjcmV0', [SEAL_KEY], id)],
      )
      return merchantUpdated(merchantId)
    },
    /** Lets the leases taken until then end now; they are the database's time. */
    async endLeases(takenUntil = new Date()) {
      const values = [takenUntil]
      await sql.query(
        "UPDATE lanes SET turn_at = now() WHERE lease_token IS NOT NULL AND turn_at < $1::timestamptz + interval '45 s'",
        values,
      )
    },
    async stop() {
      for (const child of children) child.kill('SIGKILL')
      await bus.stop?.()
      await sql.end()
      await servers.stop()
    },
  }
}
