import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrate } from '../database'

/** A database of its own for one test file, migrated. `drop()` removes it and ends its open connections. */
export async function testDatabase(migrations?: string): Promise<{ url: string; drop(): Promise<void> }> {
  const server = process.env.PONTE_TEST_POSTGRES_URL
  if (!server) throw new Error('PONTE_TEST_POSTGRES_URL is not set: run the tests with npm test, which provides PostgreSQL.')
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(server, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  if (migrations) await migrate(url.href, migrations)
  return { url: url.href, drop: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

/** The broker of the test run, with a namespace of its own for one test file. */
export function testBroker(): { url: string; namespace: string } {
  const url = process.env.AMQP_URL
  if (!url) throw new Error('AMQP_URL is not set: run the tests with npm test, which provides RabbitMQ.')
  return { url, namespace: `test-${randomBytes(6).toString('hex')}` }
}

async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
