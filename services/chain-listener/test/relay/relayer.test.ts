import { startFaultProxy } from '@ponte/local-servers'
import { type Listening, statesOf } from '../setup'
import { RELAYER, type RelayWorld, relays, startRelayWorld } from './relayer-setup'

const AMOUNT = 10_000_000n
const SHARE = 9_900_000n

let world: RelayWorld
afterEach(() => world.stop())

const nonceOf = () => world.chain.provider.getTransactionCount(RELAYER.address, 'latest')
const swept = (listening: Listening, memo: string) =>
  listening.until(async () => (await world.received(memo)).length > 0, 'the deposit was not swept')

describe('exactly one effect, whatever dies when', () => {
  it('killed after writing a transaction down and before sending it: the same bytes are sent by the next one', async () => {
    world = await startRelayWorld()
    let listening = await world.start()
    const order = await world.open(listening)
    world.proxy.set({ whole: (calls, response) => calls.some(call => call.method === 'eth_sendRawTransaction') && !!response.destroy() })
    await world.pay(order.address, AMOUNT)
    await listening.until(async () => (await relays(listening)).length === 1, 'nothing was signed')
    const [before] = await relays(listening)
    await listening.stop()
    expect(await world.received(order.memo)).toEqual([])
    world.proxy.set()
    listening = await world.start()
    await listening.idle()
    const [after, ...more] = await relays(listening)
    expect(more).toEqual([])
    expect(after).toMatchObject({ outcome: 'done', mined_hash: before?.hashes[0] })
    expect(await world.received(order.memo)).toEqual([SHARE])
  })

  it('killed between broadcast and answer: the outcome is found on the chain and nothing is sent twice', async () => {
    world = await startRelayWorld()
    let listening = await world.start()
    const order = await world.open(listening)
    let denied = 0
    world.proxy.set({
      each({ method }, answer) {
        if (method === 'eth_getTransactionReceipt') {
          denied += 1
          return { ...answer, result: null }
        }
        return method === 'eth_sendRawTransaction'
          ? { id: answer.id, jsonrpc: '2.0', error: { code: -32000, message: 'internal' } }
          : undefined
      },
    })
    await world.pay(order.address, AMOUNT)
    await swept(listening, order.memo)
    const before = denied
    // The one node denies it again and again, at one confirmed block.
    await listening.until(async () => denied >= before + 3, 'it was not asked for')
    expect(await relays(listening)).toMatchObject([{ outcome: null }])
    await listening.stop()
    world.proxy.set()
    listening = await world.start()
    await listening.idle()
    expect(await relays(listening)).toMatchObject([{ outcome: 'done' }])
    expect(await world.received(order.memo)).toEqual([SHARE])
    expect(await nonceOf()).toBe(1)
  })

  it('a node that denies the transaction of a used nonce is not believed: another one has its receipt', async () => {
    world = await startRelayWorld()
    const spare = await startFaultProxy(world.chain.rpcUrl)
    try {
      let denied = 0
      world.proxy.set({
        each({ method }, answer) {
          if (method !== 'eth_getTransactionReceipt') return undefined
          denied += 1
          return { ...answer, result: null }
        },
      })
      const listening = await world.start({ RPC_URLS: `${world.proxy.url},${spare.url}` })
      const order = await world.open(listening)
      await world.pay(order.address, AMOUNT)
      await swept(listening, order.memo)
      await listening.until(async () => (await relays(listening))[0]?.outcome !== null, 'what became of it is not known')
      expect(await relays(listening)).toMatchObject([{ outcome: 'done', mined_hash: expect.stringMatching(/^0x/) }])
      expect(denied).toBeGreaterThan(0)
    } finally {
      await spare.stop()
    }
  })

  it('a reorganisation that takes the sweep away: it is sent again, and money of the deposit moves once', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start({ CONFIRMATIONS: '2' })
    const order = await world.open(listening)
    await world.pay(order.address, AMOUNT)
    await world.chain.mine(2)
    await listening.until(async () => (await relays(listening)).length === 1, 'nothing was signed')
    await listening.until(async () => (await world.chain.provider.send('txpool_status', [])).pending === '0x1', 'it was not sent')
    await world.chain.mine(1)
    expect(await world.received(order.memo)).toEqual([SHARE])
    const head = await world.chain.provider.getBlockNumber()
    await listening.until(async () => (await listening.listener.status()).scanned_block === head, 'the sweep was not scanned')
    await world.chain.reorg(1)
    expect(await world.received(order.memo)).toEqual([])
    await listening.until(async () => {
      await world.chain.mine(1)
      return (await relays(listening))[0]?.outcome === 'done'
    }, 'the sweep did not come back')
    expect(await world.received(order.memo)).toEqual([SHARE])
    expect(await relays(listening)).toHaveLength(1)
  })

  it('an only node that states once that no nonce is used begins nothing again', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start()
    const order = await world.open(listening)
    await world.pay(order.address, AMOUNT)
    await listening.until(async () => {
      await world.chain.mine(1)
      return (await relays(listening))[0]?.outcome === 'done'
    }, 'it was not swept')
    await listening.listener.idle()
    const begun = async () => (await listening.sql.query('SELECT open_since FROM relays')).rows
    const before = await begun()
    let stated = 0
    world.proxy.set({
      each({ method }, answer) {
        if (method !== 'eth_getTransactionCount') return undefined
        stated += 1
        return { ...answer, result: '0x0' }
      },
    })
    await listening.until(() => stated > 3, 'it was not asked')
    world.proxy.set()
    await world.chain.mine(2)
    await listening.listener.idle()
    expect(await begun()).toEqual(before)
    expect(await relays(listening)).toEqual([expect.objectContaining({ outcome: 'done' })])
  })

  it('a transaction that no one mines is offered at a higher price, under the same nonce', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start({ RELAYER_STUCK_MS: '150' })
    const order = await world.open(listening)
    await world.pay(order.address, AMOUNT)
    await world.chain.mine(1)
    await listening.until(async () => ((await relays(listening))[0]?.raws.length ?? 0) >= 3, 'it was not priced anew')
    await listening.until(async () => {
      await world.chain.mine(1)
      return (await relays(listening))[0]?.outcome === 'done'
    }, 'it was not mined')
    const [relay] = await relays(listening)
    expect(relay?.hashes).toContain(relay?.mined_hash)
    expect(await world.received(order.memo)).toEqual([SHARE])
    expect(await nonceOf()).toBe(1)
  })

  it('a nonce that someone else used with the same key: the deposit is swept by another transaction', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start()
    const order = await world.open(listening)
    await world.pay(order.address, AMOUNT)
    await world.chain.mine(1)
    await listening.until(async () => (await relays(listening)).length === 1, 'nothing was signed')
    await listening.until(async () => (await world.chain.provider.send('txpool_status', [])).pending === '0x1', 'it was not sent')
    const foreign = world.chain.wallet(4)
    await foreign.sendTransaction({
      to: foreign.address,
      nonce: 0,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
      gasLimit: 21_000,
    })
    await listening.until(async () => {
      await world.chain.mine(1)
      return (await world.received(order.memo)).length > 0
    }, 'the deposit was not swept')
    expect((await relays(listening))[0]).toMatchObject({ outcome: 'replaced' })
    expect(await world.received(order.memo)).toEqual([SHARE])
  })
})

