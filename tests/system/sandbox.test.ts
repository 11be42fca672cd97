import { createSamplePayer, type System, startWithSandbox } from '@ponte/all-in-one'
import type {
  DeliveryBody,
  EventListBody,
  OrderBody,
  SubscriptionBody,
  TestClockBody,
  TestScenarioList,
  TestSimulationBody,
} from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import request from 'supertest'
import { call, createMerchant, PAYER, startWorld, type World } from '../world'

// The operations of deployments for tests, on a chain, orders, plans and webhooks that are the real ones.

let world: World
let system: System
let merchant: Awaited<ReturnType<typeof createMerchant>>

beforeAll(async () => {
  world = await startWorld()
  const payer = createSamplePayer({ chain: world.chain, privateKey: PAYER.privateKey, gatewayUrl: world.place.publicUrl })
  system = await startWithSandbox(world.place, {
    ...{ chain: world.chain, payer, logger: world.logger },
    settings: { orders: { RATE_REFRESH_MS: '200' } },
  })
  merchant = await createMerchant(world, system.gatewayUrl)
})
afterAll(async () => {
  await system?.stop()
  await world?.stop()
})

const ask = <T>(method: 'GET' | 'POST', path: string, body?: object) =>
  call<T>(system.gatewayUrl, method, `/api/v1${path}`, merchant.api_key, body)
const newOrder = (more: object = {}) => ask<OrderBody>('POST', '/orders', { brl_amount: '50.00', ...more })
const read = (id: string) => ask<OrderBody>('GET', `/orders/${id}`)
const eventsOf = async (id: string) =>
  (await ask<EventListBody>('GET', `/events?order_id=${id}&limit=100`)).data
    .filter(({ type }) => type !== 'order.settled')
    .toSorted((one, other) => one.sequence - other.sequence)
    .map(({ type }) => type)

test('every scenario gives the events and the status that it names, by transactions of the chain', async () => {
  const { data } = await ask<TestScenarioList>('GET', '/test/scenarios')
  expect(data.map(({ scenario }) => scenario)).toHaveLength(12)
  for (const { scenario, expects } of data) {
    const order = await newOrder()
    const answer = await ask<TestSimulationBody>('POST', `/test/orders/${order.id}/simulate`, { scenario, seconds: 2 })
    expect(answer).toMatchObject({ object: 'test_simulation', scenario, expects, order_id: order.id })
    if (scenario === 'no_rate') {
      await until(
        async () =>
          (
            await request(system.gatewayUrl)
              .post('/api/v1/orders')
              .set('Authorization', `Bearer ${merchant.api_key}`)
              .send({ brl_amount: '1' })
          ).status === 503,
        'an order was priced without a rate',
      )
      await until(
        async () =>
          newOrder().then(
            () => true,
            () => false,
          ),
        'the rate did not come back',
      )
    }
    await until(
      async () => JSON.stringify(await eventsOf(order.id)) === JSON.stringify(expects.events),
      async () => `${scenario}: expected ${expects.events}, got ${await eventsOf(order.id)}, ${JSON.stringify(await read(order.id))}`,
      30_000,
    )
    await until(async () => (await read(order.id)).status === expects.status, `${scenario}: not ${expects.status}`)
    for (const { tx_hash } of answer.payments) expect(tx_hash).toMatch(/^0x[0-9a-f]{64}$/)
  }
}, 300_000)

test.each(['transfer', 'exchange', 'router', 'signature'] as const)('an order is paid by %s', async via => {
  const order = await newOrder()
  const { payments } = await ask<TestSimulationBody>('POST', `/test/orders/${order.id}/pay`, { via })
  expect(payments).toEqual([{ via, amount: order.usdc_amount, tx_hash: expect.stringMatching(/^0x/) }])
  await until(async () => (await read(order.id)).status === 'paid', 'it was not paid')
})

