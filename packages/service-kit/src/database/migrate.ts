import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'

/** Any number; the same in every service, since each has a database of its own. */
const MIGRATION_LOCK = 7_210_417

/**
 * Applies `folder/<timestamp>_<name>/migration.sql` in order, each in a transaction, under an advisory lock, so that replicas may
 * start at once. It keeps Prisma's own `_prisma_migrations` table, so `prisma migrate status` and `dev` serve those who have the
 * engine. Throws when an applied migration was edited afterwards. Answers the names it applied.
 */
export async function migrate(databaseUrl: string, folder: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
    await client.query(`CREATE TABLE IF NOT EXISTS _prisma_migrations (
      id varchar(36) PRIMARY KEY NOT NULL, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL,
      logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`)
    const { rows } = await client.query<{ migration_name: string; checksum: string }>(
      'SELECT migration_name, checksum FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
    )
    const known = new Map(rows.map(row => [row.migration_name, row.checksum]))
    const applied: string[] = []
    for (const name of await migrationNames(folder)) {
      const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      if (known.has(name) && known.get(name) !== checksum)
        throw new Error(`Migration ${name} was edited after it was applied. Add a new migration instead.`)
      if (known.has(name)) continue
      await apply(client, { name, sql, checksum })
      applied.push(name)
    }
    return applied
  } finally {
    await client.end()
  }
}

async function migrationNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries
    .filter(entry => entry.isDirectory())
    .map(entry => entry.name)
    .sort()
}

async function apply(client: pg.Client, migration: { name: string; sql: string; checksum: string }): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query(migration.sql)
    await client.query(
      'INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ($1, $2, $3, now(), 1)',
      [randomUUID(), migration.checksum, migration.name],
    )
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw new Error(`Migration ${migration.name} failed and was undone.`, { cause: error })
  }
}
