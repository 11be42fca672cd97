import type { CheckoutBody, OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import { signFor } from '../siege/signature'
import { askGateway, call, merchant, runSystem, system, units, world } from '../world'

// Two networks, of which the operator suspended the first: orders are made for the second, and paid there alone.

const OTHER = 31_338
runSystem({ world: { otherChains: [{ chainId: OTHER }] }, settings: { orders: { NETWORK_SUSPENDED: 'true' } } })

it('an order is made for the second network, and a payer without coin signs for it without naming it', async () => {
  const [chain] = world.otherChains
  if (!chain) throw new Error('There is no second network.')
  const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  expect(order.payment).toMatchObject({ network: 'anvil-31338', chain_id: OTHER, token_address: chain.usdcAddress, gasless: true })
  expect(order.payment.networks).toBeUndefined()
  const payer = Wallet.createRandom()
  await mined(chain.mintUsdc(payer.address, units(order.usdc_amount)))
  const body = JSON.stringify(await signFor({ ...world, chain }, order, payer, units(order.usdc_amount)))
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }
  const handIn = async () => (await askGateway(system.gatewayUrl, `/api/v1/checkout/${order.id}/authorization`, init)).status
  await until(async () => (await handIn()) === 202, 'the signature is not taken', 30_000)
  const view = () => call<CheckoutBody>(system.gatewayUrl, 'GET', `/api/v1/checkout/${order.id}`, 'none')
  await until(
    async () => {
      await chain.mine(1)
      return (await view()).status === 'paid'
    },
    'it is not paid',
    30_000,
  )
  expect((await view()).payments).toMatchObject([{ kind: 'router', payer_address: payer.address }])
})
