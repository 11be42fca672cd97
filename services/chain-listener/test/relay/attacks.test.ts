import { mined } from '@ponte/local-servers'
import {
  authorizationNonce,
  deployContractWallet,
  deployHostileWallet,
  hostileCode,
  paymentRouterAbi,
  testUsdcAbi,
} from '@ponte/payment-router'
import { uuidv7 } from '@ponte/service-kit'
import { Contract, toBeHex, Wallet } from 'ethers'
import { type Listening, statesOf } from '../setup'
import { GASLESS, holdLead, MERCHANT, type RelayWorld, startRelayWorld } from './relayer-setup'
import { AMOUNT, authorize, SHARE, type Signing, signFor, TAKING } from './signatures'

// What strangers did to the relayer, each with the gas that it costs us.

let world: RelayWorld
afterEach(() => world.stop())

const start = (env: Record<string, string> = {}) => world.start({ ...TAKING, ...env })
const account = () => new Wallet(Wallet.createRandom().privateKey)
const relays = async ({ sql }: Listening) => (await sql.query('SELECT * FROM relays ORDER BY created_at, nonce')).rows
const signatures = async ({ sql }: Listening) =>
  (await sql.query<{ state: string; reason: string | null }>('SELECT state, reason FROM authorizations ORDER BY created_at')).rows
const gasSpent = async (listening: Listening) => (await relays(listening)).reduce((sum, { gas_used }) => sum + Number(gas_used ?? 0), 0)
const report = async (listening: Listening, what: string) => process.stdout.write(`gas  ${what}: ${await gasSpent(listening)}\n`)

/** A payer who means well is paid for, and a deposit is swept. */
async function othersGoOn(listening: Listening) {
  const [payer, order, deposit] = [account(), await world.open(listening), await world.open(listening)]
  await world.chain.mintUsdc(payer.address, AMOUNT)
  await world.pay(deposit.address, AMOUNT)
  await world.chain.mine(1)
  expect(await authorize(world, listening, order, payer)).toMatchObject({ status: 202 })
  await world.mineUntil(
    listening,
    async () => (await world.received(order.memo)).length === 1 && (await world.received(deposit.memo)).length === 1,
    'payers who mean well are held up',
  )
  expect(await world.received(order.memo)).toEqual([SHARE])
}
/** A wallet of this code with money, and an order that it signs for. */
async function signedBy(listening: Listening, code: string, signing: Signing = {}) {
  const [payer, order] = [await deployHostileWallet(world.chain, code), await world.open(listening)]
  await mined(world.chain.mintUsdc(payer, AMOUNT))
  return { payer, order, answer: await authorize(world, listening, order, account(), { payer, ...signing }) }
}

/** The payer takes back what was signed with this nonce. */
async function cancelled(payer: Wallet, nonce: string) {
  const { chainId, usdcAddress } = world.chain
  const usdc = new Contract(usdcAddress, testUsdcAbi, world.chain.wallet(8))
  const [name, version] = [await usdc.getFunction('name')(), await usdc.getFunction('version')()]
  const types = {
    CancelAuthorization: [
      { name: 'authorizer', type: 'address' },
      { name: 'nonce', type: 'bytes32' },
    ],
  }
  const domain = { name, version, chainId, verifyingContract: usdcAddress }
  const signature = await payer.signTypedData(domain, types, { authorizer: payer.address, nonce })
  await usdc.getFunction('cancelAuthorization').send(payer.address, nonce, signature, { gasLimit: 200_000 })
  await world.chain.mine(1)
}

