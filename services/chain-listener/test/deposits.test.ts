import { faults, startFaultProxy } from '@ponte/local-servers'
import { type RelayWorld, startRelayWorld } from './relayer-setup'
import type { Listening } from './setup'

const AMOUNT = 10_000_000n
/** What the merchant is left of it: all but the fee. */
const SHARE = 9_900_000n

let world: RelayWorld
const proxies: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await world.stop()
  for (const proxy of proxies.splice(0)) await proxy.stop()
})

/** What was said of an order, in its order; a sweep by what it stands for. */
const told = (listening: Listening, memo: string) =>
  listening.told.payments().flatMap(({ type, data }) => (data.memo === memo ? [[type.replace('payment.', ''), data] as const] : []))
const said = (listening: Listening, memo: string) => told(listening, memo).map(([type, data]) => (data.replaces ? `sweep ${type}` : type))
const comes = (listening: Listening, memo: string, last: string) =>
  listening.until(
    () => said(listening, memo).at(-1) === last,
    () => `the last word was not «${last}»: ${said(listening, memo)}`,
  )

describe('design section 8: a deposit, in the same cursor, reorganisation and fault regime as a payment through the router', () => {
  it('is told at first sight, swept when it is confirmed, and counted once', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start({ CONFIRMATIONS: '3' })
    const order = await world.open(listening)
    await world.pay(order.address, AMOUNT)
    await world.chain.mine(1)
    await comes(listening, order.memo, 'detected')
    const [[, deposit] = []] = told(listening, order.memo)
    expect(deposit).toMatchObject({
      merchant_share: '9.900000',
      fee: '0.100000',
      revision: 1,
      payer_address: world.chain.wallet(7).address,
    })
    expect((await listening.sql.query('SELECT 1 FROM relays')).rowCount).toBe(0)
    await listening.until(async () => {
      await world.chain.mine(1)
      return said(listening, order.memo).includes('sweep confirmed')
    }, 'it was not swept')
    expect(said(listening, order.memo)).toEqual(['detected', 'sweep detected', 'sweep confirmed'])
    const [, , [, sweep] = []] = told(listening, order.memo)
    expect(sweep).toMatchObject({ replaces: [deposit?.payment_id], sent_time: deposit?.block_time, merchant_share: '9.900000' })
  })

  it('taken away by a reorganisation after it was confirmed, it is told as orphaned; mined again, it is the same one', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start({ CONFIRMATIONS: '2', DEPOSIT_MIN_USDC: '100', REORG_WINDOW: '30' })
    const order = await world.open(listening, { usdc: '99.000000' })
    const sent = await world.chain.provider.getTransaction(await world.pay(order.address, AMOUNT))
    await world.chain.mine(4)
    await comes(listening, order.memo, 'detected')
    await listening.idle()
    expect(await (await listening.fetch('/deposits')).json()).toMatchObject({ count: 1, total: '10.000000' })
    await world.chain.reorg(4)
    await world.chain.mine(1)
    await comes(listening, order.memo, 'orphaned')
    await listening.idle()
    expect(await (await listening.fetch('/deposits')).json()).toMatchObject({ count: 0, total: '0.000000' })
    await world.chain.mintUsdc(sent?.from ?? '', AMOUNT)
    await world.chain.transferUsdc(world.chain.wallet(7), order.address, AMOUNT)
    await world.chain.mine(3)
    await comes(listening, order.memo, 'detected')
    const ids = told(listening, order.memo).map(([, data]) => [data.payment_id, data.revision])
    expect(ids).toEqual([
      [ids[0]?.[0], 1],
      [ids[0]?.[0], 2],
      [ids[2]?.[0], ids[2]?.[0] === ids[0]?.[0] ? 3 : 1],
    ])
  })

  it('made before the listener heard of its order, or while nobody listened, it is found', async () => {
    world = await startRelayWorld()
    let listening = await world.start({ CONFIRMATIONS: '1' })
    const order = await world.open(listening, {
      async alreadySent(address) {
        await world.pay(address, AMOUNT)
        await listening.idle()
      },
    })
    await listening.idle()
    expect(said(listening, order.memo)).toEqual(['detected', 'sweep confirmed'])
    const other = await world.open(listening)
    await listening.idle()
    await listening.stop()
    await world.pay(other.address, AMOUNT)
    // Further than the window of blocks that are read one by one.
    await world.chain.mine(40)
    listening = await world.start({ REORG_WINDOW: '20' })
    await listening.idle()
    expect(said(listening, other.memo)).toEqual(['detected', 'sweep confirmed'])
  })

  it('long after its order expired, it is told and then swept', async () => {
    world = await startRelayWorld()
    const listening = await world.start({ DEPOSIT_OLD_EVERY_S: '1' })
    const order = await world.open(listening, { expiresAt: new Date(Date.now() - 30 * 86_400_000) })
    await world.pay(order.address, AMOUNT)
    await listening.until(async () => {
      await world.chain.mine(1)
      return said(listening, order.memo).includes('sweep confirmed')
    }, 'it was not found')
    expect(said(listening, order.memo)).toEqual(['detected', 'sweep confirmed'])
    expect(await world.received(order.memo)).toEqual([SHARE])
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
    await comes(listening, order.memo, 'detected')
    expect(await (await listening.fetch('/metrics')).text()).toMatch(/ponte_chain_rpc_failovers_total\{[^}]*reason="wrong_answer"[^}]*\} 1/)
  })

  it('invented or enlarged by one of three nodes, it is never confirmed: the majority takes it back, and tells what is true', async () => {
    world = await startRelayWorld({ noMining: true })
    const others = [await startFaultProxy(world.chain.rpcUrl), await startFaultProxy(world.chain.rpcUrl)]
    proxies.push(...others)
    const listening = await world.start({ RPC_URLS: [world.proxy, ...others].map(({ url }) => url).join(), CONFIRMATIONS: '2' })
    const order = await world.open(listening)
    await listening.idle()
    const lie = `0x${(AMOUNT * 5n).toString(16).padStart(64, '0')}`
    world.proxy.set(faults.lyingLogs(log => [{ ...log, data: lie }]))
    await world.pay(order.address, AMOUNT)
    await world.chain.mine(2)
    await listening.until(() => told(listening, order.memo).length >= 3, 'the lie was not taken back')
    expect(told(listening, order.memo).map(([type, data]) => [type, data.merchant_share])).toEqual([
      ['detected', '49.500000'],
      ['orphaned', '49.500000'],
      ['detected', '9.900000'],
    ])
    expect(await (await listening.fetch('/metrics')).text()).toMatch(/reason="outvoted"[^}]*\} 1/)
  })
})
