import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { topology } from '@ponte/contracts'
import { memoryBus, readConfig, seal, silentLogger } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { createWebhookDispatcher, webhookDispatcherConfig, webhookDispatcherMigrations } from '@ponte/webhook-dispatcher'
import pg from 'pg'

export const SECRET = 'whsec_bench'
const SEAL_KEY = '5e'.repeat(32)
export const BODY = JSON.stringify({
  type: 'order.paid',
  data: {
    id: '01981f3c-0000-7000-8000-00000000000b',
    subscription_id: null,
    external_ref: 'INV-7',
    brl_amount: '150.00',
    usdc_amount: '27.675277',
    tx_hash: `0x${'5b'.repeat(32)}`,
    memo: 'a3'.repeat(32),
    paid_at: '2026-11-20T12:00:00.000Z',
  },
})

export async function startReceiver(delayMs: number) {
  const child = fork(join(__dirname, 'receiver.ts'), { env: { ...process.env, DELAY_MS: String(delayMs) }, execArgv: process.execArgv })
  const [port] = await once(child, 'message')
  return { url: `http://127.0.0.1:${port}/hooks`, stop: () => child.disconnect() }
}

/** A dispatcher on a database of its own, not started. */
export async function prepareDispatcher(env: Record<string, string> = {}) {
  const database = await testDatabase(webhookDispatcherMigrations)
  const sql = new pg.Pool({ connectionString: database.url, max: 4 })
  // Dropping the database may end a connection that is just being closed.
  sql.on('error', () => undefined)
  const config = readConfig(webhookDispatcherConfig, {
    DATABASE_URL: database.url,
    AMQP_URL: 'amqp://unused',
    HOST: '127.0.0.1',
    PORT: '0',
    OPS_PORT: '0',
    NODE_ENV: 'benchmark',
    GATEWAY_TOKEN_SECRET: 'x'.repeat(32),
    SEAL_KEY,
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    ...env,
  })
  const bus = memoryBus({
    topology: { 'webhook-dispatcher': topology['webhook-dispatcher'], 'webhook-dispatcher.2': topology['webhook-dispatcher.2'] },
    logger: silentLogger,
  })
  return {
    sql,
    bus,
    start: async () => {
      const dispatcher = createWebhookDispatcher(config, { bus, logger: silentLogger })
      await dispatcher.start()
      return dispatcher
    },
    async stop() {
      await sql.end()
      await database.drop()
    },
  }
}

export async function addMerchants(sql: pg.Pool, count: number, url: string): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  await sql.query(
    'INSERT INTO merchants (id, version, webhook_url, sealed_webhook_secret) SELECT id, 1, $2, secret FROM unnest($1::uuid[], $3::text[]) AS m (id, secret)',
    [ids, url, ids.map(id => seal(SECRET, [SEAL_KEY], id))],
  )
  return ids
}

/** Due deliveries, spread over the merchants. */
export async function addDue(sql: pg.Pool, merchantIds: readonly string[], count: number): Promise<void> {
  await sql.query(
    `WITH published AS (
       INSERT INTO events (id, merchant_id, merchant_version, type, body, occurred_at, waiting, sequence)
       SELECT new_id(), ($1::uuid[])[1 + n % cardinality($1::uuid[])], 1, 'order.paid', convert_to($3, 'UTF8'), now(), false, n + (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
       FROM generate_series(1, $2::int) AS n RETURNING id, merchant_id)
     INSERT INTO deliveries (id, event_id, merchant_id, event_type, status, next_attempt_at)
     SELECT id, id, merchant_id, 'order.paid', 'pending', now() FROM published`,
    [merchantIds, count, BODY],
  )
  await sql.query('SELECT touch_lanes($1::uuid[])', [merchantIds])
  await sql.query('VACUUM ANALYZE')
}

/** Seconds until nothing is due, given that much must be delivered. */
export async function untilDelivered(sql: pg.Pool, count: number): Promise<void> {
  for (;;) {
    // While a lane is leased or has work, it has a turn.
    const { rows } = await sql.query('SELECT 1 FROM lanes WHERE turn_at IS NOT NULL LIMIT 1')
    if (rows.length === 0) break
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  const { rows } = await sql.query("SELECT count(*)::int AS n FROM attempts WHERE outcome = 'delivered'")
  if (rows[0].n !== count) throw new Error(`${rows[0].n} attempts are recorded instead of ${count}.`)
}
