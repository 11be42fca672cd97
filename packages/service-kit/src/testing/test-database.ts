import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../database/migrate'

export interface TestDatabase {
  /** By the role that owns the database and may do nothing else, as a service's own role does. */
  url: string
  /** The same database by the server's superuser, for what an operator does. */
  operatorUrl: string
  /** Removes the database and its role, and ends open connections. */
  drop(): Promise<void>
}

/** A database and a role of its own for one test file, migrated. */
export async function testDatabase(migrations?: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const password = randomBytes(8).toString('hex')
  const template = migrations && (await templateOf(migrations))
  await administer(
    `CREATE ROLE ${name} LOGIN PASSWORD '${password}'`,
    `CREATE DATABASE ${name} OWNER ${name}${template ? ` TEMPLATE ${template}` : ''}`,
  )
  const operatorUrl = urlOf(name)
  if (template) await run(operatorUrl, `REASSIGN OWNED BY ${template} TO ${name}`)
  return {
    ...{ url: urlOf(name, password), operatorUrl },
    drop: () => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, `DROP ROLE IF EXISTS ${name}`),
  }
}

/** A migrated database that no one connects to, from which others are copied in a fraction of the time; what it holds belongs to a role of its name. */
async function templateOf(migrations: string): Promise<string> {
  const digest = createHash('sha256')
  for (const folder of readdirSync(migrations).sort()) {
    digest.update(`\0${folder}\0`)
    if (!folder.includes('.')) digest.update(readFileSync(join(migrations, folder, 'migration.sql')))
  }
  const name = `template_${digest.digest('hex').slice(0, 16)}`
  const client = new pg.Client({ connectionString: server() })
  await client.connect()
  try {
    // Ends with the connection: one worker makes it, the others wait.
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 1) return name
    const partial = `${name}_partial`
    const password = randomBytes(8).toString('hex')
    await client.query(`DROP DATABASE IF EXISTS ${partial}`)
    await client.query(`DROP ROLE IF EXISTS ${name}`)
    await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`)
    await client.query(`CREATE DATABASE ${partial} OWNER ${name}`)
    await migrate(urlOf(partial, password, name), migrations)
    // Owned by the superuser, so that a copy's change of owners leaves the template alone.
    await client.query(`ALTER DATABASE ${partial} OWNER TO CURRENT_USER`)
    await client.query(`ALTER DATABASE ${partial} RENAME TO ${name}`)
    return name
  } finally {
    await client.end()
  }
}

/** By the superuser, or by the role of the database's name when its password is given. */
function urlOf(database: string, password?: string, role = database): string {
  const url = new URL(server())
  url.pathname = `/${database}`
  if (password !== undefined) Object.assign(url, { username: role, password })
  return url.href
}

/** Statements by the server's superuser, outside every database of a test. */
export const administer = (...statements: string[]): Promise<void> => run(server(), ...statements)

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The broker of the test run, with a namespace of its own for one test file. */
export function testBroker(): { url: string; namespace: string } {
  const url = process.env.AMQP_URL
  if (!url) throw new Error('AMQP_URL is not set: run the tests with npm test, which provides RabbitMQ.')
  return { url, namespace: `test-${randomBytes(6).toString('hex')}` }
}

function server(): string {
  const url = process.env.PONTE_TEST_POSTGRES_URL
  if (!url) throw new Error('PONTE_TEST_POSTGRES_URL is not set: run the tests with npm test, which provides PostgreSQL.')
  return url
}
