import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, migrate, openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { webhookDispatcherMigrations } from '../../src'
import { openStore } from '../../src/store'

// A database in which lanes and deliveries are a merchant's is carried over, and a replica of the release before writes on beside the new one.

const CHANGED = '20261122110000_webhook_endpoints'
const before = mkdtempSync(join(tmpdir(), 'dispatcher-migrations-'))
const [merchantId, orderId, subscriptionId] = [randomUUID(), randomUUID(), randomUUID()]
let home: Awaited<ReturnType<typeof testDatabase>>
let database: Database

const addEvent = async (type: string, data: object, sequence: number): Promise<string> => {
  const id = randomUUID()
  await database.query(
    `INSERT INTO events (id, merchant_id, merchant_version, type, body, occurred_at, waiting, sequence)
     VALUES ($1, $2, 1, $3, convert_to($4, 'UTF8'), now(), false, $5)`,
    [id, merchantId, type, JSON.stringify({ type, data }), sequence],
  )
  await database.query(
    "INSERT INTO deliveries (id, event_id, merchant_id, event_type, status, next_attempt_at) VALUES ($1, $1, $2, $3, 'pending', now())",
    [id, merchantId, type],
  )
  return id
}

beforeAll(async () => {
  const old = readdirSync(webhookDispatcherMigrations).filter(name => name < CHANGED)
  for (const name of old) cpSync(join(webhookDispatcherMigrations, name), join(before, name), { recursive: true })
  home = await testDatabase(before)
  database = openDatabase({ url: home.url })
})
afterAll(async () => {
  await database.stop?.()
  await home.drop()
  rmSync(before, { recursive: true })
})

it('events are found by what they are about, and lanes and deliveries belong to the default endpoint', async () => {
  await database.query(
    "INSERT INTO merchants (id, version, webhook_url, sealed_webhook_secret) VALUES ($1, 1, 'https://a.example/', 's')",
    [merchantId],
  )
  const paid = await addEvent('order.paid', { id: orderId, subscription_id: null, external_ref: 'ação' }, 1)
  const charged = await addEvent('subscription.charged', { id: orderId, subscription_id: subscriptionId }, 2)
  const ended = await addEvent('subscription.expired', { id: subscriptionId, external_ref: null }, 3)
  await database.query('SELECT touch_lanes(ARRAY[$1::uuid])', [merchantId])
  await migrate(home.url, webhookDispatcherMigrations)

  const { rows } = await database.query('SELECT id, order_id, subscription_id FROM events ORDER BY sequence')
  expect(rows).toEqual([
    { id: paid, order_id: orderId, subscription_id: null },
    { id: charged, order_id: orderId, subscription_id: subscriptionId },
    { id: ended, order_id: null, subscription_id: subscriptionId },
  ])
  // As the release before writes them: without an endpoint, through the function of the same name.
  const late = await addEvent('order.expired', { id: orderId, external_ref: null }, 4)
  await database.query('SELECT touch_lanes(ARRAY[$1::uuid])', [merchantId])
  const lanes = await database.query('SELECT endpoint_id, merchant_id, class FROM lanes')
  expect(lanes.rows).toEqual([{ endpoint_id: merchantId, merchant_id: merchantId, class: 0 }])

  const store = openStore(database)
  const [lane] = await store.lanes.lease(randomUUID(), { quick: 8, slow: 2, width: 8 })
  expect(lane?.recipient).toMatchObject({ endpointId: merchantId, merchantId, isDefault: true, url: 'https://a.example/', format: 'ponte' })
  expect(lane?.claimed.map(({ id }) => id).sort()).toEqual([paid, charged, ended, late].sort())
  const found = await store.deliveries.list(merchantId, { order_id: orderId }, 10)
  expect(found.rows.map(({ id }) => id).sort()).toEqual([paid, charged].sort())
})

it('numbers what a replica of an earlier release writes without a number, and a duplicate takes none', async () => {
  await migrate(home.url, webhookDispatcherMigrations)
  const merchantId = randomUUID()
  const [first, second, third, fourth] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const write = (...ids: string[]) =>
    database.query(
      `INSERT INTO events (id, merchant_id, merchant_version, type, body, occurred_at, waiting)
       SELECT id, $2, 1, 'order.paid', '{}', now(), true FROM unnest($1::uuid[]) AS given (id) ON CONFLICT (id) DO NOTHING`,
      [ids, merchantId],
    )
  await write(first, second, second)
  await write(second, third)
  const about = { type: 'order.paid', orderId, subscriptionId: null, body: Buffer.from('{}') } as const
  await openStore(database).events.save({
    ...about,
    ...{ id: fourth, merchantId, merchantVersion: 1, occurredAt: '2026-11-22T12:00:00.000Z', trace: null },
  })
  const { rows } = await database.query('SELECT id, sequence::int FROM events WHERE merchant_id = $1 ORDER BY sequence', [merchantId])
  expect(rows).toEqual([first, second, third, fourth].map((id, index) => ({ id, sequence: index + 1 })))
})
