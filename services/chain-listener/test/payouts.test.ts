import { NO_MEMO, type PayoutWatch } from '@ponte/contracts'
import { type LocalChain, mined } from '@ponte/local-servers'
import { paymentRouterAbi, testUsdcAbi } from '@ponte/payment-router'
import { uuidv7 } from '@ponte/service-kit'
import { Interface, ZeroAddress } from 'ethers'
import { coverageStore } from '../src/store/coverage'
import { MERCHANT, type RelayWorld, startRelayWorld } from './relay/relayer-setup'
import type { Listening } from './setup'

const [token, router] = [new Interface(testUsdcAbi), new Interface(paymentRouterAbi)]
const PAYOUT = MERCHANT.address
const OTHER = `0x${'77'.repeat(20)}`

let world: RelayWorld
afterEach(() => world.stop())

/** Asks for payout addresses, and waits until they are known. */
async function watch(listening: Listening, addresses: readonly string[], more: Partial<PayoutWatch['payouts'][number]> = {}) {
  const since = new Date().toISOString()
  const payouts = addresses.map(address => ({ address, since, watch_from: 0, ...more }))
  const data: PayoutWatch = { chain_id: world.chain.chainId, generation: null, payouts }
  const event = { id: uuidv7(), type: 'payout.watch', occurred_at: since, data, trace: null }
  void world.bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })
  const known = async () =>
    (await listening.sql.query('SELECT 1 FROM payouts WHERE address = ANY($1)', [addresses.map(one => one.toLowerCase())])).rowCount ===
    addresses.length
  await listening.until(known, 'the payout addresses did not arrive')
}

const plain = (listening: Listening) =>
  listening.published
    .payments()
    .filter(({ data }) => data.memo === NO_MEMO)
    .map(({ type, data }) => [type.replace('payment.', ''), data.merchant_address, data.amount])
const confirmed = (listening: Listening) => plain(listening).filter(([type]) => type === 'confirmed')

interface Call {
  to: string
  data: string
}
/** Machine code of a contract that makes, one after the other, all calls that it is called with (to, length, data): one transaction may hold any of them. */
function batchCode(): string {
  const loop = [
    '5f5b80361115602957', // i = 0; loop: while i < calldatasize
    '806020013580826040015f37', // memory = the data of this call, whose size stays
    '5f5f825f5f86355af115602b57', // call it, or fail
    '01604001600156', // i += 64 + size; again
  ]
  const code = `${loop.join('')}5b005b5f5ffd`
  return `0x60${(code.length / 2).toString(16).padStart(2, '0')}8060095f395ff3${code}`
}
async function deployBatch(chain: LocalChain): Promise<{ address: string; run(calls: readonly Call[]): Promise<unknown> }> {
  const wallet = chain.wallet(6)
  const receipt = await (await wallet.sendTransaction({ data: batchCode() })).wait()
  const address = receipt?.contractAddress ?? ''
  const word = (value: string) => value.replace('0x', '').padStart(64, '0')
  const run = (calls: readonly Call[]) => {
    const data = calls.map(one => word(one.to) + word(((one.data.length - 2) / 2).toString(16)) + one.data.slice(2)).join('')
    return mined(wallet.sendTransaction({ to: address, data: `0x${data}` }))
  }
  return { address, run }
}