describe('a wallet whose code runs at our cost', () => {
  it('that burns 26 M gas in its signature check is refused and costs nothing; no one behind it waits', async () => {
    world = await startRelayWorld()
    const listening = await start()
    const { answer } = await signedBy(listening, hostileCode.burner(26_000_000))
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'signature' }] } })
    expect(await relays(listening)).toEqual([])
    await report(listening, 'a wallet that burns 26 M gas')
    await othersGoOn(listening)
  })

  it.each([
    ['while gas is free', hostileCode.whileGasIsFree],
    ['while no one produces the block', hostileCode.whileNoOneProduces],
    ['while the block is not random', hostileCode.whileNothingIsRandom],
  ])('that answers yes only in a rehearsal, %s, is refused and costs nothing', async (what, code) => {
    world = await startRelayWorld()
    const listening = await start()
    const { answer } = await signedBy(listening, code(10_500_000))
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'signature' }] } })
    expect(await relays(listening)).toEqual([])
    await report(listening, `a wallet that answers yes ${what}`)
  })

  it('that takes its word back before the block costs its cap once, is not tried again, and not for another order either', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await start()
    const mine = setInterval(() => void world.chain.mine(1), 50)
    const { payer, order, answer } = await signedBy(listening, hostileCode.switchable(10_500_000)).finally(() => clearInterval(mine))
    expect(answer.status).toBe(202)
    await listening.until(async () => (await world.chain.provider.send('txpool_status', [])).pending !== '0x0', 'it was not sent')
    const flip = { to: payer, data: '0x', maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n, gasLimit: 100_000 }
    await world.chain.wallet(8).sendTransaction(flip)
    await world.mineUntil(listening, async () => (await signatures(listening))[0]?.state === 'failed', 'it did not fail')
    expect(await signatures(listening)).toEqual([{ state: 'failed', reason: 'reverted' }])
    expect(await world.received(order.memo)).toEqual([])
    const [relay, ...more] = await relays(listening)
    expect([relay?.outcome, more]).toEqual(['reverted', []])
    expect(Number(relay?.gas_used)).toBeLessThanOrEqual(300_000)
    await report(listening, 'a wallet that takes its word back')
    const other = await world.open(listening)
    expect(await authorize(world, listening, other, account(), { payer })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'payer_address' }] },
    })
    await othersGoOn(listening)
  })

  it('may not sign at all where contract wallets are switched off', async () => {
    world = await startRelayWorld()
    const listening = await start({ CONTRACT_WALLETS: 'false' })
    const owner = account()
    const [payer, order] = [await deployContractWallet(world.chain, owner.address), await world.open(listening)]
    await mined(world.chain.mintUsdc(payer, AMOUNT))
    expect(await authorize(world, listening, order, owner, { payer })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'payer_address' }] },
    })
  })
})

describe('a key that takes its money away before the block', () => {
  it('costs one transaction within its cap, and is not tried again', async () => {
    world = await startRelayWorld({ noMining: true })
    const payer = account()
    await world.chain.mintUsdc(payer.address, AMOUNT)
    await world.chain.mine(1)
    await world.chain.provider.send('anvil_setBalance', [payer.address, '0xde0b6b3a7640000'])
    const listening = await start()
    const order = await world.open(listening)
    expect(await authorize(world, listening, order, payer)).toMatchObject({ status: 202 })
    await listening.until(async () => (await world.chain.provider.send('txpool_status', [])).pending !== '0x0', 'it was not sent')
    const usdc = new Contract(world.chain.usdcAddress, ['function transfer(address,uint256)'], payer.connect(world.chain.provider))
    await usdc.getFunction('transfer').send(MERCHANT.address, AMOUNT, {
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
      gasLimit: 100_000,
    })
    await world.mineUntil(listening, async () => (await signatures(listening))[0]?.state === 'failed', 'it did not fail')
    expect(await signatures(listening)).toEqual([{ state: 'failed', reason: 'reverted' }])
    expect(await relays(listening)).toMatchObject([{ outcome: 'reverted' }])
    await report(listening, 'a key that takes its money away')
  })
})

