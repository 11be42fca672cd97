import { mined } from '@ponte/local-servers'
import { deployContracts, deployHostileWallet, hostileCode, paymentRouterAbi, testUsdcAbi } from '@ponte/payment-router'
import { uuidv7 } from '@ponte/service-kit'
import { Contract, parseEther, ZeroAddress } from 'ethers'
import type { Listening } from '../setup'
import { MERCHANT, type RelayWorld, startRelayWorld } from './relayer-setup'

// Foreign tokens that merchants recover are sent on by the account of sweeps.

type Order = Awaited<ReturnType<RelayWorld['open']>>
const UNITS = 5_000_000n
let world: RelayWorld
let foreign: Contract
beforeEach(async () => {
  world = await startRelayWorld()
  const stranger = world.chain.wallet(7)
  const other = await deployContracts(stranger, { feeBps: 100, feeReceiver: stranger.address })
  foreign = new Contract(other.usdcAddress, testUsdcAbi, stranger)
})
afterEach(() => world.stop())

const foreignAddress = () => String(foreign.target)
const held = (account = MERCHANT.address): Promise<bigint> => foreign.getFunction('balanceOf').staticCall(account)
const give = ({ address }: Order) => mined(foreign.getFunction('mint').send(address, UNITS))
/** As orders asks, and until the listener has taken it. */
async function watch(listening: Listening, { id, memo }: Order, token = foreignAddress(), change: object = {}) {
  const recovery = {
    ...{ recovery_id: uuidv7(), order_id: id, token_address: token, memo, router_address: world.chain.routerAddress },
    ...{ merchant_address: MERCHANT.address, watch_from: await world.chain.provider.getBlockNumber(), ...change },
  }
  const data = { chain_id: world.chain.chainId, recoveries: [recovery] }
  const event = { id: uuidv7(), type: 'recovery.watch', occurred_at: new Date().toISOString(), data, trace: null }
  void world.bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })
  const isTaken = async () => (await listening.sql.query('SELECT 1 FROM inbox WHERE event_id = $1', [event.id])).rowCount === 1
  await listening.until(isTaken, 'the recovery did not arrive')
  return recovery
}
const statements = ({ published }: Listening, { recovery_id }: { recovery_id: string }) =>
  published.events.flatMap(({ type, data }) => (type === 'recovery.observed' && data.recovery_id === recovery_id ? [data] : []))
const last = (listening: Listening, of: { recovery_id: string }) => statements(listening, of).at(-1)
const relays = async ({ sql }: Listening) =>
  (await sql.query<{ kind: string; outcome: string | null; gas_used: string }>('SELECT kind, outcome, gas_used FROM relays ORDER BY nonce'))
    .rows
/** Mines, and lets nothing that is tried again wait for its time. */
async function mineUntil(listening: Listening, done: () => unknown, message: string): Promise<void> {
  await listening.until(async () => {
    await listening.sql.query('UPDATE recoveries SET retry_at = now() WHERE retry_at > now()')
    await world.chain.mine(1)
    return Boolean(await done())
  }, message)
}
const untilConfirmed = (listening: Listening, of: { recovery_id: string }) =>
  mineUntil(listening, () => last(listening, of)?.end, 'it was not recovered')
const untilFailed = (listening: Listening, of: { recovery_id: string }) =>
  mineUntil(listening, () => last(listening, of)?.failure_code, 'it did not fail')
async function quiet(listening: Listening): Promise<void> {
  for (let turn = 0; turn < 4; turn++) {
    await world.chain.mine(1)
    await listening.listener.idle()
  }
}

