import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createWebhookReceiver, endProcess, environments, mainOf, startProgram } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { freePort } from '@ponte/local-servers'
import { until, uuidv7 } from '@ponte/service-kit'
import { Client } from 'pg'
import { askGateway, call, createMerchant, pay } from '../../../world'
import { type Installation, startInstallation } from '../installation'

// Sections of docs/operating/incidents.md about databases, events, webhooks and plans, followed.

const CALLERS = 60
/** More than the slots that one merchant gets. */
const BACKLOG = 40
/** Twice what the alert takes: some are handled before the metric is read. */
const EVENTS = 20_000

let ponte: Installation
beforeAll(async () => {
  ponte = await startInstallation({
    'api-gateway': { MERCHANT_READS_MAX: '100' },
    orders: { DATABASE_POOL: '4' },
    'webhook-dispatcher': { WEBHOOK_SLOTS: '16' },
  })
}, 180_000)
afterAll(() => ponte?.stop(), 120_000)

it('PontePoolExhausted, PonteSlow, PonteEventsRetried: the session that the others wait for is ended', async () => {
  const databaseUrl = ponte.world.place.databaseUrl('orders')
  const [paid, unpaid] = [await ponte.order(), await ponte.order()]
  const forgotten = new Client({ connectionString: databaseUrl })
  forgotten.on('error', () => undefined)
  await forgotten.connect()
  await forgotten.query('BEGIN')
  await forgotten.query('LOCK TABLE orders, payments IN ACCESS EXCLUSIVE MODE')
  const path = `/api/v1/orders/${unpaid.id}`
  const headers = { Authorization: `Bearer ${ponte.merchant.api_key}` }
  let seen = false
  // Again and again, because a statement that waits gives up before a slow machine has read the metric.
  const askUntilSeen = async (_: unknown, index: number) => {
    do await fetch(`${ponte.gatewayUrl}/api/v1/orders?limit=${index + 1}`, { headers })
    while (!seen)
  }
  const asked = Promise.all(Array.from({ length: CALLERS }, askUntilSeen))
  await pay(ponte.world.chain, paid)
  await ponte
    .becomes('orders', 'ponte_database_connections_awaited', value => value > 20)
    .finally(() => {
      seen = true
    })
  await ponte.logs('orders', 'messages will be handled again')
  const admin = new Client({ connectionString: databaseUrl })
  await admin.connect()
  try {
    const { rows } = await admin.query(
      'SELECT pid, state, query FROM pg_stat_activity WHERE pid IN (SELECT unnest(pg_blocking_pids(pid)) FROM pg_stat_activity) AND cardinality(pg_blocking_pids(pid)) = 0',
    )
    expect(rows).toMatchObject([{ state: 'idle in transaction', query: expect.stringContaining('LOCK TABLE') }])
    await admin.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid])
  } finally {
    await admin.end()
  }
  await asked
  await ponte.becomes('orders', 'ponte_database_connections_awaited', value => value === 0)
  await ponte.paid(paid)
  const slow = async () =>
    (await ponte.metric('orders', 'ponte_http_request_duration_seconds_count')) -
    (await ponte.metric('orders', 'ponte_http_request_duration_seconds_bucket', { le: '1' }))
  const [before, retried] = [await slow(), await ponte.metric('orders', 'ponte_events_handled_total', { outcome: 'retried' })]
  expect([before, retried].every(count => count > 0)).toBe(true)
  expect((await askGateway(ponte.gatewayUrl, path, { headers })).status).toBe(200)
  expect([await slow(), await ponte.metric('orders', 'ponte_events_handled_total', { outcome: 'retried' })]).toEqual([before, retried])
}, 240_000)