describe('what is worth its gas', () => {
  it('a balance that a node once stated as none is looked at again, once books and chain agree on another', async () => {
    world = await startRelayWorld()
    const listening = await world.start({ DEPOSIT_MIN_UNITS: '5000000', RECONCILE_EVERY_S: '1' })
    const order = await world.open(listening)
    await world.pay(order.address, 1_000_000n)
    const held = async () => (await listening.sql.query<{ held: string }>('SELECT held_units::text AS held FROM payables')).rows[0]?.held
    await listening.until(async () => (await held()) === '1000000', 'the balance is not known')
    await listening.idle()
    await listening.sql.query('UPDATE payables SET held_units = 0, moved_at = NULL')
    await listening.until(async () => (await held()) === '1000000', 'the balance is not looked at again')
  })

  it('waits below the minimum until the balance is worth it, whatever the order asks for; dust after a sweep is not swept', async () => {
    world = await startRelayWorld()
    const listening = await world.start({ DEPOSIT_MIN_UNITS: '5000000' })
    const order = await world.open(listening)
    await world.pay(order.address, 1_000_000n)
    await listening.idle()
    expect(await world.received(order.memo)).toEqual([])
    await world.pay(order.address, 4_000_000n)
    await listening.idle()
    expect(await world.received(order.memo)).toEqual([4_950_000n])
    const small = await world.open(listening, { usdc: '0.500000' })
    for (let dust = 0; dust < 3; dust++) await world.pay(order.address, 10n)
    await world.pay(small.address, 500_000n)
    await listening.idle()
    expect(await world.received(order.memo)).toEqual([4_950_000n])
    expect(await world.received(small.memo)).toEqual([])
    expect(await relays(listening)).toHaveLength(1)
    // It is the merchant's all the same: each transfer is confirmed as it came.
    expect(statesOf(listening, order.memo)).toEqual(Array.from({ length: 5 }, () => 'confirmed'))
  })

  it('sweeps many by one transaction, and the gas of each path is known', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start()
    const orders: Awaited<ReturnType<RelayWorld['open']>>[] = []
    for (let index = 0; index < 20; index++) orders.push(await world.open(listening))
    for (const order of orders) await world.pay(order.address, AMOUNT)
    await world.chain.mine(1)
    await listening.until(async () => {
      await world.chain.mine(1)
      const all = await Promise.all(orders.map(order => world.received(order.memo)))
      return all.every(payments => payments.length === 1)
    }, 'not all were swept')
    await listening.until(async () => (await relays(listening)).every(relay => relay.outcome === 'done'), 'the sweep is not finished')
    const [relay] = await relays(listening)
    process.stdout.write(
      `gas  sweepMany of ${relay?.order_ids.length} new deposits, each ${Number(relay?.gas_used) / relay?.order_ids.length}\n`,
    )
    expect(relay?.order_ids.length).toBe(20)
  })

  it('sweeps nothing without a key, and confirms what comes all the same', async () => {
    world = await startRelayWorld()
    const listening = await world.start({ RELAYER_PRIVATE_KEY: '' })
    const order = await world.open(listening)
    await world.pay(order.address, AMOUNT)
    await listening.idle()
    expect(await (await listening.fetch('/deposits')).json()).toMatchObject({ relayer_address: null })
    expect(statesOf(listening, order.memo)).toEqual(['confirmed'])
    expect(await world.received(order.memo)).toEqual([])
  })
})
