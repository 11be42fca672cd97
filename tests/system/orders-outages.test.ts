import { environments, type Processes, startProcesses } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { createOrders, ordersConfig } from '@ponte/orders'
import { openDatabase, readConfig, silentLogger, until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { askGateway, call, createMerchant, pay, startWorld, type World } from '../world'

// The five as processes on a real broker, and a second replica of orders beside the first.

const CONFIRMATIONS = 2
let world: World
let processes: Processes
let second: ReturnType<typeof createOrders>
beforeAll(async () => {
  world = await startWorld({ confirmations: CONFIRMATIONS, chain: {}, amqp: testBroker() })
  processes = await startProcesses(world.place)
  const env = { ...environments(world.place).orders, PORT: '0', OPS_PORT: '0' }
  second = createOrders(readConfig(ordersConfig, env), { logger: silentLogger })
  await second.start()
}, 180_000)
afterAll(async () => {
  await second?.stop()
  await processes?.stop()
  await world?.stop()
})

it('Idempotency-Key: a gateway killed in mid-request leaves nothing or the order with its answer, and a retry makes no second', async () => {
  const gateway = world.place.publicUrl
  const merchant = await createMerchant(world, gateway, null)
  const keys = Array.from({ length: 120 }, (_, index) => `gateway-${index}`)
  const create = async (key: string) => {
    const headers = { Authorization: `Bearer ${merchant.api_key}`, 'Content-Type': 'application/json', 'Idempotency-Key': key }
    const answer = await askGateway(gateway, '/api/v1/orders', {
      method: 'POST',
      headers,
      body: JSON.stringify({ brl_amount: '10', external_ref: key }),
    })
    return { status: answer.status, id: (JSON.parse(await answer.text()) as OrderBody).id }
  }
  const first = new Map<string, string>()
  let [answered, lost] = [0, 0]
  const asking = keys.map(key =>
    create(key).then(
      async ({ id }) => {
        first.set(key, id)
        if (++answered === 1) await processes.end('api-gateway', 'SIGKILL')
      },
      () => lost++,
    ),
  )
  await Promise.all(asking)
  await processes.end('api-gateway', 'SIGKILL')
  await processes.start('api-gateway')
  for (const key of keys) {
    const again = await create(key)
    expect([again.status, again.id]).toEqual([201, first.get(key) ?? again.id])
  }
  const database = openDatabase({ url: world.place.databaseUrl('orders'), poolSize: 1 })
  const { rows } = await database.query(
    "SELECT count(*)::int AS orders, count(DISTINCT external_ref)::int AS keys FROM orders WHERE external_ref LIKE 'gateway-%'",
  )
  await database.stop?.()
  expect(rows).toEqual([{ orders: keys.length, keys: keys.length }])
  expect(lost).toBeGreaterThan(0)
})

it('a listener that is away for longer than expires_at expires nothing; what was paid meanwhile settles when it is back, once, by two replicas', async () => {
  const gateway = world.place.publicUrl
  const merchant = await createMerchant(world, gateway)
  const create = (): Promise<OrderBody> =>
    call(gateway, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00', expires_in: 600 })
  const status = async ({ id }: OrderBody) => (await call<OrderBody>(gateway, 'GET', `/api/v1/orders/${id}`, merchant.api_key)).status
  const orders = await Promise.all(Array.from({ length: 6 }, create))
  const [paying, waiting] = [orders.slice(0, 3), orders.slice(3)]

  await processes.end('chain-listener', 'SIGKILL')
  for (const order of paying) await pay(world.chain, order)
  // An hour goes by on the chain; orders does not know.
  await world.chain.setNextBlockTimestamp((await world.chain.now()) + 3600)
  await world.chain.mine(CONFIRMATIONS + 1)
  const database = openDatabase({ url: world.place.databaseUrl('orders'), poolSize: 1 })
  await second.idle()
  expect(await Promise.all(orders.map(status))).toEqual(orders.map(() => 'pending'))

  await processes.start('chain-listener')
  const settled = async () => (await Promise.all(orders.map(status))).join()
  const wanted = [...paying.map(() => 'paid'), ...waiting.map(() => 'expired')].join()
  await until(async () => (await settled()) === wanted, settled, 60_000)
  const { rows } = await database.query<{ type: string; id: string }>(
    `SELECT type, body::jsonb->'data'->'order'->>'id' AS id FROM outbox WHERE type IN ('order.paid', 'order.expired') AND body::jsonb->'data'->'order'->>'id' = ANY ($1)`,
    [orders.map(({ id }) => id)],
  )
  expect(rows.map(({ type, id }) => `${type} ${id}`).sort()).toEqual(
    [...paying.map(({ id }) => `order.paid ${id}`), ...waiting.map(({ id }) => `order.expired ${id}`)].sort(),
  )
  await database.stop?.()
  await until(
    () => world.receiver.received.length >= orders.length,
    () => `${world.receiver.received.length} webhooks came`,
    60_000,
  )
  expect(world.receiver.received.every(({ signature_valid }) => signature_valid)).toBe(true)
}, 240_000)