test('any address is given USDC', async () => {
  const address = '0x00000000000000000000000000000000000A11cE'
  await ask('POST', '/test/faucet', { address, amount: '12.5' })
  expect(await world.chain.balanceOf(address)).toBe(12_500_000n)
  const fund = (to: string, amount: string) =>
    request(system.gatewayUrl).post('/api/v1/test/faucet').set('Authorization', `Bearer ${merchant.api_key}`).send({ address: to, amount })
  await fund(`0x${'0'.repeat(40)}`, '1').expect(409)
  await fund(address.toUpperCase().replace('0X', '0x'), '1').expect(200)
  await fund(address, '0').expect(400)
  await fund(address, '1000000').expect(400)
})

test('nothing is done with an order of another merchant, or without one', async () => {
  const other = await createMerchant(world, system.gatewayUrl, null)
  const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', other.api_key, { brl_amount: '50.00' })
  for (const [path, body] of [
    ['pay', {}],
    ['simulate', { scenario: 'underpaid' }],
  ] as const) {
    const post = request(system.gatewayUrl).post(`/api/v1/test/orders/${order.id}/${path}`)
    await post.set('Authorization', `Bearer ${merchant.api_key}`).send(body).expect(403)
  }
  const { payments } = await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, other.api_key)
  expect(payments).toEqual([])
})

test('thirteen months of a plan take seconds: thirteen charges on the days of the calendar', async () => {
  const plan = await ask<SubscriptionBody>('POST', '/subscriptions', {
    ...{ brl_amount: '10.00', interval: 'month', timezone: 'America/Sao_Paulo', max_periods: 13 },
  })
  const started = performance.now()
  let clock = await ask<TestClockBody>('POST', '/test/clock', { advance: 'P13M' })
  while (clock.target !== null) clock = await ask<TestClockBody>('GET', '/test/clock')
  const seconds = (performance.now() - started) / 1_000
  console.log(`13 months in ${seconds.toFixed(1)} s`)
  const { charges = [] } = await ask<SubscriptionBody>('GET', `/subscriptions/${plan.id}`)
  expect(charges.map(({ period_index }) => period_index)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
  const { data } = await ask<{ data: OrderBody[] }>('GET', `/orders?limit=100&subscription_id=${plan.id}`)
  const createdAt = new Map(data.map(({ id, created_at }) => [id, created_at]))
  expect(charges.map(({ orders }) => createdAt.get(orders[0]?.id ?? ''))).toEqual(charges.map(({ orders }) => orders[0]?.issued_at))
}, 180_000)

test('a webhook that no server takes has had all its attempts when the clock has moved by a day', async () => {
  const away = await createMerchant(world, system.gatewayUrl, 'http://127.0.0.1:9999/')
  const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', away.api_key, { brl_amount: '50.00' })
  await call(system.gatewayUrl, 'POST', `/api/v1/orders/${order.id}/cancel`, away.api_key, {})
  const delivery = async () =>
    (await call<{ data: DeliveryBody[] }>(system.gatewayUrl, 'GET', `/api/v1/merchants/me/deliveries?order_id=${order.id}`, away.token))
      .data[0]
  await until(async () => ((await delivery())?.attempts ?? 0) > 0, 'it was not tried')
  await call(system.gatewayUrl, 'POST', '/api/v1/test/clock', away.api_key, { advance: 'P2D' })
  await until(
    async () => (await delivery())?.status === 'dead',
    async () => `it is ${JSON.stringify(await delivery())}`,
  )
})

test('the clock moves forward alone, by two years at most', async () => {
  const post = (body: object) =>
    request(system.gatewayUrl).post('/api/v1/test/clock').set('Authorization', `Bearer ${merchant.api_key}`).send(body)
  await post({ to: '2020-01-01T00:00:00Z' }).expect(409)
  await post({ advance: 'P3Y' }).expect(409)
  await post({ advance: 'P' }).expect(400)
  await post({}).expect(400)
  await post({ advance: 'P1D', to: '2030-01-01T00:00:00Z' }).expect(400)
})
