import { mined } from '@ponte/local-servers'
import { testUsdcAbi } from '@ponte/payment-router'
import { readConfig, silentLogger } from '@ponte/service-kit'
import { Contract, Wallet } from 'ethers'
import { createRelayer, relayerConfig } from '../../src'
import { statesOf } from '../setup'
import { GASLESS, RELAYER, type RelayWorld, startRelayWorld } from './relayer-setup'
import { AMOUNT, authorize, SHARE, TAKING } from './signatures'

let world: RelayWorld
afterEach(() => world.stop())

/** The relayer beside a listener that has no key. */
async function startApart(env: Record<string, string> = {}) {
  const listening = await world.start({ RELAYER_PROCESS: 'own', RELAYER_PRIVATE_KEY: '', GASLESS_PRIVATE_KEY: '', MONITOR_EVERY_S: '1' })
  const relayer = createRelayer(
    readConfig(relayerConfig, {
      ...{ DATABASE_URL: listening.databaseUrl, DATABASE_POOL: '4', AMQP_URL: 'amqp://unused', HOST: '127.0.0.1', OPS_PORT: '0' },
      ...{
        CHAIN_ID: '31337',
        RPC_URLS: world.proxy.url,
        ROUTER_ADDRESSES: world.chain.routerAddress,
        TOKEN_ADDRESS: world.chain.usdcAddress,
      },
      ...{
        DEVELOPMENT_CHAIN: 'true',
        PONTE_MODE: 'development',
        CONFIRMATIONS: '1',
        POLL_MS: '50',
        LEADER_SILENCE_MS: '4000',
        RELAYER_PROCESS: 'own',
      },
      ...{ RELAYER_PRIVATE_KEY: RELAYER.privateKey, GASLESS_PRIVATE_KEY: GASLESS.privateKey, ...TAKING, ...env },
    }),
    { logger: silentLogger },
  )
  await relayer.start()
  return { listening, relayer }
}

describe('the relayer as a process of its own', () => {
  it('sweeps and submits beside a listener that has no key, and what becomes of signatures is published', async () => {
    world = await startRelayWorld()
    const { listening, relayer } = await startApart()
    try {
      const [payer, order, deposit] = [
        new Wallet(Wallet.createRandom().privateKey),
        await world.open(listening),
        await world.open(listening),
      ]
      await mined(world.chain.mintUsdc(payer.address, AMOUNT))
      expect(listening.listener.http).toBeUndefined()
      expect(await authorize(world, listening, order, payer, {}, relayer.http?.port())).toMatchObject({ status: 202 })
      await world.pay(deposit.address, AMOUNT)
      for (const { memo } of [order, deposit])
        await listening.until(async () => (await world.received(memo)).length === 1, 'it was not paid')
      expect(await world.received(order.memo)).toEqual([SHARE])
      const reported = () =>
        listening.published.events.flatMap(event => (event.type === 'authorization.changed' ? [event.data.status] : []))
      await listening.until(() => reported().includes('paid'), 'what became of the signature was not published')
      await listening.until(() => statesOf(listening, order.memo).includes('confirmed'), 'the payment was not confirmed')
      const ops = await fetch(`http://127.0.0.1:${relayer.ops.port()}/deposits`)
      expect(await ops.json()).toMatchObject({ relayer_address: RELAYER.address, gasless_address: GASLESS.address })

      const usdc = new Contract(world.chain.usdcAddress, testUsdcAbi, world.chain.wallet(0))
      for (const { address } of [RELAYER, GASLESS]) await mined(usdc.getFunction('setBlacklisted').send(address, true))
      const blocked = async () => (await (await listening.fetch('/metrics')).text()).match(/^ponte_token_blocked\{.*\} 1$/gm) ?? []
      await listening.until(async () => (await blocked()).length === 2, 'the monitor does not know the accounts of the other process')
    } finally {
      await relayer.stop()
    }
  })

  it('hands the lead to the next one when it dies, and two of them send nothing twice', async () => {
    world = await startRelayWorld()
    const { listening, relayer } = await startApart()
    const deposits = [await world.open(listening), await world.open(listening)] as const
    const second = await world.start()
    try {
      await world.pay(deposits[0].address, AMOUNT)
      await listening.until(async () => (await world.received(deposits[0].memo)).length === 1, 'it was not swept')
    } finally {
      await relayer.stop()
    }
    await world.pay(deposits[1].address, AMOUNT)
    await second.until(async () => (await world.received(deposits[1].memo)).length === 1, 'the other did not take over')
    expect(await world.chain.provider.getTransactionCount(RELAYER.address)).toBe(2)
  })

  it('is the only place for the keys: a listener that is given them refuses to start', async () => {
    world = await startRelayWorld()
    await expect(world.start({ RELAYER_PROCESS: 'own' })).rejects.toThrow('belong to that process alone')
    await world.start()
  })
})
