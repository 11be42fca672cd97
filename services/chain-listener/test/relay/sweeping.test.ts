import { mined, testAccounts } from '@ponte/local-servers'
import { deployContractWallet, depositAddress, testUsdcAbi } from '@ponte/payment-router'
import { Contract } from 'ethers'
import type { Listening } from '../setup'
import { MERCHANT, type RelayWorld, relays, startRelayWorld } from './relayer-setup'

const AMOUNT = 10_000_000n
const SHARE = 9_900_000n
const OTHER_MERCHANT = testAccounts[3].address

let world: RelayWorld
afterEach(() => world.stop())

const eventsOf = (listening: Listening, memo: string) =>
  listening.published.facts().filter(event => 'memo' in event.data && event.data.memo === memo)
const types = (listening: Listening, memo: string) => eventsOf(listening, memo).map(({ type }) => type)
const hashes = (listening: Listening, memo: string, type: string) =>
  eventsOf(listening, memo).flatMap(event => (event.type === type && 'tx_hash' in event.data ? [event.data.tx_hash] : []))

describe('a sweep is never a payment', () => {
  it("by a stranger, before it is confirmed: the transfer keeps its own hash and sender, and nothing is swept at the platform's cost", async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start({ CONFIRMATIONS: '3' })
    const order = await world.open(listening)
    const sent = await world.pay(order.address, AMOUNT)
    await world.chain.mine(1)
    await listening.until(() => types(listening, order.memo).length === 1, 'it was not detected')
    const swept = await world.chain.sweep(world.chain.wallet(8), { memo: `0x${order.memo}`, merchant: MERCHANT.address })
    await world.mineUntil(listening, () => types(listening, order.memo).includes('sweep.confirmed'), 'the sweep was not seen')
    await listening.idle()
    expect(types(listening, order.memo)).toEqual(['payment.detected', 'payment.confirmed', 'sweep.confirmed'])
    expect(hashes(listening, order.memo, 'payment.confirmed')).toEqual([sent])
    expect(hashes(listening, order.memo, 'sweep.confirmed')).toEqual([swept.hash])
    expect(await relays(listening)).toEqual([])
  })

  it("before the order is known here: it is decided by the address alone that a stranger's sweep is none", async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    const order = await world.open(listening, {
      async alreadySent(address) {
        await world.pay(address, AMOUNT)
      },
    })
    await listening.idle()
    expect(new Set(types(listening, order.memo))).toEqual(new Set(['payment.confirmed', 'sweep.confirmed']))
    const unknown = 'ab'.repeat(32)
    await world.pay(depositAddress({ router: world.chain.routerAddress, memo: unknown, merchant: MERCHANT.address }), AMOUNT)
    await mined(world.chain.sweep(world.chain.wallet(8), { memo: `0x${unknown}`, merchant: MERCHANT.address }))
    await listening.idle()
    expect(types(listening, unknown)).toEqual(['sweep.confirmed'])
  })

  it("a stranger's sweep that a reorganisation takes away is orphaned, and the deposit is swept again", async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start({ CONFIRMATIONS: '2', DEPOSIT_MIN_UNITS: '1000000', REORG_WINDOW: '40' })
    const order = await world.open(listening)
    await world.pay(order.address, AMOUNT)
    await world.chain.sweep(world.chain.wallet(8), { memo: `0x${order.memo}`, merchant: MERCHANT.address })
    // Both in one block: to the relayer there was never anything to sweep.
    await world.chain.mine(1)
    const block = await world.chain.provider.getBlockNumber()
    await world.mineUntil(listening, () => types(listening, order.memo).includes('sweep.confirmed'), 'the sweep was not confirmed')
    expect(await relays(listening)).toEqual([])
    await world.chain.reorg((await world.chain.provider.getBlockNumber()) - block + 1)
    await world.pay(order.address, AMOUNT)
    await world.chain.mine(1)
    await listening.until(() => types(listening, order.memo).includes('sweep.orphaned'), 'it was not orphaned')
    await world.mineUntil(
      listening,
      () => types(listening, order.memo).filter(type => type === 'sweep.confirmed').length === 2,
      'not swept again',
    )
    expect(await world.received(order.memo)).toEqual([SHARE])
    expect(await relays(listening)).toHaveLength(1)
  })

  it("several orders in one block keep their payers' own hashes, whatever sweeps them", async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start()
    const sent = new Map<string, string>()
    for (let index = 0; index < 6; index++) {
      const order = await world.open(listening)
      sent.set(order.memo, await world.pay(order.address, AMOUNT))
    }
    await world.chain.mine(1)
    const isSwept = (memo: string) => types(listening, memo).includes('sweep.confirmed')
    await world.mineUntil(listening, () => [...sent.keys()].every(isSwept), 'not all were swept')
    for (const [memo, hash] of sent) expect(hashes(listening, memo, 'payment.confirmed')).toEqual([hash])
    expect(new Set(sent.values()).size).toBe(6)
    const sweeps = [...sent.keys()].flatMap(memo => hashes(listening, memo, 'sweep.confirmed'))
    expect([sweeps.length, new Set(sweeps).size]).toEqual([6, 1])
  })
})

