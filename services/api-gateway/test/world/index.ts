import { randomBytes } from 'node:crypto'
import { topology } from '@ponte/contracts'
import { type Bus, type Database, type Logger, type Message, memoryBus, openDatabase, readConfig, silentLogger } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import request from 'supertest'
import { apiGatewayConfig, apiGatewayMigrations, createApiGateway } from '../../src'
import { settleChanges } from '../../src/account/settle'
import { openStore, type Store } from '../../src/store'
import { AUDIENCE, ISSUER, startIdentity } from './identity'
import { startOwner } from './owner'

export const SEAL_KEY = 'ab'.repeat(32)

const newSecret = () => randomBytes(32).toString('hex')

/** Replicas of the real gateway on one database, with an identity provider and the owners on real sockets; the sandbox is asked where a mode is given. */
export async function startGateway(env: Record<string, string> = {}, given: { now?: () => Date; replicas?: number; logger?: Logger } = {}) {
  const database = await testDatabase(apiGatewayMigrations)
  const identity = await startIdentity('ES256', given.now)
  const owners = {
    orders: await startOwner('orders', newSecret()),
    subscriptions: await startOwner('subscriptions', newSecret()),
    webhooks: await startOwner('webhook-dispatcher', newSecret()),
    sandbox: await startOwner('sandbox', newSecret()),
  }
  const bus: Bus = memoryBus({ topology, logger: silentLogger })
  // The others: an event counts as delivered when each that reads it has taken it.
  const published: Message[] = []
  const take = async (message: Message) => void published.push(message)
  const readers = Object.keys(topology)
    .filter(queue => !queue.startsWith('api-gateway'))
    .map(queue => bus.consume(queue, take))
  for (const reader of readers) await reader.start?.()
  const config = readConfig(apiGatewayConfig, {
    DATABASE_URL: database.url,
    AMQP_URL: 'amqp://unused',
    HOST: '127.0.0.1',
    PORT: '0',
    OPS_PORT: '0',
    SEAL_KEY,
    ORDERS_URL: owners.orders.url,
    ORDERS_TOKEN_SECRET: owners.orders.secret,
    SUBSCRIPTIONS_URL: owners.subscriptions.url,
    SUBSCRIPTIONS_TOKEN_SECRET: owners.subscriptions.secret,
    WEBHOOKS_URL: owners.webhooks.url,
    WEBHOOKS_TOKEN_SECRET: owners.webhooks.secret,
    ...(env.PONTE_MODE === undefined ? {} : { SANDBOX_URL: owners.sandbox.url, SANDBOX_TOKEN_SECRET: owners.sandbox.secret }),
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
    JWKS_URL: identity.jwksUrl,
    ...env,
  })
  const now = given.now ? { now: given.now } : {}
  const replicas = Array.from({ length: given.replicas ?? 1 }, () =>
    createApiGateway(config, { bus, logger: given.logger ?? silentLogger, ...now }),
  )
  for (const replica of replicas) await replica.start()
  const [gateway] = replicas
  if (!gateway) throw new Error('At least one replica is needed.')
  const sql = openDatabase({ url: database.url, poolSize: 2 })
  return {
    gateway,
    replicas,
    identity,
    owners,
    bus,
    published,
    sql,
    config,
    url: `http://127.0.0.1:${gateway.http.port()}`,
    async stop() {
      await sql.stop?.()
      for (const replica of replicas) await replica.stop()
      for (const part of [...readers, ...Object.values(owners), identity]) await part.stop?.()
      await database.drop()
    },
  }
}
export type TestGateway = Awaited<ReturnType<typeof startGateway>>

export let system: TestGateway

/** A gateway for all tests of a file. */
export function runGateway(...settings: Parameters<typeof startGateway>): void {
  beforeAll(async () => {
    system = await startGateway(...settings)
  })
  afterAll(() => system?.stop())
}

/** Of a session's token. */
export const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
export const bearer = (credential: string) => ({ Authorization: `Bearer ${credential}` })

const DAY_MS = 86_400_000

/** Opening one takes as long as a request. */
const stores = new WeakMap<Database, { now: () => Date; store: Store }>()

/** Done by each replica every few seconds: due changes of owners and of payout addresses are in force. */
export async function settleAccounts({ sql, config }: TestGateway, now: () => Date): Promise<void> {
  const known = stores.get(sql)
  const store = known?.now === now ? known.store : openStore(sql, { now, committed: () => undefined })
  stores.set(sql, { now, store })
  const payoutGuard = {
    ...{ delayMs: config.PAYOUT_DELAY_S * 1_000, unsignedDelayMs: config.PAYOUT_UNSIGNED_DELAY_S * 1_000 },
    ...{ ownerDelayMs: config.OWNER_DELAY_S * 1_000, payoutHoldMs: config.PAYOUT_HOLD_S * 1_000 },
  }
  // Replicas do it at one moment.
  const deps = { store, now, payoutGuard }
  await Promise.all([settleChanges(deps), settleChanges(deps)])
}

/** As long as a change of the owners waits, and what it holds up after that. */
export const OWNER_DAYS_MS = { delay: 2 * DAY_MS, hold: 3 * DAY_MS }

/** A user with a merchant of its own. */
export async function newMerchant({ url, identity }: TestGateway, body: object = { display_name: 'Padaria Estrela' }, sub?: string) {
  const token = identity.sign(sub ? { sub } : {})
  const { body: merchant } = await request(url).post('/api/v1/merchants').set(bearer(token)).send(body).expect(201)
  return { token, merchant, apiKey: String(merchant.api_key) }
}