describe('a recovery', () => {
  it('sends a token on once, also when it is asked for again and after a restart, and is asked for anew when more comes', async () => {
    const listening = await world.start()
    const order = await world.open(listening)
    await give(order)
    const of = await watch(listening, order)
    await watch(listening, order, foreignAddress(), of)
    await untilConfirmed(listening, of)
    expect(last(listening, of)).toMatchObject({ token_address: foreignAddress(), end: { units: String(UNITS) }, failure_code: null })
    expect(await held()).toBe(UNITS)
    await listening.stop()
    const again = await world.start()
    await watch(again, order, foreignAddress(), of)
    await quiet(again)
    expect(await relays(again)).toMatchObject([{ kind: 'recovery', outcome: 'done' }])
    await give(order)
    const more = await watch(again, order, foreignAddress(), { watch_from: (last(again, of)?.end?.block_number ?? 0) + 1 })
    // The first, delivered late, is over.
    await watch(again, order, foreignAddress(), of)
    await untilConfirmed(again, more)
    expect(await held()).toBe(2n * UNITS)
    expect(await relays(again)).toHaveLength(2)
  })

  it('sends the coin of the network on, from two replicas once', async () => {
    const listening = await world.start()
    const other = await world.start()
    const order = await world.open(listening)
    await mined(world.chain.wallet(7).sendTransaction({ to: order.address, value: parseEther('1') }))
    const before = await world.chain.provider.getBalance(MERCHANT.address)
    const of = await watch(listening, order, ZeroAddress)
    await untilConfirmed(listening, of)
    await quiet(other)
    await quiet(listening)
    expect((await world.chain.provider.getBalance(MERCHANT.address)) - before).toBe(parseEther('1'))
    expect(await relays(listening)).toMatchObject([{ kind: 'recovery', outcome: 'done' }])
  })

  it('of nothing fails at no cost, and what a stranger recovered is done', async () => {
    const listening = await world.start()
    const [empty, full] = [await world.open(listening), await world.open(listening)]
    await give(full)
    const nothing = await watch(listening, empty)
    await untilFailed(listening, nothing)
    expect(last(listening, nothing)).toMatchObject({ end: null, failure_code: 'nothing_left' })
    await listening.stop()
    const paused = await world.start({ RECOVERIES_PAUSED: 'true' })
    const of = await watch(paused, full)
    const router = new Contract(world.chain.routerAddress, paymentRouterAbi, world.chain.wallet(7))
    const { hash } = await mined(router.getFunction('recover').send(`0x${full.memo}`, MERCHANT.address, foreignAddress()))
    // It is looked at when orders asks, for nothing was submitted.
    await quiet(paused)
    await watch(paused, full, foreignAddress(), of)
    await untilConfirmed(paused, of)
    expect([last(paused, of)?.end?.tx_hash, await relays(paused)]).toEqual([hash, []])
  })

  it('that a reorganisation takes away is pending again, and is sent again', async () => {
    const listening = await world.start({ CONFIRMATIONS: '2' })
    const order = await world.open(listening)
    await give(order)
    await world.chain.mine(8)
    const of = await watch(listening, order)
    await untilConfirmed(listening, of)
    const depth = (await world.chain.provider.getBlockNumber()) - (last(listening, of)?.end?.block_number ?? 0) + 1
    await world.chain.reorg(depth)
    expect(await held()).toBe(0n)
    await mineUntil(listening, async () => (await held()) === UNITS, 'it was not sent again')
    await untilConfirmed(listening, of)
    expect(statements(listening, of).map(({ end }) => end !== null)).toEqual(expect.arrayContaining([true]))
    // The relayer learns of its own transaction by itself.
    await mineUntil(listening, async () => (await relays(listening)).every(({ outcome }) => outcome === 'done'), 'its relay has no end')
    expect(await relays(listening)).toMatchObject([{ kind: 'recovery' }])
  })

  it('waits for the budget of its merchant', async () => {
    const listening = await world.start({ GAS_BUDGET_MERCHANT_DAY_USDC: '0' })
    const order = await world.open(listening)
    await give(order)
    const of = await watch(listening, order)
    await quiet(listening)
    const metrics = await (await listening.fetch('/metrics')).text()
    expect(metrics).toMatch(/^ponte_relayer_transactions_total\{.*kind="recovery",outcome="merchant_budget".*\} [1-9]/m)
    expect([await relays(listening), await held()]).toEqual([[], 0n])
    await listening.sql.query("UPDATE recoveries SET requested_at = now() - interval '2 days'")
    await untilFailed(listening, of)
    expect(last(listening, of)).toMatchObject({ failure_code: 'over_budget' })
  })
})

// A token's code is a stranger's. Machine code stands for one that says that it holds something, and does this when it is to be moved.
describe('a hostile token', () => {
  const ONE = '60015f5260205ff3'
  const code = {
    burnsAllGas: '5b5f56',
    reverts: '5f5ffd',
    // It holds a word, and no transfer of it is true.
    answersNo: hostileCode.burner(1_000),
    wantsTooMuch: hostileCode.burner(400_000).replace(/63.*$/, ONE),
  }
  it.each(Object.entries(code))('that %s costs nothing', async (_, machine) => {
    const listening = await world.start()
    const order = await world.open(listening)
    const token = await deployHostileWallet(world.chain, machine)
    const of = await watch(listening, order, token)
    await untilFailed(listening, of)
    expect(last(listening, of)).toMatchObject({ end: null, failure_code: 'refused' })
    expect(await relays(listening)).toEqual([])
  })

  it('that keeps its word in rehearsals alone costs its cap twice at most, and keeps no sweep waiting', async () => {
    const listening = await world.start()
    const order = await world.open(listening)
    const yes = '631626ba7e60e01b5f5260205ff3'
    const token = await deployHostileWallet(world.chain, hostileCode.switchable(200_000).replace(yes, ONE.padEnd(yes.length, '0')))
    await world.chain.provider.send('evm_setAutomine', [false])
    const of = await watch(listening, order, token)
    const isSent = async () => (await relays(listening)).length === 1
    await listening.until(isSent, 'it was not submitted')
    // Into the same block, before ours.
    await world.chain
      .wallet(7)
      .sendTransaction({ to: token, gasLimit: 100_000, maxPriorityFeePerGas: 10n ** 11n, maxFeePerGas: 10n ** 12n })
    await untilFailed(listening, of)
    const spent = await relays(listening)
    expect(spent).toMatchObject([{ kind: 'recovery', outcome: 'reverted' }])
    expect(Number(spent[0]?.gas_used)).toBeLessThanOrEqual(300_000)
    await world.pay(order.address, UNITS)
    await mineUntil(listening, async () => (await world.received(order.memo)).length > 0, 'it was not swept')
  })

  it('cannot name another order, a sweep or a recovery as its own', async () => {
    const listening = await world.start()
    const [order, other] = [await world.open(listening), await world.open(listening)]
    await give(order)
    const of = await watch(listening, other)
    const mine = await watch(listening, order)
    await untilConfirmed(listening, mine)
    expect(last(listening, of)?.end ?? null).toBeNull()
  })
})
