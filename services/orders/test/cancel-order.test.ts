import type { OrderBody } from '@ponte/contracts'
import request from 'supertest'
import { chain, runOrders, system, types } from './run-orders'
import { asMerchant } from './setup'

runOrders()

const create = async (): Promise<OrderBody> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00', external_ref: 'INV-9' })).body
const cancel = (id: string, headers: Record<string, string> = {}) =>
  request(system.url)
    .post(`/api/v1/orders/${id}/cancel`)
    .set({ ...asMerchant(), ...headers })

describe('POST /api/v1/orders/:id/cancel', () => {
  it('cancels once; asked again it answers the same', async () => {
    const order = await create()
    const first = await cancel(order.id)
    expect([first.status, first.body.status]).toEqual([200, 'cancelled'])
    expect(first.body.cancelled_at).not.toBeNull()
    const again = await cancel(order.id).send({})
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(await system.published(order.id)).toMatchObject([
      { type: 'order.cancelled', data: { subscription_id: null, order: { id: order.id, external_ref: 'INV-9' } } },
    ])
  })

  it('makes one cancellation of twenty at once, with a key or without', async () => {
    for (const headers of [{}, { 'Idempotency-Key': 'twenty' }]) {
      const order = await create()
      const answers = await Promise.all(Array.from({ length: 20 }, () => cancel(order.id, headers)))
      expect(answers.map(answer => answer.status)).toEqual(answers.map(() => 200))
      expect(new Set(answers.map(answer => answer.text)).size).toBe(1)
      expect(await types(order.id)).toEqual(['order.cancelled'])
    }
  })

  it('replays a keyed answer as it was, whatever happened since', async () => {
    const order = await create()
    const key = { 'Idempotency-Key': 'replay' }
    const [first, second] = [await cancel(order.id, key), await cancel(order.id, { 'Idempotency-Key': 'another' })]
    expect([first.headers['idempotency-replayed'], second.headers['idempotency-replayed']]).toEqual([undefined, undefined])
    await chain.report('confirmed', chain.payment(order))
    for (const each of [key, { 'Idempotency-Key': 'another' }]) {
      const replayed = await cancel(order.id, each)
      expect([replayed.text, replayed.headers['idempotency-replayed']]).toEqual([first.text, 'true'])
    }
    expect((await cancel(order.id)).body).toMatchObject({ status: 'cancelled', exception: 'paid_after_cancel' })
  })

  it('a payment and a cancellation at the same moment: one wins, and nothing is published twice', async () => {
    for (let turn = 0; turn < 12; turn++) {
      const order = await create()
      const [answer] = await Promise.all([cancel(order.id), chain.report('confirmed', chain.payment(order))])
      const { body } = await request(system.url).get(`/api/v1/orders/${order.id}`).set(asMerchant())
      if (answer.status === 200)
        expect(body).toMatchObject({ status: 'cancelled', exception: 'paid_after_cancel', received: order.expected })
      else expect([answer.status, body.status]).toEqual([409, 'paid'])
      expect(await types(order.id)).toEqual([answer.status === 200 ? 'order.cancelled' : 'order.paid'])
    }
  })
})
