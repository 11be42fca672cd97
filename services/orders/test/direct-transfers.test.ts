import { type EntryBody, NO_MEMO, type PayoutWatch, type SummaryFigures } from '@ponte/contracts'
import { until, uuidv7 } from '@ponte/service-kit'
import { getAddress } from 'ethers'
import request from 'supertest'
import { message, type Paid } from './listener'
import { chain, create, paidTo, runOrders, system } from './run-orders'
import { asMerchant } from './setup'

runOrders({ RECONCILE_EVERY_S: '1' })

const ZERO = `0x${'0'.repeat(40)}`
const HOUR_MS = 3_600_000
const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS)
const addressOf = (pair: string) => getAddress(`0x${pair.repeat(20)}`)
const today = new Date().toISOString().slice(0, 10)

const entriesOf = async (merchant: string): Promise<EntryBody[]> =>
  (await request(system.url).get('/api/v1/entries').query({ limit: 100 }).set(asMerchant(merchant))).body.data
const short = ({ kind, amount, from_account, to_account, reverses }: EntryBody) => [kind, amount, from_account, to_account, reverses]
const totalOf = async (merchant: string): Promise<SummaryFigures> =>
  (await request(system.url).get('/api/v1/summary').query({ from: today, to: today, timezone: 'UTC' }).set(asMerchant(merchant))).body.total
const attentionOf = async (merchant: string, query: object = {}) =>
  (await request(system.url).get('/api/v1/attention').query(query).set(asMerchant(merchant, null))).body
/** As the listener reports a plain transfer to a payout address. */
const direct = async (payout: string, gross: bigint, change: Partial<Paid> = {}): Promise<Paid> =>
  chain.payment(await create(uuidv7()), {
    ...{ kind: 'transfer', memo: NO_MEMO, router_address: ZERO, merchant_address: payout, deposit_address: payout, gross },
    ...change,
  })
const outboxCount = async (type: string) => (await system.sql.query('SELECT FROM outbox WHERE type = $1', [type])).rowCount

