import type { OrderBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import pg from 'pg'
import { serviceNames } from '../src'
import { type Processes, startProcesses } from './processes'
import { call, createMerchant, pay, startWorld, type World } from './system'

let world: World
let processes: Processes
let gatewayUrl: string
beforeAll(async () => {
  world = await startWorld({ amqp: testBroker() })
  processes = await startProcesses(world.place)
  gatewayUrl = world.place.publicUrl
}, 90_000)
afterAll(async () => {
  await processes?.stop()
  await world?.stop()
}, 60_000)

const toldPaid = (order: OrderBody) =>
  world.receiver.received.filter(webhook => webhook.body.includes('"order.paid"') && webhook.body.includes(order.id))

async function paidEvents(order: OrderBody): Promise<number> {
  const client = new pg.Client({ connectionString: world.place.databaseUrl('orders') })
  await client.connect()
  try {
    const { rows } = await client.query(
      "SELECT count(*)::int AS n FROM outbox WHERE type = 'order.paid' AND body::jsonb->'data'->'order'->>'id' = $1",
      [order.id],
    )
    return rows[0].n
  } finally {
    await client.end()
  }
}

describe('five processes on RabbitMQ and five databases', () => {
  it('carry one payment from the order to the signed webhook', async () => {
    const merchant = await createMerchant(world, gatewayUrl)
    const order = await call<OrderBody>(gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
    await pay(world.chain, order)
    await until(() => toldPaid(order).length > 0, 'order.paid was not delivered')
    expect(toldPaid(order).every(webhook => webhook.signature_valid)).toBe(true)
    const read = await call<OrderBody>(gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
    expect(read).toMatchObject({ status: 'paid', received: order.expected })
  }, 60_000)

  it.each(serviceNames)(
    'invariant 1: %s killed in mid-payment loses nothing and doubles nothing',
    async name => {
      const merchant = await createMerchant(world, gatewayUrl)
      const order = await call<OrderBody>(gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '42.00' })
      const paying = pay(world.chain, order)
      await processes.end(name, 'SIGKILL')
      await paying
      await processes.start(name)
      await until(() => toldPaid(order).length > 0, `order.paid was not delivered after ${name} came back`, 60_000)
      const read = await call<OrderBody>(gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
      expect(read).toMatchObject({ status: 'paid', received: order.expected })
      expect(read.payments).toHaveLength(1)
      expect(await paidEvents(order)).toBe(1)
    },
    120_000,
  )

  it.each(serviceNames)(
    '%s stops cleanly on SIGTERM and comes back',
    async name => {
      expect(await processes.end(name, 'SIGTERM')).toBe(0)
      await processes.start(name)
    },
    60_000,
  )
})
