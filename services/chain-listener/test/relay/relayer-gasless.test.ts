import { mined } from '@ponte/local-servers'
import { deployContractWallet } from '@ponte/payment-router'
import { AbiCoder, id, toBeHex, Wallet } from 'ethers'
import { type Listening, statesOf } from '../setup'
import { holdLead, type RelayWorld, startRelayWorld } from './relayer-setup'
import { AMOUNT, authorize as handIn, SHARE, type Signing, TAKING } from './signatures'

let world: RelayWorld
afterEach(() => world.stop())

const start = (env: Record<string, string> = {}) => world.start({ ...TAKING, ...env })
const authorize = (listening: Listening, order: { id: string; memo: string }, signer: Wallet, signing?: Signing) =>
  handIn(world, listening, order, signer, signing)

describe('a payment without gas', () => {
  it('whose signature was taken is taken once more while such payments are paused, for a page that lost the answer', async () => {
    world = await startRelayWorld()
    const [payer, validBefore] = [new Wallet(Wallet.createRandom().privateKey), BigInt(Math.floor(Date.now() / 1_000) + 1_200)]
    await mined(world.chain.mintUsdc(payer.address, AMOUNT))
    const listening = await start()
    const [order, other] = [await world.open(listening), await world.open(listening)]
    const release = await holdLead(listening)
    expect(await authorize(listening, order, payer, { validBefore })).toMatchObject({ status: 202 })
    await release()
    await listening.stop()
    const paused = await start({ GASLESS_PAUSED: 'true' })
    expect(await authorize(paused, order, payer, { validBefore })).toMatchObject({ status: 202 })
    expect(await authorize(paused, other, payer, { validBefore })).toMatchObject({ status: 409 })
  })

  it('is taken although a node named the token wrongly once', async () => {
    world = await startRelayWorld()
    let ahead = 0
    const listening = await world.start(TAKING, { now: () => new Date(Date.now() + ahead) })
    const [payer, order] = [new Wallet(Wallet.createRandom().privateKey), await world.open(listening)]
    await mined(world.chain.mintUsdc(payer.address, AMOUNT))
    const isVersion = (call: { method: string; params?: unknown }) =>
      call.method === 'eth_call' && JSON.stringify(call.params).includes(id('version()').slice(0, 10))
    const wrong = AbiCoder.defaultAbiCoder().encode(['string'], ['99'])
    world.proxy.set({ each: (call, answer) => (isVersion(call) ? { ...answer, result: wrong } : undefined) })
    expect(await authorize(listening, order, payer)).toMatchObject({ status: 400, body: { errors: [{ path: 'signature' }] } })
    world.proxy.set({})
    ahead = 61_000
    expect(await authorize(listening, order, payer)).toMatchObject({ status: 202 })
    await world.mineUntil(listening, async () => (await world.received(order.memo)).length === 1, 'it was not paid')
  })

  it('that a reorganisation takes away after it was confirmed is sent again, and nothing behind it gets stuck', async () => {
    world = await startRelayWorld({ noMining: true })
    const payer = Wallet.createRandom()
    await world.chain.mintUsdc(payer.address, AMOUNT)
    await world.chain.mine(1)
    const listening = await start({ CONFIRMATIONS: '2' })
    const order = await world.open(listening)
    expect(await authorize(listening, order, new Wallet(payer.privateKey))).toMatchObject({ status: 202, body: { status: 'accepted' } })
    const relays = async () => (await listening.sql.query('SELECT nonce, outcome FROM relays ORDER BY nonce')).rows
    await world.mineUntil(listening, async () => (await relays())[0]?.outcome === 'done', 'it was not mined')
    expect(statesOf(listening, order.memo)).toEqual(['confirmed'])

    const [{ blockNumber } = { blockNumber: 0 }] = (
      await world.chain.provider.getLogs({
        address: world.chain.routerAddress,
        fromBlock: 0,
      })
    ).slice(-1)
    await world.chain.reorg((await world.chain.provider.getBlockNumber()) - blockNumber + 1)
    expect(await world.received(order.memo)).toEqual([])
    await world.mineUntil(
      listening,
      () => statesOf(listening, order.memo).join() === 'confirmed,orphaned,confirmed',
      'it was not paid again',
    )
    expect(await world.received(order.memo)).toEqual([SHARE])

    const next = await world.open(listening)
    await world.pay(next.address, AMOUNT)
    await world.mineUntil(listening, async () => (await world.received(next.memo)).length > 0, 'what came after it was stuck')
    expect(await world.received(next.memo)).toEqual([SHARE])
    // Sweeps go by a line of their own.
    expect(await relays()).toMatchObject([{ nonce: '0', outcome: 'done' }, { nonce: '0' }])
  })

  it('can be topped up by the same payer with another salt, one signature at a time', async () => {
    world = await startRelayWorld({ noMining: true })
    const payer = new Wallet(Wallet.createRandom().privateKey)
    await world.chain.mintUsdc(payer.address, 2n * AMOUNT)
    await world.chain.mine(1)
    const listening = await start()
    const order = await world.open(listening, { usdc: '20.000000' })
    const [first, second] = [toBeHex(2, 32), toBeHex(1, 32)]
    expect(await authorize(listening, order, payer, { salt: first })).toMatchObject({ status: 202 })
    // While one may still be mined, another could pay twice.
    const rivals = await Promise.all([second, toBeHex(3, 32)].map(salt => authorize(listening, order, payer, { salt })))
    expect(rivals.map(({ status }) => status)).toEqual([409, 409])
    const paid = async (count: number) => {
      await world.chain.mine(1)
      const { rows } = await listening.sql.query("SELECT tx_hash FROM authorizations WHERE state = 'paid'")
      return rows.length === count
    }
    await listening.until(() => paid(1), 'the first was not paid')
    const used = await authorize(listening, order, payer, { salt: first, validFor: 1_600 })
    expect(used).toMatchObject({ status: 400, body: { errors: [{ path: 'salt' }] } })
    expect(await authorize(listening, order, payer, { salt: second })).toMatchObject({ status: 202 })
    await listening.until(() => paid(2), 'the second was not paid')
    expect(await world.received(order.memo)).toEqual([SHARE, SHARE])
    const { rows } = await listening.sql.query('SELECT DISTINCT tx_hash FROM authorizations')
    expect(rows).toHaveLength(2)
  })

  it('of two signatures with different salts that come at once, one is kept', async () => {
    world = await startRelayWorld({ noMining: true })
    const payer = new Wallet(Wallet.createRandom().privateKey)
    await world.chain.mintUsdc(payer.address, 2n * AMOUNT)
    await world.chain.mine(1)
    const listening = await start()
    const order = await world.open(listening)
    const answers = await Promise.all([1, 2, 3, 4].map(salt => authorize(listening, order, payer, { salt: toBeHex(salt, 32) })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409])
    expect((await listening.sql.query('SELECT 1 FROM authorizations')).rowCount).toBe(1)
  })

  it('by a wallet that is a contract (ERC-1271) is taken by its own judgement, and refused when it answers no', async () => {
    world = await startRelayWorld()
    const owner = new Wallet(Wallet.createRandom().privateKey)
    const wallet = await deployContractWallet(world.chain, owner.address)
    await mined(world.chain.mintUsdc(wallet, AMOUNT))
    const listening = await start()
    const order = await world.open(listening)
    await listening.idle()
    const stranger = new Wallet(Wallet.createRandom().privateKey)
    expect(await authorize(listening, order, stranger, { payer: wallet })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'signature' }] },
    })
    expect(await authorize(listening, order, owner, { payer: wallet })).toMatchObject({ status: 202 })
    await listening.idle()
    expect(statesOf(listening, order.memo)).toEqual(['confirmed'])
    expect(await world.received(order.memo)).toEqual([SHARE])
  })
})