describe('one checkout link', () => {
  it('has one open signature, whichever account signs', async () => {
    world = await startRelayWorld({ noMining: true })
    const payers = [account(), account(), account()]
    for (const payer of payers) await world.chain.mintUsdc(payer.address, AMOUNT)
    await world.chain.mine(1)
    const listening = await start()
    const order = await world.open(listening)
    const answers = await Promise.all(payers.map(payer => authorize(world, listening, order, payer)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409])
    expect(await signatures(listening)).toHaveLength(1)
  })

  it('takes no signature that outlives its order', async () => {
    world = await startRelayWorld()
    const payer = account()
    await mined(world.chain.mintUsdc(payer.address, AMOUNT))
    const listening = await start()
    const expiresAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 600_000)
    const order = await world.open(listening, { expiresAt })
    const end = BigInt(expiresAt.getTime() / 1_000)
    expect(await authorize(world, listening, order, payer, { validBefore: end + 1n })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'valid_before' }] },
    })
    expect(await authorize(world, listening, order, payer, { validBefore: end })).toMatchObject({ status: 202 })
  })

  it('whose order expired after the signature was taken: nothing is submitted', async () => {
    world = await startRelayWorld()
    const payer = account()
    await mined(world.chain.mintUsdc(payer.address, AMOUNT))
    let aheadMs = 0
    const listening = await world.start(TAKING, { now: () => new Date(Date.now() + aheadMs) })
    const order = await world.open(listening, { expiresAt: new Date(Date.now() + 600_000) })
    const next = await holdLead(listening)
    expect(await authorize(world, listening, order, payer, { validFor: 500 })).toMatchObject({ status: 202 })
    aheadMs = 601_000
    await next()
    await listening.until(async () => (await signatures(listening)).every(({ state }) => state === 'failed'), 'it did not fail')
    expect(await signatures(listening)).toEqual([{ state: 'failed', reason: 'expired' }])
    expect(await relays(listening)).toEqual([])
  })

  it('for an order whose cancellation came before the order is not taken, and the cancellation is held in no queue', async () => {
    world = await startRelayWorld()
    const listening = await start()
    const [id, payer] = [uuidv7(), account()]
    await world.cancel(id)
    const taken = async () => (await listening.sql.query('SELECT 1 FROM inbox')).rowCount === 1
    await listening.until(taken, 'the cancellation waits for its order')
    const order = await world.open(listening, { id })
    await mined(world.chain.mintUsdc(payer.address, AMOUNT))
    expect(await authorize(world, listening, order, payer)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('cancelled') },
    })
    expect(await relays(listening)).toEqual([])
  })

  it('that was paid otherwise, or cancelled, or whose payer became a contract, after the signature was taken: nothing is submitted', async () => {
    world = await startRelayWorld()
    const payers = [account(), account(), account()] as const
    for (const payer of payers) await mined(world.chain.mintUsdc(payer.address, AMOUNT))
    const listening = await start()
    const orders = [await world.open(listening), await world.open(listening), await world.open(listening)] as const
    const next = await holdLead(listening)
    for (const [index, payer] of payers.entries())
      expect(await authorize(world, listening, orders[index] ?? orders[0], payer)).toMatchObject({ status: 202 })
    await world.pay(orders[0].address, AMOUNT)
    await listening.until(() => statesOf(listening, orders[0].memo).includes('confirmed'), 'the transfer was not confirmed')
    await world.cancel(orders[1].id)
    await world.chain.provider.send('anvil_setCode', [payers[2].address, `0x${hostileCode.switchable(21_000)}`])
    const isCancelled = async () => (await listening.sql.query('SELECT 1 FROM payables WHERE cancelled_at IS NOT NULL')).rowCount === 1
    await listening.until(isCancelled, 'it was not cancelled')
    expect((await signatures(listening)).map(({ state }) => state)).toEqual(['accepted', 'accepted', 'accepted'])
    await next()
    await listening.until(async () => (await signatures(listening)).every(({ state }) => state === 'failed'), 'they did not fail')
    expect((await signatures(listening)).map(({ reason }) => reason).toSorted()).toEqual([
      'account_changed',
      'order_closed',
      'paid_otherwise',
    ])
    expect(await world.chain.provider.getTransactionCount(GASLESS.address)).toBe(0)
  })
})

