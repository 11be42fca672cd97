import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate, openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { subscriptionsMigrations } from '../src'
import { merchantId } from './setup'

it('keeps stored answers, those of orders by their name, also those that the release before still writes', async () => {
  const orderId = '01981f3c-0000-7000-8000-0000000000aa'
  const before = mkdtempSync(join(tmpdir(), 'ponte-migrations-'))
  cpSync(join(subscriptionsMigrations, '20261120000000_subscriptions'), join(before, '20261120000000_subscriptions'), { recursive: true })
  const home = await testDatabase(before)
  const sql = openDatabase({ url: home.url, poolSize: 1 })
  const store = (keys: [string, string]) =>
    sql.query(
      `INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body, order_id)
       VALUES ($1, 'POST /a', $3, 'h', 201, '{"id":1}', NULL), ($1, 'POST /a', $4, 'h', 201, NULL, $2)`,
      [merchantId, orderId, ...keys],
    )
  await store(['body', 'order'])
  await migrate(home.url, subscriptionsMigrations)
  // A replica of the release before still writes as it did.
  await store(['later', 'later order'])
  const { rows } = await sql.query('SELECT key, status, body FROM idempotency_keys ORDER BY key')
  expect(rows).toEqual([
    { key: 'body', status: 201, body: '{"id":1}' },
    { key: 'later', status: 201, body: '{"id":1}' },
    { key: 'later order', status: 201, body: `order ${orderId}` },
    { key: 'order', status: 201, body: `order ${orderId}` },
  ])
  await sql.stop?.()
  await home.drop()
  rmSync(before, { recursive: true })
})
