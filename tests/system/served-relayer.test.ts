import type { OrderBody } from '@ponte/contracts'
import { mined, testAccounts } from '@ponte/local-servers'
import { testUsdcAbi } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { Contract } from 'ethers'
import { call, createMerchant, startServed, startWorld, units, type World } from '../world'

let world: World
beforeAll(async () => {
  world = await startWorld({ amqp: testBroker() })
})
afterAll(() => world?.stop())

it('npm run serve -- --replicas relayer=1 sweeps by a process of its own, and gives the listener no key', async () => {
  const system = await startServed(world, 'relayer=1')
  try {
    const [gateway = ''] = system.gateway_urls
    const merchant = await createMerchant(world, gateway)
    const order = await call<OrderBody>(gateway, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
    const stranger = world.chain.wallet(testAccounts[7].privateKey)
    const address = order.payment.deposit_address ?? ''
    await mined(world.chain.mintUsdc(stranger.address, units(order.usdc_amount)))
    await mined(world.chain.transferUsdc(stranger, address, units(order.usdc_amount)))
    const token = new Contract(world.chain.usdcAddress, testUsdcAbi, world.chain.provider)
    await until(async () => (await token.getFunction('balanceOf')(address)) === 0n, 'the deposit was not swept', 60_000)
    const sweeps = async (opsUrl: string) => /^ponte_relayer_sweeps_affordable/m.test(await (await fetch(`${opsUrl}/metrics`)).text())
    expect(system.environment.RELAYER_OPS_URL).toBe(system.replica('relayer').ops_url)
    expect([await sweeps(system.replica('relayer').ops_url), await sweeps(system.replica('chain-listener').ops_url)]).toEqual([true, false])
  } finally {
    expect(await system.stop()).toBe(0)
  }
}, 240_000)
