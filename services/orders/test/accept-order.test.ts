import type { EntryBody, OrderBody } from '@ponte/contracts'
import { until, uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { charge, message } from './listener'
import { chain, create, read, runOrders, system, types } from './run-orders'
import { asMerchant, merchantId, PAYOUT } from './setup'

runOrders()

// Each asks for 100 USDC; the fee is 1 %.
const post = (id: string, what: string, headers: Record<string, string> = asMerchant(), body: object = {}) =>
  request(system.url).post(`/api/v1/orders/${id}/${what}`).set(headers).send(body)
const accept = (id: string, headers: Record<string, string> = {}, reason = 'The exchange kept a dollar') =>
  post(id, 'accept', { ...asMerchant(merchantId, PAYOUT, 'ana'), ...headers }, { reason })
const pays = (order: OrderBody, gross: bigint, change: object = {}) => {
  const paid = chain.payment(order, { gross, ...change })
  return chain.report('confirmed', paid).then(() => paid)
}
const entriesOf = async (merchant: string): Promise<unknown[]> => {
  const { body } = await request(system.url).get('/api/v1/entries').query({ limit: 100 }).set(asMerchant(merchant))
  return body.data.map(({ kind, amount, brl_amount, reverses, reason }: EntryBody) => [kind, amount, brl_amount, reverses, reason])
}

describe('POST /api/v1/orders/:id/accept', () => {
  it('takes what came too little as payment in full, for the merchant, the payer and the books', async () => {
    const merchant = uuidv7()
    const order = await create(merchant)
    const paid = await pays(order, 60_000_000n)
    const answer = await post(order.id, 'accept', asMerchant(merchant, PAYOUT, 'ana'), { reason: 'The exchange kept it' })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ status: 'paid', exception: null, received: '59.400000', tx_hash: paid.tx_hash })
    expect(answer.body.accepted).toEqual({ at: answer.body.paid_at, by: 'ana', reason: 'The exchange kept it', given_away: '40.000000' })
    expect(await read(order.id, merchant)).toMatchObject({ status: 'paid', accepted: answer.body.accepted })
    expect(await types(order.id)).toEqual(['order.underpaid', 'order.paid'])
    expect((await system.chosen(order.id)).map(({ type }) => type)).toEqual(['order.settled', 'order.accepted'])
    const { body: payer } = await request(system.url).get(`/api/v1/checkout/${order.id}`).set(asMerchant(merchant))
    expect([payer.status, payer.due, payer.accepted]).toEqual(['paid', '0.000000', undefined])
    expect(await entriesOf(merchant)).toEqual([
      ['payment', '60.000000', '325.20', null, null],
      ['fee', '0.600000', '3.25', null, null],
      ['settled', '59.400000', '321.95', null, null],
      ['accepted', '40.000000', '216.80', null, 'The exchange kept it'],
    ])
    const day = paid.block_time.slice(0, 10)
    const sums = await request(system.url).get('/api/v1/summary').query({ from: day, to: day, timezone: 'UTC' }).set(asMerchant(merchant))
    expect(sums.body.total).toMatchObject({ gross: '60.000000', settled: '59.400000', waiting: '0.000000', given_away: '40.000000' })
    expect(sums.body.to_return).toBe('0.000000')
    const { body: attention } = await request(system.url).get('/api/v1/attention').set(asMerchant(merchant))
    expect(attention.data).toEqual([])
    expect((await request(system.ops).get('/reconcile').query({ from_block: 10, to_block: 10 })).body.differences).toEqual([])
  })

  it('takes what came after a cancellation, and what came late, as paid', async () => {
    const [cancelled, late] = [await create(), await create()]
    await post(cancelled.id, 'cancel')
    await pays(cancelled, 100_000_000n)
    const end = new Date(Date.parse(late.expires_at) + 1_000)
    await chain.synced(late)
    await pays(late, 100_000_000n, { block_time: end.toISOString() })
    await system.sql.query("UPDATE orders SET expires_at = expires_at + interval '30 days' WHERE id <> $1", [late.id])
    await chain.advances(end)
    await system.orders.idle()
    expect([(await read(cancelled.id)).exception, (await read(late.id)).exception]).toEqual(['paid_after_cancel', 'paid_late'])
    for (const { id } of [cancelled, late])
      expect((await accept(id)).body).toMatchObject({ status: 'paid', exception: null, accepted: { given_away: '0.000000' } })
    expect([await types(cancelled.id), await types(late.id)]).toEqual([
      ['order.cancelled', 'order.paid'],
      ['order.expired', 'order.paid'],
    ])
  })

  it('is once, of twenty at once, with a key or without, and a keyed answer is replayed', async () => {
    const keyed = await create()
    await pays(keyed, 60_000_000n)
    const key = { 'Idempotency-Key': 'twenty' }
    const same = await Promise.all(Array.from({ length: 20 }, () => accept(keyed.id, key)))
    expect(same.map(({ status }) => status)).toEqual(same.map(() => 200))
    expect(new Set(same.map(({ text }) => text)).size).toBe(1)
    const bare = await create()
    await pays(bare, 60_000_000n)
    const each = await Promise.all(Array.from({ length: 20 }, () => accept(bare.id)))
    expect(each.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)])
    for (const { id } of [keyed, bare]) {
      expect(await types(id)).toEqual(['order.underpaid', 'order.paid'])
      expect((await system.chosen(id)).filter(({ type }) => type === 'order.accepted')).toHaveLength(1)
    }
    await pays(keyed, 20_000_000n, { block_number: 11 })
    const replayed = await accept(keyed.id, key)
    expect([replayed.text, replayed.headers['idempotency-replayed']]).toEqual([same[0]?.text, 'true'])
  })

  it('accepts what is confirmed when it is written, whatever comes at the same moment', async () => {
    for (let turn = 0; turn < 12; turn++) {
      const order = await create()
      await pays(order, 60_000_000n)
      const [answer] = await Promise.all([accept(order.id), pays(order, 30_000_000n, { block_number: 11 })])
      expect([answer.status, ['40.000000', '10.000000']]).toEqual([200, expect.arrayContaining([answer.body.accepted.given_away])])
      expect(await read(order.id)).toMatchObject({ status: 'paid', accepted: { given_away: '10.000000' } })
      expect((await types(order.id)).filter(type => type === 'order.paid')).toHaveLength(1)
    }
  })

  it.each([
    ['nothing came', async () => undefined],
    ['it is being confirmed', async (order: OrderBody) => chain.report('detected', chain.payment(order))],
    ['it is paid', async (order: OrderBody) => void (await pays(order, 100_000_000n))],
  ])('is refused with a sentence where %s', async (_what, happens) => {
    const order = await create()
    await happens(order)
    const before = await read(order.id)
    const answer = await accept(order.id)
    expect([answer.status, answer.body.code, answer.body.detail.length > 20]).toEqual([409, 'invalid_state', true])
    expect(await read(order.id)).toEqual(before)
  })

  it('is refused to others, without a reason, and where there is no order', async () => {
    const order = await create()
    await pays(order, 60_000_000n)
    expect((await post(order.id, 'accept', asMerchant(uuidv7()), { reason: 'mine' })).status).toBe(403)
    for (const body of [{}, { reason: '' }, { reason: 'x'.repeat(501) }, { reason: 'x', by: 'me' }])
      expect((await post(order.id, 'accept', asMerchant(), body)).status).toBe(400)
    expect((await accept(uuidv7())).status).toBe(404)
    expect(await types(order.id)).toEqual(['order.underpaid'])
  })

  it('is undone by a reorganisation of its money, in the books too, and stands again with it', async () => {
    const merchant = uuidv7()
    const order = await create(merchant)
    await pays(order, 40_000_000n)
    const last = await pays(order, 20_000_000n, { block_number: 11 })
    expect((await post(order.id, 'accept', asMerchant(merchant), { reason: 'ok' })).body.accepted).toMatchObject({ by: null })
    await chain.report('orphaned', last)
    expect(await read(order.id, merchant)).toMatchObject({
      status: 'underpaid',
      exception: 'reorged',
      accepted: { given_away: '0.000000' },
    })
    const given = async () =>
      (await entriesOf(merchant)).filter(entry => Array.isArray(entry) && entry[0] === 'accepted').map(entry => Object(entry)[1])
    expect(await given()).toEqual(['40.000000', '-40.000000'])
    expect((await post(order.id, 'accept', asMerchant(merchant), { reason: 'again' })).status).toBe(409)
    await chain.report('confirmed', last, { block_number: 12 })
    expect(await read(order.id, merchant)).toMatchObject({
      status: 'paid',
      exception: null,
      tx_hash: last.tx_hash,
      accepted: { given_away: '40.000000' },
    })
    expect(await given()).toEqual(['40.000000', '-40.000000', '40.000000'])
    await pays(order, 45_000_000n, { block_number: 13 })
    expect(await given()).toEqual(['40.000000', '-40.000000', '40.000000', '-40.000000'])
    expect(await types(order.id)).toEqual(['order.underpaid', 'order.underpaid', 'order.paid'])
  })

  it('of a subscription’s charge it is its order.paid; not where another order of the period counts', async () => {
    const [one, other] = [charge({ brl_amount: '542.00' }), charge({ brl_amount: '542.00' })]
    for (const request of [one, other]) await system.bus.publish(message('subscription.charge_requested', request))
    for (const { order_id } of [one, other]) await pays(await read(order_id), 60_000_000n)
    await system.bus.publish(
      message('subscription.order_superseded', {
        merchant_id: merchantId,
        merchant_version: 1,
        subscription_id: other.subscription_id,
        order_id: other.order_id,
      }),
    )
    expect((await accept(one.order_id)).body).toMatchObject({ status: 'paid', subscription_id: one.subscription_id })
    expect((await system.published(one.order_id)).find(({ type }) => type === 'order.paid')?.data.order).toMatchObject({
      subscription_id: one.subscription_id,
    })
    expect((await accept(other.order_id)).body).toMatchObject({ status: 409, code: 'invalid_state' })
  })
})

