import { order } from '@ponte/contracts'
import { merchantId, type System, startSubscriptions } from './setup'

let system: System
beforeAll(async () => {
  system = await startSubscriptions({ replicas: 3, env: { ORDER_WAIT_MS: '10000' } })
})
afterAll(() => system.stop())

const charge = (id: string, headers: Record<string, string> = {}, replica = 0) => system.call('post', `/${id}/charge`, {}, headers, replica)

describe('POST /api/v1/subscriptions/:id/charge', () => {
  it('answers 201 with the full order, then 200 with the same one while it is open', async () => {
    const { id } = await system.create({ external_ref: 'SUB-1', description: 'Pão', metadata: { plan: 'a' } })
    const first = await charge(id)
    expect([first.status, order.parse(first.body)]).toMatchObject([
      201,
      { status: 'pending', subscription_id: id, external_ref: 'SUB-1', description: 'Pão', metadata: { plan: 'a' }, brl_amount: '49.90' },
    ])
    const second = await charge(id, {}, 1)
    expect([second.status, second.body]).toEqual([200, first.body])
    expect(await system.get(id)).toMatchObject({ open_order_id: first.body.id, charges_done: 0 })
  })

  it('leaves a plan with an open order as it is, so that none of fifty requests at once is refused', async () => {
    const { id } = await system.create()
    const first = await charge(id)
    await system.idle()
    const versionOf = async () => (await system.sql.query('SELECT version FROM subscriptions WHERE id = $1', [id])).rows[0]?.version
    const version = await versionOf()
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => charge(id, {}, at % 3)))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set([`200 ${first.text}`]))
    expect(await versionOf()).toBe(version)
  })

  it('answers 200 with the order as it is now, whatever came for it and in whichever order that was reported', async () => {
    const { id } = await system.create()
    const headers = { 'Idempotency-Key': 'as-it-is' }
    const first = await charge(id)
    const txHash = `0x${'ab'.repeat(32)}`
    await system.update(first.body.id, 3, { status: 'underpaid', received: '4.500000', tx_hash: txHash, payment_uri: 'ethereum:rest' })
    await system.update(first.body.id, 2, { status: 'confirming', payment_uri: null })
    await system.idle()
    const now = await charge(id, headers, 2)
    expect([now.status, order.parse(now.body)]).toEqual([
      200,
      {
        ...first.body,
        ...{ status: 'underpaid', received: '4.500000', tx_hash: txHash },
        payment: { ...first.body.payment, payment_uri: 'ethereum:rest' },
      },
    ])
    // A repeated request gets the answer it got.
    await system.update(first.body.id, 4, { status: 'confirming' })
    await system.idle()
    expect((await charge(id, headers, 1)).text).toBe(now.text)
    expect((await charge(id)).body).toMatchObject({ status: 'confirming' })
  })

  it('charges again once the first is paid, and reports it as subscription.charged, never order.paid', async () => {
    const { id } = await system.create({ external_ref: 'SUB-2' })
    const first = await charge(id)
    await system.pay(first.body.id)
    await system.idle()
    const published = system.of('subscription.charged').filter(({ data }) => data.subscription_id === id)
    expect(published.map(({ data }) => data)).toMatchObject([
      {
        merchant_id: merchantId,
        charges_done: 1,
        order: { id: first.body.id, subscription_id: id, memo: first.body.memo, external_ref: 'SUB-2' },
      },
    ])
    const second = await charge(id)
    expect(second.status).toBe(201)
    expect(second.body.id).not.toBe(first.body.id)
    expect(await system.get(id)).toMatchObject({ charges_done: 1, current_period_index: 1, open_order_id: second.body.id })
  })

  it('makes one order of twenty charges at once on three replicas, with three schedulers running', async () => {
    const { id } = await system.create({ interval: 'month' })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => charge(id, {}, n % 3)))
    await system.idle()
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(answers.every(({ status }) => status === 200 || status === 201)).toBe(true)
    expect(system.of('subscription.charge_requested').filter(({ data }) => data.subscription_id === id)).toHaveLength(1)
    const { rows } = await system.sql.query('SELECT period_index, status FROM charges WHERE subscription_id = $1', [id])
    expect(rows).toEqual([{ period_index: 0, status: 'open' }])
  })

  it('replays the answer of an Idempotency-Key byte by byte', async () => {
    const { id } = await system.create()
    const headers = { 'Idempotency-Key': 'charge-1' }
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => charge(id, headers, n % 3)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(answer => answer.headers['idempotency-replayed'] === 'true')).toHaveLength(9)
    await system.pay(answers[0]?.body.id)
    const replayed = await charge(id, headers)
    expect([replayed.status, replayed.text]).toEqual([201, answers[0]?.text])
  })

  it('is not due before the start, nor twice in a period', async () => {
    const later = await system.create({ interval: 'day', start_at: '2026-02-01T12:00:00.000Z' })
    expect((await charge(later.id)).body).toMatchObject({ status: 409, code: 'not_due' })
    const { id } = await system.create({ interval: 'day' })
    await system.pay((await charge(id)).body.id)
    expect((await charge(id)).body).toMatchObject({ status: 409, code: 'not_due' })
  })
})

describe('while orders is down', () => {
  let system: System
  beforeAll(async () => {
    system = await startSubscriptions({ env: { ORDER_WAIT_MS: '100' } })
  })
  afterAll(() => system.stop())

  it('answers 202 with the order`s id and link while orders is down, and the order appears when orders returns', async () => {
    const { id } = await system.create()
    system.state.ordersDown = true
    const headers = { 'Idempotency-Key': 'down-1' }
    const charge = (key: Record<string, string> = {}) => system.call('post', `/${id}/charge`, {}, key)
    const pending = await charge(headers)
    expect([pending.status, pending.body]).toEqual([
      202,
      {
        object: 'charge',
        subscription_id: id,
        order_id: pending.body.order_id,
        checkout_url: `http://127.0.0.1:8080/pay/${pending.body.order_id}`,
      },
    ])
    expect((await charge()).body).toEqual(pending.body)
    await system.ordersReturns()
    await system.idle()
    const retried = await charge(headers)
    expect([retried.status, order.parse(retried.body).id]).toEqual([201, pending.body.order_id])
    expect(system.of('subscription.charge_requested').filter(({ data }) => data.subscription_id === id)).toHaveLength(1)
  })
})
