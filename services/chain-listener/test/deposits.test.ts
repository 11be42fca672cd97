import { faults, mined, startFaultProxy } from '@ponte/local-servers'
import { deployContracts, paymentRouterAbi, testUsdcAbi } from '@ponte/payment-router'
import { Contract, type InterfaceAbi, ZeroAddress } from 'ethers'
import { MERCHANT, type RelayWorld, startRelayWorld } from './relay/relayer-setup'
import type { Listening } from './setup'

const AMOUNT = 10_000_000n
/** The merchant's share of a payment less the fee. */
const SHARE = 9_900_000n

let world: RelayWorld
const proxies: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await world.stop()
  for (const proxy of proxies.splice(0)) await proxy.stop()
})

/** Statements about an order's payments and sweeps, in order. */
const published = (listening: Listening, memo: string) =>
  listening.published.facts().flatMap(event => ('memo' in event.data && event.data.memo === memo ? [event] : []))
const types = (listening: Listening, memo: string) => published(listening, memo).map(({ type }) => type)
const payments = (listening: Listening, memo: string) => listening.published.payments().filter(({ data }) => data.memo === memo)
const comes = (listening: Listening, memo: string, last: string) =>
  listening.until(
    () => types(listening, memo).at(-1) === last,
    () => `the last event was not ${last}: ${types(listening, memo)}`,
  )

describe('a deposit, in the same cursor, reorganisation and fault regime as a payment through the router', () => {
  it('is detected at first sight, confirmed at depth under its own transaction, and then swept', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start({ CONFIRMATIONS: '3' })
    const order = await world.open(listening)
    const hash = await world.pay(order.address, AMOUNT)
    await world.chain.mine(1)
    await comes(listening, order.memo, 'payment.detected')
    const [detected] = payments(listening, order.memo)
    expect(detected?.data).toMatchObject({
      kind: 'transfer',
      amount: '10.000000',
      tx_hash: hash,
      payer_address: world.chain.wallet(7).address,
      deposit_address: order.address,
    })
    expect((await listening.sql.query('SELECT 1 FROM relays')).rowCount).toBe(0)
    await world.chain.mine(2)
    await comes(listening, order.memo, 'payment.confirmed')
    await listening.until(async () => {
      await world.chain.mine(1)
      return types(listening, order.memo).includes('sweep.confirmed')
    }, 'it was not swept')
    expect(types(listening, order.memo)).toEqual(['payment.detected', 'payment.confirmed', 'sweep.confirmed'])
    const [, confirmed, sweep] = published(listening, order.memo)
    expect(confirmed?.data).toMatchObject({ payment_id: detected?.data.payment_id, tx_hash: hash })
    expect(sweep?.data).toMatchObject({ amount: '10.000000', deposit_address: order.address })
    expect(await world.received(order.memo)).toEqual([SHARE])
  })

  it('taken away by a reorganisation after it was confirmed, it is orphaned; mined again, it is the same one', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start({ CONFIRMATIONS: '2', DEPOSIT_MIN_UNITS: '100000000', REORG_WINDOW: '30' })
    const order = await world.open(listening, { usdc: '99.000000' })
    const sent = await world.chain.provider.getTransaction(await world.pay(order.address, AMOUNT))
    await world.chain.mine(4)
    await comes(listening, order.memo, 'payment.confirmed')
    await listening.idle()
    expect(await (await listening.fetch('/deposits')).json()).toMatchObject({ count: 1, total: '10.000000' })
    await world.chain.reorg(4)
    await world.chain.mine(1)
    await comes(listening, order.memo, 'payment.orphaned')
    await listening.idle()
    expect(await (await listening.fetch('/deposits')).json()).toMatchObject({ count: 0, total: '0.000000' })
    await world.chain.mintUsdc(sent?.from ?? '', AMOUNT)
    await world.chain.transferUsdc(world.chain.wallet(7), order.address, AMOUNT)
    await world.chain.mine(3)
    await comes(listening, order.memo, 'payment.confirmed')
    expect(payments(listening, order.memo).map(({ data }) => data.amount)).toEqual(payments(listening, order.memo).map(() => '10.000000'))
  })

  it('hidden by a node that shows no logs, it is found by the next one; nothing is believed of the silence', async () => {
    world = await startRelayWorld({ noMining: true })
    const honest = await startFaultProxy(world.chain.rpcUrl)
    proxies.push(honest)
    const listening = await world.start({ RPC_URLS: `${world.proxy.url},${honest.url}` })
    const order = await world.open(listening)
    await listening.idle()
    world.proxy.set(faults.emptyLogs())
    await world.pay(order.address, AMOUNT)
    await world.chain.mine(1)
    await comes(listening, order.memo, 'payment.confirmed')
    expect(await (await listening.fetch('/metrics')).text()).toMatch(/ponte_chain_rpc_failovers_total\{[^}]*reason="wrong_answer"[^}]*\} 1/)
  })

  it('invented or enlarged by one of three nodes, it is never confirmed: the majority takes it back, and what is true is published', async () => {
    world = await startRelayWorld({ noMining: true })
    const others = [await startFaultProxy(world.chain.rpcUrl), await startFaultProxy(world.chain.rpcUrl)]
    proxies.push(...others)
    const env = { RPC_URLS: [world.proxy, ...others].map(({ url }) => url).join(), CONFIRMATIONS: '2', DEPOSIT_MIN_UNITS: '90000000000' }
    const listening = await world.start(env)
    const order = await world.open(listening)
    await listening.idle()
    const lie = `0x${(AMOUNT * 5n).toString(16).padStart(64, '0')}`
    world.proxy.set(faults.lyingLogs(log => [{ ...log, data: lie }]))
    await world.pay(order.address, AMOUNT)
    await world.chain.mine(2)
    await comes(listening, order.memo, 'payment.confirmed')
    expect(payments(listening, order.memo).map(({ type, data }) => [type, data.amount])).toEqual([
      ['payment.detected', '50.000000'],
      ['payment.orphaned', '50.000000'],
      ...(payments(listening, order.memo).length > 3 ? [['payment.detected', '10.000000']] : []),
      ['payment.confirmed', '10.000000'],
    ])
    expect(await (await listening.fetch('/metrics')).text()).toMatch(/reason="outvoted"[^}]*\} [1-9]/)
  })
})

