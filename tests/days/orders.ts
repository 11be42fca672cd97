import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type EventData, type EventType, type MerchantTerms, queuesReadBy, topology } from '@ponte/contracts'
import type { LocalChain } from '@ponte/local-servers'
import { createOrders, ordersConfig, ordersMigrations } from '@ponte/orders'
import { memoryBus, openDatabase, readConfig, signCaller, silentLogger, uuidv7 } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'

const SECRET = 'a-test-secret-of-at-least-32-characters'

/** Statements by the role of the database's owner, before the service starts: a fault that is put back on purpose. */
export type Fault = (sql: ReturnType<typeof openDatabase>) => Promise<void>

/** The real service with a database whose clock, as its own, is the test's: a month is closed, and what is booked later counts when it is booked. */
export async function startOrders(chain: LocalChain, start: number, fault?: Fault) {
  let now = start
  const database = await testDatabase(ordersMigrations)
  const sql = openDatabase({ url: database.operatorUrl, poolSize: 1 })
  const { pathname } = new URL(database.url)
  for (const statement of [
    'CREATE SCHEMA clock',
    'CREATE TABLE clock.moment (at timestamptz NOT NULL)',
    'INSERT INTO clock.moment VALUES (now())',
    // Every statement of the service and every function finds it before that of PostgreSQL.
    "CREATE FUNCTION clock.now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM clock.moment'",
    'GRANT USAGE ON SCHEMA clock TO PUBLIC',
    'GRANT SELECT ON clock.moment TO PUBLIC',
    `ALTER DATABASE ${pathname.slice(1)} SET search_path = clock, public, pg_catalog`,
  ])
    await sql.query(statement)
  await fault?.(sql)
  const setClock = async (at: number) => {
    now = at
    await sql.query('UPDATE clock.moment SET at = $1', [new Date(at)])
  }
  await setClock(start)
  const dead: string[] = []
  const bus = memoryBus({ topology, logger: silentLogger, onDeadLetter: (queue, { type }) => void dead.push(`${queue} ${type}`) })
  const env = {
    ...{ DATABASE_URL: database.url, AMQP_URL: 'amqp://unused', HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0', GATEWAY_TOKEN_SECRET: SECRET },
    ...{ PUBLIC_URL: 'http://127.0.0.1:8080', NETWORK: 'anvil', CHAIN_ID: '31337', DEVELOPMENT_CHAIN: 'true', PONTE_MODE: 'development' },
    ...{ RPC_URLS: chain.rpcUrl, TOKEN_ADDRESS: chain.usdcAddress, ROUTER_ADDRESS: chain.routerAddress },
    ...{ DEPOSIT_FACTORY: chain.routerAddress, PLATFORM_FEE_BPS: String(chain.feeBps), RATE_STATIC: '5.42' },
    ...{ RATE_MAX_AGE_S: '864000', RECONCILE_EVERY_S: '1', EXPIRY_SWEEP_MS: '60000' },
  }
  const orders = createOrders(readConfig(ordersConfig, env), { bus, logger: silentLogger, now: () => new Date(now) })
  // The other consumers: without them the relay would wait.
  const others = Object.keys(topology)
    .filter(queue => !queuesReadBy('orders').includes(queue))
    .map(queue => bus.consume(queue, async () => undefined))
  for (const other of others) await other.start?.()
  await orders.start()
  const url = `http://127.0.0.1:${orders.http.port()}`
  const fetched = (terms: MerchantTerms, method: string, path: string, body?: object) => {
    const caller = signCaller({ kind: 'merchant', terms, user_id: 'ana' }, { secrets: [SECRET], audience: 'orders' })
    return asked(`${url}/api/v1${path}`, method, { Authorization: `Bearer ${caller}`, 'Content-Type': 'application/json' }, body)
  }
  return {
    dead,
    setClock,
    idle: () => orders.idle(),
    async due() {
      await asked(`http://127.0.0.1:${orders.ops.port()}/due`, 'POST', {})
    },
    async publish<T extends EventType>(type: T, data: EventData<T>, occurredAt = now, times = 1) {
      const id = uuidv7()
      const body = JSON.stringify({ id, type, occurred_at: new Date(occurredAt).toISOString(), data, trace: null })
      for (let count = 0; count < times; count++) await bus.publish({ id, type, body })
    },
    /** Null where the service refuses it. */
    async call<T>(terms: MerchantTerms, method: string, path: string, body?: object): Promise<T | null> {
      const { status, bytes } = await fetched(terms, method, path, body)
      if (status < 300) return JSON.parse(bytes.toString()) as T
      if (status !== 409) throw new Error(`${method} ${path}: ${status} ${bytes}`)
      return null
    },
    bytes: async (terms: MerchantTerms, path: string): Promise<Uint8Array> => {
      const { status, bytes } = await fetched(terms, 'GET', path)
      if (status !== 200) throw new Error(`GET ${path}: ${status} ${bytes}`)
      return bytes
    },
    async stop() {
      await orders.stop()
      for (const other of others) await other.stop?.()
      await sql.stop?.()
      await database.drop()
    },
  }
}
export type Orders = Awaited<ReturnType<typeof startOrders>>

/** Over a connection of its own: one that is kept may be closed by the service just when it is used again. */
async function asked(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: object,
): Promise<{ status: number; bytes: Buffer }> {
  const sent = request(url, { method, headers, agent: false })
  sent.end(body && JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode ?? 0, bytes: Buffer.concat(chunks) }
}