it('PonteSubscriptionsLate', async () => {
  const { api_key } = ponte.merchant
  const inS = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()
  const plan = await call<{ id: string }>(ponte.gatewayUrl, 'POST', '/api/v1/subscriptions', api_key, {
    brl_amount: '49.90',
    interval: 'month',
    start_at: inS(5),
  })
  await ponte.ledger.query('subscriptions', 'ALTER TABLE charges ADD CONSTRAINT planted CHECK (period_index < 0) NOT VALID')
  await ponte.becomes('subscriptions', 'ponte_subscription_overdue_seconds', value => value > 1)
  await ponte.logs('subscriptions', 'a subscription could not be advanced')
  expect(ponte.processes.output('subscriptions')).toContain(plan.id)
  await ponte.ledger.query('subscriptions', 'ALTER TABLE charges DROP CONSTRAINT planted')
  await ponte.becomes('subscriptions', 'ponte_subscription_overdue_seconds', value => value === 0)
}, 180_000)

it('PonteWebhooksFail: their server is away and comes back', async () => {
  const port = await freePort()
  const theirs = await createMerchant(ponte.world, ponte.gatewayUrl, `http://127.0.0.1:${port}/webhooks`)
  const order = () => call<{ id: string }>(ponte.gatewayUrl, 'POST', '/api/v1/orders', theirs.api_key, { brl_amount: '10.00' })
  const attempts = (outcome: string) => ponte.metric('webhook-dispatcher', 'ponte_webhook_attempts_total', { outcome })
  const cancel = async () => call(ponte.gatewayUrl, 'POST', `/api/v1/orders/${(await order()).id}/cancel`, theirs.api_key)
  await cancel()
  await until(async () => (await attempts('connection_refused')) > 0, 'no attempt failed', 60_000)
  const receiver = createWebhookReceiver({ host: '127.0.0.1', port })
  receiver.trust(theirs.webhook_secret)
  await receiver.start?.()
  try {
    const before = await attempts('delivered')
    await cancel()
    await until(async () => (await attempts('delivered')) > before, 'no attempt succeeds', 60_000)
  } finally {
    await receiver.stop?.()
  }
}, 180_000)

it('PonteWebhooksLate: one merchant has it all, and the others are not late', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const sockets = new Set<Socket>()
  silent.on('connection', socket => sockets.add(socket.on('error', () => undefined)))
  const theirs = await createMerchant(ponte.world, ponte.gatewayUrl, `http://127.0.0.1:${(silent.address() as AddressInfo).port}/webhooks`)
  const post = <T>(path: string, body?: object) => call<T>(ponte.gatewayUrl, 'POST', `/api/v1/orders${path}`, theirs.api_key, body)
  for (let count = 0; count < BACKLOG; count++) await post(`/${(await post<{ id: string }>('', { brl_amount: '10.00' })).id}/cancel`)
  await ponte.becomes('webhook-dispatcher', 'ponte_webhook_oldest_due_age_seconds', age => age > 5)
  expect(await ponte.metric('webhook-dispatcher', 'ponte_webhook_backlog')).toBeGreaterThan(0)
  const order = await ponte.order()
  await pay(ponte.world.chain, order)
  const received = () => ponte.world.receiver.received.some(({ body }) => body.includes(order.id) && body.includes('"order.paid"'))
  await until(received, 'another merchant waits', 30_000)
  expect(await ponte.metric('webhook-dispatcher', 'ponte_webhook_oldest_due_age_seconds')).toBeGreaterThan(5)
  silent.close()
  for (const socket of sockets) socket.destroy()
  await ponte.becomes('webhook-dispatcher', 'ponte_webhook_oldest_due_age_seconds', age => age < 1)
}, 240_000)

