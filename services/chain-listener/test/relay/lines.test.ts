import { mined, startFaultProxy } from '@ponte/local-servers'
import { Wallet } from 'ethers'
import { type Listening, statesOf } from '../setup'
import { GASLESS, RELAYER, type RelayWorld, relays, startRelayWorld } from './relayer-setup'
import { AMOUNT, authorize, SHARE, TAKING } from './signatures'

// Two accounts, two lines: neither waits for the other, and no transaction holds up those behind it.

let world: RelayWorld
afterEach(() => world.stop())

const start = (env: Record<string, string> = {}) => world.start({ ...TAKING, ...env })
const account = () => new Wallet(Wallet.createRandom().privateKey)
const receives = (listening: Listening, memo: string) =>
  listening.until(async () => (await world.received(memo)).length === 1, 'it was not paid')
async function signed(listening: Listening) {
  const [payer, order] = [account(), await world.open(listening)]
  await mined(world.chain.mintUsdc(payer.address, AMOUNT))
  return { order, answer: await authorize(world, listening, order, payer) }
}

describe('the line never stands behind one transaction', () => {
  it('that a node refuses for ever: its nonce is used by nothing, and those behind it go on', async () => {
    world = await startRelayWorld({ noMining: true })
    const refuse = new Set<unknown>()
    world.proxy.set({
      each(call, answer) {
        if (call.method !== 'eth_sendRawTransaction') return undefined
        if (refuse.size === 0) refuse.add(call.params[0])
        return refuse.has(call.params[0])
          ? { id: answer.id, jsonrpc: '2.0', error: { code: -32000, message: 'exceeds block gas limit' } }
          : undefined
      },
      ask: call =>
        call.method === 'eth_sendRawTransaction' && refuse.size === 0
          ? { ...call, method: 'eth_chainId', params: [] }
          : refuse.has(call.params[0])
            ? { ...call, method: 'eth_chainId', params: [] }
            : call,
    })
    const listening = await start({ RELAYER_GIVE_UP_MS: '1500' })
    const [stuck, behind] = [await world.open(listening), await world.open(listening)]
    await world.pay(stuck.address, AMOUNT)
    await world.chain.mine(1)
    await listening.until(async () => (await relays(listening)).length === 1, 'nothing was signed')
    await world.pay(behind.address, AMOUNT)
    await world.mineUntil(listening, async () => (await world.received(behind.memo)).length === 1, 'the one behind it waits')
    await listening.sql.query('UPDATE payables SET retry_at = NULL')
    await world.mineUntil(listening, async () => (await world.received(stuck.memo)).length === 1, 'the deposit was never swept')
    const [first] = await relays(listening)
    expect(first).toMatchObject({ nonce: '0', outcome: 'replaced', noop_from: 1 })
    expect(await world.received(stuck.memo)).toEqual([SHARE])
  })

  it('that no one mines: it is priced up to its ceiling, then replaced by nothing, and its deposit is swept by the next', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await start({ RELAYER_STUCK_MS: '100', RELAYER_GIVE_UP_MS: '1000', RELAYER_MAX_FEE_GWEI: '500' })
    const order = await world.open(listening)
    await world.pay(order.address, AMOUNT)
    await world.chain.mine(1)
    await listening.until(
      async () => (await relays(listening))[0]?.noop_from !== undefined && (await relays(listening))[0]?.noop_from !== null,
      'it was never given up',
    )
    const [given] = await relays(listening)
    expect(given?.noop_from).toBeGreaterThan(1)
    await world.mineUntil(listening, async () => (await world.received(order.memo)).length === 1, 'the deposit was not swept')
    expect((await relays(listening))[0]).toMatchObject({ outcome: 'replaced' })
    expect(Number((await relays(listening))[0]?.gas_used)).toBe(21_000)
    expect(await world.received(order.memo)).toEqual([SHARE])
  })

  it('whose gas has become dearer than it is worth: it is replaced by nothing before its time, and those behind it go on', async () => {
    world = await startRelayWorld({ noMining: true })
    const { provider } = world.chain
    const [poor, rich] = [account(), account()]
    await world.chain.mintUsdc(poor.address, 20n * AMOUNT)
    await world.chain.mintUsdc(rich.address, 100n * AMOUNT)
    await world.chain.mine(1)
    const listening = await start({
      COIN_USDC: '4000',
      GAS_BUDGET_ORDER_USDC: '1000',
      ...{ GAS_BUDGET_DAY_USDC: '1000', GAS_NEW_MERCHANT_DAYS: '0' },
      GAS_BUDGET_MERCHANT_DAY_USDC: '1000',
      RELAYER_STUCK_MS: '500',
    })
    const [small, large] = [await world.open(listening, { usdc: '20.000000' }), await world.open(listening, { usdc: '1000.000000' })]
    // It would be worth the fee of the next block, and not that of a base fee twice as high.
    await provider.send('anvil_setNextBlockBaseFeePerGas', ['0x3b9aca00'])
    await world.chain.mine(1)
    const tight = await world.open(listening, { usdc: '9.000000' })
    expect(await authorize(world, listening, tight, poor, { amount: 9_000_000n })).toMatchObject({ status: 409 })
    expect(await authorize(world, listening, small, poor, { amount: 2n * AMOUNT })).toMatchObject({ status: 202 })
    await listening.until(async () => (await relays(listening)).length === 1, 'nothing was signed')
    // No block takes it at this base fee, which stays.
    const mineDear = async () => {
      await provider.send('anvil_setNextBlockBaseFeePerGas', ['0x6fc23ac00'])
      await world.chain.mine(1)
    }
    await mineDear()
    expect(await authorize(world, listening, large, rich, { amount: 100n * AMOUNT })).toMatchObject({ status: 202 })
    await listening.until(async () => {
      await mineDear()
      return (await world.received(large.memo)).length === 1
    }, 'the one behind it waits')
    expect((await relays(listening))[0]).toMatchObject({ nonce: '0', noop_from: expect.any(Number) })
    expect(await world.received(small.memo)).toEqual([])
  })

  it('of a payer whose signature was not mined and withdrawn: it is submitted once more, and paid once', async () => {
    world = await startRelayWorld({ noMining: true })
    const payer = account()
    await world.chain.mintUsdc(payer.address, AMOUNT)
    await world.chain.mine(1)
    const listening = await start({ RELAYER_STUCK_MS: '100', RELAYER_GIVE_UP_MS: '500' })
    const order = await world.open(listening)
    expect(await authorize(world, listening, order, payer)).toMatchObject({ status: 202 })
    const given = async () => (await relays(listening)).some(({ noop_from }) => noop_from !== null)
    await listening.until(given, 'it was never given up')
    await world.mineUntil(listening, async () => (await world.received(order.memo)).length === 1, 'it was not paid')
    await world.mineUntil(listening, () => statesOf(listening, order.memo).includes('confirmed'), 'it was not confirmed')
    expect(await world.received(order.memo)).toEqual([SHARE])
  })

  it('behind nonces that the database was put back to before, and a reorganisation took from the chain: nothing uses them, and it goes on', async () => {
    world = await startRelayWorld({ noMining: true })
    const env = { CONFIRMATIONS: '3', RELAYER_STUCK_MS: '300' }
    const first = await start(env)
    const forgotten = await world.open(first)
    await world.pay(forgotten.address, AMOUNT)
    await world.chain.mine(3)
    const isSent = async () => (await world.chain.provider.send('txpool_status', [])).pending === '0x1'
    await first.until(isSent, 'it was not sent')
    await world.chain.mine(1)
    expect(await world.received(forgotten.memo)).toEqual([SHARE])
    await first.stop()
    await first.sql.query('DELETE FROM relays')
    const listening = await start(env)
    const behind = await world.open(listening)
    await world.pay(behind.address, AMOUNT)
    await world.chain.mine(3)
    await listening.until(async () => (await relays(listening)).length === 1, 'nothing was signed')
    expect(await relays(listening)).toMatchObject([{ nonce: '1', order_ids: [behind.id] }])
    // Until the block of the first sweep is gone; the deposits' blocks come anew, and with them what is due.
    await listening.until(isSent, 'it was not sent')
    await world.chain.reorg(4)
    expect(await world.received(forgotten.memo)).toEqual([])
    await world.pay(behind.address, AMOUNT)
    await world.mineUntil(
      listening,
      async () => (await world.received(forgotten.memo)).length === 1 && (await world.received(behind.memo)).length === 1,
      'what was signed behind the gap was never mined',
    )
    expect([await world.received(forgotten.memo), await world.received(behind.memo)]).toEqual([[SHARE], [SHARE]])
  })

  it('that one node states to be far ahead: the nonce is that which enough nodes have, and leaves no gap', async () => {
    world = await startRelayWorld()
    const [spare, third] = [await startFaultProxy(world.chain.rpcUrl), await startFaultProxy(world.chain.rpcUrl)]
    try {
      world.proxy.set({
        each: ({ method, params }, { id, jsonrpc }) =>
          method === 'eth_getTransactionCount' && params[1] === 'latest' ? { id, jsonrpc, result: '0x32' } : undefined,
      })
      const listening = await start({ RPC_URLS: `${world.proxy.url},${spare.url},${third.url}`, RELAYER_STUCK_MS: '300' })
      const order = await world.open(listening)
      await world.pay(order.address, AMOUNT)
      await receives(listening, order.memo)
      expect(await relays(listening)).toMatchObject([{ nonce: '0' }])
    } finally {
      for (const one of [spare, third]) await one.stop()
    }
  })

  const LIES = {
    behind: '0x0',
    ahead: '0x32',
  }
  it.each(['behind', 'ahead'] as const)(
    'that one of three nodes states to be far %s at a confirmed block: nothing is taken for vanished, or for mined',
    async lie => {
      world = await startRelayWorld({ noMining: true })
      const [spare, third] = [await startFaultProxy(world.chain.rpcUrl), await startFaultProxy(world.chain.rpcUrl)]
      try {
        world.proxy.set({
          each({ method, params }, { id, jsonrpc }) {
            if (method === 'eth_getTransactionCount' && params[1] !== 'latest') return { id, jsonrpc, result: LIES[lie] }
            if (method !== 'eth_getTransactionReceipt' || lie === 'behind') return undefined
            const receipt = { transactionHash: params[0], blockNumber: '0x1', status: '0x1', gasUsed: '0x5208', logs: [] }
            return { id, jsonrpc, result: receipt }
          },
        })
        const listening = await start({ RPC_URLS: `${world.proxy.url},${spare.url},${third.url}` })
        const order = await world.open(listening)
        await world.pay(order.address, AMOUNT)
        await world.chain.mine(1)
        await listening.until(async () => (await relays(listening)).length === 1, 'nothing was signed')
        const pause = () => new Promise(resolve => setTimeout(resolve, 1_500))
        await pause()
        const [sent] = await relays(listening)
        expect(sent).toMatchObject({ outcome: null })
        await world.mineUntil(listening, async () => (await relays(listening))[0]?.outcome === 'done', 'it is not finished')
        expect(await world.received(order.memo)).toEqual([SHARE])
        await world.chain.mine(3)
        await pause()
        expect(await relays(listening)).toMatchObject([{ outcome: 'done', open_since: sent?.open_since }])
      } finally {
        for (const one of [spare, third]) await one.stop()
      }
    },
  )
})