describe('a merchant who pays himself, again and again', () => {
  it('is served up to the budget of a merchant, and others go on; the budget of all is the last bound', async () => {
    world = await startRelayWorld()
    // A coin of 1,000 USDC: some 0.4 USDC at most for a signature.
    const budgets = { GAS_BUDGET_MERCHANT_DAY_USDC: '1', GAS_BUDGET_DAY_USDC: '1.5', GAS_NEW_MERCHANTS_BPS: '10000' }
    const listening = await start({ COIN_USDC: '1000', GAS_SHARE_MAX_BPS: '10000', ...budgets })
    const merchantId = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
    const next = async (of: string | undefined) => {
      const payer = account()
      await mined(world.chain.mintUsdc(payer.address, AMOUNT))
      const answer = await authorize(world, listening, await world.open(listening, of === undefined ? {} : { merchantId: of }), payer)
      await listening.until(
        async () => (await signatures(listening)).every(({ state }) => state === 'paid' || state === 'failed'),
        'it hangs',
      )
      return answer.status
    }
    const statuses: number[] = []
    while (statuses.length < 30 && !statuses.includes(409)) statuses.push(await next(merchantId))
    expect(statuses.at(-1)).toBe(409)
    expect(statuses.filter(status => status === 202).length).toBeGreaterThan(0)
    expect(await next(undefined)).toBe(202)
    const others: number[] = []
    while (others.length < 30 && !others.includes(409)) others.push(await next(undefined))
    expect(others.at(-1)).toBe(409)
    const spent = (await relays(listening)).reduce((sum, { cost_units }) => sum + Number(cost_units), 0)
    expect(spent).toBeLessThanOrEqual(1_500_000)
    const metrics = await (await listening.fetch('/metrics')).text()
    expect(metrics).toMatch(/^ponte_authorizations_refused_total\{.*reason="merchant_budget".*\} 1$/m)
    expect(metrics).toMatch(/^ponte_authorizations_refused_total\{.*reason="day_budget".*\} 1$/m)
    await report(listening, `a merchant who pays himself (${statuses.length - 1} times, then no more)`)
    // Sweeps have a budget of their own.
    const deposit = await world.open(listening, { merchantId })
    await world.pay(deposit.address, AMOUNT)
    await listening.until(async () => (await world.received(deposit.memo)).length === 1, 'the sweep waits for a budget that is not its own')
  })

  it('with payments that are worth less than their gas is refused, and his deposits wait until gas is cheaper', async () => {
    world = await startRelayWorld()
    const budgets = { GAS_BUDGET_ORDER_USDC: '10000', GAS_BUDGET_MERCHANT_DAY_USDC: '10000', GAS_BUDGET_DAY_USDC: '10000' }
    const listening = await start({ COIN_USDC: '100000', ...budgets })
    const [payer, order, deposit] = [account(), await world.open(listening), await world.open(listening)]
    await mined(world.chain.mintUsdc(payer.address, AMOUNT))
    const answer = await authorize(world, listening, order, payer)
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining('or more go without gas') } })
    await world.pay(deposit.address, AMOUNT)
    const held = async () =>
      (await listening.sql.query('SELECT held_units FROM payables WHERE order_id = $1', [deposit.id])).rows[0]?.held_units
    await listening.until(async () => Number(await held()) > 0, 'the balance was not read')
    const large = await world.open(listening, { usdc: '1000.000000' })
    await world.pay(large.address, 100n * AMOUNT)
    await listening.until(async () => (await world.received(large.memo)).length === 1, 'what is worth its gas was not swept')
    expect(await world.received(deposit.memo)).toEqual([])
    expect(await relays(listening)).toHaveLength(1)
    expect(await (await listening.fetch('/metrics')).text()).toMatch(/^ponte_relayer_sweeps_least_worth_usdc\{[^}]*\} [1-9]/m)
  })
})

