import { payerSubscription } from '@ponte/contracts'
import { signCaller } from '@ponte/service-kit'
import request from 'supertest'
import { runSubscriptions, system, TOKEN_SECRET } from './setup'

runSubscriptions({ replicas: 2 })

const asPayer = () => ({
  Authorization: `Bearer ${signCaller({ kind: 'checkout' }, { secrets: [TOKEN_SECRET], audience: 'subscriptions' })}`,
})
const pathOf = (payerUrl = '') => `/api/v1/payer/subscriptions/${payerUrl.split('/').at(-1)}`
const see = async (payerUrl: string) => payerSubscription.parse((await request(system.url()).get(pathOf(payerUrl)).set(asPayer())).body)
const ask = (payerUrl: string, replica = 0) =>
  request(system.url(replica))
    .post(`${pathOf(payerUrl)}/order`)
    .set(asPayer())
    .send({})
const create = async (body: object = {}) => {
  const made = await system.create({ interval: 'month', retry_after: [], ...body })
  await system.idle()
  return { id: made.id, url: made.payer_url ?? '' }
}

describe('the page of a subscription`s payer', () => {
  it('shows what is due, receipts and what comes next, and nothing that is the merchant`s own', async () => {
    const { id, url } = await create({ external_ref: 'PLAN-7', metadata: { customer: '42' }, description: 'Clube do pão' })
    const first = (await system.get(id)).open_order_id ?? ''
    expect((await system.get(id)).payer_url).toBe(url)
    expect(url).not.toContain(id)
    const due = await see(url)
    expect(due).toMatchObject({
      ...{ merchant_name: 'Padaria Estrela', description: 'Clube do pão', brl_amount: '49.90', interval: 'month', status: 'active' },
      due: { brl_amount: '49.90', checkout_url: `http://127.0.0.1:8080/pay/${first}`, can_be_asked: false },
      charges: [{ status: 'open', receipt_url: `http://127.0.0.1:8080/pay/${first}` }],
    })
    const text = JSON.stringify(due)
    for (const hidden of [id, 'PLAN-7', 'customer']) expect(text).not.toContain(hidden)
    await system.pay(first)
    await system.idle()
    expect(await see(url)).toMatchObject({ due: null, charges: [{ status: 'paid', receipt_url: `http://127.0.0.1:8080/pay/${first}` }] })
  })

  it('opens one order for an unpaid period, however many ask at once, and none while one is open or nothing is due', async () => {
    const { id, url } = await create()
    const first = (await system.get(id)).open_order_id ?? ''
    await system.close(first, 'expired')
    await system.idle()
    expect(await see(url)).toMatchObject({ due: { checkout_url: null, can_be_asked: true }, charges: [{ status: 'open' }] })
    const answers = await Promise.all([0, 1, 0, 1].map(replica => ask(url, replica)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    await system.idle()
    const { open_order_id: second, charges } = await system.get(id)
    expect(charges?.[0]?.orders).toHaveLength(2)
    expect((await ask(url)).body.due).toEqual({
      brl_amount: '49.90',
      checkout_url: `http://127.0.0.1:8080/pay/${second}`,
      can_be_asked: false,
    })
    await system.pay(second ?? '')
    await system.idle()
    expect((await ask(url)).body).toMatchObject({ due: null })
    expect((await system.get(id)).charges?.[0]?.orders).toHaveLength(2)
  })

  it('undoes the pause of an unpaid plan by a payment, and no pause of the merchant', async () => {
    const { id, url } = await create({ unpaid_periods_max: 1 })
    await system.close((await system.get(id)).open_order_id ?? '', 'expired')
    await system.moveTo('2026-02-28T12:00:00.000Z')
    expect(await system.get(id)).toMatchObject({ pause_reason: 'unpaid', open_order_id: null })
    expect(await see(url)).toMatchObject({ paused: true, due: { brl_amount: '49.90', checkout_url: null, can_be_asked: true } })
    await Promise.all([ask(url, 0), ask(url, 1)])
    await system.idle()
    const order = (await system.get(id)).open_order_id ?? ''
    expect(await see(url)).toMatchObject({ due: { checkout_url: `http://127.0.0.1:8080/pay/${order}`, can_be_asked: false } })
    await system.pay(order)
    await system.idle()
    expect(await system.get(id)).toMatchObject({ status: 'active', paused_at: null, next_charge_at: '2026-03-31T12:00:00.000Z' })
    const resumed = () => system.of('subscription.resumed').filter(({ data }) => data.subscription.id === id)
    expect(resumed()).toHaveLength(1)
    await system.moveTo('2026-03-31T12:00:00.000Z')
    expect((await system.get(id)).open_order_id).not.toBeNull()
    await system.call('patch', `/${id}`, { paused: true })
    await system.close((await system.get(id)).open_order_id ?? '', 'expired')
    await system.idle()
    expect((await ask(url)).body).toMatchObject({ paused: true, due: null })
    expect(resumed()).toHaveLength(1)
  })

  it('does not charge a subscription that its merchant charges at will', async () => {
    const { id, url } = await create({ interval: undefined, retry_after: undefined })
    expect((await ask(url)).body).toMatchObject({ due: null, charges: [] })
    expect((await system.get(id)).charges).toEqual([])
  })

  it('is found by its own token alone', async () => {
    const { id } = await create()
    const find = (token: string) => request(system.url()).get(`/api/v1/payer/subscriptions/${token}`).set(asPayer())
    expect((await find(id)).body).toMatchObject({ status: 404, code: 'not_found' })
    expect((await find('nonsense')).body).toMatchObject({ status: 400, code: 'invalid_request' })
    // A payer's credential reads no subscription of a merchant.
    expect((await request(system.url()).get(`/api/v1/subscriptions/${id}`).set(asPayer())).status).toBe(403)
  })
})