describe('a plain transfer to a payout address', () => {
  it('is detected, confirmed at depth, taken back by a reorganisation, and read by no memo', async () => {
    world = await startRelayWorld({ noMining: true })
    const listening = await world.start({ CONFIRMATIONS: '3' })
    await listening.idle()
    await watch(listening, [PAYOUT])
    const hash = await world.pay(PAYOUT, 5_000_000n)
    await world.chain.mine(1)
    await listening.until(() => plain(listening).length === 1, 'it was not detected')
    await world.chain.reorg(1)
    await listening.until(() => plain(listening).length === 2, 'it was not taken back')
    await world.chain.mintUsdc(PAYOUT, 7n)
    await world.chain.mine(3)
    await listening.until(() => confirmed(listening).length > 0, 'it was not confirmed')
    expect(plain(listening).slice(0, 2)).toEqual([
      ['detected', PAYOUT, '5.000000'],
      ['orphaned', PAYOUT, '5.000000'],
    ])
    expect(confirmed(listening)).toEqual([['confirmed', PAYOUT, '0.000007']])
    const [first, minted] = [listening.published.payments()[0], listening.published.payments().at(-1)]
    expect(first?.data).toMatchObject({ kind: 'transfer', router_address: ZeroAddress, deposit_address: PAYOUT, tx_hash: hash })
    expect(minted?.data).toMatchObject({ payer_address: ZeroAddress })
  })

  it('is held apart from what routers move, log by log in one transaction', async () => {
    world = await startRelayWorld()
    const { chain } = world
    const listening = await world.start({ DEPOSIT_MIN_UNITS: '90000000000' })
    await watch(listening, [PAYOUT, OTHER])
    const order = await world.open(listening, { usdc: '99.000000' })
    const batch = await deployBatch(chain)
    await mined(chain.mintUsdc(batch.address, 10_000_000_000n))
    const usdc = (name: string, ...values: unknown[]) => ({ to: chain.usdcAddress, data: token.encodeFunctionData(name, values) })
    const pay = (merchant: string, amount: bigint) => ({
      to: chain.routerAddress,
      data: router.encodeFunctionData('pay', [`0x${order.memo}`, merchant, amount]),
    })
    const sweep = { to: chain.routerAddress, data: router.encodeFunctionData('sweep', [`0x${order.memo}`, PAYOUT]) }
    const share = 99_000_000n
    await batch.run([
      usdc('approve', chain.routerAddress, 10_000_000_000n),
      usdc('transfer', PAYOUT, share),
      pay(PAYOUT, 100_000_000n),
      usdc('transfer', PAYOUT, 1_000_000n),
      usdc('transfer', order.address, 100_000_000n),
      usdc('transfer', PAYOUT, share),
      sweep,
      pay(OTHER, 100_000_000n),
      usdc('transfer', OTHER, share),
      usdc('transfer', PAYOUT, 0n),
      pay(PAYOUT, 100_000_000n),
    ])
    await mined(chain.transferUsdc(chain.wallet(2), PAYOUT, 3n))
    await listening.idle()
    expect(confirmed(listening).map(([, to, amount]) => [to?.toLowerCase(), amount])).toEqual([
      [PAYOUT.toLowerCase(), '99.000000'],
      [PAYOUT.toLowerCase(), '1.000000'],
      [PAYOUT.toLowerCase(), '99.000000'],
      [OTHER, '99.000000'],
    ])
    const came = async (address: string) => BigInt(await chain.provider.call(usdc('balanceOf', address)))
    expect(await came(PAYOUT)).toBe(5n * share + 1_000_000n)
    expect(await came(OTHER)).toBe(2n * share)
    expect(await (await listening.fetch('/reconcile?from_block=0&to_block=200')).json()).toMatchObject({ differences: [] })
  })

  it('that came before the address was known is read from its block on, with what routers moved there, and from no earlier one', async () => {
    world = await startRelayWorld()
    const { chain } = world
    const listening = await world.start()
    const order = await world.open(listening)
    await world.pay(PAYOUT, 1_000_000n)
    // Beyond the margin by which every address is read further back.
    await chain.mine(300)
    const from = await chain.provider.getBlockNumber()
    await chain.mine(200)
    await world.pay(PAYOUT, 2_000_000n)
    await world.pay(order.address, 10_000_000n)
    await listening.until(() => listening.published.facts().some(({ type }) => type === 'sweep.confirmed'), 'it was not swept')
    await chain.mine(200)
    await listening.idle()
    expect(plain(listening)).toEqual([])
    await watch(listening, [PAYOUT], { watch_from: from })
    await listening.idle()
    expect(confirmed(listening)).toEqual([['confirmed', PAYOUT, '2.000000']])
    const ops = `http://127.0.0.1:${listening.listener.ops.port()}`
    const rescan = { to_block: await chain.provider.getBlockNumber() }
    const asked = await fetch(`${ops}/rescan?from_block=0&to_block=${rescan.to_block}`, { method: 'POST' })
    expect(asked.ok).toBe(true)
    await listening.idle()
    expect(confirmed(listening)).toHaveLength(1)
    expect(await (await listening.fetch(`/reconcile?from_block=0&to_block=${rescan.to_block}`)).json()).toMatchObject({ differences: [] })
  })

  it('is not read for ever where more come than to any merchant, as to the wallet of an exchange, and what is read by then stays', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    await listening.idle()
    await watch(listening, [PAYOUT, OTHER])
    for (const units of [1n, 2n, 3n]) await world.pay(PAYOUT, units)
    await world.pay(OTHER, 4n)
    await listening.idle()
    const coverage = coverageStore(listening.sql, world.chain.chainId)
    const bounds = (max: number) => ({ blocks: 20, max, worthUnits: 1n })
    // A node may invent what a reorganisation takes away.
    const states = (state: string) =>
      listening.sql.query(`UPDATE payments SET state = '${state}' WHERE deposit = $1`, [PAYOUT.toLowerCase()])
    await states('orphaned')
    expect(await coverage.endBusyPayouts(bounds(2))).toEqual([])
    await states('confirmed')
    expect(await coverage.endBusyPayouts(bounds(3))).toEqual([])
    expect(await coverage.endedPayouts()).toBe(0)
    expect(await coverage.endBusyPayouts(bounds(2))).toEqual([PAYOUT.toLowerCase()])
    expect(await coverage.endBusyPayouts(bounds(2))).toEqual([])
    expect(await coverage.endedPayouts()).toBe(1)
    await world.pay(PAYOUT, 5n)
    await world.chain.mine(30)
    for (const address of [PAYOUT, OTHER]) await world.pay(address, 6n)
    await listening.idle()
    expect(confirmed(listening).map(([, , amount]) => amount)).toEqual([
      '0.000001',
      '0.000002',
      '0.000003',
      '0.000004',
      '0.000005',
      '0.000006',
    ])
    expect(await (await listening.fetch('/reconcile?from_block=0&to_block=200')).json()).toMatchObject({ differences: [] })
  })

  it('of less than a USDC ends no watching, however many come; they are counted to the unit, and named', async () => {
    world = await startRelayWorld()
    const { chain } = world
    const listening = await world.start()
    await watch(listening, [PAYOUT])
    const batch = await deployBatch(chain)
    await mined(chain.mintUsdc(batch.address, 3_000_000_000n))
    const usdc = (amount: bigint) => ({ to: chain.usdcAddress, data: token.encodeFunctionData('transfer', [PAYOUT, amount]) })
    const flood = Array.from({ length: 60 }, (_, index) => usdc(BigInt(index % 3)))
    for (let block = 0; block < 5; block++) await batch.run(flood)
    await batch.run([usdc(999_999n), usdc(1_000_000n), usdc(2_000_000n)])
    const booked = async () =>
      (
        await listening.sql.query<{ units: string; count: number }>(
          'SELECT sum(amount)::text AS units, count(*)::int AS count FROM payments WHERE memo = $1',
          [NO_MEMO],
        )
      ).rows[0]
    await listening.until(async () => (await booked())?.units === String(5n * 60n + 3_999_999n), 'the flood is not read')
    const coverage = coverageStore(listening.sql, chain.chainId)
    const bounds = (max: number) => ({ blocks: 100, max, worthUnits: 1_000_000n })
    expect(await coverage.endBusyPayouts(bounds(2))).toEqual([])
    // Transfers of nothing are no rows.
    expect(await coverage.floodedPayouts(bounds(201))).toEqual([])
    expect(await coverage.floodedPayouts(bounds(200))).toEqual([PAYOUT.toLowerCase()])
    expect((await booked())?.count).toBe(203)
    expect(await coverage.endBusyPayouts(bounds(1))).toEqual([PAYOUT.toLowerCase()])
    expect(await (await listening.fetch('/reconcile?from_block=0&to_block=200')).json()).toMatchObject({ differences: [] })
  })

  it('is watched in blocks that orders is notified of: when it is asked for, and when that changes', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    await watch(listening, [PAYOUT])
    type Stated = { payouts: { address: string; revision: number; watch_from: number; watch_until: number | null }[] }
    const stated = async () =>
      (
        await listening.sql.query<{ data: Stated }>(
          "SELECT body::jsonb->'data' AS data FROM outbox WHERE type = 'payout.watched' ORDER BY id",
        )
      ).rows.flatMap(({ data }) => data.payouts)
    await listening.until(async () => (await stated()).length === 1, 'orders is not notified')
    expect(await stated()).toEqual([{ address: PAYOUT, revision: 1, watch_from: 0, watch_until: null }])
    await listening.sql.query('UPDATE payouts SET watch_until = 900')
    // A database of orders that went back asks once more.
    await watch(listening, [PAYOUT])
    await listening.until(async () => (await stated()).length === 2, 'orders is not notified of the end')
    expect((await stated())[1]).toEqual({ address: PAYOUT, revision: 2, watch_from: 0, watch_until: 900 })
    await watch(listening, [PAYOUT])
    await listening.until(async () => (await stated()).length === 3, 'orders is not answered')
    expect((await stated())[2]).toMatchObject({ revision: 3, watch_until: 900 })
  })

  it('is read anew by a listener whose coverage the release before took away', async () => {
    world = await startRelayWorld()
    let listening = await world.start()
    await listening.idle()
    await watch(listening, [PAYOUT])
    await listening.idle()
    await listening.stop()
    await listening.sql.query('DELETE FROM coverage WHERE subject = $1', [PAYOUT.toLowerCase()])
    await world.pay(PAYOUT, 4_000_000n)
    listening = await world.start()
    await listening.idle()
    expect(confirmed(listening)).toEqual([['confirmed', PAYOUT, '4.000000']])
  })
})
