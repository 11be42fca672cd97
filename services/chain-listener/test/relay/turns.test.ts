import { mined } from '@ponte/local-servers'
import { uuidv7 } from '@ponte/service-kit'
import { Contract, Wallet } from 'ethers'
import type { Listening } from '../setup'
import { holdLead, MERCHANT, type RelayWorld, relays, startRelayWorld } from './relayer-setup'
import { AMOUNT, authorize, TAKING } from './signatures'

// Payers of one merchant neither hold up those of another, nor use up what the merchant's other payers need.

let world: RelayWorld
afterEach(() => world.stop())

const account = () => new Wallet(Wallet.createRandom().privateKey)
const settled = async ({ sql }: Listening) =>
  (await sql.query("SELECT 1 FROM authorizations WHERE state IN ('accepted', 'submitted')")).rowCount === 0

/** A signature for a new order of this merchant. */
async function sign(listening: Listening, merchantId: string, payer = account()) {
  const order = await world.open(listening, { merchantId })
  const minted = await world.chain.mintUsdc(payer.address, AMOUNT)
  await world.chain.mine(1)
  await minted.wait()
  return { order, payer, ...(await authorize(world, listening, order, payer)) }
}

/** An account sends all that it has to another one. */
async function moveAway(payer: Wallet, to: string) {
  const { chain } = world
  await chain.provider.send('anvil_setBalance', [payer.address, '0xde0b6b3a7640000'])
  const usdc = new Contract(chain.usdcAddress, ['function transfer(address,uint256)'], payer.connect(chain.provider))
  const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n, gasLimit: 100_000 }
  return usdc.getFunction('transfer').send(to, AMOUNT, fees)
}

it('merchants are served in turn: a flood for some delays a payer of another by one turn of each', async () => {
  world = await startRelayWorld()
  const listening = await world.start(TAKING)
  const next = await holdLead(listening)
  const floods = Array.from({ length: 5 }, () => uuidv7())
  for (const merchantId of floods)
    for (let times = 0; times < 3; times++) expect(await sign(listening, merchantId)).toMatchObject({ status: 202 })
  const { order } = await sign(listening, uuidv7())
  await next()
  await listening.until(() => settled(listening), 'not all were paid')
  const served = await relays(listening)
  expect(served).toHaveLength(16)
  const turn = served.findIndex(({ order_ids }) => order_ids.includes(order.id))
  expect(turn).toBeLessThanOrEqual(floods.length)
  expect(new Set(served.slice(0, 6).flatMap(({ merchants }) => merchants)).size).toBe(6)
})

it('what failed before stands behind what never did: a stranger who holds links of a merchant holds up none of its payers', async () => {
  world = await startRelayWorld()
  let aheadMs = 0
  const listening = await world.start(TAKING, { now: () => new Date(Date.now() + aheadMs) })
  const merchantId = uuidv7()
  const hold = await holdLead(listening)
  const stranger = world.chain.wallet(8)
  const strangers = []
  for (let times = 0; times < 4; times++) strangers.push(await sign(listening, merchantId))
  for (const { payer } of strangers) await moveAway(payer, stranger.address)
  await hold()
  const failed = async () => (await listening.sql.query('SELECT 1 FROM authorizations WHERE failures > 0')).rowCount
  await listening.until(async () => (await failed()) === strangers.length, 'not all failed')
  const again = await holdLead(listening)
  for (const { payer } of strangers) await mined(world.chain.mintUsdc(payer.address, AMOUNT))
  const { order } = await sign(listening, merchantId)
  aheadMs = 60_000
  await again()
  await listening.until(() => settled(listening), 'not all were paid')
  const served = await relays(listening)
  expect(served).toHaveLength(strangers.length + 1)
  expect(served[0]?.order_ids).toEqual([order.id])
})

it('each signature counts for its order, also one that takes the place of a failed one of the same payer', async () => {
  world = await startRelayWorld()
  const listening = await world.start(TAKING)
  const release = await holdLead(listening)
  const [payer, order] = [account(), await world.open(listening)]
  await mined(world.chain.mintUsdc(payer.address, AMOUNT))
  const statuses: number[] = []
  for (let times = 0n; times < 7n; times++) {
    const validBefore = BigInt(Math.floor(Date.now() / 1_000) + 1_000) + times
    statuses.push((await authorize(world, listening, order, payer, { validBefore })).status)
    await listening.sql.query("UPDATE authorizations SET state = 'failed', reason = 'not_sent'")
  }
  await release()
  expect(statuses).toEqual([202, 202, 202, 202, 202, 202, 409])
})

it('without room none loses its place, and what has waited for five minutes fails', async () => {
  world = await startRelayWorld()
  let listening = await world.start(TAKING)
  const release = await holdLead(listening)
  const { order } = await sign(listening, uuidv7())
  await listening.stop()
  await release()
  let aheadMs = 0
  listening = await world.start({ ...TAKING, GASLESS_PAUSED: 'true' }, { now: () => new Date(Date.now() + aheadMs) })
  const row = async () =>
    (await listening.sql.query('SELECT state, reason, failures FROM authorizations WHERE order_id = $1', [order.id])).rows
  const turns = async () => (await listening.sql.query('SELECT 1 FROM merchant_turns')).rowCount
  await listening.idle()
  expect([await row(), await turns()]).toEqual([[{ state: 'accepted', reason: null, failures: 0 }], 0])
  aheadMs = 301_000
  await listening.until(async () => (await row())[0]?.state === 'failed', 'it did not fail')
  expect(await row()).toMatchObject([{ reason: 'not_sent' }])
  expect(await relays(listening)).toEqual([])
})

