import { type OrderBody, webhookBodies } from '@ponte/contracts'
import { type System, startAll } from '../src'
import { call, createMerchant, MERCHANT, pay, startWorld, type World } from './system'

let world: World
let system: System
beforeAll(async () => {
  world = await startWorld()
  system = await startAll(world.place, { logger: world.logger })
}, 60_000)
afterAll(async () => {
  await system?.stop()
  await world?.stop()
})

it('a BRL order is paid in USDC on a chain and told to the merchant, once, signed, as the specification says', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, {
    brl_amount: '150.00',
    external_ref: 'INV-7',
  })
  const receipt = await pay(world.chain, order)
  await system.idle()

  const paid = await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
  expect(paid).toMatchObject({ status: 'paid', exception: null, received: order.expected, tx_hash: receipt.hash })
  expect(paid.payments).toMatchObject([{ status: 'confirmed', amount: order.expected }])

  expect(world.receiver.received).toHaveLength(1)
  const [webhook] = world.receiver.received
  expect(webhook?.signature_valid).toBe(true)
  expect(webhook?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-signature': expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  const body = webhookBodies['order.paid'].parse(JSON.parse(webhook?.body ?? ''))
  expect(body.data).toEqual({
    id: order.id,
    subscription_id: null,
    external_ref: 'INV-7',
    brl_amount: '150.00',
    usdc_amount: order.usdc_amount,
    tx_hash: receipt.hash,
    memo: order.memo,
    paid_at: paid.paid_at,
  })
  expect(order.payment.merchant_address).toBe(MERCHANT.address)
}, 60_000)
