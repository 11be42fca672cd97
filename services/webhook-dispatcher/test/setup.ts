import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { type Event, type EventData, type EventType, type OPT_IN_EVENTS, topology } from '@ponte/contracts'
import { startHttpServer } from '@ponte/local-servers'
import {
  type Bus,
  createLogger,
  type Logger,
  memoryBus,
  openDatabase,
  readConfig,
  seal,
  signCaller,
  silentLogger,
  uuidv7,
} from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import pg from 'pg'
import { createWebhookDispatcher, webhookDispatcherConfig, webhookDispatcherMigrations } from '../src'
import { openStore } from '../src/store'

export const TOKEN_SECRET = 'a-test-secret-of-at-least-32-characters'
export const SEAL_KEY = '5e'.repeat(32)
export const SECRET = 'whsec_of_the_merchant'

export const settings = (databaseUrl: string, env: Record<string, string> = {}) => ({
  DATABASE_URL: databaseUrl,
  AMQP_URL: 'amqp://unused',
  HOST: '127.0.0.1',
  PORT: '0',
  OPS_PORT: '0',
  NODE_ENV: 'test',
  LOG_LEVEL: 'error',
  GATEWAY_TOKEN_SECRET: TOKEN_SECRET,
  SEAL_KEY,
  WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
  ...env,
})

/** The in-process bus, with the dispatcher's queues alone. */
export const testBus = (logger = silentLogger): Bus =>
  memoryBus({
    topology: { 'webhook-dispatcher': topology['webhook-dispatcher'], 'webhook-dispatcher.2': topology['webhook-dispatcher.2'] },
    logger,
  })

/** The real service on a database of its own, with the in-process bus; loopback is open for the test's receivers. */
export async function startDispatcher(env: Record<string, string> = {}, given: { logger?: Logger } = {}) {
  const database = await testDatabase(webhookDispatcherMigrations)
  const silent = process.env.PONTE_TEST_LOG ? createLogger({ service: 'test', level: process.env.PONTE_TEST_LOG }) : silentLogger
  const logger = given.logger ?? silent
  const bus = testBus(logger)
  const config = readConfig(webhookDispatcherConfig, settings(database.url, env))
  const dispatcher = createWebhookDispatcher(config, { bus, logger })
  await dispatcher.start()
  const sql = new pg.Pool({ connectionString: database.url, max: 2 })
  sql.on('error', () => undefined)
  return {
    dispatcher,
    sql,
    config,
    databaseUrl: database.url,
    url: `http://127.0.0.1:${dispatcher.http.port()}`,
    opsUrl: `http://127.0.0.1:${dispatcher.ops.port()}`,
    async publish(...events: Event[]) {
      await Promise.all(events.map(event => bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })))
    },
    /** Retention, as it comes once an hour. */
    async forgetOld() {
      const own = openDatabase({ url: database.url })
      const { upkeep } = openStore(own)
      await upkeep.forgetEvents(config.EVENT_RETENTION_DAYS, 1_000, null)
      await upkeep.forgetEndpoints(config.EVENT_RETENTION_DAYS, 1_000)
      await own.stop?.()
    },
    async stop() {
      await dispatcher.stop()
      await sql.end()
      await database.drop()
    },
  }
}
export type System = Awaited<ReturnType<typeof startDispatcher>>

export interface Received {
  body: Buffer
  headers: IncomingMessage['headers']
  rawHeaders: string[]
  url: string
  atMs: number
}

/** A merchant's server: remembers what it was sent and answers as asked. */
export async function startReceiver(answer: (res: ServerResponse, received: Received) => void = res => res.writeHead(200).end()) {
  const received: Received[] = []
  const { url, stop } = await startHttpServer(async (req, res) => {
    const { headers, rawHeaders, url = '' } = req
    const item = { body: await buffer(req), headers, rawHeaders, url, atMs: Date.now() }
    received.push(item)
    answer(res, item)
  })
  return { received, url: `${url}/hooks`, stop }
}

export function event<T extends EventType>(type: T, data: EventData<T>): Event {
  return { id: uuidv7(), type, occurred_at: new Date().toISOString(), data, trace: null } as Event
}

export function merchantUpdated(merchantId: string, change: Partial<EventData<'merchant.updated'>> & { secret?: string } = {}): Event {
  const { secret = SECRET, ...rest } = change
  return event('merchant.updated', {
    merchant_id: merchantId,
    version: 1,
    display_name: 'Padaria Estrela',
    payout_address: null,
    webhook_url: null,
    sealed_webhook_secret: seal(secret, [SEAL_KEY], merchantId),
    sealed_pending_webhook_secret: null,
    pending_webhook_secret_activates_at: null,
    ...rest,
  })
}

