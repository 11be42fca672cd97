import { testUsdcAbi, transferWithAuthorizationTypedData } from '@ponte/payment-router'
import { uuidv7 } from '@ponte/service-kit'
import { Contract, hexlify, id, randomBytes, Wallet } from 'ethers'
import type { Listening } from '../setup'
import { type RelayWorld, startRelayWorld } from './relayer-setup'

// Refunds that a merchant's wallet has signed are submitted by the account of payers' signatures.

const UNITS = 5_000_000n
const TRANSFER = id('Transfer(address,address,uint256)')
let world: RelayWorld
let merchant: Wallet
beforeEach(async () => {
  world = await startRelayWorld({ noMining: true })
  merchant = newWallet()
  await world.chain.mintUsdc(merchant.address, 10n * UNITS)
  await world.chain.mine(1)
})
afterEach(() => world.stop())

const newWallet = () => new Wallet(Wallet.createRandom().privateKey)
async function bar(account: string, isBarred: boolean): Promise<void> {
  const usdc = new Contract(world.chain.usdcAddress, testUsdcAbi, world.chain.wallet(0))
  await usdc.getFunction('setBlacklisted').send(account, isBarred, { gasLimit: 100_000 })
  await world.chain.mine(1)
}
async function blockOf({ payee_address }: Signed): Promise<number> {
  const topics = [TRANSFER, null, `0x${payee_address.slice(2).toLowerCase().padStart(64, '0')}`]
  const [log] = await world.chain.provider.getLogs({ address: world.chain.usdcAddress, fromBlock: 0, topics })
  return log?.blockNumber ?? 0
}

interface Signed {
  refund_id: string
  order_id: string
  payee_address: string
  nonce: string
  valid_before: number
  signature: string | null
  is_withdrawn?: boolean
}

async function signedFor(order_id: string, { lifeS = 3_000, of = {} as Partial<Signed> } = {}): Promise<Signed> {
  const terms = { payee_address: Wallet.createRandom().address, nonce: hexlify(randomBytes(32)), ...of }
  const valid_before = Math.floor(Date.now() / 1_000) + lifeS
  const { domain, types, message } = transferWithAuthorizationTypedData({
    ...{ from: merchant.address, to: terms.payee_address, value: UNITS, validBefore: BigInt(valid_before), nonce: terms.nonce },
    ...{ chainId: world.chain.chainId, usdcAddress: world.chain.usdcAddress },
  })
  const signature = await merchant.signTypedData(domain, types, message)
  return { refund_id: uuidv7(), order_id, ...terms, valid_before, signature }
}

/** As orders asks, and until the listener has taken it. */
async function watch(listening: Listening, signed: Signed): Promise<void> {
  const refund = { ...signed, from_address: merchant.address, amount: '5.000000', watch_from: 0 }
  const data = { chain_id: world.chain.chainId, refunds: [refund] }
  const event = { id: uuidv7(), type: 'refund.watch', occurred_at: new Date().toISOString(), data, trace: null }
  void world.bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })
  const isTaken = async () => (await listening.sql.query('SELECT 1 FROM inbox WHERE event_id = $1', [event.id])).rowCount === 1
  await listening.until(isTaken, 'the refund did not arrive')
}
const balanceOf = ({ payee_address }: Signed) => world.chain.balanceOf(payee_address)
const relays = async ({ sql }: Listening) =>
  (await sql.query<{ kind: string; outcome: string | null }>('SELECT kind, outcome FROM relays ORDER BY nonce')).rows
async function mineUntil(listening: Listening, done: () => Promise<boolean>, message: string): Promise<void> {
  await listening.until(async () => {
    await world.chain.mine(1)
    return done()
  }, message)
}
const until = (listening: Listening, one: Signed) =>
  mineUntil(listening, async () => (await balanceOf(one)) === UNITS, 'the money did not go back')
/** So long as it takes to look at everything a few times. */
async function quiet(listening: Listening): Promise<void> {
  for (let turn = 0; turn < 6; turn++) {
    await world.chain.mine(1)
    await listening.listener.idle()
  }
}

