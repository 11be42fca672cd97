import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate, openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { subscriptionsMigrations } from '../src'
import { merchantId } from './setup'

/** The database as the migrations before the named one left it. */
async function databaseBefore(migration: string) {
  const before = mkdtempSync(join(tmpdir(), 'ponte-migrations-'))
  for (const name of readdirSync(subscriptionsMigrations)) {
    if (name < migration) cpSync(join(subscriptionsMigrations, name), join(before, name), { recursive: true })
  }
  const home = await testDatabase(before)
  const sql = openDatabase({ url: home.url, poolSize: 1 })
  return {
    sql,
    migrate: () => migrate(home.url, subscriptionsMigrations),
    async drop() {
      await sql.stop?.()
      await home.drop()
      rmSync(before, { recursive: true })
    },
  }
}

it('has plans of the release before go on as they did, also those that it still writes, and leaves what a merchant chose', async () => {
  const { sql, migrate, drop } = await databaseBefore('20261125')
  const insert = (name: string, chosen: Record<string, string> = {}) =>
    sql.query(
      `INSERT INTO subscriptions (${[
        ...['id', 'merchant_id', 'status', 'external_ref', 'metadata', 'brl_centavos', 'timezone', 'start_at', 'order_expires_in_s'],
        ...['charges_done', 'period_index', 'last_paid_index', 'created_at', ...Object.keys(chosen)],
      ].join(', ')})
       VALUES (${[`gen_random_uuid(), $1, 'active', $2, '{}', 4990, 'UTC', now(), 86400, 0, -1, -1, now()`, ...Object.values(chosen)].join(', ')})`,
      [merchantId, name],
    )
  await insert('before')
  await insert('chosen', { when_unpaid: "'cancel'", unpaid_periods_max: '2' })
  await migrate()
  await insert('still written')
  const { rows } = await sql.query('SELECT external_ref, when_unpaid FROM subscriptions ORDER BY external_ref')
  expect(rows).toEqual([
    { external_ref: 'before', when_unpaid: 'leave' },
    { external_ref: 'chosen', when_unpaid: 'cancel' },
    { external_ref: 'still written', when_unpaid: 'leave' },
  ])
  await drop()
})

it('keeps stored answers, those of orders by their name, also those that the release before still writes', async () => {
  const orderId = '01981f3c-0000-7000-8000-0000000000aa'
  const { sql, migrate, drop } = await databaseBefore('20261120000001')
  const store = (keys: [string, string]) =>
    sql.query(
      `INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body, order_id)
       VALUES ($1, 'POST /a', $3, 'h', 201, '{"id":1}', NULL), ($1, 'POST /a', $4, 'h', 201, NULL, $2)`,
      [merchantId, orderId, ...keys],
    )
  await store(['body', 'order'])
  await migrate()
  // A replica of the release before still writes as it did.
  await store(['later', 'later order'])
  const { rows } = await sql.query('SELECT key, status, body FROM idempotency_keys ORDER BY key')
  expect(rows).toEqual([
    { key: 'body', status: 201, body: '{"id":1}' },
    { key: 'later', status: 201, body: '{"id":1}' },
    { key: 'later order', status: 201, body: `order ${orderId}` },
    { key: 'order', status: 201, body: `order ${orderId}` },
  ])
  await drop()
})
