import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from './ports'
import { startPostgres } from './postgres/server'
import { startRabbitmq } from './rabbitmq'

/** A server that can be stopped as a crash stops it, and started again where it was. */
export interface Crashable {
  crash(): Promise<void>
  start(): Promise<void>
  /** Its first process; those of its connections are below it. */
  pid(): number | undefined
}

/** A PostgreSQL and a RabbitMQ of the caller's own: durable, because what they have confirmed must still be there after a crash. */
export interface CrashableServers {
  postgres: Crashable & {
    url(database: string): string
    /** Every write fails while on, as on a disk that is full or a primary that became a standby; reading goes on. */
    refuseWrites(on: boolean): Promise<void>
    /** Keeps a database as it is now; what is answered puts it back in its place. Its connections end both times. May be called again after a failure. */
    keep(database: string): Promise<() => Promise<void>>
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
  const administered = async (work: (client: Client) => Promise<unknown>): Promise<void> => {
    // Also while the server refuses to write.
    const client = new Client({ connectionString: server.url('postgres'), options: '-c default_transaction_read_only=off' })
    // The server may crash meanwhile: the query fails then, and the event would end this process.
    client.on('error', () => undefined)
    await client.connect()
    try {
      await work(client)
    } finally {
      await client.end()
    }
  }
  return {
    dataDir: server.dataDir,
    url: (database: string) => server.url(database),
    crash: () => server.crash(),
    pid: () => server.pid,
    async start() {
      server = await startPostgres(options)
    },
    refuseWrites: (on: boolean) =>
      administered(async client => {
        await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${on ? 'on' : 'off'}`)
        await client.query('SELECT pg_reload_conf()')
      }),
    async keep(database: string) {
      const kept = `${database}_kept`
      try {
        await administered(async client => {
          await client.query(`DROP DATABASE IF EXISTS ${kept}`)
          // A template must have no connections.
          await client.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`)
          await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database])
          await client.query(`CREATE DATABASE ${kept} TEMPLATE ${database}`)
        })
      } finally {
        await untilDone(() => administered(client => client.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`)))
      }
      return () =>
        administered(async client => {
          // An attempt that failed may have come this far.
          if ((await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [kept])).rowCount === 0) return
          await client.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
          await client.query(`ALTER DATABASE ${kept} RENAME TO ${database}`)
        })
    },
  }
}

const TRIES = 60
/** The server may be down just now. */
async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await work()
      return
    } catch (error) {
      if (tries === TRIES) throw error
      await new Promise(resolve => setTimeout(resolve, 500))
    }
  }
}

async function crashableBroker(folder: string) {
  const port = await freePort()
  let server = await startRabbitmq(folder, port)
  return {
    url: server.url,
    crash: () => server.stop(),
    pid: () => server.pid,
    control: (...args: string[]) => server.control(...args),
    async start() {
      server = await startRabbitmq(folder, port)
    },
  }
}