describe('what the token does not let go', () => {
  const setBlocked = async (account: string, blocked: boolean) => {
    const usdc = new Contract(world.chain.usdcAddress, testUsdcAbi, world.chain.wallet(0))
    await mined(usdc.getFunction('setBlacklisted').send(account, blocked))
  }
  const reasons = (listening: Listening, memo: string) =>
    listening.published.events.flatMap(event =>
      event.type === 'deposit.blocked' && event.data.memo === memo ? [[event.data.reason, event.data.revision]] : [],
    )

  it('a blocked payout address holds up no one else; it is published, and swept when it is let go', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    const blocked = await world.open(listening)
    const other = await world.open(listening, { merchant: OTHER_MERCHANT })
    await listening.idle()
    await setBlocked(MERCHANT.address, true)
    await world.pay(blocked.address, AMOUNT)
    await world.pay(other.address, AMOUNT)
    await listening.until(() => reasons(listening, blocked.memo).length === 1, 'it was not published as blocked')
    await listening.until(() => types(listening, other.memo).includes('sweep.confirmed'), 'the other one was not swept')
    expect(reasons(listening, blocked.memo)).toEqual([['payout_address_blocked', 1]])
    expect(types(listening, blocked.memo)).toContain('payment.confirmed')
    // On a busy machine a figure may not be had in time, and is none then.
    const figures = async () => (await listening.fetch('/metrics')).text()
    await listening.until(async () => /^ponte_deposits_blocked\{[^}]*\} 1$/m.test(await figures()), 'it is not counted as blocked')
    await setBlocked(MERCHANT.address, false)
    await listening.sql.query('UPDATE payables SET retry_at = NULL')
    await listening.until(() => types(listening, blocked.memo).includes('sweep.confirmed'), 'it was not swept')
    expect(reasons(listening, blocked.memo)).toEqual([
      ['payout_address_blocked', 1],
      [null, 2],
    ])
  })

  it('a paused token is published as the reason, and what came before is swept when it goes on', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    const order = await world.open(listening)
    await listening.idle()
    const usdc = new Contract(world.chain.usdcAddress, testUsdcAbi, world.chain.wallet(0))
    const setPaused = (paused: boolean) => mined(usdc.getFunction('setPaused').send(paused))
    await setBlocked(MERCHANT.address, true)
    await world.pay(order.address, AMOUNT)
    await listening.until(() => reasons(listening, order.memo).length === 1, 'it was not published as blocked')
    await setPaused(true)
    await setBlocked(MERCHANT.address, false)
    await listening.sql.query('UPDATE payables SET retry_at = NULL')
    await listening.until(() => reasons(listening, order.memo).length === 2, 'the other reason was not published')
    await setPaused(false)
    await listening.sql.query('UPDATE payables SET retry_at = NULL')
    await listening.until(() => types(listening, order.memo).includes('sweep.confirmed'), 'it was not swept')
    expect(reasons(listening, order.memo)).toEqual([
      ['payout_address_blocked', 1],
      ['token_paused', 2],
      [null, 3],
    ])
  })

  it('a blocked fee receiver holds up no sweep: the merchant gets the whole', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    const order = await world.open(listening)
    await listening.idle()
    await setBlocked(world.chain.feeReceiver, true)
    await world.pay(order.address, AMOUNT)
    await listening.until(() => types(listening, order.memo).includes('sweep.confirmed'), 'it was not swept')
    expect(reasons(listening, order.memo)).toEqual([])
    const [sweep] = listening.published.blocks().flatMap(({ sweeps }) => sweeps)
    expect([sweep?.amount, sweep?.fee]).toEqual(['10.000000', '0.000000'])
  })

  it('a payout address whose contract is missing on this chain is never swept to; where it stands, it is', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    const merchant = await deployContractWallet(world.chain, OTHER_MERCHANT)
    const setCode = (code: string) => world.chain.provider.send('anvil_setCode', [merchant, code])
    const code = await world.chain.provider.getCode(merchant)
    await setCode('0x')
    const order = await world.open(listening, { merchant, merchantIsContract: true })
    const other = await world.open(listening)
    await world.pay(order.address, AMOUNT)
    await world.pay(other.address, AMOUNT)
    await listening.until(() => reasons(listening, order.memo).length === 1, 'it was not published as blocked')
    await listening.until(() => types(listening, other.memo).includes('sweep.confirmed'), 'the other one was not swept')
    await setCode(code)
    await listening.sql.query('UPDATE payables SET retry_at = NULL')
    await listening.until(() => types(listening, order.memo).includes('sweep.confirmed'), 'it was not swept')
    await listening.until(() => reasons(listening, order.memo).length === 2, 'it was not published that it can be swept')
    expect(reasons(listening, order.memo)).toEqual([
      ['payout_contract_missing', 1],
      [null, 2],
    ])
  })

  it('is tried again later each time, and costs no transaction', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    const order = await world.open(listening)
    await listening.idle()
    await setBlocked(MERCHANT.address, true)
    await world.pay(order.address, AMOUNT)
    const failures = async () =>
      (await listening.sql.query('SELECT failures, retry_at FROM payables WHERE order_id = $1', [order.id])).rows[0]
    for (let round = 1; round <= 3; round++) {
      await listening.until(async () => (await failures())?.failures === round, 'it was not tried')
      await listening.sql.query('UPDATE payables SET retry_at = NULL')
    }
    await world.chain.mine(1)
    await listening.until(async () => (await failures())?.retry_at !== null, 'it was not put off')
    await listening.idle()
    expect(reasons(listening, order.memo)).toEqual([['payout_address_blocked', 1]])
    expect(await relays(listening)).toEqual([])
  })
})
