import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, environments, migrations, type Place, type ServiceName } from '@ponte/all-in-one'
import { apiGatewayConfig, createApiGateway } from '@ponte/api-gateway'
import { queuesReadBy, topology } from '@ponte/contracts'
import { createOrders, ordersConfig } from '@ponte/orders'
import {
  type Bus,
  memoryBus,
  openDatabase,
  type Part,
  rabbitmqBus,
  readConfig,
  type Service,
  silentLogger,
  until,
} from '@ponte/service-kit'
import { testBroker, testDatabase } from '@ponte/service-kit/testing'
import { createSubscriptions, subscriptionsConfig } from '@ponte/subscriptions'
import { createWebhookDispatcher, webhookDispatcherConfig } from '@ponte/webhook-dispatcher'
import { CLIENT_KEY, startGround } from '../world/ground'
import { type ShuffledBus, shuffledBus } from './shuffled-bus'

export const CHAIN = {
  chainId: 31_337,
  usdcAddress: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  routerAddress: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
}
/** Services that need no chain: chain-listener is the test. */
const names = ['api-gateway', 'orders', 'subscriptions', 'webhook-dispatcher'] as const
type Name = (typeof names)[number]
const secret = () => randomBytes(32).toString('hex')

/** Databases, an identity provider and a clock; the services run on them over one bus after the other. */
export async function openHome() {
  const clock = { ahead: 0 }
  const now = () => new Date(Date.now() + clock.ahead)
  const folder = mkdtempSync(join(tmpdir(), 'ponte-messages-'))
  const databases = new Map(await Promise.all(names.map(async name => [name, await testDatabase(migrations[name])] as const)))
  const databaseUrl = (name: ServiceName) => databases.get(name as Name)?.url ?? ''
  const { identity, place: ground } = await startGround(folder, { now })
  const place: Place = {
    ...ground,
    ...{ databaseUrl, amqp: { url: 'amqp://unused', namespace: 'unused' }, logLevel: 'error' },
    chain: {
      ...CHAIN,
      ...{ rpcUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', rateFeedAddress: CHAIN.usdcAddress, feeBps: 100, confirmations: 1 },
      ...{ relayerPrivateKey: 'set', gaslessPrivateKey: undefined },
    },
  }
  const sql = openDatabase({ url: databaseUrl('api-gateway'), poolSize: 2 })
  return {
    clock,
    now,
    place,
    /** The gateway's database. */
    sql,
    /** A new user; answers how they log in, which gives a token. */
    async signUp(): Promise<() => Promise<string>> {
      const credentials = { email: `user-${secret().slice(0, 12)}@ponte.example`, password: 'a-password-for-tests' }
      const token = async (path: string) => {
        const headers = { apikey: CLIENT_KEY, 'Content-Type': 'application/json' }
        const answer = await fetch(`${place.identity.issuer}${path}`, { method: 'POST', headers, body: JSON.stringify(credentials) })
        return ((await answer.json()) as { access_token: string }).access_token
      }
      await token('/signup')
      return () => token('/token?grant_type=password')
    },
    async close() {
      await sql.stop?.()
      await identity.stop?.()
      await Promise.all([...databases.values()].map(database => database.drop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
export type Home = Awaited<ReturnType<typeof openHome>>
export type BusKind = 'memory' | 'rabbitmq'

/** So many replicas of each over one bus; the queues of chain-listener are read and ignored. */
export async function startServices(home: Home, kind: BusKind, replicas: number) {
  const broker = testBroker()
  const inner: Bus =
    kind === 'memory'
      ? memoryBus({ topology, logger: silentLogger })
      : rabbitmqBus({ url: broker.url, namespace: broker.namespace, topology, logger: silentLogger })
  await inner.start?.()
  await until(() => inner.accepts(), 'there is no broker')
  const bus: ShuffledBus = shuffledBus(inner)
  const env = settings(home.place)
  const given = { bus, logger: silentLogger, now: home.now }
  const create: Record<Name, (env: Environment) => Service> = {
    'webhook-dispatcher': env => createWebhookDispatcher(readConfig(webhookDispatcherConfig, env), given),
    subscriptions: env => createSubscriptions(readConfig(subscriptionsConfig, env), given),
    orders: env => createOrders(readConfig(ordersConfig, env), given),
    'api-gateway': env => createApiGateway(readConfig(apiGatewayConfig, env), given),
  }
  const services = names.flatMap(name =>
    Array.from({ length: replicas }, (_, replica) =>
      create[name]({ ...env[name], LAME_DUCK_MS: '0', ...(replica > 0 ? { PORT: '0' } : {}) }),
    ),
  )
  const chain: Part[] = queuesReadBy('chain-listener').map(queue => bus.consume(queue, async () => undefined))
  const parts = [...chain, ...services]
  await Promise.all(parts.map(part => part.start?.()))
  const letters = Object.keys(topology).map(queue => ({ queue, of: inner.deadLetters(queue) }))
  const busy = async () => {
    // A connection to the broker that is just being replaced gives no answer.
    const flags = await Promise.all([bus, ...parts].map(part => Promise.resolve(part.busy?.()).catch(() => true)))
    return flags.includes(true)
  }
  const idle = (isHeld: () => boolean) =>
    until(
      async () => isHeld() || (!(await busy()) && !(await busy())),
      async () => {
        const each = services.map(one => one.idle(1).catch((error: Error) => error.message))
        return `${(await Promise.all(each)).filter(text => text !== undefined).join('; ')}; on the bus: ${bus.waiting().join(', ')}`
      },
    )
  return {
    bus,
    /** Until all that was published is delivered, and all that follows from it. */
    settle: () => bus.drain(idle),
    dead: async () =>
      (await Promise.all(letters.map(async ({ queue, of }) => (await of.list(10)).map(({ type }) => `${queue}: ${type}`)))).flat(),
    async stop() {
      for (const part of parts.toReversed()) await part.stop?.()
      await inner.stop?.()
    },
  }
}
export type Services = Awaited<ReturnType<typeof startServices>>

/** Waits are shorter, and no rate comes from a chain. */
function settings(place: Place): Record<Name, Environment> {
  const env = environments(place)
  const { RPC_URLS, RATE_CHAINLINK_RPC_URL, RATE_CHAINLINK_ADDRESS, ...orders } = env.orders
  return {
    'api-gateway': { ...env['api-gateway'], SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'ponte@example.com' },
    orders: { ...orders, RATE_STATIC: '5.42', RATE_MAX_AGE_S: '31536000', EXPIRY_SWEEP_MS: '200' },
    subscriptions: { ...env.subscriptions, SCHEDULER_MS: '200' },
    'webhook-dispatcher': env['webhook-dispatcher'],
  }
}
