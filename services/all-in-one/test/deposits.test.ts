import type { OrderBody } from '@ponte/contracts'
import { testUsdcAbi } from '@ponte/payment-router'
import { mined, testAccounts } from '@ponte/payment-router/testing'
import { Contract } from 'ethers'
import { type System, startAll } from '../src'
import { call, createMerchant, MERCHANT, startWorld, units, type World } from './system'

let world: World
let system: System
let merchant: Awaited<ReturnType<typeof createMerchant>>
beforeAll(async () => {
  world = await startWorld()
  system = await startAll(world.place, { logger: world.logger })
  merchant = await createMerchant(world, system.gatewayUrl)
}, 60_000)
afterAll(async () => {
  await system?.stop()
  await world?.stop()
})

const STRANGER = testAccounts[7]

const order = (more: object = {}) =>
  call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00', ...more })
const read = ({ id }: OrderBody) => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${id}`, merchant.api_key)
const told = (type: string, { id }: OrderBody) =>
  world.receiver.received.filter(webhook => webhook.body.includes(`"${type}"`) && webhook.body.includes(id))

const usdcOf = (address: string): Promise<bigint> =>
  new Contract(world.chain.usdcAddress, testUsdcAbi, world.chain.provider).getFunction('balanceOf')(address)

/** A plain transfer, as an exchange makes it. */
async function transfer(to: string | null, amount: bigint) {
  const stranger = world.chain.wallet(STRANGER.privateKey)
  await mined(world.chain.mintUsdc(stranger.address, amount))
  return mined(world.chain.transferUsdc(stranger, to ?? '', amount))
}

describe('issue: pay from anywhere', () => {
  it('an order is paid by a plain transfer from an account that never heard of us', async () => {
    const before = await usdcOf(MERCHANT.address)
    const created = await order()
    expect(created.payment.deposit_address).toMatch(/^0x[0-9a-fA-F]{40}$/)
    await transfer(created.payment.deposit_address, units(created.usdc_amount))
    await system.idle()
    expect(await read(created)).toMatchObject({ status: 'paid', exception: null, received: created.expected })
    expect(told('order.paid', created)).toHaveLength(1)
    expect((await usdcOf(MERCHANT.address)) - before).toBe(units(created.expected))
  }, 60_000)
})
