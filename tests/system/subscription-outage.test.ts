import { type Processes, startProcesses } from '@ponte/all-in-one'
import { type OrderBody, order as orderSchema, pendingCharge, type SubscriptionBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { askGateway, call, createMerchant, pay, startWorld, type World } from '../world'

let world: World
let processes: Processes
let url: string
beforeAll(async () => {
  world = await startWorld({ amqp: testBroker() })
  processes = await startProcesses(world.place)
  url = world.place.publicUrl
})
afterAll(async () => {
  await processes?.stop()
  await world?.stop()
})

const charge = async (id: string, apiKey: string, key: string) => {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Idempotency-Key': key }
  const response = await askGateway(url, `/api/v1/subscriptions/${id}/charge`, { method: 'POST', headers })
  return { status: response.status, body: await response.json() }
}
const notified = (id: string) => world.receiver.received.filter(({ body }) => body.includes(id)).map(({ body }) => JSON.parse(body).type)

it('with orders down a charge answers 202 with the order`s id and link; the order appears when orders returns', async () => {
  const merchant = await createMerchant(world, url)
  const { id } = await call<SubscriptionBody>(url, 'POST', '/api/v1/subscriptions', merchant.api_key, { brl_amount: '49.90' })
  await processes.end('orders', 'SIGKILL')
  const first = await charge(id, merchant.api_key, 'once')
  expect(first.status).toBe(202)
  const { order_id, checkout_url } = pendingCharge.parse(first.body)
  expect(checkout_url).toBe(`${url}/pay/${order_id}`)

  await processes.start('orders')
  const read = () => askGateway(url, `/api/v1/orders/${order_id}`, { headers: { Authorization: `Bearer ${merchant.api_key}` } })
  await until(async () => (await read()).status === 200, 'the order did not appear', 30_000)
  expect(await (await read()).json()).toMatchObject({ id: order_id, status: 'pending', subscription_id: id, brl_amount: '49.90' })
  const again = await charge(id, merchant.api_key, 'once')
  expect([again.status, again.body]).toMatchObject([201, { object: 'order', id: order_id }])
})

it('with subscriptions down a payment settles all the same, and is counted once when it returns', async () => {
  const merchant = await createMerchant(world, url)
  const { id } = await call<SubscriptionBody>(url, 'POST', '/api/v1/subscriptions', merchant.api_key, {
    brl_amount: '9.90',
    max_periods: 1,
  })
  const order = orderSchema.parse((await charge(id, merchant.api_key, 'only')).body)
  await processes.end('subscriptions', 'SIGKILL')
  await pay(world.chain, order)
  const settled = async () => (await call<OrderBody>(url, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)).status === 'paid'
  await until(settled, 'the order was not settled', 30_000)
  expect(notified(order.id)).toEqual([])

  await processes.start('subscriptions')
  await until(
    () => notified(id).includes('subscription.expired') && notified(order.id).includes('subscription.charged'),
    () => notified(id).join(),
    30_000,
  )
  expect([notified(order.id), notified(id).sort()]).toEqual([['subscription.charged'], ['subscription.charged', 'subscription.expired']])
  const read = await call<SubscriptionBody>(url, 'GET', `/api/v1/subscriptions/${id}`, merchant.api_key)
  expect(read).toMatchObject({ status: 'expired', charges_done: 1 })
})