describe('of two replicas with the same key', () => {
  it('only the one that leads submits, and the other goes on where it stopped', async () => {
    world = await startRelayWorld()
    const env = { LEADER_SILENCE_MS: '4000' }
    const [one, two] = [await start(env), await start(env)]
    const payer = new Wallet(Wallet.createRandom().privateKey)
    await mined(world.chain.mintUsdc(payer.address, AMOUNT))
    const [deposit, gasless] = [await world.open(one), await world.open(one)]
    await world.pay(deposit.address, AMOUNT)
    // Whichever takes the signature, the one that leads submits it.
    expect(await authorize(two, gasless, payer)).toMatchObject({ status: 202 })
    await one.until(
      async () => statesOf(one, gasless.memo).includes('confirmed') && (await world.received(deposit.memo)).length === 1,
      'not both were paid',
    )
    const sent = async (listening: Listening) => {
      const metrics = await (await listening.fetch('/metrics')).text()
      return [...metrics.matchAll(/^ponte_relayer_transactions_total\{.*outcome="sent".*\} (\d+)$/gm)].reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      )
    }
    expect([await sent(one), await sent(two)]).toEqual([2, 0])

    await one.stop()
    const last = await world.open(two)
    await world.pay(last.address, AMOUNT)
    await two.until(async () => (await world.received(last.memo)).length === 1, 'the other did not take over')
    await two.idle()
    expect(await sent(two)).toBe(1)
    for (const { memo } of [deposit, gasless, last]) expect(await world.received(memo)).toEqual([SHARE])
  })
})
