import { mined, testAccounts } from '@ponte/local-servers'
import { depositImplementation, testUsdcAbi } from '@ponte/payment-router'
import { Contract, id, zeroPadValue } from 'ethers'
import { MERCHANT, RELAYER, type RelayWorld, startRelayWorld } from './relay/relayer-setup'
import type { Listening } from './setup'

const LISTED = testAccounts[9].address

let world: RelayWorld
afterEach(() => world.stop())

const metricsOf = async (listening: Listening) => (await listening.fetch('/metrics')).text()
/** Every value of a metric, by its labels in the order of their names. */
async function valuesOf(listening: Listening, name: string): Promise<Record<string, number>> {
  const lines = (await metricsOf(listening)).matchAll(new RegExp(`^${name}\\{([^}]*)\\} (.*)$`, 'gm'))
  return Object.fromEntries(
    [...lines].map(([, labels = '', value]) => [
      [...labels.matchAll(/(\w+)="([^"]*)"/g)]
        .flatMap(([, label, text]) => (label === 'service' || label === 'chain_id' ? [] : [text]))
        .join(' '),
      Number(value),
    ]),
  )
}

it('shows what the issuer of the token and strangers did to the contracts', async () => {
  world = await startRelayWorld()
  const { chain } = world
  const { provider, usdcAddress, routerAddress, feeReceiver } = chain
  const listening = await world.start({ MONITOR_EVERY_S: '1', MONITOR_ACCOUNTS: LISTED, VERIFY_DEPLOYMENT: 'true' })
  const become = (name: string, wanted: Record<string, number>) =>
    listening.until(
      async () => {
        const values = await valuesOf(listening, name)
        return (
          Object.keys(values).length === Object.keys(wanted).length && Object.entries(wanted).every(([key, value]) => values[key] === value)
        )
      },
      async () => `${name} is ${JSON.stringify(await valuesOf(listening, name))}`,
    )
  const usdc = (method: string, ...values: unknown[]) =>
    mined(new Contract(usdcAddress, testUsdcAbi, chain.wallet(0)).getFunction(method).send(...values))
  const order = await world.open(listening)
  const lastRun = async () => (await valuesOf(listening, 'ponte_contract_monitor_last_run_timestamp_seconds'))[''] ?? 0
  await listening.until(async () => (await lastRun()) > 0, 'it never looked')
  const [before] = Object.keys(await valuesOf(listening, 'ponte_token_implementation_info'))
  expect(before).toMatch(/^0x[0-9a-f]{64}$/)
  for (const name of ['ponte_token_blocked', 'ponte_router_strays']) await become(name, {})
  for (const name of ['ponte_token_paused', 'ponte_router_payments_without_fee', 'ponte_deployment_differences'])
    await become(name, { '': 0 })

  await usdc('mint', routerAddress, 5_000_000n)
  await usdc('mint', depositImplementation(routerAddress), 1_500_000n)
  await provider.send('anvil_setBalance', [routerAddress, '0xde0b6b3a7640000'])
  await become('ponte_router_strays', {
    [`${routerAddress} token`]: 1,
    [`${routerAddress} native`]: 1,
    [`${depositImplementation(routerAddress)} token`]: 1,
  })

  for (const account of [feeReceiver, RELAYER.address, LISTED, MERCHANT.address]) await usdc('setBlacklisted', account, true)
  await become('ponte_token_blocked', { [feeReceiver]: 1, [RELAYER.address]: 1, [LISTED]: 1 })
  await usdc('setBlacklisted', MERCHANT.address, false)
  await world.pay(order.address, 10_000_000n)
  await become('ponte_router_payments_without_fee', { '': 1 })

  const implementation = chain.rateFeedAddress
  await provider.send('anvil_setStorageAt', [usdcAddress, id('org.zeppelinos.proxy.implementation'), zeroPadValue(implementation, 32)])
  await become('ponte_token_implementation_info', { [implementation]: 1 })
  await usdc('setPaused', true)
  await become('ponte_token_paused', { '': 1 })
  await provider.send('anvil_setCode', [depositImplementation(routerAddress), '0x00'])
  await become('ponte_deployment_differences', { '': 1 })
})
