import type { AttentionItemBody, EntryBody, OrderBody, SummaryBody } from '@ponte/contracts'
import { type Database, uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { ledgerStore } from '../src/store/ledger'
import { charge, message } from './listener'
import { chain, create, paidTo, runOrders, system } from './run-orders'
import { asMerchant, PAYOUT } from './setup'

runOrders()

const OTHER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const entriesOf = async (merchant: string, query: object = {}): Promise<EntryBody[]> => {
  const { status, body } = await request(system.url)
    .get('/api/v1/entries')
    .query({ limit: 100, ...query })
    .set(asMerchant(merchant))
  expect(status).toBe(200)
  return body.data
}
const summaryOf = async (merchant: string, query: object): Promise<SummaryBody> => {
  const { status, body } = await request(system.url).get('/api/v1/summary').query(query).set(asMerchant(merchant))
  expect(status).toBe(200)
  return body
}
const short = ({ sequence, kind, amount, brl_amount, reverses }: EntryBody) => [sequence, kind, amount, brl_amount, reverses]

/** Whether another booking waits for this one. */
const isAwaited = async (booking: Pick<Database, 'query'>): Promise<boolean> => {
  const { rows } = await booking.query(
    "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 7210418 AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
  )
  return rows.length > 0
}
/** The second begins while the first has booked and has not committed yet. */
async function atOnce(first: (booking: Pick<Database, 'query'>) => Promise<unknown>, second: () => Promise<unknown>): Promise<void> {
  let later: Promise<unknown> = Promise.resolve()
  await system.sql.transaction(async booking => {
    await first(booking)
    later = second()
    while (!(await isAwaited(booking)));
  })
  await later
  await system.orders.idle()
}

test('a router payment is what came, the fee and what settled; its reversal takes back all three, and what stands again is booked again', async () => {
  const merchant = uuidv7()
  const order = await create(merchant)
  const paid = chain.payment(order)
  await chain.report('detected', paid)
  expect(await entriesOf(merchant)).toEqual([])
  await chain.report('confirmed', paid)
  expect((await entriesOf(merchant)).map(short)).toEqual([
    [1, 'payment', '100.000000', '542.00', null],
    [2, 'fee', '1.000000', '5.42', null],
    [3, 'settled', '99.000000', '536.58', null],
  ])
  await chain.report('orphaned', paid)
  expect((await entriesOf(merchant, { after: 3 })).map(short)).toEqual([
    [4, 'payment', '-100.000000', '-542.00', 1],
    [5, 'fee', '-1.000000', '-5.42', 2],
    [6, 'settled', '-99.000000', '-536.58', 3],
  ])
  await chain.report('confirmed', paid, { block_number: 13 })
  await chain.report('confirmed', paid, { block_number: 13 })
  expect((await entriesOf(merchant, { after: 6 })).map(({ sequence, block_number }) => [sequence, block_number])).toEqual([
    [7, 13],
    [8, 13],
    [9, 13],
  ])
  const day = paid.block_time.slice(0, 10)
  expect((await summaryOf(merchant, { from: day, to: day, timezone: 'UTC' })).total).toEqual({
    payments: 1,
    brl_amount: '542.00',
    gross: '100.000000',
    platform_fee: '1.000000',
    settled: '99.000000',
    waiting: '0.000000',
    unmatched: '0.000000',
    returned: '0.000000',
    given_away: '0.000000',
  })
})

test('a sweep whose fee the token refused settles the whole; one of an earlier release takes what the router takes', async () => {
  const merchant = uuidv7()
  for (const change of [{ fee: '0.000000' }, {}]) {
    const order = await create(merchant)
    await chain.report('confirmed', chain.payment(order, { kind: 'transfer', deposit_address: order.payment.deposit_address }))
    await chain.sweeps('confirmed', order, 100_000_000n, change)
  }
  expect((await entriesOf(merchant)).map(({ kind, amount }) => [kind, amount])).toEqual([
    ['payment', '100.000000'],
    ['settled', '100.000000'],
    ['payment', '100.000000'],
    ['fee', '1.000000'],
    ['settled', '99.000000'],
  ])
})

test('the fee of an order is what the router took, in the file of orders and beside what needs attention', async () => {
  const merchant = uuidv7()
  const order = await create(merchant)
  for (const gross of [33_333_333n, 66_666_667n, 50_000_050n]) await chain.report('confirmed', chain.payment(order, { gross }))
  const rest = chain.transfer(order, { gross: 50_000_050n, deposit_address: `0x${'ef'.repeat(20)}` })
  await chain.report('confirmed', rest)
  const taken = (await entriesOf(merchant, { kind: 'fee' })).map(({ amount }) => amount)
  expect(taken).toEqual(['0.333333', '0.666666', '0.500000'])
  const { text } = await request(system.url).get('/api/v1/orders.csv').set(asMerchant(merchant))
  const [head = '', row = ''] = text.trim().split('\r\n')
  const cell = (name: string) => row.split(',')[head.replace('\ufeff', '').split(',').indexOf(name)]
  // What lies at the deposit address is moved by one sweep.
  expect(['gross', 'platform_fee', 'share'].map(cell)).toEqual(['200.000100', '1.999999', '198.000101'])
  const { body } = await request(system.url).get('/api/v1/attention').set(asMerchant(merchant, null))
  expect(body.data).toMatchObject([{ gross: '200.000100', platform_fee: '1.999999' }])
})

test('a row per payment comes to what the ledger has of payments, in USDC and in reais, and both kinds of rows have the metadata', async () => {
  const merchant = uuidv7()
  const body = { brl_amount: '542.00', metadata: { customer: '=1+1', note: 'a;=1' } }
  const order: OrderBody = (await request(system.url).post('/api/v1/orders').set(asMerchant(merchant)).send(body)).body
  const parts = [33_333_333n, 66_666_667n].map((gross, index) => chain.payment(order, { gross, block_number: 10 + index }))
  for (const part of parts) await chain.report('confirmed', part)
  const gone = chain.payment(order, { gross: 1_000_000n })
  await chain.report('confirmed', gone)
  await chain.report('orphaned', gone)
  const cells = async (rows: string) => {
    const { text } = await request(system.url).get(`/api/v1/orders.csv?rows=${rows}`).set(asMerchant(merchant))
    return text.replace('\ufeff', '').trim().split('\r\n')
  }
  const [head = '', ...payments] = await cells('payments')
  const columns = head.split(',')
  expect(columns.at(-1)).toBe('metadata')
  const values = payments.map(row => ['amount', 'brl_amount', 'tx_hash'].map(name => row.split(',')[columns.indexOf(name)]))
  const standing = (await entriesOf(merchant, { kind: 'payment' })).slice(0, 2)
  expect(values).toEqual(standing.map(({ amount, brl_amount, tx_hash }) => [amount, brl_amount, tx_hash]))
  const metadata = `"{""note"":""a;'=1"",""customer"":""=1+1""}"`
  for (const row of [...payments, (await cells('orders'))[1] ?? '']) expect(row.slice(-metadata.length)).toBe(metadata)
  expect(payments).toHaveLength(2)
})

test('entries cannot be changed', async () => {
  await expect(system.sql.query('UPDATE entries SET units = 0')).rejects.toThrow('never changed')
  await expect(system.sql.query('DELETE FROM entries')).rejects.toThrow('never changed')
})

test('money for no order is booked with its reason to the merchant whose payout address it was then, and stays with them after a change', async () => {
  const merchant = uuidv7()
  const payout = `0x${'d1'.repeat(20)}`
  const start = new Date(Date.now() - 3_600_000)
  await paidTo(merchant, payout, 1, start)
  const order = await create(merchant)
  const stray = chain.payment(order, { memo: 'ab'.repeat(32), merchant_address: payout, gross: 5_000_000_000n })
  await chain.report('confirmed', stray)
  await paidTo(merchant, OTHER, 2, new Date())
  expect((await entriesOf(merchant)).map(({ kind, amount, reason }) => [kind, amount, reason])).toEqual([
    ['unmatched', '5000.000000', 'unknown_memo'],
    ['fee', '50.000000', 'unknown_memo'],
    ['settled', '4950.000000', 'unknown_memo'],
  ])
})

test('a payout address that is known late moves what was paid there since', async () => {
  const [first, second] = [uuidv7(), uuidv7()]
  const payout = `0x${'d2'.repeat(20)}`
  const hour = (count: number) => new Date(Date.UTC(2026, 10, 10, count))
  await paidTo(first, payout, 1, hour(0))
  const order = await create(first)
  const stray = chain.payment(order, {
    memo: 'ac'.repeat(32),
    merchant_address: payout,
    gross: 7_000_000n,
    block_time: hour(5).toISOString(),
  })
  await chain.report('confirmed', stray)
  await paidTo(second, payout, 1, hour(4))
  await paidTo(first, OTHER, 2, hour(3))
  expect((await entriesOf(second)).filter(({ kind }) => kind === 'unmatched').map(({ amount }) => amount)).toEqual(['7.000000'])
  const left = (await entriesOf(first)).filter(({ kind }) => kind === 'unmatched')
  expect(left.map(({ amount }) => amount)).toEqual(['7.000000', '-7.000000'])
})

describe('a sweep of an address that no order has', () => {
  const deposit = `0x${'de'.repeat(20)}`
  const today = new Date().toISOString().slice(0, 10)
  const totalOf = async (merchant: string) => (await summaryOf(merchant, { from: today, to: today, timezone: 'UTC' })).total
  const attentionOf = async (merchant: string, query: object = {}): Promise<AttentionItemBody[]> =>
    (await request(system.url).get('/api/v1/attention').query(query).set(asMerchant(merchant, null))).body.data
  const stray = async (payout: string, memo = 'ad'.repeat(32), change: object = {}) => {
    const order = await create(uuidv7())
    return chain.sweeps('confirmed', order, 100_000_000n, {
      ...{ memo, merchant_address: payout, deposit_address: deposit, fee: '1.000000', ...change },
    })
  }
  const short = ({ kind, amount, reason, order_id, reverses }: EntryBody) => [kind, amount, reason, order_id !== null, reverses]

  test('is what came for no order, the fee and what settled, and needs attention until it is handled or gone', async () => {
    const merchant = uuidv7()
    const payout = `0x${'d3'.repeat(20)}`
    await paidTo(merchant, payout, 1, new Date(Date.now() - 3_600_000))
    const swept = await stray(payout)
    expect(await totalOf(merchant)).toMatchObject({
      ...{ gross: '100.000000', platform_fee: '1.000000', settled: '99.000000', waiting: '0.000000', unmatched: '100.000000' },
    })
    expect((await entriesOf(merchant)).map(short)).toEqual([
      ['unmatched', '100.000000', 'unknown_memo', false, null],
      ['fee', '1.000000', 'unknown_memo', false, null],
      ['settled', '99.000000', 'unknown_memo', false, null],
    ])
    const [item] = await attentionOf(merchant)
    expect(item).toMatchObject({
      ...{ reasons: ['unmatched'], gross: '100.000000', platform_fee: '1.000000', left_over: '100.000000', payers: [], order: null },
      payment: { reason: 'unknown_memo', kind: 'transfer', tx_hash: swept.tx_hash, amount: '100.000000', merchant_address: payout },
    })
    const mark = (how: string, body: object) =>
      request(system.url).post(`/api/v1/attention/${item?.id}/${how}`).set(asMerchant(merchant, null)).send(body)
    expect((await mark('handle', { facts: item?.facts })).status).toBe(200)
    expect([await attentionOf(merchant), (await attentionOf(merchant, { handled: 'true' })).length]).toEqual([[], 1])
    expect((await mark('reopen', {})).status).toBe(200)
    await chain.publish({ gone: [swept.block_hash] })
    expect([await attentionOf(merchant), (await totalOf(merchant)).gross]).toEqual([[], '0.000000'])
  })

  test('is booked to whom the payout address belonged, also when that is known late', async () => {
    const merchant = uuidv7()
    const payout = `0x${'d4'.repeat(20)}`
    await stray(payout, 'ae'.repeat(32))
    expect(await entriesOf(merchant)).toEqual([])
    await paidTo(merchant, payout, 1, new Date(Date.now() - 3_600_000))
    expect((await totalOf(merchant)).gross).toBe('100.000000')
    await paidTo(merchant, OTHER, 2, new Date(Date.now() - 1_800_000))
    expect((await totalOf(merchant)).gross).toBe('0.000000')
  })

  test('is booked to whom the payout address belonged, also when both become known at once', async () => {
    const merchant = uuidv7()
    const payout = `0x${'d8'.repeat(20)}`
    const swept = await stray(payout, 'a8'.repeat(32))
    const book = "UPDATE sweeps SET status = 'confirmed' WHERE tx_hash = $1"
    await system.sql.query("UPDATE sweeps SET status = 'orphaned' WHERE tx_hash = $1", [swept.tx_hash])
    await atOnce(
      booking => booking.query(book, [swept.tx_hash]),
      () => paidTo(merchant, payout, 1, new Date(Date.now() - 3_600_000)),
    )
    expect((await totalOf(merchant)).gross).toBe('100.000000')
  })

  test('is counted once beside its transfers, also when both become known at once', async () => {
    const merchant = uuidv7()
    const payout = `0x${'d9'.repeat(20)}`
    await paidTo(merchant, payout, 1, new Date(Date.now() - 3_600_000))
    const memo = 'a9'.repeat(32)
    const swept = await stray(payout, memo)
    await system.sql.query("UPDATE sweeps SET status = 'orphaned' WHERE tx_hash = $1", [swept.tx_hash])
    await system.sql.query('CREATE TABLE not_yet AS SELECT * FROM sweeps WHERE tx_hash = $1', [swept.tx_hash])
    await system.sql.query("UPDATE not_yet SET status = 'confirmed'")
    await system.sql.query('DELETE FROM sweeps WHERE tx_hash = $1', [swept.tx_hash])
    const came = chain.payment(await create(uuidv7()), {
      ...{ kind: 'transfer' as const, gross: 100_000_000n, memo, merchant_address: payout, deposit_address: deposit },
    })
    await atOnce(
      booking => booking.query('INSERT INTO sweeps SELECT * FROM not_yet'),
      () => chain.report('confirmed', came),
    )
    expect(await totalOf(merchant)).toMatchObject({ gross: '100.000000', settled: '99.000000', waiting: '0.000000' })
  })

  test('of another chain is not what came for the same memo on this one', async () => {
    const merchant = uuidv7()
    const payout = `0x${'da'.repeat(20)}`
    await paidTo(merchant, payout, 1, new Date(Date.now() - 3_600_000))
    const memo = 'aa'.repeat(32)
    const order = await create(uuidv7())
    const came = { memo, merchant_address: payout, deposit_address: deposit }
    await chain.report('confirmed', chain.payment(order, { kind: 'transfer', gross: 5_000_000n, ...came }))
    await stray(payout, memo)
    await system.sql.query('UPDATE sweeps SET chain_id = 8453 WHERE memo = $1', [memo])
    expect(await totalOf(merchant)).toMatchObject({ gross: '105.000000', settled: '99.000000' })
  })

  test('is its order`s once that is made, and no money of its own where its transfers are known', async () => {
    const merchant = uuidv7()
    const payout = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
    await paidTo(merchant, payout, 1, new Date(Date.now() - 3_600_000))
    const wanted = charge({ terms: { merchant_id: merchant, version: 1, display_name: 'M', payout_address: payout } })
    await stray(payout, wanted.memo)
    await system.bus.publish(message('subscription.charge_requested', wanted))
    await system.orders.idle()
    expect((await entriesOf(merchant)).map(short)).toEqual([
      ['unmatched', '100.000000', 'unknown_memo', false, null],
      ['fee', '1.000000', 'unknown_memo', false, null],
      ['settled', '99.000000', 'unknown_memo', false, null],
      ['unmatched', '-100.000000', 'unknown_memo', false, 1],
      ['fee', '-1.000000', 'unknown_memo', false, 2],
      ['settled', '-99.000000', 'unknown_memo', false, 3],
      ['fee', '1.000000', null, true, null],
      ['settled', '99.000000', null, true, null],
    ])
    const [other, elsewhere] = [uuidv7(), `0x${'d6'.repeat(20)}`]
    await paidTo(other, elsewhere, 1, new Date(Date.now() - 3_600_000))
    const order = await create(uuidv7())
    const memo = 'af'.repeat(32)
    const came = { memo, merchant_address: elsewhere, deposit_address: `0x${'df'.repeat(20)}` }
    await stray(elsewhere, memo, came)
    await chain.report('confirmed', chain.payment(order, { kind: 'transfer', gross: 100_000_000n, ...came }))
    expect(await totalOf(other)).toMatchObject({ gross: '100.000000', settled: '99.000000', waiting: '0.000000' })
    expect(await attentionOf(other)).toHaveLength(1)
  })
})

test('later facts about a closed month count in the open one, and name their own time', async () => {
  const merchant = uuidv7()
  const order = await create(merchant)
  await system.sql.query("UPDATE ledger_close SET through = '2026-11-01T03:00:00Z'")
  const last = '2026-11-01T02:59:59.999Z'
  await chain.report('confirmed', chain.payment(order, { block_time: last }))
  const [entry] = await entriesOf(merchant, { kind: 'payment' })
  expect(entry).toMatchObject({ block_time: last, at: entry?.booked_at })
  const october = await summaryOf(merchant, { from: '2026-10-01', to: '2026-10-31', timezone: 'America/Sao_Paulo', by: 'month' })
  expect([october.total.payments, october.closed_through]).toEqual([0, '2026-11-01T03:00:00.000Z'])
  const first = await create(merchant)
  await chain.report('confirmed', chain.payment(first, { block_time: '2026-11-01T03:00:00.000Z' }))
  const november = await summaryOf(merchant, { from: '2026-11-01', to: '2026-11-01', timezone: 'America/Sao_Paulo' })
  expect(november.total.payments).toBe(1)
  await system.sql.query("UPDATE ledger_close SET through = '-infinity'")
})

test('a month is closed when no booking that took it for open is under way', async () => {
  const merchant = uuidv7()
  const order = await create(merchant)
  await system.sql.query('ALTER TABLE payments DISABLE TRIGGER USER')
  const paid = chain.payment(order, { block_time: '2026-11-01T02:00:00.000Z' })
  await chain.report('confirmed', paid)
  await system.sql.query('ALTER TABLE payments ENABLE TRIGGER USER')
  const through = new Date('2026-11-01T03:00:00Z')
  let isClosed = false
  let closing: Promise<void> = Promise.resolve()
  await system.sql.transaction(async booking => {
    await booking.query('SELECT book($1)', [[paid.tx_hash]])
    closing = ledgerStore(system.sql).close(through)
    closing.then(
      () => {
        isClosed = true
      },
      () => undefined,
    )
    // It waits for the booking, or has closed the month beneath it.
    while (!isClosed && !(await isAwaited(booking)));
    expect(isClosed).toBe(false)
  })
  await closing
  expect(await entriesOf(merchant, { kind: 'payment' })).toMatchObject([{ at: paid.block_time }])
  expect(await ledgerStore(system.sql).closedThrough()).toEqual(through)
  await system.sql.query("UPDATE ledger_close SET through = '-infinity'")
})

test('what was given away follows its payment, also when both are booked at once, and an entry has the reason of now', async () => {
  const merchant = uuidv7()
  const payout = `0x${'d7'.repeat(20)}`
  await paidTo(merchant, payout, 1, new Date(Date.now() - 3_600_000))
  const order = await create(merchant)
  const paid = chain.payment(order, { gross: 60_000_000n })
  for (const table of ['payments', 'orders']) await system.sql.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
  await chain.report('confirmed', paid)
  await request(system.url).post(`/api/v1/orders/${order.id}/accept`).set(asMerchant(merchant)).send({ reason: 'enough' })
  for (const table of ['payments', 'orders']) await system.sql.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`)
  await system.sql.query('SELECT book($1)', [[paid.tx_hash]])
  expect((await entriesOf(merchant)).map(({ kind }) => kind)).toEqual(['payment', 'fee', 'settled', 'accepted'])
  const stray = chain.payment(order, { memo: 'a7'.repeat(32), merchant_address: payout, gross: 2_000_000n })
  await chain.report('confirmed', stray)
  await system.sql.query("UPDATE unmatched_payments SET reason = 'wrong_recipient' WHERE tx_hash = $1", [stray.tx_hash])
  const reasons = (await entriesOf(merchant, { kind: 'unmatched' })).map(({ amount, reason }) => [amount, reason])
  expect(reasons).toEqual([
    ['2.000000', 'unknown_memo'],
    ['-2.000000', 'unknown_memo'],
    ['2.000000', 'wrong_recipient'],
  ])
})

test('a range is in order of time, page by page, and filters hold in lists and files', async () => {
  const merchant = uuidv7()
  const orders = [await create(merchant), await create(merchant), await create(merchant)]
  const days = ['2026-11-03', '2026-11-01', '2026-11-02']
  for (const [index, order] of orders.entries())
    await chain.report('confirmed', chain.payment(order, { block_time: `${days[index]}T12:00:00.000Z`, merchant_address: PAYOUT }))
  const range = { at_gte: '2026-11-01T00:00:00.000Z', at_lt: '2026-11-04T00:00:00.000Z', kind: 'payment' }
  const seen: string[] = []
  for (let after = 0; ; ) {
    const { body } = await request(system.url)
      .get('/api/v1/entries')
      .query({ ...range, limit: 1, after })
      .set(asMerchant(merchant))
    seen.push(...body.data.map(({ at }: EntryBody) => at.slice(0, 10)))
    after = body.next_after
    if (!body.has_more) break
  }
  expect(seen).toEqual(['2026-11-01', '2026-11-02', '2026-11-03'])
  expect(await entriesOf(merchant, { order_id: orders[1]?.id })).toHaveLength(3)
  const file = await request(system.url).get('/api/v1/entries.csv').query(range).set(asMerchant(merchant))
  expect(file.text.trim().split('\r\n').slice(1)).toHaveLength(3)
  const brazilian = await request(system.url)
    .get('/api/v1/entries.csv')
    .query({ ...range, form: 'brazilian' })
    .set(asMerchant(merchant))
  const [head, first] = brazilian.text.slice(1).split('\r\n')
  expect(head?.split(';').slice(0, 5)).toEqual(['Número', 'Data (São Paulo)', 'Movimento', 'USDC', 'Reais pela cotação'])
  expect(first?.split(';').slice(1, 5)).toEqual(['01/11/2026 09:00:00', 'Pagamento', '100,000000', '542,00'])
  for (const query of [{ kind: 'gift' }, { after: 'x' }, { limit: 0 }, { at_gte: 'today' }, { nothing: 1 }])
    expect((await request(system.url).get('/api/v1/entries').query(query).set(asMerchant(merchant))).status).toBe(400)
})

test('what a replica of the release before or a lost trigger left out is named by the reconciliation and booked', async () => {
  const merchant = uuidv7()
  const order = await create(merchant)
  await system.sql.query('ALTER TABLE payments DISABLE TRIGGER USER')
  await chain.report('confirmed', chain.payment(order))
  await system.sql.query('ALTER TABLE payments ENABLE TRIGGER USER')
  expect(await entriesOf(merchant)).toEqual([])
  await system.orders.idle()
  const { rows } = await system.sql.query<{ tx_hash: string }>(
    'SELECT DISTINCT tx_hash FROM due_entries WHERE merchant_id = $1 EXCEPT SELECT tx_hash FROM standing_entries',
    [merchant],
  )
  expect(rows).toHaveLength(1)
  await system.sql.query('SELECT book($1)', [rows.map(({ tx_hash }) => tx_hash)])
  expect((await entriesOf(merchant)).map(({ sequence }) => sequence)).toEqual([1, 2, 3])
})
