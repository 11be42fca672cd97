import { chainActions, mined, testAccounts } from '@ponte/local-servers'
import { deployRouter, depositImplementation, paymentRouterAbi, testUsdcAbi } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { Contract, id, zeroPadValue } from 'ethers'
import { pay } from '../../../world'
import { type Installation, startInstallation } from '../installation'

// Sections of docs/operating/incidents.md about the contracts, followed.

let ponte: Installation
beforeAll(async () => {
  ponte = await startInstallation()
}, 180_000)
afterAll(() => ponte?.stop(), 120_000)

const usdc = (method: string, ...values: unknown[]) => {
  const { chain } = ponte.world
  return mined(new Contract(chain.usdcAddress, testUsdcAbi, chain.wallet(0)).getFunction(method).send(...values))
}
const send = (method: string, ...params: unknown[]) => ponte.world.chain.provider.send(method, params)
const becomes = (name: string, wanted: number, labels = {}) => ponte.becomes('chain-listener', name, value => value === wanted, labels)
const swept = async (order: Awaited<ReturnType<Installation['order']>>) => {
  await ponte.deposit(order)
  await ponte.paid(order)
  const balance = () => ponte.world.chain.balanceOf(order.payment.deposit_address ?? '')
  await until(async () => (await balance()) === 0n, 'the deposit is not swept', 60_000)
}

it('PonteStrays', async () => {
  const { routerAddress, usdcAddress, wallet } = ponte.world.chain
  await usdc('mint', routerAddress, 5_000_000n)
  await becomes('ponte_router_strays', 1, { asset: 'token' })
  await ponte.logs('chain-listener', `5000000 of token at ${routerAddress}`)
  await mined(new Contract(routerAddress, paymentRouterAbi, wallet(7)).getFunction('rescue').send(usdcAddress))
  await becomes('ponte_router_strays', 0)
})

it('PonteTokenPaused', async () => {
  const order = await ponte.order()
  await usdc('setPaused', true)
  await becomes('ponte_token_paused', 1)
  await usdc('setPaused', false)
  await becomes('ponte_token_paused', 0)
  await pay(ponte.world.chain, order)
  await ponte.paid(order)
})

it('PonteTokenUpgraded: a cent to a deposit address of one`s own is swept', async () => {
  const { usdcAddress, rateFeedAddress } = ponte.world.chain
  const slot = id('org.zeppelinos.proxy.implementation')
  await send('anvil_setStorageAt', usdcAddress, slot, zeroPadValue(rateFeedAddress, 32))
  await becomes('ponte_token_implementation_info', 1, { implementation: rateFeedAddress })
  expect(await ponte.metric('chain-listener', 'ponte_deployment_differences')).toBe(0)
  await swept(await ponte.order({ brl_amount: '1.00' }))
})

it('PonteDeploymentDiffers', async () => {
  const implementation = depositImplementation(ponte.world.chain.routerAddress)
  const code = await ponte.world.chain.provider.getCode(implementation)
  await send('anvil_setCode', implementation, '0x00')
  await becomes('ponte_deployment_differences', 1)
  await ponte.logs('chain-listener', `the code at ${implementation} is not that of the deposit addresses' implementation`)
  await send('anvil_setCode', implementation, code)
  await becomes('ponte_deployment_differences', 0)
})

it('PonteContractsNotMonitored', async () => {
  const lastRun = () => ponte.metric('chain-listener', 'ponte_contract_monitor_last_run_timestamp_seconds')
  ponte.node.set({
    each: (call, answer) =>
      call.method === 'eth_getStorageAt'
        ? { id: answer.id, jsonrpc: '2.0', error: { code: -32601, message: 'no such method' } }
        : undefined,
  })
  await ponte.logs('chain-listener', 'contract monitor failed')
  const stands = await lastRun()
  await ponte.change('chain-listener', { RPC_URLS: ponte.world.chain.rpcUrl })
  await until(async () => (await lastRun()) > stands, 'the contracts are not looked at again', 60_000)
  ponte.node.set()
})

it('PonteAccountBlocked, PonteFeesNotTaken: another router with another fee receiver is put into use', async () => {
  const { feeReceiver, routerAddress, usdcAddress, feeBps, provider } = ponte.world.chain
  await usdc('setBlacklisted', feeReceiver, true)
  await becomes('ponte_token_blocked', 1, { account: feeReceiver })
  await swept(await ponte.order())
  await becomes('ponte_router_payments_without_fee', 1)

  const another = await deployRouter(await provider.getSigner(0), { usdcAddress, feeBps, feeReceiver: testAccounts[6].address })
  await ponte.change('chain-listener', { ROUTER_ADDRESSES: `${routerAddress},${another}`, MONITOR_BLOCKS: '5' })
  await ponte.change('orders', { ROUTER_ADDRESS: another, DEPOSIT_FACTORY: another })
  const order = await ponte.order()
  expect(order.payment.router_address).toBe(another)
  await pay({ ...ponte.world.chain, ...chainActions(provider, { usdcAddress, routerAddress: another }) }, order)
  await ponte.paid(order)
  await swept(await ponte.order())
  await becomes('ponte_router_payments_without_fee', 0)
  expect(await ponte.world.chain.balanceOf(testAccounts[6].address)).toBeGreaterThan(0n)
}, 240_000)