describe('a signature that failed', () => {
  it('and may still be submitted is followed by one with the same salt alone, whatever a stranger has left due', async () => {
    world = await startRelayWorld()
    const payer = account()
    await mined(world.chain.mintUsdc(payer.address, 2n * AMOUNT))
    const listening = await start()
    const order = await world.open(listening)
    const release = await holdLead(listening)
    expect(await authorize(world, listening, order, payer)).toMatchObject({ status: 202 })
    await listening.sql.query("UPDATE authorizations SET state = 'failed', reason = 'not_mined'")
    await world.pay(order.address, 1n)
    await listening.until(() => statesOf(listening, order.memo).includes('confirmed'), 'the stranger paid nothing')
    const due = AMOUNT - 1n
    const another = await authorize(world, listening, order, payer, { amount: due, salt: toBeHex(due, 32) })
    expect(another).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'salt', message: expect.stringContaining(toBeHex(AMOUNT, 32)) }] },
    })
    expect(await authorize(world, listening, order, payer, { amount: due })).toMatchObject({ status: 202 })
    await release()
    await listening.until(async () => (await signatures(listening))[0]?.state === 'paid', 'it was not paid')
  })

  it('whose payer cancelled it after another payment of a part has failed: that payment is not its own', async () => {
    world = await startRelayWorld()
    const payer = world.chain.wallet(6)
    const part = 1_000_000n
    await mined(world.chain.mintUsdc(payer.address, 2n * AMOUNT))
    const listening = await start()
    const order = await world.open(listening)
    const usdc = new Contract(world.chain.usdcAddress, testUsdcAbi, payer)
    await mined(usdc.getFunction('approve').send(world.chain.routerAddress, part, { gasLimit: 100_000 }))
    const router = new Contract(world.chain.routerAddress, paymentRouterAbi, payer)
    await mined(router.getFunction('pay').send(`0x${order.memo}`, MERCHANT.address, part, { gasLimit: 200_000 }))
    await listening.until(() => statesOf(listening, order.memo).includes('confirmed'), 'the part did not come')
    const release = await holdLead(listening)
    const due = AMOUNT - part
    expect(await authorize(world, listening, order, new Wallet(payer.privateKey), { amount: due, salt: toBeHex(due, 32) })).toMatchObject({
      status: 202,
    })
    await cancelled(new Wallet(payer.privateKey), authorizationNonce(order.memo, MERCHANT.address, toBeHex(due, 32)))
    await release()
    const ended = async () => {
      await world.chain.mine(1)
      await listening.sql.query("UPDATE authorizations SET retry_at = created_at WHERE state = 'accepted'")
      return (await signatures(listening))[0]?.state !== 'accepted'
    }
    await listening.until(ended, 'it was not looked at')
    expect(await signatures(listening)).toEqual([{ state: 'failed', reason: 'nonce_used' }])
  })

  it('because its nonce was used elsewhere is known to have failed once the scan has read the block, and another salt is taken', async () => {
    world = await startRelayWorld({ noMining: true })
    const payer = account()
    await world.chain.mintUsdc(payer.address, AMOUNT)
    await world.chain.mine(1)
    const listening = await world.start({ ...TAKING, CONFIRMATIONS: '3' })
    const order = await world.open(listening)
    const release = await holdLead(listening)
    expect(await authorize(world, listening, order, payer)).toMatchObject({ status: 202 })
    await cancelled(payer, authorizationNonce(order.memo, MERCHANT.address, toBeHex(AMOUNT, 32)))
    await listening.sql.query('UPDATE authorizations SET failures = 6')
    await release()
    const failures = async () => Number((await listening.sql.query('SELECT failures FROM authorizations')).rows[0]?.failures)
    await listening.until(async () => (await failures()) === 7, 'it was not looked at')
    expect(await signatures(listening)).toMatchObject([{ state: 'accepted' }])
    const used = await world.chain.provider.getBlockNumber()
    const confirmed = async () => Number((await listening.sql.query('SELECT confirmed_number FROM chain_cursor')).rows[0]?.confirmed_number)
    await world.mineUntil(listening, async () => (await confirmed()) >= used, 'the block was not confirmed')
    // A look that began before the confirmation would make the next one due minutes later.
    const hasFailed = async () => {
      await listening.sql.query("UPDATE authorizations SET retry_at = created_at WHERE state = 'accepted'")
      return (await signatures(listening))[0]?.state === 'failed'
    }
    await listening.until(hasFailed, 'it did not fail')
    expect(await signatures(listening)).toEqual([{ state: 'failed', reason: 'nonce_used' }])
    const again = await authorize(world, listening, order, payer, { validFor: 1_400 })
    expect(again).toMatchObject({ status: 400, body: { errors: [{ path: 'salt', message: expect.stringContaining('was used') }] } })
    expect(await authorize(world, listening, order, payer, { salt: toBeHex(AMOUNT + 1n, 32) })).toMatchObject({ status: 202 })
  })
})