it('a stranger whose keys take their money away uses up a quarter of a merchant: who has paid there before is served on', async () => {
  world = await startRelayWorld({ noMining: true })
  // A coin of 1,000 USDC: some 0.15 USDC for a transaction that reverts.
  const listening = await world.start({ ...TAKING, COIN_USDC: '1000', GAS_SHARE_MAX_BPS: '10000', GAS_BUDGET_MERCHANT_DAY_USDC: '2' })
  const { chain } = world
  const merchantId = uuidv7()
  const mineUntil = (done: () => Promise<boolean>, message: string) =>
    listening.until(async () => {
      await chain.mine(1)
      return done()
    }, message)

  const returning = await sign(listening, merchantId)
  await mineUntil(() => settled(listening), 'the first was not paid')

  /** Answers whether their signatures were taken: all of them fail. */
  const takeMoneyAway = async (): Promise<boolean> => {
    const before = (await relays(listening)).length
    const keys = [await sign(listening, merchantId), await sign(listening, merchantId)]
    if (keys.some(({ status }) => status !== 202)) return false
    await listening.until(async () => (await relays(listening)).length === before + keys.length, 'not all were sent')
    for (const { payer } of keys) await moveAway(payer, MERCHANT.address)
    await mineUntil(() => settled(listening), 'they did not fail')
    return true
  }
  let rounds = 0
  while (rounds < 10 && (await takeMoneyAway())) rounds++
  const reverted = (await relays(listening)).filter(({ outcome }) => outcome === 'reverted')
  const spent = reverted.reduce((sum, { cost_units }) => sum + Number(cost_units) / 1e6, 0)
  const gas = reverted.reduce((sum, { gas_used }) => sum + Number(gas_used), 0)
  process.stdout.write(`gas  keys that take their money away from one merchant: ${gas} (${reverted.length} times, then no more)\n`)
  expect([reverted.length, spent >= 0.5, spent < 1]).toEqual([2 * rounds, true, true])

  expect(await sign(listening, merchantId)).toMatchObject({ status: 409 })
  // A signature in the place of a failed one changes nothing about its cost.
  await listening.sql.query("UPDATE authorizations SET state = 'paid' WHERE reason = 'reverted'")
  expect(await sign(listening, merchantId)).toMatchObject({ status: 409 })
  await listening.sql.query("UPDATE authorizations SET state = 'failed' WHERE reason = 'reverted'")
  expect(await sign(listening, merchantId, returning.payer)).toMatchObject({ status: 202 })
  expect(await sign(listening, uuidv7())).toMatchObject({ status: 202 })
  await mineUntil(() => settled(listening), 'the others were not paid')
  expect((await listening.sql.query("SELECT 1 FROM authorizations WHERE state = 'paid'")).rowCount).toBe(3)
  const metrics = await (await listening.fetch('/metrics')).text()
  expect(metrics).toMatch(/^ponte_authorizations_refused_total\{.*reason="reverted_budget".*\} 4$/m)
})

it('however many merchants someone registers, they use up the part of new ones together: who is established is served on', async () => {
  world = await startRelayWorld()
  const budgets = { GAS_BUDGET_MERCHANT_DAY_USDC: '1', GAS_BUDGET_DAY_USDC: '2.4', GAS_NEW_MERCHANTS_BPS: '2500' }
  const listening = await world.start({ ...TAKING, COIN_USDC: '1000', GAS_SHARE_MAX_BPS: '10000', ...budgets })
  const paysHimself = async (merchantId: string) => {
    const { status } = await sign(listening, merchantId)
    await listening.until(() => settled(listening), 'it was not paid')
    return status
  }
  const established = uuidv7()
  expect(await paysHimself(established)).toBe(202)
  const { rowCount } = await listening.sql.query("UPDATE relayed_merchants SET since = since - interval '8 days'")
  expect(rowCount).toBe(1)
  const statuses: number[] = []
  while (statuses.length < 30 && !statuses.includes(409)) statuses.push(await paysHimself(uuidv7()))
  expect(statuses.at(-1)).toBe(409)
  expect(statuses).toContain(202)
  const ofNew = (await relays(listening)).filter(({ merchants }) => !merchants.includes(established))
  expect(ofNew.reduce((sum, { cost_units }) => sum + Number(cost_units), 0)).toBeLessThanOrEqual(600_000)
  const gas = ofNew.reduce((sum, { gas_used }) => sum + Number(gas_used), 0)
  process.stdout.write(`gas  merchants registered to be paid for: ${gas} (${ofNew.length} of them, then no more)\n`)
  expect(await paysHimself(established)).toBe(202)
  const metrics = await (await listening.fetch('/metrics')).text()
  expect(metrics).toMatch(/^ponte_authorizations_refused_total\{.*reason="new_merchants_budget".*\} 1$/m)
  expect(metrics).toMatch(/^ponte_relayer_signatures_new_merchants_budget_used\{.*\} 0\.[1-9]/m)
})
