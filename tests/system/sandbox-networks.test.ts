import { createSamplePayer, type System, startWithSandbox } from '@ponte/all-in-one'
import type { OrderBody, TestClockBody } from '@ponte/contracts'
import { type LocalChain, mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { call, createMerchant, PAYER, startWorld, units, type World } from '../world'

// The clock of deployments for tests, where orders may be paid on two networks.

let world: World
let other: LocalChain
let system: System
let merchant: Awaited<ReturnType<typeof createMerchant>>

const start = async () => {
  const payer = createSamplePayer({ chain: world.chain, privateKey: PAYER.privateKey, gatewayUrl: world.place.publicUrl })
  system = await startWithSandbox(world.place, { ...{ chain: world.chain, others: [other], payer, logger: world.logger } })
}
beforeAll(async () => {
  world = await startWorld({ otherChains: [{ chainId: 31_338 }] })
  const [second] = world.otherChains
  if (!second) throw new Error('There is no second network.')
  other = second
  await start()
  merchant = await createMerchant(world, system.gatewayUrl)
}, 180_000)
afterAll(async () => {
  await system?.stop()
  await world?.stop()
})

const ask = <T>(method: 'GET' | 'POST', path: string, body?: object) =>
  call<T>(system.gatewayUrl, method, `/api/v1${path}`, merchant.api_key, body)
const isOf = async (status: string, { id }: OrderBody) => (await ask<OrderBody>('GET', `/orders/${id}`)).status === status

test('the clock moves every network: an order expires, and what comes on the second one comes after its order was made', async () => {
  const left = await ask<OrderBody>('POST', '/orders', { brl_amount: '50.00' })
  let clock = await ask<TestClockBody>('POST', '/test/clock', { advance: 'P1D' })
  while (clock.target !== null) clock = await ask<TestClockBody>('GET', '/test/clock')
  await until(() => isOf('expired', left), 'the order did not expire', 20_000)

  const order = await ask<OrderBody>('POST', '/orders', { brl_amount: '50.00' })
  const payer = other.wallet(PAYER.privateKey)
  await mined(other.mintUsdc(payer.address, units(order.usdc_amount)))
  await mined(other.transferUsdc(payer, order.payment.networks?.[1]?.deposit_address ?? '', units(order.usdc_amount)))
  await other.mine(1)
  await until(() => isOf('paid', order), 'the order was not paid', 20_000)
  const { payments = [], created_at } = await ask<OrderBody>('GET', `/orders/${order.id}`)
  expect(Date.parse(payments[0]?.block_time ?? '')).toBeGreaterThan(Date.parse(created_at) - 60_000)
})

test('a network that was left behind is brought to the others at the next start', async () => {
  await system.stop()
  await world.chain.increaseTime(86_400)
  await world.chain.mine(1)
  await start()
  await other.mine(1)
  expect(Math.abs((await other.now()) - (await world.chain.now()))).toBeLessThan(120)
})