describe('what is no payment', () => {
  const send = (address: string, abi: InterfaceAbi, method: string, ...values: unknown[]) =>
    mined(new Contract(address, abi, world.chain.wallet(7)).getFunction(method).send(...values))

  it('a transfer of nothing, a foreign token or router, and what is recovered or rescued are never booked; tokens minted to the address are', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    const order = await world.open(listening)
    const terms = [`0x${order.memo}`, MERCHANT.address]
    const { chain } = world
    const foreign = await deployContracts(chain.wallet(7), { feeBps: 99, feeReceiver: chain.feeReceiver })
    await mined(chain.transferUsdc(chain.wallet(7), order.address, 0n))
    await send(chain.usdcAddress, testUsdcAbi, 'transferFrom', MERCHANT.address, order.address, 0n)
    for (const to of [order.address, chain.wallet(7).address, chain.routerAddress])
      await send(foreign.usdcAddress, testUsdcAbi, 'mint', to, AMOUNT)
    await send(foreign.usdcAddress, testUsdcAbi, 'approve', foreign.routerAddress, AMOUNT)
    await send(foreign.routerAddress, paymentRouterAbi, 'pay', ...terms, AMOUNT)
    await mined(chain.wallet(7).sendTransaction({ to: order.address, value: 1n }))
    for (const asset of [foreign.usdcAddress, ZeroAddress]) await send(chain.routerAddress, paymentRouterAbi, 'recover', ...terms, asset)
    await send(chain.routerAddress, paymentRouterAbi, 'rescue', foreign.usdcAddress)
    await listening.idle()
    expect(published(listening, order.memo)).toEqual([])
    expect(await listening.payments()).toEqual([])
    await mined(chain.mintUsdc(order.address, AMOUNT))
    await comes(listening, order.memo, 'sweep.confirmed')
    expect(payments(listening, order.memo).map(({ data }) => [data.kind, data.payer_address, data.amount])).toEqual([
      ['transfer', ZeroAddress, '10.000000'],
    ])
    const history = await (await listening.fetch('/reconcile?from_block=0&to_block=200')).json()
    expect(history).toMatchObject({ differences: [] })
  })
})