describe('sweeps and payers’ signatures', () => {
  it.each([
    ['sweeps', RELAYER.address],
    ['signatures', GASLESS.address],
  ] as const)('the account of %s runs empty and is refilled, and the other goes on meanwhile', async (which, empty) => {
    world = await startRelayWorld()
    const listening = await start()
    const full = await world.chain.provider.getBalance(empty)
    await world.chain.provider.send('anvil_setBalance', [empty, '0x1'])
    const deposit = await world.open(listening)
    await world.pay(deposit.address, AMOUNT)
    const [payer, order] = [account(), await world.open(listening)]
    await mined(world.chain.mintUsdc(payer.address, AMOUNT))
    // It is answered 503, and asked again, while no gas can be paid for.
    const answer = authorize(world, listening, order, payer)
    const [goesOn, waits] = which === 'sweeps' ? [order.memo, deposit.memo] : [deposit.memo, order.memo]
    await receives(listening, goesOn)
    const starved = async () => (await (await listening.fetch('/metrics')).text()).match(/^ponte_relayer_(\w+)_starved\{[^}]*\} 1$/m)?.[1]
    await listening.until(async () => (await starved()) === which, 'no metric shows it')
    expect(await world.received(waits)).toEqual([])
    await world.chain.provider.send('anvil_setBalance', [empty, `0x${full.toString(16)}`])
    expect((await answer).status).toBe(202)
    await receives(listening, waits)
  })

  it('an account that can pay for some of what waits sweeps those', async () => {
    world = await startRelayWorld()
    let listening = await start({ SWEEPS_PAUSED: 'true' })
    const deposits = await Promise.all(Array.from({ length: 8 }, () => world.open(listening)))
    for (const { address } of deposits) await world.pay(address, AMOUNT)
    await listening.idle()
    await listening.stop()
    const { provider } = world.chain
    const { baseFeePerGas } = (await provider.getBlock('latest')) ?? {}
    const tip = BigInt(await provider.send('eth_maxPriorityFeePerGas', []))
    // As two of them may cost at most, of which each is asked for by a third of that.
    await provider.send('anvil_setBalance', [RELAYER.address, `0x${(400_000n * (2n * (baseFeePerGas ?? 0n) + tip)).toString(16)}`])
    listening = await start()
    const swept = async () => (await Promise.all(deposits.map(({ memo }) => world.received(memo)))).flat().length
    await listening.until(async () => (await swept()) >= 2, 'none is swept')
    await provider.send('anvil_setBalance', [RELAYER.address, '0xde0b6b3a7640000'])
    await listening.until(async () => (await swept()) === 8, 'not all are swept')
  })

  it('either is paused without the other', async () => {
    world = await startRelayWorld()
    let listening = await start({ GASLESS_PAUSED: 'true' })
    const deposit = await world.open(listening)
    await world.pay(deposit.address, AMOUNT)
    await receives(listening, deposit.memo)
    expect((await signed(listening)).answer.status).toBe(409)
    await listening.stop()
    listening = await start({ SWEEPS_PAUSED: 'true' })
    const next = await world.open(listening)
    await world.pay(next.address, AMOUNT)
    const { order, answer } = await signed(listening)
    expect(answer.status).toBe(202)
    await receives(listening, order.memo)
    expect(await world.received(next.memo)).toEqual([])
  })

  it('of one account are refused: each line needs its own nonces', async () => {
    world = await startRelayWorld()
    await expect(start({ GASLESS_PRIVATE_KEY: RELAYER.privateKey })).rejects.toThrow('GASLESS_PRIVATE_KEY')
    const listening = await start()
    await listening.idle()
  })
})