describe('a signed refund', () => {
  it('is submitted once, also when it is asked about again and after a restart', async () => {
    const listening = await world.start()
    const signed = await signedFor((await world.open(listening)).id)
    await watch(listening, { ...signed, signature: null })
    await quiet(listening)
    expect(await relays(listening)).toEqual([])
    await watch(listening, signed)
    await until(listening, signed)
    await watch(listening, signed)
    await quiet(listening)
    await listening.stop()
    const again = await world.start()
    await watch(again, signed)
    await quiet(again)
    expect(await relays(again)).toEqual([{ kind: 'refund', outcome: 'done' }])
    expect(await balanceOf(signed)).toBe(UNITS)
    expect(await world.chain.balanceOf(merchant.address)).toBe(9n * UNITS)
  })

  it('waits, at no cost, while the wallet holds too little or the payee is barred, and goes then', async () => {
    const listening = await world.start()
    const order = await world.open(listening)
    const barred = await signedFor(order.id)
    await bar(barred.payee_address, true)
    const funds = merchant
    merchant = newWallet()
    const poor = await signedFor(order.id)
    await watch(listening, poor)
    const poorWallet = merchant
    merchant = funds
    await watch(listening, barred)
    await quiet(listening)
    expect(await relays(listening)).toEqual([])
    await bar(barred.payee_address, false)
    await world.chain.mintUsdc(poorWallet.address, UNITS)
    await until(listening, barred)
    await until(listening, poor)
  })

  it('that ended unsubmitted is followed by another signature of the same terms', async () => {
    const listening = await world.start({ REFUNDS_PAUSED: 'true' })
    const short = await signedFor((await world.open(listening)).id, { lifeS: 100 })
    await watch(listening, short)
    await quiet(listening)
    expect(await relays(listening)).toEqual([])
    await listening.stop()
    // Too near its end to be worth the gas.
    await world.chain.setNextBlockTimestamp(short.valid_before)
    await world.chain.mine(1)
    const again = await world.start()
    await quiet(again)
    expect(await balanceOf(short)).toBe(0n)
    const longer = await signedFor(short.order_id, { of: { payee_address: short.payee_address, nonce: short.nonce } })
    await watch(again, { ...longer, refund_id: short.refund_id })
    await until(again, longer)
  })

  it('costs no more gas than the budget of its merchant', async () => {
    const listening = await world.start({ GAS_BUDGET_MERCHANT_DAY_USDC: '0' })
    const signed = await signedFor((await world.open(listening)).id)
    await watch(listening, signed)
    await quiet(listening)
    const metrics = await (await listening.fetch('/metrics')).text()
    expect(metrics).toMatch(/^ponte_relayer_transactions_total\{.*kind="refund",outcome="merchant_budget".*\} [1-9]/m)
    expect([await relays(listening), await balanceOf(signed)]).toEqual([[], 0n])
  })

  it('that a node refuses to answer about holds up no other', async () => {
    const listening = await world.start()
    const order = await world.open(listening)
    const [refused, other] = [await signedFor(order.id), await signedFor(order.id)]
    const isRefused = ({ method, params }: { method: string; params?: unknown }) =>
      method === 'eth_estimateGas' && JSON.stringify(params).includes(refused.nonce.slice(2))
    world.proxy.set({
      each: (call, answer) =>
        isRefused(call) ? { jsonrpc: answer.jsonrpc, id: answer.id, error: { code: -32_603, message: 'internal error' } } : undefined,
    })
    await watch(listening, refused)
    await quiet(listening)
    await watch(listening, other)
    await until(listening, other)
    expect(await balanceOf(refused)).toBe(0n)
    world.proxy.set({})
    await until(listening, refused)
  })

  it('that was withdrawn is forgotten, however late it is asked about, and another signature of it counts', async () => {
    const listening = await world.start()
    const funds = merchant
    merchant = newWallet()
    const signed = await signedFor((await world.open(listening)).id)
    await watch(listening, signed)
    await quiet(listening)
    await watch(listening, { ...signed, signature: null, is_withdrawn: true })
    await watch(listening, signed)
    await world.chain.mintUsdc(merchant.address, UNITS)
    await quiet(listening)
    expect([await relays(listening), await balanceOf(signed)]).toEqual([[], 0n])
    const longer = await signedFor(signed.order_id, { lifeS: 3_100, of: { payee_address: signed.payee_address, nonce: signed.nonce } })
    await watch(listening, { ...longer, refund_id: signed.refund_id })
    await until(listening, longer)
    merchant = funds
  })

  it('is stated once more where its order is asked about again: orders may have lost both, and the order alone is back', async () => {
    const listening = await world.start()
    const order = await world.open(listening)
    const signed = await signedFor(order.id)
    await watch(listening, signed)
    await until(listening, signed)
    const stated = async () =>
      (
        await listening.sql.query<{ end: string | null }>(
          "SELECT body::jsonb #>> '{data,end,kind}' AS end FROM outbox WHERE type = 'refund.observed' AND body LIKE '%' || $1 || '%' ORDER BY id",
          [signed.refund_id],
        )
      ).rows.map(({ end }) => end)
    await mineUntil(listening, async () => (await stated()).at(-1) === 'transferred', 'its end was not stated')
    // Beyond what a reorganisation may reach.
    await world.chain.mine(64)
    const isFinal = async () => (await listening.sql.query('SELECT FROM refund_watches WHERE is_final')).rowCount === 1
    await mineUntil(listening, isFinal, 'its end is not final')
    const before = (await stated()).length
    const aged = (days: number) => listening.sql.query(`UPDATE refund_watches SET asked_at = now() - interval '${days} days'`)
    const asked = async () => (await listening.sql.query<{ asked: number }>('SELECT asked FROM payables')).rows[0]?.asked
    await aged(8)
    await world.open(listening, { id: order.id })
    await listening.until(async () => (await asked()) === 2, 'its order was not asked about')
    // A history that begins anew has all orders sent again, of which none was lost.
    expect(await isFinal()).toBe(true)
    await aged(6)
    await world.open(listening, { id: order.id })
    await mineUntil(listening, async () => (await stated()).length > before, 'it was not stated once more')
    expect((await stated()).at(-1)).toBe('transferred')
  })

  it('is submitted once by two replicas', async () => {
    const listening = await world.start()
    const other = await world.start()
    const signed = await signedFor((await world.open(listening)).id)
    await watch(listening, signed)
    await until(listening, signed)
    await quiet(other)
    await quiet(listening)
    expect(await relays(listening)).toEqual([{ kind: 'refund', outcome: 'done' }])
  })

  it('that a reorganisation takes away after it was confirmed is sent again', async () => {
    const listening = await world.start({ CONFIRMATIONS: '2' })
    const signed = await signedFor((await world.open(listening)).id)
    await watch(listening, signed)
    const isDone = async () => (await relays(listening))[0]?.outcome === 'done'
    await mineUntil(listening, isDone, 'it was not mined')
    const depth = (await world.chain.provider.getBlockNumber()) - (await blockOf(signed)) + 1
    await world.chain.reorg(depth)
    expect(await balanceOf(signed)).toBe(0n)
    await until(listening, signed)
    await mineUntil(listening, isDone, 'it was not followed to its end')
    expect(await relays(listening)).toEqual([{ kind: 'refund', outcome: 'done' }])
  })
})
