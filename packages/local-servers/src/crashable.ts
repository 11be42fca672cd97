import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from './ports'
import { startPostgres } from './postgres'
import { startRabbitmq } from './rabbitmq'

/** A server that can be stopped as a crash stops it, and started again where it was. */
export interface Crashable {
  crash(): Promise<void>
  start(): Promise<void>
}

/** A PostgreSQL and a RabbitMQ of the caller's own: durable, because what they have confirmed must still be there after a crash. */
export interface CrashableServers {
  postgres: Crashable & {
    url(database: string): string
    /** Every write fails while on, as on a disk that is full or a primary that became a standby; reading goes on. */
    refuseWrites(on: boolean): Promise<void>
  }
  broker: Crashable & {
    url: string
    /** Runs `rabbitmqctl` with these arguments on the node; resolves to what it prints. */
    control(...args: string[]): Promise<string>
  }
  stop(): Promise<void>
}

export async function startCrashableServers(databases: readonly string[]): Promise<CrashableServers> {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-crashable-'))
  // PostgreSQL may have to run as another user.
  chmodSync(folder, 0o711)
  const [postgres, broker] = await Promise.all([
    crashablePostgres(join(folder, 'postgres'), databases),
    crashableBroker(join(folder, 'rabbitmq')),
  ])
  return {
    postgres,
    broker,
    async stop() {
      await Promise.all([postgres.crash(), broker.crash()])
      for (const place of [postgres.dataDir, folder]) rmSync(place, { recursive: true, force: true })
    },
  }
}

async function crashablePostgres(dataDir: string, databases: readonly string[]) {
  const options = { dataDir, port: await freePort(), password: randomBytes(12).toString('hex') }
  let server = await startPostgres(options)
  await server.ensureDatabases(databases)
  return {
    dataDir: server.dataDir,
    url: (database: string) => server.url(database),
    crash: () => server.crash(),
    async start() {
      server = await startPostgres(options)
    },
    async refuseWrites(on: boolean) {
      const client = new Client({ connectionString: server.url('postgres') })
      // The server may crash meanwhile: the query fails then, and the event would end this process.
      client.on('error', () => undefined)
      await client.connect()
      try {
        await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${on ? 'on' : 'off'}`)
        await client.query('SELECT pg_reload_conf()')
      } finally {
        await client.end()
      }
    },
  }
}

async function crashableBroker(folder: string) {
  const port = await freePort()
  let server = await startRabbitmq(folder, port)
  return {
    url: server.url,
    crash: () => server.stop(),
    control: (...args: string[]) => server.control(...args),
    async start() {
      server = await startRabbitmq(folder, port)
    },
  }
}
