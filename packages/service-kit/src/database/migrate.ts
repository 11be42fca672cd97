import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/** Any number; the same in every service, since each has a database of its own. */
const MIGRATION_LOCK = 7_210_417
const LOCK_POLL_MS = 250
/** A statement that waits for a table's lock holds up every one that comes after it. */
const LOCK_TIMEOUT_MS = 3_000
const LOCK_TRIES = 20
const LOCK_PAUSE_MS = 2_000

export interface MigrateOptions {
  /** The role that services write with, when it is not the one that migrates: it may then read and write every table, and change none. */
  grantTo?: string | undefined
  /** Longest wait of a migration for the lock of a table; it is tried again after a pause, in which other statements pass. */
  lockTimeoutMs?: number
  lockTries?: number
  lockPauseMs?: number
}

interface Migration {
  name: string
  sql: string
  checksum: string
}

/**
 * Applies `folder/<timestamp>_<name>/migration.sql` in order, each in a transaction, under an advisory lock, so that replicas may
 * start at once. One with CONCURRENTLY in it runs statement by statement without a transaction, and must be fit to run twice.
 * It keeps Prisma's own `_prisma_migrations` table, so `prisma migrate status` and `dev` serve those who have the
 * engine. Throws when an applied migration was edited afterwards. Answers the names it applied.
 */
export async function migrate(databaseUrl: string, folder: string, options: MigrateOptions = {}): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await refusePooler(client)
    await takeLock(client)
    await client.query(`CREATE TABLE IF NOT EXISTS _prisma_migrations (
      id varchar(36) PRIMARY KEY NOT NULL, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL,
      logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`)
    const missing = await missingFrom(client, folder)
    for (const migration of missing) await apply(client, migration, options)
    if (options.grantTo !== undefined) await grant(client, options.grantTo)
    return missing.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

/** Throws unless every migration of the folder is applied. Those of a later release may be, too. */
export async function requireMigrated(databaseUrl: string, folder: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await refusePooler(client)
    const { rows } = await client.query<{ exists: boolean }>("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists")
    const missing = rows[0]?.exists ? await missingFrom(client, folder) : await readMigrations(folder)
    if (missing.length === 0) return
    throw new Error(`The database lacks ${missing.map(({ name }) => name).join(', ')}. Run this program with the argument migrate first.`)
  } finally {
    await client.end()
  }
}

/**
 * Throws when something between this connection and PostgreSQL may hand it another server connection: prepared statements, settings and the
 * leader's lock belong to one. A pooler answers with a process id of its own.
 */
async function refusePooler(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  if (rows[0]?.pid === Reflect.get(client, 'processID')) return
  throw new Error(
    'DATABASE_URL leads to a connection pooler. Name PostgreSQL itself: each process keeps DATABASE_POOL connections, with prepared statements.',
  )
}

/** Polled: a session that waits in the lock holds a snapshot, which CREATE INDEX CONCURRENTLY waits for. */
async function takeLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK])
    if (rows[0]?.taken) return
    await pause(LOCK_POLL_MS)
  }
}

async function missingFrom(client: pg.Client, folder: string): Promise<Migration[]> {
  const { rows } = await client.query<{ migration_name: string; checksum: string }>(
    'SELECT migration_name, checksum FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  )
  const known = new Map(rows.map(row => [row.migration_name, row.checksum]))
  const migrations = await readMigrations(folder)
  const edited = migrations.find(({ name, checksum }) => known.has(name) && known.get(name) !== checksum)
  if (edited) throw new Error(`Migration ${edited.name} was edited after it was applied. Add a new migration instead.`)
  return migrations.filter(({ name }) => !known.has(name))
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter(entry => entry.isDirectory()).map(entry => entry.name)
  return Promise.all(
    names.sort().map(async name => {
      const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

const RECORD =
  'INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ($1, $2, $3, now(), 1)'

async function apply(client: pg.Client, migration: Migration, options: MigrateOptions): Promise<void> {
  const { lockTimeoutMs = LOCK_TIMEOUT_MS, lockTries = LOCK_TRIES, lockPauseMs = LOCK_PAUSE_MS } = options
  const record = () => client.query(RECORD, [randomUUID(), migration.checksum, migration.name])
  for (let tries = 1; ; tries += 1) {
    try {
      await client.query(`SET lock_timeout = ${lockTimeoutMs}`)
      const alone = statementsAlone(migration.sql)
      if (alone) {
        for (const statement of alone) await client.query(statement)
        await record()
        return
      }
      await client.query('BEGIN')
      await client.query(migration.sql)
      await record()
      await client.query('COMMIT')
      return
    } catch (error) {
      await client.query('ROLLBACK')
      const isLockedOut = error instanceof pg.DatabaseError && error.code === '55P03'
      const outcome = statementsAlone(migration.sql) ? 'failed half-way; it can be run again' : 'failed and was undone'
      if (!isLockedOut || tries >= lockTries) throw new Error(`Migration ${migration.name} ${outcome}.`, { cause: error })
      await pause(lockPauseMs)
    }
  }
}

/** The statements of a migration that cannot run in a transaction; undefined for any other. */
function statementsAlone(sql: string): string[] | undefined {
  const bare = sql.replace(/--.*$/gm, '')
  if (!/\bCONCURRENTLY\b/i.test(bare)) return undefined
  return bare
    .split(';')
    .map(statement => statement.trim())
    .filter(Boolean)
}

async function grant(client: pg.Client, role: string): Promise<void> {
  const name = pg.escapeIdentifier(role)
  await client.query(`GRANT USAGE ON SCHEMA public TO ${name}`)
  await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${name}`)
  await client.query(`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO ${name}`)
}
