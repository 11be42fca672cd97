import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type ServiceName, serviceNames } from '@ponte/all-in-one'
import { freePort, spawnTied, startPostgres } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import pg from 'pg'

/** A server that can be stopped as a crash stops it, and started again where it was. */
export interface Server {
  crash(): Promise<void>
  start(): Promise<void>
}

/** A PostgreSQL and a RabbitMQ of the harness's own: durable, because what they have confirmed must still be there after a crash. */
export interface Servers {
  postgres: Server & {
    url(service: ServiceName): string
    /** Every write fails while on, as on a disk that is full or a primary that became a standby; reading goes on. */
    refuseWrites(on: boolean): Promise<void>
  }
  broker: Server & { url: string }
  stop(): Promise<void>
}

export async function startServers(): Promise<Servers> {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-torture-'))
  // PostgreSQL may have to run as somebody else.
  chmodSync(folder, 0o711)
  const [postgres, broker] = await Promise.all([ownPostgres(join(folder, 'postgres')), ownBroker(join(folder, 'rabbitmq'))])
  return {
    postgres,
    broker,
    async stop() {
      await Promise.all([postgres.crash(), broker.crash()])
      for (const place of [postgres.dataDir, folder]) rmSync(place, { recursive: true, force: true })
    },
  }
}

async function ownPostgres(dataDir: string) {
  const options = { dataDir, port: await freePort(), password: randomBytes(12).toString('hex') }
  let server = await startPostgres(options)
  const nameOf = (service: ServiceName) => service.replaceAll('-', '_')
  await server.ensureDatabases(serviceNames.map(nameOf))
  return {
    dataDir: server.dataDir,
    url: (service: ServiceName) => server.url(nameOf(service)),
    /** SIGQUIT: the immediate shutdown, after which only the write-ahead log knows what was committed. */
    async crash() {
      const pid = Number(readFileSync(join(server.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])
      process.kill(pid, 'SIGQUIT')
      await until(() => !isRunning(pid), `PostgreSQL (${pid}) does not end`, 30_000)
    },
    async start() {
      server = await startPostgres(options)
    },
    async refuseWrites(on: boolean) {
      const client = new pg.Client({ connectionString: server.url('postgres') })
      // The server may crash meanwhile: the query says so, and the event would end this process.
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

const program = join(__dirname, '../../scripts/rabbitmq.mjs')

async function ownBroker(folder: string) {
  const port = await freePort()
  const open = async () => {
    const child = spawnTied(process.execPath, [program, folder, String(port)], { endSignal: 'KILL' })
    child.stderr.resume()
    child.ref()
    const said = createInterface({ input: child.stdout })
    const [url] = await Promise.race([once(said, 'line'), once(child, 'exit').then(() => [])])
    if (typeof url !== 'string') throw new Error('RabbitMQ did not start.')
    return { child, url }
  }
  let running = await open()
  return {
    url: running.url,
    async crash() {
      const ended = once(running.child, 'exit')
      running.child.kill('SIGKILL')
      await ended
    },
    async start() {
      running = await open()
    },
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