describe('a third party', () => {
  it('that submits the signature first, and again, changes nothing but who paid the gas', async () => {
    world = await startRelayWorld({ noMining: true })
    const payer = account()
    await world.chain.mintUsdc(payer.address, 3n * AMOUNT)
    await world.chain.mine(1)
    const listening = await start()
    const order = await world.open(listening)
    const signing = { validBefore: BigInt(Math.floor(Date.now() / 1_000) + 1_500) }
    const body = await signFor(world, order, payer, signing)
    expect(await authorize(world, listening, order, payer, signing)).toMatchObject({ status: 202 })
    await listening.until(async () => (await world.chain.provider.send('txpool_status', [])).pending !== '0x0', 'it was not sent')
    const stranger = new Contract(world.chain.routerAddress, paymentRouterAbi, world.chain.wallet(8))
    const submit = (gasPrice: bigint) =>
      stranger
        .getFunction('payWithAuthorization')
        .send(...[`0x${order.memo}`, MERCHANT.address, AMOUNT, payer.address, 0, body.valid_before, body.salt, body.signature], {
          maxFeePerGas: gasPrice,
          maxPriorityFeePerGas: gasPrice / 2n,
          gasLimit: 300_000,
        })
    const front = await submit(10n ** 12n)
    await world.mineUntil(listening, async () => (await signatures(listening))[0]?.state === 'paid', 'it does not count as paid')
    expect((await listening.sql.query('SELECT tx_hash FROM authorizations')).rows).toEqual([{ tx_hash: front.hash }])
    expect(await relays(listening)).toMatchObject([{ outcome: 'reverted' }])
    const replay = await submit(10n ** 12n)
    await world.chain.mine(1)
    expect((await world.chain.provider.getTransactionReceipt(replay.hash))?.status).toBe(0)
    expect(await world.received(order.memo)).toEqual([SHARE])
    expect(statesOf(listening, order.memo)).toEqual(['confirmed'])
    await report(listening, 'a front-runner')
  })

  it('that sweeps first makes our sweep empty at most, and the money moves once', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await start()
    const order = await world.open(listening)
    await world.pay(order.address, AMOUNT)
    await world.chain.mine(1)
    await listening.until(async () => (await world.chain.provider.send('txpool_status', [])).pending !== '0x0', 'the sweep was not sent')
    const stranger = new Contract(world.chain.routerAddress, paymentRouterAbi, world.chain.wallet(8))
    const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n, gasLimit: 300_000 }
    await stranger.getFunction('sweep').send(`0x${order.memo}`, MERCHANT.address, fees)
    await world.mineUntil(listening, async () => (await relays(listening)).every(({ outcome }) => outcome !== null), 'the sweep hangs')
    await listening.idle()
    expect(await world.received(order.memo)).toEqual([SHARE])
    expect((await relays(listening)).length).toBe(1)
    await report(listening, 'a stranger who sweeps first')
  })
})
