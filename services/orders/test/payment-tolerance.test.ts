import type { EntryBody, OrderBody } from '@ponte/contracts'
import { uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { charge, message } from './listener'
import { chain, read, runOrders, system, types } from './run-orders'
import { asMerchant, merchantId, PAYOUT } from './setup'

runOrders()

// Each asks for 100 USDC; the fee is 1 %.
const post = (body: object, headers: object = asMerchant()) =>
  request(system.url)
    .post('/api/v1/orders')
    .set({ ...headers })
    .send({ brl_amount: '542.00', ...body })
const create = async (payment_tolerance: string, merchant = merchantId): Promise<OrderBody> =>
  (await post({ payment_tolerance }, asMerchant(merchant))).body
const pays = async (order: OrderBody, gross: bigint, change: object = {}) => {
  const paid = chain.payment(order, { gross, ...change })
  await chain.report('confirmed', paid)
  return paid
}
const entriesOf = async (merchant: string) => {
  const { body } = await request(system.url).get('/api/v1/entries').query({ limit: 100 }).set(asMerchant(merchant))
  return body.data.map(({ kind, amount, brl_amount, reverses, reason }: EntryBody) => [kind, amount, brl_amount, reverses, reason])
}
const givenAway = async (merchant: string) =>
  (await entriesOf(merchant)).filter(([kind]: string[]) => kind === 'accepted').map(([, amount]: string[]) => amount)
/** Counts entries that the ledger lacks or has too many. */
const lacking = async () =>
  Number((await system.sql.query<{ book: string }>('SELECT book(ARRAY(SELECT tx_hash FROM payments))')).rows[0]?.book)

describe('an order that is short within its tolerance', () => {
  it('is paid, and what was given away stands in the books', async () => {
    const merchant = uuidv7()
    const order = await create('1.00', merchant)
    expect([order.payment_tolerance, order.usdc_amount]).toEqual(['1.000000', '100.000000'])
    const { body: payer } = await request(system.url).get(`/api/v1/checkout/${order.id}`).set(asMerchant(merchant))
    expect([payer.due, payer.payment_tolerance]).toEqual(['100.000000', undefined])
    const paid = await pays(order, 99_000_000n)
    expect(await read(order.id, merchant)).toMatchObject({ status: 'paid', exception: null, received: '98.010000' })
    expect(await types(order.id)).toEqual(['order.paid'])
    expect(await entriesOf(merchant)).toEqual([
      ['payment', '99.000000', '536.58', null, null],
      ['fee', '0.990000', '5.37', null, null],
      ['settled', '98.010000', '531.21', null, null],
      ['accepted', '1.000000', '5.42', null, 'payment_tolerance'],
    ])
    const day = paid.block_time.slice(0, 10)
    const sums = await request(system.url).get('/api/v1/summary').query({ from: day, to: day, timezone: 'UTC' }).set(asMerchant(merchant))
    expect(sums.body.total).toMatchObject({ gross: '99.000000', settled: '98.010000', waiting: '0.000000', given_away: '1.000000' })
    expect([sums.body.to_return, await lacking()]).toEqual(['0.000000', 0])
  })

  it('stays short by a unit more, of which nothing is booked, and is paid by the next payment', async () => {
    const merchant = uuidv7()
    const order = await create('1.00', merchant)
    await pays(order, 98_999_999n)
    expect([(await read(order.id, merchant)).status, await givenAway(merchant)]).toEqual(['underpaid', []])
    await pays(order, 500_000n, { block_number: 11 })
    expect([(await read(order.id, merchant)).status, await givenAway(merchant)]).toEqual(['paid', ['0.500001']])
    expect(await types(order.id)).toEqual(['order.underpaid', 'order.paid'])
  })

  it('gives away what is missing now: less with what comes afterwards, nothing once it is whole or lost', async () => {
    const merchant = uuidv7()
    const order = await create('1.00', merchant)
    await pays(order, 99_000_000n)
    const second = await pays(order, 400_000n, { block_number: 11 })
    expect(await givenAway(merchant)).toEqual(['1.000000', '-1.000000', '0.600000'])
    await chain.report('orphaned', second)
    expect(await givenAway(merchant)).toEqual(['1.000000', '-1.000000', '0.600000', '-0.600000', '1.000000'])
    await pays(order, 1_000_000n, { block_number: 12 })
    expect((await givenAway(merchant)).slice(5)).toEqual(['-1.000000'])
    expect(await read(order.id, merchant)).toMatchObject({ status: 'paid', exception: null })
    expect(await lacking()).toBe(0)
  })

  it('is undone by a reorganisation, in the books too, and stands again with the payment', async () => {
    const merchant = uuidv7()
    const order = await create('1.00', merchant)
    const paid = await pays(order, 99_500_000n)
    await chain.report('orphaned', paid)
    expect(await read(order.id, merchant)).toMatchObject({ status: 'pending', exception: 'reorged' })
    expect(await givenAway(merchant)).toEqual(['0.500000', '-0.500000'])
    await chain.report('confirmed', paid, { block_number: 12 })
    expect(await read(order.id, merchant)).toMatchObject({ status: 'paid', exception: null })
    expect(await givenAway(merchant)).toEqual(['0.500000', '-0.500000', '0.500000'])
    expect([await types(order.id), await lacking()]).toEqual([['order.paid'], 0])
  })

  it.each([
    ['a cent short is rounding, and in no book', 99_990_000n, null, []],
    ['a cent and a unit', 99_989_999n, null, ['0.010001']],
    ['ninety cents too much are not forgiven', 100_900_000n, 'overpaid', []],
  ])('%s', async (_, gross, exception, given) => {
    const merchant = uuidv7()
    const order = await create('1.00', merchant)
    await pays(order, gross)
    expect(await read(order.id, merchant)).toMatchObject({ status: 'paid', exception })
    expect(await givenAway(merchant)).toEqual(given)
  })
})

describe('the tolerance of an order', () => {
  it.each([
    ['the order', { payment_tolerance: '2' }, '0.500000', '2.000000'],
    ['the order, which may want all of it', { payment_tolerance: '0' }, '0.500000', '0.000000'],
    ['the merchant', {}, '0.500000', '0.500000'],
    ['the merchant, as far as is allowed', {}, '40.000000', '5.000000'],
    ['the merchant, where the order names none', { payment_tolerance: null }, '0.500000', '0.500000'],
    ['the deployment', {}, null, '0.010000'],
  ])('is what is set for %s', async (_, body, payment_tolerance, units) =>
    expect((await post(body, asMerchant(merchantId, PAYOUT, undefined, { payment_tolerance }))).body.payment_tolerance).toBe(units),
  )

  it.each([
    ['more than the deployment allows', { payment_tolerance: '5.000001' }, /at most 5\.000000 for this order of 100\.000000 USDC/],
    ['more than a tenth', { payment_tolerance: '1.01', brl_amount: '54.20' }, /at most 1\.000000 for this order of 10\.000000 USDC/],
    ['no amount', { payment_tolerance: '1 %' }, /at most six decimals/],
    ['below zero', { payment_tolerance: '-1' }, /at most six decimals/],
    ['a number', { payment_tolerance: 1 }, /must be a string/],
  ])('is refused where it is %s', async (_, body, detail) => {
    const { status, body: problem } = await post(body)
    expect([status, problem.code, problem.errors[0].path]).toEqual([400, 'invalid_request', 'payment_tolerance'])
    expect(problem.errors[0].message).toMatch(detail)
  })

  it('is part of what a key repeats', async () => {
    const keyed = (payment_tolerance: string) =>
      post({ payment_tolerance }, { ...asMerchant(), 'Idempotency-Key': 'one-tolerance' }).then(({ status, body }) => [
        status,
        body.code ?? body.payment_tolerance,
      ])
    expect(await keyed('1.00')).toEqual([201, '1.000000'])
    expect(await keyed('1.00')).toEqual([201, '1.000000'])
    expect(await keyed('2.00')).toEqual([422, 'idempotency_mismatch'])
  })

  it('of a plan’s order is the newest of its merchant, with the request or before it', async () => {
    const toleranceOf = async (terms: object, merchant = uuidv7()) => {
      const asked = charge({ brl_amount: '542.00', terms: { ...charge().terms, merchant_id: merchant, ...terms } })
      await system.bus.publish(message('subscription.charge_requested', asked))
      return (await read(asked.order_id, merchant)).payment_tolerance
    }
    expect(await toleranceOf({ payment_tolerance: '1.500000' })).toBe('1.500000')
    expect(await toleranceOf({})).toBe('0.010000')
    const merchant = uuidv7()
    const secrets = {
      ...{ webhook_url: null, sealed_webhook_secret: 'sealed' },
      ...{ sealed_pending_webhook_secret: null, pending_webhook_secret_activates_at: null },
    }
    const terms = { ...charge().terms, merchant_id: merchant, version: 2, payment_tolerance: '2.000000' }
    await system.bus.publish(message('merchant.updated', { ...terms, ...secrets }))
    expect(await toleranceOf({ payment_tolerance: '1.500000' }, merchant)).toBe('2.000000')
    await system.bus.publish(message('merchant.updated', { ...terms, version: 3, payment_tolerance: null, ...secrets }))
    expect(await toleranceOf({ payment_tolerance: '1.500000' }, merchant)).toBe('0.010000')
  })

  it('of an order beside which another one counts gives nothing away', async () => {
    const merchant = uuidv7()
    const terms = { ...charge().terms, merchant_id: merchant, payment_tolerance: '1.000000' }
    const asked = charge({ brl_amount: '542.00', terms })
    await system.bus.publish(message('subscription.charge_requested', asked))
    const order = await read(asked.order_id, merchant)
    await pays(order, 99_000_000n)
    expect(await givenAway(merchant)).toEqual(['1.000000'])
    await system.bus.publish(
      message('subscription.order_superseded', {
        ...{ merchant_id: merchant, merchant_version: 1, subscription_id: asked.subscription_id, order_id: asked.order_id },
      }),
    )
    expect(await read(order.id, merchant)).toMatchObject({ status: 'paid', exception: 'duplicate' })
    expect([await givenAway(merchant), await lacking()]).toEqual([['1.000000', '-1.000000'], 0])
  })
})