export const paidOrder = (id: string = randomUUID()) => ({
  id,
  subscription_id: null,
  external_ref: 'INV-7',
  brl_amount: '150.00',
  usdc_amount: '27.675277',
  tx_hash: `0x${'5b'.repeat(32)}`,
  memo: 'a3'.repeat(32),
  paid_at: '2026-11-20T12:00:00.000Z',
})

export const orderPaid = (merchantId: string, merchantVersion = 1): Event =>
  event('order.paid', { merchant_id: merchantId, merchant_version: merchantVersion, order: paidOrder() })

/** An event of a kind that is sent only where it was chosen. */
export function optIn(type: (typeof OPT_IN_EVENTS)[number], merchantId: string): Event {
  const owner = { merchant_id: merchantId, merchant_version: 1 }
  const order = paidOrder()
  if (type === 'order.settled') {
    const settlement = { settlement_tx_hash: order.tx_hash, payout_address: PAYOUT_ADDRESS, settled_at: order.paid_at }
    return event(type, { ...owner, order: { ...order, ...settlement } })
  }
  const beside = { expected: '27.398525', received: '54.797050' }
  if (type === 'order.accepted') {
    const acceptance = { accepted_at: order.paid_at, reason: 'The exchange kept it', given_away: '0.000000' }
    return event(type, { ...owner, order: { ...order, ...beside, ...acceptance } })
  }
  const refund = { id: randomUUID(), order_id: order.id, external_ref: null, amount: '5.000000', payee_address: PAYOUT_ADDRESS }
  const ofRefund = { ...owner, subscription_id: null }
  if (type === 'refund.created') return event(type, { ...ofRefund, refund })
  if (type === 'refund.confirmed')
    return event(type, { ...ofRefund, refund: { ...refund, tx_hash: order.tx_hash, confirmed_at: order.paid_at } })
  if (type === 'refund.failed')
    return event(type, { ...ofRefund, refund: { ...refund, failure_code: 'authorization_expired', failed_at: order.paid_at } })
  const subscription = { id: randomUUID(), external_ref: null }
  const period = { ...subscription, period_index: 1 }
  if (type === 'subscription.paused' || type === 'subscription.resumed') return event(type, { ...owner, subscription })
  if (type === 'subscription.past_due') return event(type, { ...owner, subscription: { ...period, missing_brl_amount: '49.90' } })
  if (type === 'subscription.upcoming')
    return event(type, { ...owner, subscription: { ...period, charge_at: order.paid_at, brl_amount: '49.90' } })
  if (type === 'subscription.order_issued') {
    const issued = {
      order_id: order.id,
      brl_amount: '49.90',
      usdc_amount: '9.206643',
      checkout_url: 'https://pay.example/1',
      expires_at: order.paid_at,
    }
    return event(type, { ...owner, subscription: { ...period, ...issued } })
  }
  if (type === 'account.changed') {
    const change = { id: randomUUID(), payout_address: PAYOUT_ADDRESS, activates_at: order.paid_at }
    const entry = { id: randomUUID(), action: 'merchant.update', changed: ['pending_payout_change'], user_id: 'user' }
    return event(type, { ...owner, account: { ...entry, created_at: order.paid_at, payout_change: change } })
  }
  if (type !== 'payment.unmatched' && type !== 'payment.attached') return event(type, { ...owner, order: { ...order, ...beside } })
  const payment = {
    id: `31337:${order.tx_hash}:0`,
    kind: 'router' as const,
    chain_id: 31_337,
    token_address: PAYOUT_ADDRESS,
    tx_hash: order.tx_hash,
    memo: order.memo,
    amount: '27.675277',
    payer_address: PAYOUT_ADDRESS,
    merchant_address: PAYOUT_ADDRESS,
    block_time: order.paid_at,
  }
  if (type === 'payment.unmatched') return event('order.payment_unmatched', { ...owner, payment: { ...payment, reason: 'unknown_memo' } })
  const word = { order_id: order.id, external_ref: order.external_ref, reason: 'The memo was typed wrong', attached_at: order.paid_at }
  return event(type, { ...owner, subscription_id: null, payment: { ...payment, ...word } })
}
const PAYOUT_ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** The header that the gateway would send for this merchant. */
export function asMerchant(id: string, version = 1, granted: object = { may_see_secrets: true }): { Authorization: string } {
  const terms = { merchant_id: id, version, display_name: 'Padaria Estrela', payout_address: null }
  return {
    Authorization: `Bearer ${signCaller({ kind: 'merchant', terms, ...granted }, { secrets: [TOKEN_SECRET], audience: 'webhook-dispatcher' })}`,
  }
}

export let system: Awaited<ReturnType<typeof startDispatcher>>

/** The service for all tests of a file. */
export function runDispatcher(...settings: Parameters<typeof startDispatcher>): void {
  beforeAll(async () => {
    system = await startDispatcher(...settings)
  })
  afterAll(() => system?.stop())
}
