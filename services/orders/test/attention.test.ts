import type { AttentionItemBody, List, OrderBody } from '@ponte/contracts'
import { uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { fillOrders, plansOf } from '../bench/many-orders'
import { LEFT_OVER } from '../src/store/left-over'
import { chain, create, runOrders, system } from './run-orders'
import { asMerchant, PAYOUT, ROUTER } from './setup'

runOrders({ DEPOSIT_FACTORY: ROUTER })

const PAYER = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'
const list = async (merchant: string, query: object = {}, payout: string | null = null): Promise<List<AttentionItemBody>> => {
  const { status, body } = await request(system.url).get('/api/v1/attention').query(query).set(asMerchant(merchant, payout))
  expect(status).toBe(200)
  return body
}
const shown = ({ reasons, gross, platform_fee, taken, left_over, payers }: AttentionItemBody) => ({
  ...{ reasons, gross, platform_fee, taken, left_over, payers },
})
const pays = (order: OrderBody, gross: bigint, change: object = {}) =>
  chain.report('confirmed', chain.transfer(order, { gross, payer_address: PAYER, ...change }))

describe('an order whose money does not simply settle', () => {
  // Each asks for 100 USDC; the fee is 1 %.
  const merchant = uuidv7()
  const named: Record<string, string> = {}
  beforeAll(async () => {
    const make = async (name: string) => {
      const order = await create(merchant)
      named[order.id] = name
      return order
    }
    await create(merchant)
    await pays(await make('simply paid'), 100_000_000n)
    await pays(await make('short'), 60_000_000n)
    await pays(await make('over'), 130_000_000n)
    const twice = await make('twice')
    await pays(twice, 100_000_000n, { block_number: 10 })
    await pays(twice, 100_000_000n, { block_number: 11, payer_address: `0x${'0'.repeat(40)}` })
    const cancelled = await make('after cancel')
    await request(system.url).post(`/api/v1/orders/${cancelled.id}/cancel`).set(asMerchant(merchant)).send({})
    await pays(cancelled, 100_000_000n)
    const blocked = await make('blocked')
    await pays(blocked, 100_000_000n)
    await chain.blocked(blocked, 'sweep_refused', 1)
    const unblocked = await make('blocked for a while')
    await chain.blocked(unblocked, 'sweep_refused', 1)
    await chain.blocked(unblocked, null, 2)
    const [late, shortLate] = [await make('late'), await make('expired short')]
    await chain.synced(late, shortLate)
    await pays(shortLate, 5_000_000n)
    const end = new Date(Date.parse(shortLate.expires_at) + 1_000)
    await pays(late, 100_000_000n, { block_time: end.toISOString() })
    await system.sql.query("UPDATE orders SET expires_at = expires_at + interval '30 days' WHERE id <> ALL ($1::uuid[])", [
      [late.id, shortLate.id],
    ])
    await chain.advances(end)
    await system.orders.idle()
  })

  it('is listed with what came, the fee, what the order takes, what is left over, and from whom', async () => {
    const { data } = await list(merchant)
    expect(data.map(item => [named[item.order?.id ?? ''], shown(item)])).toEqual([
      ['expired short', sums(['underpaid'], '5.000000', '0.050000', '0.000000', '5.000000')],
      ['late', sums(['paid_late'], '100.000000', '1.000000', '0.000000', '100.000000')],
      ['blocked', sums(['settlement_blocked'], '100.000000', '1.000000', '100.000000', '0.000000')],
      ['after cancel', sums(['paid_after_cancel'], '100.000000', '1.000000', '0.000000', '100.000000')],
      ['twice', sums(['duplicate'], '200.000000', '2.000000', '100.000000', '100.000000')],
      ['over', sums(['overpaid'], '130.000000', '1.300000', '100.000000', '30.000000')],
      ['short', sums(['underpaid'], '60.000000', '0.600000', '60.000000', '0.000000')],
    ])
    // The second payment has no sender that is known.
    expect(data[4]?.order?.payments?.map(({ payer_address }) => payer_address?.toLowerCase() ?? null)).toEqual([PAYER, null])
    expect((await list(uuidv7())).data).toEqual([])
  })

  it.each([
    ['underpaid', ['expired short', 'short']],
    ['overpaid', ['over']],
    ['paid_late', ['late']],
    ['settlement_blocked', ['blocked']],
    ['reorged', []],
    ['unmatched', []],
  ])('is listed by its reason: %s', async (reason, expected) => {
    const { data } = await list(merchant, { reason })
    expect(data.map(({ order }) => named[order?.id ?? ''])).toEqual(expected)
    expect(data.every(({ reasons }) => reasons.some(one => one === reason))).toBe(true)
  })
})

const sums = (reasons: string[], gross: string, platform_fee: string, taken: string, left_over: string) => ({
  ...{ reasons, gross, platform_fee, taken, left_over, payers: [PAYER] },
})

describe('what an order takes not of what came', () => {
  interface Taking {
    plan?: boolean
    exception?: string
    superseded?: boolean
    deducted?: number
  }
  it.each<[string, string, number, Taking, string]>([
    ['nothing while a part is missing', 'underpaid', 60, {}, '0'],
    ['more than it asked for', 'paid', 250, {}, '150'],
    ['nothing, when what came was short within the tolerance', 'paid', 99, {}, '0'],
    ['nothing of what is left after a reorganisation', 'pending', 40, {}, '0'],
    ['all once it has expired', 'expired', 100, {}, '100'],
    ['all once it is cancelled', 'cancelled', 100, {}, '100'],
    ['nothing of what its period asks for no more', 'expired', 40, { plan: true }, '0'],
    ['the same once another order was paid for the rest', 'expired', 40, { plan: true, superseded: true }, '0'],
    ['more than the merchant may accept for the period, late', 'expired', 130, { plan: true, exception: 'paid_late' }, '30'],
    ['all of a part that the paid order asked for all the same', 'expired', 40, { plan: true, superseded: true, deducted: 0 }, '40'],
    ['nothing of a part that it asked for no more', 'expired', 40, { plan: true, superseded: true, deducted: 4_000 }, '0'],
    ['the rest of a part of which it asked for some', 'expired', 60, { plan: true, superseded: true, deducted: 3_950 }, '20'],
    [
      'nothing of what came for a cancelled one, and was asked for no more',
      'cancelled',
      40,
      { plan: true, superseded: true, deducted: 4_000 },
      '0',
    ],
    ['all that came late beside the order that was paid', 'expired', 100, { plan: true, exception: 'paid_late', superseded: true }, '100'],
    ['all that paid it beside the order that was paid', 'paid', 100, { plan: true, exception: 'duplicate', superseded: true }, '100'],
  ])('is %s', async (_, status, confirmed, { plan, exception, superseded, deducted }, expected) => {
    const { rows } = await system.sql.query<{ units: string }>(
      `SELECT (${LEFT_OVER})::text AS units FROM (VALUES ($1, $2, $3::uuid, $4::timestamptz, $5::bigint, 100::bigint, 10000::bigint, $6::bigint))
         AS orders (status, exception, subscription_id, superseded_at, confirmed_units, usdc_units, brl_centavos, deducted_centavos)`,
      [status, exception ?? null, plan ? uuidv7() : null, superseded ? new Date(0) : null, confirmed, deducted ?? null],
    )
    expect(rows).toEqual([{ units: expected }])
  })
})

describe('money without an order', () => {
  const merchant = uuidv7()
  const minutes = [10, 11, 11, 12, 13]
  const at = (minute: number) => new Date(Date.UTC(2026, 9, 1, 12, minute)).toISOString()
  beforeAll(async () => {
    const order = await create(merchant)
    for (const minute of minutes)
      await chain.report('confirmed', { ...chain.payment(order, { gross: 7_000_000n }), memo: '5e'.repeat(32), block_time: at(minute) })
    const other = { memo: '5e'.repeat(32), block_time: at(20) }
    await chain.report('detected', { ...chain.payment(order), ...other })
    await chain.report('confirmed', { ...chain.payment(order, { gross: 9_999n }), ...other })
    await chain.report('confirmed', { ...chain.payment(order), ...other, merchant_address: `0x${'44'.repeat(20)}` })
    await pays(order, 1_000_000n)
    await system.orders.idle()
  })

  it('is listed for whom the payout address belongs to, once it is confirmed and more than dust', async () => {
    const [short, ...unmatched] = (await list(merchant, {}, PAYOUT)).data
    expect(short?.reasons).toEqual(['underpaid'])
    expect(unmatched.map(({ at }) => at)).toEqual(minutes.toReversed().map(at))
    expect(unmatched[0] && shown(unmatched[0])).toEqual(sums(['unmatched'], '7.000000', '0.070000', '0.000000', '7.000000'))
    expect(unmatched[0]).toMatchObject({ order: null, payment: { reason: 'unknown_memo', amount: '7.000000', memo: '5e'.repeat(32) } })
    expect((await list(merchant)).data).toHaveLength(1)
    expect((await list(merchant, { reason: 'unmatched' }, PAYOUT)).data).toEqual(unmatched)
    expect((await list(merchant, { reason: 'underpaid' }, PAYOUT)).data).toEqual([short])
  })

  it('is paged together with orders, in both directions, every one exactly once', async () => {
    const all = (await list(merchant, {}, PAYOUT)).data.map(({ id }) => id)
    const forward: string[] = []
    for (let more = true; more; ) {
      const page = await list(merchant, { limit: 2, ...(forward.length ? { starting_after: forward.at(-1) } : {}) }, PAYOUT)
      forward.push(...page.data.map(({ id }) => id))
      more = page.has_more
    }
    expect(forward).toEqual(all)
    const back: string[] = []
    for (let more = true; more; ) {
      const page = await list(merchant, { limit: 2, ending_before: back[0] ?? all.at(-1) }, PAYOUT)
      back.unshift(...page.data.map(({ id }) => id))
      more = page.has_more
    }
    expect(back).toEqual(all.slice(0, -1))
  })

  it('is answered as a file too, in the order of the list', async () => {
    const { data } = await list(merchant, {}, PAYOUT)
    const { text } = await request(system.url).get('/api/v1/attention.csv').set(asMerchant(merchant, PAYOUT))
    const [head = '', ...rows] = text.trimEnd().split('\r\n')
    const cells = rows.map(row =>
      Object.fromEntries(
        head
          .replace('\ufeff', '')
          .split(',')
          .map((name, index) => [name, row.split(',')[index]]),
      ),
    )
    expect(cells.map(({ id, gross, left_over }) => ({ id, gross, left_over }))).toEqual(
      data.map(({ id, gross, left_over }) => ({ id, gross, left_over })),
    )
    expect(cells[0]).toMatchObject({ reasons: 'underpaid', order_id: data[0]?.id, tx_hashes: data[0]?.order?.payments?.[0]?.tx_hash })
    expect(cells[1]).toMatchObject({ reasons: 'unmatched', order_id: '', tx_hashes: data[1]?.payment?.tx_hash })
  })
})

describe('what is handled', () => {
  const mark = (merchant: string, id: string, how: 'handle' | 'reopen', body: object = {}, payout: string | null = null) =>
    request(system.url)
      .post(`/api/v1/attention/${id}/${how}`)
      .set(asMerchant(merchant, payout, 'user-7'))
      .send(body)
  const ids = async (merchant: string, query: object = {}, payout: string | null = null) =>
    (await list(merchant, query, payout)).data.map(({ id }) => id)

  it('leaves the list, with who, when and a note, can be shown again, and comes back with a new fact about the same order', async () => {
    const merchant = uuidv7()
    const order = await create(merchant)
    await pays(order, 60_000_000n)
    await system.orders.idle()
    const [item] = (await list(merchant)).data
    const handled = await mark(merchant, order.id, 'handle', { facts: item?.facts, note: 'Called them' })
    expect(handled.body).toMatchObject({ id: order.id, handled_by: 'user-7', handled_at: expect.any(String), handled_note: 'Called them' })
    const marked = (reason: string) => list(merchant, { handled: 'true', reason })
    expect([(await marked('underpaid')).data, (await marked('overpaid')).data]).toMatchObject([[{ handled_note: 'Called them' }], []])
    expect([await ids(merchant), await ids(merchant, { handled: 'true' })]).toEqual([[], [order.id]])
    expect((await mark(merchant, order.id, 'reopen')).body).toMatchObject({ handled_at: null, handled_note: null })
    expect([await ids(merchant), await ids(merchant, { handled: 'true' })]).toEqual([[order.id], []])

    await mark(merchant, order.id, 'handle', { facts: item?.facts })
    await pays(order, 70_000_000n)
    await system.orders.idle()
    const [again] = (await list(merchant)).data
    expect(again).toMatchObject({ id: order.id, reasons: ['overpaid'], handled_at: null })
    expect(await ids(merchant, { handled: 'true' })).toEqual([])
    // The mark names another view than the present one.
    expect((await mark(merchant, order.id, 'handle', { facts: item?.facts })).body).toMatchObject({ status: 409, code: 'invalid_state' })
    await mark(merchant, order.id, 'handle', { facts: again?.facts })
    await chain.blocked(order, 'sweep_refused', 1)
    await system.orders.idle()
    for (const reason of [undefined, 'overpaid', 'settlement_blocked'])
      expect((await list(merchant, { reason })).data).toMatchObject([{ id: order.id, reasons: ['overpaid', 'settlement_blocked'] }])
    expect(await ids(merchant, { reason: 'underpaid' })).toEqual([])
  })

  it('is decided by each merchant alone, also where two have one payout address', async () => {
    const [one, other] = [uuidv7(), uuidv7()]
    const payout = `0x${'77'.repeat(20)}`
    const order = await create(one)
    await chain.report('confirmed', { ...chain.payment(order, { gross: 7_000_000n }), memo: '6e'.repeat(32), merchant_address: payout })
    await system.orders.idle()
    const [item] = (await list(one, {}, payout)).data
    const id = item?.id ?? ''
    expect((await mark(one, id, 'handle', { facts: item?.facts, note: 'Sent back' }, payout)).status).toBe(200)
    expect((await list(one, { handled: 'true' }, payout)).data).toMatchObject([{ handled_by: 'user-7', handled_note: 'Sent back' }])
    expect([await ids(one, {}, payout), await ids(one, { handled: 'true' }, payout), await ids(other, {}, payout)]).toEqual([
      [],
      [id],
      [id],
    ])
    await mark(one, id, 'reopen', {}, payout)
    expect(await ids(one, {}, payout)).toEqual([id])
  })

  it('refuses what needs no attention, and what is another merchant`s', async () => {
    const merchant = uuidv7()
    const order = await create(merchant)
    expect((await mark(merchant, order.id, 'handle', { facts: 'x' })).body).toMatchObject({ code: 'not_found' })
    expect((await mark(uuidv7(), order.id, 'reopen')).body).toMatchObject({ code: 'forbidden' })
    // Ids of no moment that this service has seen.
    for (const id of ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'])
      expect((await mark(merchant, id, 'handle', { facts: 'x' }, PAYOUT)).body).toMatchObject({ code: 'not_found' })
    await pays(order, 60_000_000n)
    await system.orders.idle()
    expect((await mark(merchant, order.id, 'handle')).body).toMatchObject({ code: 'invalid_request' })
  })
})

it('reads no more of its index than it answers, however many orders are simply paid', async () => {
  const merchant = uuidv7()
  await fillOrders(system.sql, merchant, 20_000)
  const [plan] = await plansOf(system.sql, () => list(merchant, { limit: 5 }))
  expect(plan).toMatchObject({ index: 'orders_attention_open', rowsRead: 6 })
  const [filtered] = await plansOf(system.sql, () => list(merchant, { limit: 5, reason: 'overpaid' }))
  expect(filtered).toMatchObject({ index: 'orders_merchant_exception', rowsRead: 6 })
  const { rows } = await system.sql.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN SELECT id FROM unmatched_payments WHERE lower(merchant_address) = '0x44' AND status = 'confirmed' AND gross_units >= 10000
       AND (block_time, (left(md5(id), 3) || '8' || substr(md5(id), 4, 15)) COLLATE "C") < (now(), 'a')
     ORDER BY block_time DESC, (left(md5(id), 3) || '8' || substr(md5(id), 4, 15)) COLLATE "C" DESC LIMIT 5`,
  )
  expect(rows.map(row => row['QUERY PLAN']).join('\n')).toMatch(/Index Scan using unmatched_payments_attention(?!.*Sort)/s)
})
