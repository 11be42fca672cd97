import { liveCheckouts, order } from '@ponte/contracts'
import { uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { runOrders, system } from './run-orders'
import { asMerchant, merchantId, PAYOUT } from './setup'

runOrders()

const create = (body: object, headers: Record<string, string> = {}) =>
  request(system.url)
    .post('/api/v1/orders')
    .set({ ...asMerchant(), ...headers })
    .send(body)

describe('POST /api/v1/orders', () => {
  it('prices the order at once and answers 201 with all of it', async () => {
    const { status, body } = await create({ brl_amount: '150.00', external_ref: 'INV-7' })
    expect(status).toBe(201)
    expect(order.parse(body)).toMatchObject({
      status: 'pending',
      external_ref: 'INV-7',
      brl_amount: '150.00',
      usdc_amount: '27.675277',
      platform_fee: '0.276752',
      expected: '27.398525',
      received: '0.000000',
      payment: { merchant_address: PAYOUT, checkout_url: `http://127.0.0.1:8080/pay/${body.id}` },
    })
    expect(body.memo).toMatch(/^[0-9a-f]{64}$/)
    const read = await request(system.url).get(`/api/v1/orders/${body.id}`).set(asMerchant())
    expect(read.body).toEqual({ ...body, payments: [] })
  })

  it('asks the listener to watch it in the same statement (invariant 2)', async () => {
    const { body } = await create({ brl_amount: '10' })
    const { rows } = await system.sql.query(
      "SELECT type, body::jsonb->'data'->'orders' AS orders FROM outbox WHERE body::jsonb->'data'->'orders'->0->>'order_id' = $1",
      [body.id],
    )
    expect(rows).toMatchObject([
      { type: 'deposit.watch', orders: [{ merchant_id: merchantId, memo: body.memo, asked_amount: body.usdc_amount }] },
    ])
  })

  it('makes one order of fifty equal requests at once with one Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'fifty' }
    const answers = await Promise.all(Array.from({ length: 50 }, () => create({ brl_amount: '12.34' }, headers)))
    expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([201]))
    expect(new Set(answers.map(answer => answer.text)).size).toBe(1)
    expect(answers.filter(answer => answer.headers['idempotency-replayed'] === 'true')).toHaveLength(49)
    const { rows } = await system.sql.query('SELECT count(*)::int AS n FROM orders WHERE brl_centavos = 1234')
    expect(rows[0]?.n).toBe(1)
    const other = await create({ brl_amount: '12.35' }, headers)
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_mismatch'])
  })

  it.each([
    [{ brl_amount: 150 }, 'brl_amount'],
    [{ brl_amount: '0.00' }, 'brl_amount'],
    [{ brl_amount: '1', surprise: true }, 'surprise'],
    [{ brl_amount: '1', expires_in: 9 }, 'expires_in'],
    [{ brl_amount: '1', external_ref: 'a\0b' }, 'external_ref'],
    [{}, 'brl_amount'],
  ])('refuses %j, naming the field, and changes nothing', async (body, path) => {
    const before = await system.sql.query('SELECT count(*)::int AS n FROM orders')
    const answer = await create(body)
    expect([answer.status, answer.body.code, answer.body.errors[0].path]).toEqual([400, 'invalid_request', path])
    expect(answer.headers['content-type']).toMatch('application/problem+json')
    const after = await system.sql.query('SELECT count(*)::int AS n FROM orders')
    expect(after.rows).toEqual(before.rows)
  })

  it('asks for a payout address before it takes an order', async () => {
    const answer = await request(system.url).post('/api/v1/orders').set(asMerchant(merchantId, null)).send({ brl_amount: '1' })
    expect([answer.status, answer.body.code]).toEqual([422, 'payout_address_required'])
  })
})

it('POST /api/v1/checkouts answers the gateway what many live pages show, and of which merchant', async () => {
  const made = await Promise.all([1, 2].map(() => request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '10' })))
  const ids = made.map(({ body }) => body.id)
  const { body } = await request(system.url)
    .post('/api/v1/checkouts')
    .set(asMerchant())
    .send({ ids: [...ids, uuidv7()] })
    .expect(200)
  const shown = liveCheckouts.parse(body).data
  expect(shown.map(({ checkout }) => checkout.id).sort()).toEqual(ids.sort())
  expect(new Set(shown.map(each => each.merchant_id))).toEqual(new Set([merchantId]))
  const one = await request(system.url).get(`/api/v1/checkout/${ids[0]}`).set(asMerchant())
  expect(shown.find(({ checkout }) => checkout.id === ids[0])?.checkout).toEqual(one.body)
  await request(system.url).post('/api/v1/checkouts').set(asMerchant()).send({ ids: [] }).expect(400)
})