describe('a period that the merchant counts as paid', () => {
  const opened = async () => {
    const request = charge({ brl_amount: '542.00', terms: { ...charge().terms, merchant_id: uuidv7() } })
    await system.bus.publish(message('subscription.charge_requested', request))
    const merchant = request.terms.merchant_id
    return { request, merchant, order: await read(request.order_id, merchant) }
  }
  type Opened = Awaited<ReturnType<typeof opened>>
  const data = ({ request, merchant, order }: Opened, tx_hash: string, accepted?: { by: string | null }) => ({
    ...{ merchant_id: merchant, merchant_version: 1, subscription_id: request.subscription_id, charges_done: 1 },
    ...(accepted === undefined ? {} : { accepted }),
    order: {
      ...{
        id: order.id,
        subscription_id: request.subscription_id,
        external_ref: order.external_ref,
        brl_amount: order.brl_amount,
        usdc_amount: order.usdc_amount,
      },
      ...{ tx_hash, memo: order.memo, paid_at: new Date().toISOString() },
    },
  })
  const superseded = ({ request, merchant }: Opened) =>
    message('subscription.order_superseded', {
      ...{ merchant_id: merchant, merchant_version: 1, subscription_id: request.subscription_id, order_id: request.order_id },
    })
  const attention = async (merchant: string) =>
    (await request(system.url).get('/api/v1/attention').set(asMerchant(merchant))).body.data.map((item: { id: string }) => item.id)
  const chosen = async (id: string) => (await system.chosen(id)).map(({ type }) => type)

  it('has its order accepted, once, however often that comes, and also where another order was to count before', async () => {
    const period = await opened()
    const { order, merchant } = period
    const paid = await pays(order, 60_000_000n)
    expect(await attention(merchant)).toEqual([order.id])
    await system.bus.publish(superseded(period))
    const counted = message('subscription.charged', data(period, paid.tx_hash, { by: 'ana' }))
    for (const each of [counted, counted, message('subscription.charged', data(period, paid.tx_hash, { by: 'ana' }))])
      await system.bus.publish(each)
    expect(await read(order.id, merchant)).toMatchObject({
      ...{ status: 'paid', exception: null },
      accepted: { by: 'ana', reason: 'Its period was counted as paid', given_away: '40.000000' },
    })
    expect([await attention(merchant), await chosen(order.id)]).toEqual([[], ['order.settled', 'order.accepted']])
    expect((await types(order.id)).filter(type => type === 'order.paid')).toHaveLength(1)
  })

  it('has its order accepted by money that this database knows only afterwards, as it was restored', async () => {
    const period = await opened()
    const { order, merchant } = period
    const paid = chain.payment(order, { gross: 60_000_000n })
    const counting = system.bus.publish(message('subscription.charged', data(period, paid.tx_hash, { by: 'ana' })))
    for (const state of ['detected', 'confirmed'] as const) await chain.report(state, paid)
    await counting
    expect(await read(order.id, merchant)).toMatchObject({ status: 'paid', accepted: { by: 'ana', given_away: '40.000000' } })
  })

  it('has its order accepted once that is back, where this database has lost both', async () => {
    const period = await opened()
    const paid = await pays(period.order, 60_000_000n)
    const other = charge({ brl_amount: '542.00', terms: { ...charge().terms, merchant_id: period.merchant } })
    const lost = { ...period, request: other, order: { ...period.order, id: other.order_id } }
    const counted = message('subscription.charged', data(lost, paid.tx_hash, { by: 'ana' }))
    await system.bus.publish(counted)
    const letters = system.bus.deadLetters('orders.2')
    expect((await letters.list(10)).map(({ id }) => id)).toEqual([counted.id])
    await system.bus.publish(message('subscription.charge_requested', other))
    await pays(await read(other.order_id, period.merchant), 60_000_000n)
    await letters.retry()
    await system.orders.idle()
    const isAccepted = async () => (await read(other.order_id, period.merchant)).status === 'paid'
    await until(isAccepted, 'it was not accepted')
    expect(await letters.count()).toBe(0)
  })

  it('leaves an order alone that was paid meanwhile, whose money is gone, or whose period an order.paid counted', async () => {
    const [paid, empty, short] = [await opened(), await opened(), await opened()]
    const whole = await pays(paid.order, 100_000_000n)
    const part = await pays(short.order, 60_000_000n)
    await system.bus.publish(message('subscription.charged', data(paid, whole.tx_hash, { by: null })))
    const gone = await pays(empty.order, 60_000_000n)
    await chain.publish({ gone: [gone.block_hash] })
    await system.bus.publish(message('subscription.charged', data(empty, gone.tx_hash, { by: null })))
    await system.bus.publish(message('subscription.charged', data(short, part.tx_hash)))
    const shown = await Promise.all([paid, empty, short].map(({ order, merchant }) => read(order.id, merchant)))
    expect(shown.map(({ status, accepted }) => [status, accepted])).toEqual([
      ['paid', undefined],
      ['pending', undefined],
      ['underpaid', undefined],
    ])
  })
})