it('PonteEventsWithoutMerchant: terms that did not arrive are published again', async () => {
  const since = new Date(Date.now() - 600_000).toISOString()
  const late = await createMerchant(ponte.world, ponte.gatewayUrl, null)
  const known = () => ponte.ledger.query('webhook-dispatcher', 'SELECT 1 FROM merchants WHERE id = $1', [late.id])
  await until(async () => (await known()).length === 1, 'the dispatcher does not know the merchant', 60_000)
  // As a dispatcher that was restored to a moment before.
  await ponte.ledger.query('webhook-dispatcher', 'DELETE FROM inbox')
  await ponte.ledger.query('webhook-dispatcher', 'DELETE FROM endpoints WHERE merchant_id = $1', [late.id])
  await ponte.ledger.query('webhook-dispatcher', 'DELETE FROM merchants WHERE id = $1', [late.id])
  const { id } = await call<{ id: string }>(ponte.gatewayUrl, 'POST', '/api/v1/orders', late.api_key, { brl_amount: '10.00' })
  await call(ponte.gatewayUrl, 'POST', `/api/v1/orders/${id}/cancel`, late.api_key)
  await ponte.becomes('webhook-dispatcher', 'ponte_webhook_waiting_events', value => value > 0)
  const script = join(__dirname, '../../../../scripts/operate/republish.mjs')
  const env = { PATH: process.env.PATH, API_GATEWAY_OPS_URL: ponte.processes.opsUrl('api-gateway') }
  const [code] = await once(
    spawn(process.execPath, [script, '--since', since, '--service', 'api-gateway'], { env, stdio: 'ignore' }),
    'exit',
  )
  expect(code).toBe(0)
  await ponte.becomes('webhook-dispatcher', 'ponte_webhook_waiting_events', value => value === 0)
  const { data } = await call<{ data: { type: string }[] }>(ponte.gatewayUrl, 'GET', '/api/v1/events', late.api_key)
  expect(data.map(({ type }) => type)).toContain('order.cancelled')
}, 180_000)

it('PonteQueueGrows: its pool is raised, and a replica added', async () => {
  const { gatewayUrl, merchant } = ponte
  const plan = await call<{ id: string }>(gatewayUrl, 'POST', '/api/v1/subscriptions', merchant.api_key, { brl_amount: '49.90' })
  await pay(ponte.world.chain, await call<OrderBody>(gatewayUrl, 'POST', `/api/v1/subscriptions/${plan.id}/charge`, merchant.api_key))
  const updates = () => ponte.ledger.query<{ id: string }>('orders', "SELECT id FROM outbox WHERE type = 'order.updated' LIMIT 1")
  await until(async () => (await updates()).length === 1, 'the order does not change', 60_000)

  const waiting = (holds: (value: number) => boolean) => ponte.becomes('subscriptions', 'ponte_queue_waiting', holds)
  await ponte.processes.end('subscriptions', 'SIGTERM')
  const copied = `INSERT INTO outbox (id, type, body) SELECT fresh, type, replace(body, id::text, fresh::text)
    FROM outbox, unnest($2::uuid[]) AS fresh WHERE id = $1`
  await ponte.ledger.query('orders', copied, [(await updates())[0]?.id, Array.from({ length: EVENTS }, () => uuidv7())])
  const unsent = () => ponte.ledger.query('orders', 'SELECT 1 FROM outbox WHERE sent_at IS NULL LIMIT 1')
  await until(async () => (await unsent()).length === 0, 'the events are not published', 120_000)
  Object.assign(ponte.settings.subscriptions, { DATABASE_POOL: '2' })
  await ponte.processes.start('subscriptions')
  await waiting(count => count > 10_000)
  await ponte.becomes('subscriptions', 'ponte_database_connections_awaited', count => count > 0)

  await ponte.change('subscriptions', { DATABASE_POOL: '10' })
  const env = { ...environments(ponte.world.place).subscriptions, ...ponte.settings.subscriptions, PATH: process.env.PATH ?? '' }
  const replica = startProgram('subscriptions', [process.execPath, mainOf('subscriptions')], {
    env: { ...env, PORT: String(await freePort()), OPS_PORT: String(await freePort()) },
  })
  try {
    await replica.ready
    await waiting(count => count === 0)
    const metrics = await (await fetch(`${replica.opsUrl}/metrics`)).text()
    expect(metrics).toMatch(/^ponte_events_handled_total\{.*type="order.updated".*outcome="done".*\} [1-9]/m)
  } finally {
    await endProcess(replica.child, 'SIGTERM')
  }
  const handled = 'SELECT count(*)::int AS count FROM inbox WHERE event_id = ANY($1::uuid[])'
  const ids = await ponte.ledger.query<{ id: string }>('orders', "SELECT id FROM outbox WHERE type = 'order.updated'")
  await until(
    async () => (await ponte.ledger.query('subscriptions', handled, [ids.map(({ id }) => id)]))[0]?.count === ids.length,
    'events are missing',
    60_000,
  )
}, 360_000)
