import { type AttentionItemBody, formatUsdc, type OrderBody, parseUsdc, type SummaryBody } from '@ponte/contracts'
import { uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { charge, message } from './listener'
import { chain, create, runOrders, system } from './run-orders'
import { asMerchant, PAYOUT } from './setup'

runOrders()

const ask = (merchant: string, query: object) => request(system.url).get('/api/v1/summary').query(query).set(asMerchant(merchant))
const summaryOf = async (merchant: string, query: object): Promise<SummaryBody> => {
  const { status, body } = await ask(merchant, query)
  expect(status).toBe(200)
  return body
}
const pay = async (merchant: string, brl: string, at: string): Promise<void> =>
  chain.report('confirmed', chain.payment(await create(merchant, brl), { block_time: at }))

test('what came is summed by the day of its block in the asked time zone, whatever became of its order', async () => {
  const merchant = uuidv7()
  // Ten minutes apart, over midnight in São Paulo; both on the 20th in UTC.
  await pay(merchant, '100.00', '2026-11-20T02:55:00.000Z')
  await pay(merchant, '50.00', '2026-11-20T03:05:00.000Z')
  await pay(merchant, '25.50', '2026-11-20T20:00:00.000Z')
  await pay(merchant, '999.00', '2026-11-21T03:00:00.000Z')
  await pay(uuidv7(), '7.00', '2026-11-20T20:00:00.000Z')
  const late = await create(merchant, '10.00')
  await chain.report('confirmed', chain.payment(late, { gross: 1_000_000n, block_time: '2026-11-20T21:00:00.000Z' }))
  for (let count = 0; count < 3; count += 1) await create(merchant, '5.00')
  const local = await summaryOf(merchant, { from: '2026-11-19', to: '2026-11-20', timezone: 'America/Sao_Paulo' })
  expect(local.periods.map(({ date, payments, brl_amount }) => [date, payments, brl_amount])).toEqual([
    ['2026-11-19', 1, '100.00'],
    ['2026-11-20', 3, '80.92'],
  ])
  // 175.50 at 5.42, each order rounded up to a base unit, and a part of another; each fee of 1 % rounded down.
  expect(local.total).toEqual({
    ...{ payments: 4, brl_amount: '180.92', gross: '33.380076', platform_fee: '0.333798' },
    ...{ settled: '33.046278', waiting: '0.000000', unmatched: '0.000000', returned: '0.000000', given_away: '0.000000' },
  })
  expect(local.opening).toMatchObject({ payments: 0, gross: '0.000000' })
  expect(local.closing).toEqual(local.total)
  expect(local.open).toEqual({ pending: 3, confirming: 0, underpaid: 1 })
  const utc = await summaryOf(merchant, { from: '2026-11-20', to: '2026-11-20', timezone: 'UTC' })
  expect(utc.periods).toMatchObject([{ date: '2026-11-20', payments: 4 }])
  const month = await summaryOf(merchant, { from: '2026-11-01', to: '2026-11-30', timezone: 'America/Sao_Paulo', by: 'month' })
  const days = await summaryOf(merchant, { from: '2026-11-01', to: '2026-11-30', timezone: 'America/Sao_Paulo' })
  expect(month.periods).toEqual([{ date: '2026-11-01', ...days.total }])
  const next = await summaryOf(merchant, { from: '2026-11-21', to: '2026-11-21', timezone: 'America/Sao_Paulo' })
  expect(next.opening).toEqual(local.closing)
})

test('a transfer waits until it is swept', async () => {
  const merchant = uuidv7()
  const order = await create(merchant, '542.00')
  await chain.report('confirmed', chain.transfer(order, { block_time: '2026-11-20T12:00:00.000Z' }))
  const day = { from: '2026-11-20', to: '2026-11-20', timezone: 'UTC' }
  expect((await summaryOf(merchant, day)).total).toMatchObject({ gross: '100.000000', platform_fee: '0.000000', waiting: '100.000000' })
  await chain.sweeps('confirmed', order, 100_000_000n, { block_time: '2026-11-21T12:00:00.000Z' })
  expect((await summaryOf(merchant, day)).total).toMatchObject({ waiting: '100.000000' })
  const both = await summaryOf(merchant, { ...day, to: '2026-11-21' })
  expect(both.periods.map(({ settled, waiting }) => [settled, waiting])).toEqual([
    ['0.000000', '100.000000'],
    ['99.000000', '-100.000000'],
  ])
  expect(both.closing.waiting).toBe('0.000000')
})

test('a span that ends before it begins, a long one and an unknown time zone are refused', async () => {
  const merchant = uuidv7()
  for (const query of [
    { from: '2026-11-20', to: '2026-11-19', timezone: 'UTC' },
    { from: '2026-01-01', to: '2026-11-19', timezone: 'UTC' },
    { from: '2026-11-19', to: '2026-11-19', timezone: 'Mars/Olympus' },
    { from: '2026-11-31', to: '2026-12-01', timezone: 'UTC' },
    { from: '2026-11-19', to: '2026-11-19', timezone: 'UTC', by: 'year' },
    { from: '2010-01-01', to: '2026-11-19', timezone: 'UTC', by: 'month' },
    { from: '2026-11-19', to: '2026-11-19' },
    // Its day after has no four digits for a year.
    { from: '9999-12-31', to: '9999-12-31', timezone: 'UTC' },
    { from: '9999-12-01', to: '9999-12-31', timezone: 'UTC', by: 'month' },
    { from: '1969-12-31', to: '1970-01-01', timezone: 'UTC' },
  ])
    expect((await ask(merchant, query)).status).toBe(400)
  expect((await ask(merchant, { from: '2999-12-31', to: '2999-12-31', timezone: 'Pacific/Kiritimati' })).status).toBe(200)
})

test('orders that need a look are counted, and what counts for no sale is to be returned', async () => {
  const merchant = uuidv7()
  const order = await create(merchant, '542.00')
  await chain.report('confirmed', chain.payment(order, { gross: 130_000_000n }))
  const found = await summaryOf(merchant, { from: '2026-11-19', to: '2026-11-19', timezone: 'UTC' })
  expect(found.attention).toMatchObject({ overpaid: 1, reorged: 0 })
  expect(found.to_return).toBe('30.000000')
})

test('what is to be returned is what the list of attention has left over, of orders, periods of plans and money for no order', async () => {
  const merchant = uuidv7()
  const terms = { merchant_id: merchant, version: 1, display_name: 'M', payout_address: PAYOUT }
  const since = new Date(Date.now() - 3_600_000)
  const sealed = {
    webhook_url: null,
    sealed_webhook_secret: 'x',
    sealed_pending_webhook_secret: null,
    pending_webhook_secret_activates_at: null,
  }
  await system.bus.publish(message('merchant.updated', { ...terms, ...sealed }, uuidv7(), since))
  const read = async (id: string): Promise<OrderBody> =>
    (await request(system.url).get(`/api/v1/orders/${id}`).set(asMerchant(merchant))).body
  const period = async (): Promise<OrderBody> => {
    const wanted = charge({ terms })
    await system.bus.publish(message('subscription.charge_requested', wanted))
    return read(wanted.order_id)
  }
  const pays = (order: OrderBody, gross: bigint, change: object = {}) =>
    chain.report('confirmed', chain.payment(order, { gross, ...change }))
  const supersede = (order: OrderBody) =>
    system.bus.publish(
      message('subscription.order_superseded', {
        merchant_id: merchant,
        merchant_version: 1,
        subscription_id: uuidv7(),
        order_id: order.id,
      }),
    )
  const due = parseUsdc((await period()).usdc_amount)
  const [twice, short, late, beside] = [await period(), await period(), await period(), await period()]
  await pays(twice, due)
  await supersede(twice)
  await pays(short, 4_000_000n)
  const over = await create(merchant, '542.00')
  await pays(over, 130_000_000n)
  await chain.synced(short, late, beside)
  await supersede(beside)
  const end = new Date(Date.parse(late.expires_at) + 1_000)
  await pays(late, due + 1_000_000n, { block_time: end.toISOString() })
  await pays(beside, due, { block_time: end.toISOString() })
  for (const gross of [7_000_000n, 5_000n]) await pays(over, gross, { memo: 'c7'.repeat(32), merchant_address: PAYOUT.toLowerCase() })
  await system.sql.query("UPDATE orders SET expires_at = expires_at + interval '30 days' WHERE id = $1", [over.id])
  await chain.advances(end)
  await system.orders.idle()

  const listed = async () => {
    const { body } = await request(system.url).get('/api/v1/attention?limit=100').set(asMerchant(merchant))
    return new Map<string, string>(body.data.map(({ id, left_over }: AttentionItemBody) => [id, left_over]))
  }
  const toReturn = async () => (await summaryOf(merchant, { from: '2026-11-19', to: '2026-11-19', timezone: 'UTC' })).to_return
  const sum = (amounts: Iterable<string>) => formatUsdc([...amounts].reduce((total, amount) => total + parseUsdc(amount), 0n))
  const shown = await listed()
  // A period's order takes what came short or late; beside the order that was paid it takes nothing, whether it was paid itself or not.
  expect([twice, short, late, beside, over].map(({ id }) => shown.get(id))).toEqual([
    ...[formatUsdc(due), '0.000000', '1.000000'],
    ...[(await read(beside.id)).status === 'cancelled' ? formatUsdc(due) : 'open', '30.000000'],
  ])
  expect(await toReturn()).toBe(sum(shown.values()))
  expect(await toReturn()).toBe(formatUsdc(due * 2n + 38_000_000n))
  const { body: item } = await request(system.url).get('/api/v1/attention?limit=1').set(asMerchant(merchant))
  const [{ id, facts }] = item.data
  await request(system.url).post(`/api/v1/attention/${id}/handle`).set(asMerchant(merchant)).send({ facts })
  expect((await listed()).has(id)).toBe(false)
  expect(await toReturn()).toBe(sum((await listed()).values()))
})

test.each(['UTC', 'America/Sao_Paulo', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Kiritimati'])(
  'sums of days, weeks and months in %s, and what was before them, are those of the entries themselves',
  async timezone => {
    const merchant = uuidv7()
    // Two thousand over a year, some of them on the very bounds of days and quarters of an hour.
    await system.sql.query(
      `INSERT INTO entries (merchant_id, sequence, kind, units, brl_centavos, at, chain_id, tx_hash, log_index, block_number, block_time, booked_at)
       SELECT $1, n, (ARRAY['payment', 'fee', 'settled', 'unmatched'])[1 + n % 4], n * 7919 % 100003, n * 31 % 997, moment, 1, n::text, 0, n, moment, moment
       FROM (SELECT n, CASE n % 5 WHEN 0 THEN date_bin('15 minutes', raw, '2000-01-01Z') WHEN 1 THEN date_trunc('day', raw, $2) ELSE raw END AS moment
         FROM (SELECT n, '2026-01-01T00:00:00Z'::timestamptz + n * 7919 % 31536000 * interval '1 second' AS raw FROM generate_series(1, 2000) AS n) AS spread) AS rows`,
      [merchant, timezone],
    )
    await system.sql.query(
      `INSERT INTO entry_sums SELECT merchant_id, date_bin('15 minutes', at, '2000-01-01T00:00:00Z'), kind, count(*), sum(units), sum(brl_centavos)
       FROM entries WHERE merchant_id = $1 GROUP BY 1, 2, 3`,
      [merchant],
    )
    const between = async (from: string, until: string) => {
      const { rows } = await system.sql.query<{ gross: string; fee: string }>(
        `SELECT coalesce(sum(units) FILTER (WHERE kind IN ('payment', 'unmatched')), 0) AS gross, coalesce(sum(units) FILTER (WHERE kind = 'fee'), 0) AS fee
         FROM entries WHERE merchant_id = $1 AND at >= $2::timestamp AT TIME ZONE $4 AND at < $3::timestamp AT TIME ZONE $4`,
        [merchant, from, until, timezone],
      )
      return { gross: formatUsdc(BigInt(rows[0]?.gross ?? 0)), platform_fee: formatUsdc(BigInt(rows[0]?.fee ?? 0)) }
    }
    const after = (date: string, days: number) => new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)
    for (const [from, to, by] of [
      ['2026-03-29', '2026-04-12', 'day'],
      ['2026-10-04', '2026-10-04', 'day'],
      ['2026-02-03', '2026-05-20', 'week'],
      ['2026-01-15', '2026-12-31', 'month'],
    ] as const) {
      const { periods, opening, total } = await summaryOf(merchant, { from, to, by, timezone })
      const ends = [...periods.slice(1).map(({ date }) => date), after(to, 1)]
      for (const [index, { date, ...figures }] of periods.entries()) expect(figures).toMatchObject(await between(date, ends[index] ?? ''))
      expect(total).toMatchObject(await between(from, after(to, 1)))
      expect(opening).toMatchObject(await between('2000-01-01', from))
    }
  },
)