describe('a plain transfer to the payout address', () => {
  it('stands in the ledger once it is confirmed, as money that came and reached the merchant, and goes with its block', async () => {
    const merchant = uuidv7()
    const payout = addressOf('a1')
    await paidTo(merchant, payout, 1, ago(2))
    const paid = await direct(payout, 5_000_000n, { block_number: 21, payer_address: addressOf('cc') })
    await chain.report('detected', paid)
    expect(await entriesOf(merchant)).toEqual([])
    await chain.report('confirmed', paid)
    await chain.report('confirmed', paid)
    expect(await entriesOf(merchant)).toMatchObject([
      {
        ...{ sequence: 1, kind: 'direct', amount: '5.000000', brl_amount: null, from_account: 'payer', to_account: 'payout' },
        ...{ order_id: null, reason: null, tx_hash: paid.tx_hash, payer_address: addressOf('cc'), address: payout },
      },
    ])
    expect(await totalOf(merchant)).toEqual({
      ...{ payments: 0, brl_amount: '0.00', gross: '5.000000', platform_fee: '0.000000', settled: '5.000000', waiting: '0.000000' },
      ...{ unmatched: '0.000000', returned: '0.000000', given_away: '0.000000' },
    })
    await chain.report('orphaned', paid)
    expect((await entriesOf(merchant)).map(short)).toEqual([
      ['direct', '5.000000', 'payer', 'payout', null],
      ['direct', '-5.000000', 'payer', 'payout', 1],
    ])
    await chain.report('confirmed', paid, { block_number: 22 })
    expect((await totalOf(merchant)).settled).toBe('5.000000')
  })

  it('that was only detected and is not among what is confirmed was none', async () => {
    const merchant = uuidv7()
    const payout = addressOf('a2')
    await paidTo(merchant, payout, 1, ago(2))
    const paid = await direct(payout, 5_000_000n, { block_number: 1_000_003 })
    await chain.report('detected', paid)
    await chain.advances(new Date())
    const { rows } = await system.sql.query('SELECT status FROM unmatched_payments WHERE id = $1', [chain.idOf(paid)])
    expect(rows).toEqual([{ status: 'orphaned' }])
    expect(await entriesOf(merchant)).toEqual([])
  })

  it('asks for nothing: no attention, no event, nothing to return, nothing to count for an order, no word of an operator', async () => {
    const merchant = uuidv7()
    const payout = addressOf('a3')
    await paidTo(merchant, payout, 1, ago(2))
    const before = await outboxCount('order.payment_unmatched')
    const paid = await direct(payout, 5_000_000_000n)
    await chain.report('confirmed', paid)
    const stray = chain.payment(await create(uuidv7()), { memo: 'b3'.repeat(32), merchant_address: payout, gross: 1_000_000n })
    await chain.report('confirmed', stray)
    expect((await attentionOf(merchant)).data).toMatchObject([{ payment: { tx_hash: stray.tx_hash } }])
    expect((await attentionOf(merchant, { text: paid.tx_hash })).data).toEqual([])
    expect(await outboxCount('order.payment_unmatched')).toBe((before ?? 0) + 1)
    const { body } = await request(system.url)
      .get('/api/v1/summary')
      .query({ from: today, to: today, timezone: 'UTC' })
      .set(asMerchant(merchant))
    expect(body.to_return).toBe('1.000000')
    const listed = (await request(system.ops).get('/unmatched')).text
    expect([listed.includes(paid.tx_hash), listed.includes(stray.tx_hash)]).toEqual([false, true])
  })

  it('is the merchant’s whose payout address it was at its block’s time, and of both who shared it', async () => {
    const [first, second] = [uuidv7(), uuidv7()]
    const [shared, next] = [addressOf('a4'), addressOf('a5')]
    await paidTo(first, shared, 1, ago(9))
    await paidTo(second, shared, 1, ago(6))
    await paidTo(first, next, 2, ago(3))
    const at = (hours: number) => ago(hours).toISOString()
    for (const [hours, gross] of [
      [10, 1n],
      [8, 2n],
      [5, 4n],
      [2, 8n],
    ] as const)
      await chain.report('confirmed', await direct(shared, gross * 1_000_000n, { block_time: at(hours) }))
    await chain.report('confirmed', await direct(next, 16_000_000n, { block_time: at(2) }))
    const amounts = async (merchant: string) => (await entriesOf(merchant)).map(({ amount }) => amount)
    expect(await amounts(first)).toEqual(['2.000000', '4.000000', '16.000000'])
    expect(await amounts(second)).toEqual(['4.000000', '8.000000'])
  })

  it('is theirs in the whole second in which the address was named or given up, for the time of a block has no parts of one', async () => {
    const merchant = uuidv7()
    const [former, next] = [addressOf('a7'), addressOf('a8')]
    const second = Math.floor(ago(1).getTime() / 1_000) * 1_000
    await paidTo(merchant, former, 1, ago(2))
    await paidTo(merchant, next, 2, new Date(second + 700))
    const block_time = new Date(second).toISOString()
    await chain.report('confirmed', await direct(former, 1_000_000n, { block_time }))
    await chain.report('confirmed', await direct(next, 2_000_000n, { block_time }))
    const stray = chain.payment(await create(uuidv7()), { memo: 'b7'.repeat(32), merchant_address: next, gross: 4_000_000n, block_time })
    await chain.report('confirmed', stray)
    expect((await entriesOf(merchant)).map(({ kind, amount }) => [kind, amount])).toEqual([
      ['direct', '1.000000'],
      ['direct', '2.000000'],
      ['unmatched', '4.000000'],
      ['fee', '0.040000'],
      ['settled', '3.960000'],
    ])
    expect((await attentionOf(merchant)).data).toMatchObject([{ payment: { tx_hash: stray.tx_hash } }])
  })

  it('moves with what is known late of the address, and keeps what is beside it in the transaction apart', async () => {
    const merchant = uuidv7()
    const payout = addressOf('a6')
    const tx_hash = `0x${'6a'.repeat(32)}`
    await chain.report('confirmed', await direct(payout, 3_000_000n, { tx_hash, log_index: 0 }))
    const routed = { tx_hash, log_index: 3, memo: 'b6'.repeat(32), merchant_address: payout, gross: 100_000_000n }
    await chain.report('confirmed', chain.payment(await create(uuidv7()), routed))
    await chain.report('confirmed', await direct(payout, 99_000_000n, { tx_hash, log_index: 4 }))
    expect(await entriesOf(merchant)).toEqual([])
    await paidTo(merchant, payout, 1, ago(2))
    expect((await entriesOf(merchant)).map(({ kind, amount, log_index }) => [kind, amount, log_index])).toEqual([
      ['direct', '3.000000', 0],
      ['unmatched', '100.000000', 3],
      ['fee', '1.000000', 3],
      ['settled', '99.000000', 3],
      ['direct', '99.000000', 4],
    ])
    await paidTo(merchant, null, 2, ago(1))
    expect((await totalOf(merchant)).settled).toBe('0.000000')
  })

  it('is held against the books of the listener and booked where the ledger lacks it', async () => {
    const merchant = uuidv7()
    const payout = addressOf('a7')
    await paidTo(merchant, payout, 1, ago(2))
    await system.sql.query('ALTER TABLE unmatched_payments DISABLE TRIGGER USER')
    await chain.report('confirmed', await direct(payout, 4_000_000n))
    await system.sql.query('ALTER TABLE unmatched_payments ENABLE TRIGGER USER')
    await until(async () => (await entriesOf(merchant)).length === 1, 'the ledger still lacks it')
  })
})

