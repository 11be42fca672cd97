import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrate } from '../database'

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
  await administer(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`, `CREATE DATABASE ${name} OWNER ${name}`)
  const operator = new URL(server())
  operator.pathname = `/${name}`
  const own = new URL(operator)
  Object.assign(own, { username: name, password })
  if (migrations) await migrate(own.href, migrations)
  return {
    ...{ url: own.href, operatorUrl: operator.href },
    drop: () => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, `DROP ROLE IF EXISTS ${name}`),
  }
}

/** Statements by the server's superuser, outside every database of a test. */
export async function administer(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: server() })
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