describe('the watch of payout addresses', () => {
  it('that ends is shown with its block to the merchants who are or were paid there, by the newest statement alone', async () => {
    const [merchant, other] = [uuidv7(), uuidv7()]
    const [busy, quiet] = [addressOf('b8'), addressOf('b9')]
    await paidTo(merchant, busy, 1, ago(2))
    await paidTo(merchant, quiet, 2, ago(1))
    await paidTo(other, quiet, 1, ago(1))
    const generation = uuidv7()
    const stated = (revision: number, watch_until: number | null, of = generation) => {
      const payouts = [busy, quiet].map(address => ({
        address,
        revision,
        watch_from: 5,
        watch_until: address === busy ? watch_until : null,
      }))
      return message('payout.watched', { chain_id: 31337, generation: of, payouts })
    }
    const uncounted = async (of: string) =>
      (await request(system.url).get('/api/v1/summary').query({ from: today, to: today, timezone: 'UTC' }).set(asMerchant(of))).body
        .uncounted
    const state = async () =>
      (
        await system.sql.query<{ state: string }>(
          "SELECT concat_ws('/', revision, watch_from, coalesce(watch_until::text, 'ever')) AS state FROM payout_spans WHERE address = $1",
          [busy.toLowerCase()],
        )
      ).rows[0]?.state
    const ended = stated(2, 900)
    for (const each of [ended, ended, stated(1, null)]) await system.bus.publish(each)
    await system.orders.idle()
    await until(async () => (await state()) === '2/5/900', 'the end is not known')
    expect(await uncounted(merchant)).toEqual([{ chain_id: 31337, address: busy, from_block: 900 }])
    expect(await uncounted(other)).toEqual([])
    // Of a later history, in which an operator has it watched again.
    await system.bus.publish(stated(1, null, uuidv7()))
    await until(async () => (await state()) === '1/5/ever', 'it is not watched again')
    expect(await uncounted(merchant)).toEqual([])
  })

  const asked = async (): Promise<PayoutWatch[]> =>
    (
      await system.sql.query<{ data: PayoutWatch }>(
        "SELECT body::jsonb->'data' AS data FROM outbox WHERE type = 'payout.watch' ORDER BY id",
      )
    ).rows.map(({ data }) => data)
  const askedFor = async (address: string) =>
    (await asked()).flatMap(({ generation, payouts }) =>
      payouts.filter(one => one.address === address).map(one => ({ ...one, generation })),
    )

  it('is asked for once in each generation of the listener, for addresses of the past too, from the first time on', async () => {
    const [first, second] = [uuidv7(), uuidv7()]
    const [old, now] = [addressOf('e1'), addressOf('e2')]
    const since = ago(30)
    await paidTo(first, old, 1, since)
    await paidTo(second, old, 1, ago(20))
    await paidTo(first, now, 2, ago(10))
    await until(async () => (await askedFor(now)).length > 0, 'it is not asked for', 10_000)
    await system.orders.idle()
    expect(await askedFor(old)).toContainEqual({
      address: old,
      since: since.toISOString(),
      watch_from: null,
      generation: chain.generation(),
    })
    await system.sql.query('UPDATE payout_spans SET asked_from = 77 WHERE address = lower($1)', [old])
    chain.beginAnew()
    await chain.advances(new Date())
    const anew = async () => (await askedFor(old)).filter(({ generation }) => generation === chain.generation())
    await until(async () => (await anew()).length > 0, 'it is not asked for anew', 10_000)
    await system.orders.idle()
    expect(await anew()).toEqual([{ address: old, since: since.toISOString(), watch_from: 77, generation: chain.generation() }])
    expect((await askedFor(now)).filter(({ generation }) => generation === chain.generation())).toHaveLength(1)
  })

  it('is of none where a transfer pays an order, or where no one can be paid', async () => {
    const { payment } = await create(uuidv7())
    const none = [payment.deposit_address ?? '', payment.router_address, payment.token_address, ZERO]
    for (const address of none) await paidTo(uuidv7(), address, 1, ago(1))
    const last = addressOf('e3')
    await paidTo(uuidv7(), last, 1, ago(1))
    await until(async () => (await askedFor(last)).length > 0, 'it is not asked for', 10_000)
    for (const address of none) expect(await askedFor(address)).toEqual([])
    const { rowCount } = await system.sql.query('SELECT FROM payout_spans WHERE asked_generation IS NULL')
    expect(rowCount).toBe(0)
  })
})
