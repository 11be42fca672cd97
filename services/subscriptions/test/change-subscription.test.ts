import { runSubscriptions, system } from './setup'

runSubscriptions({ replicas: 2 })

const patch = (id: string, body: object) => system.call('patch', `/${id}`, body)
const cancel = (id: string, headers: Record<string, string> = {}) => system.call('post', `/${id}/cancel`, {}, headers)
const published = (type: 'subscription.cancelled' | 'subscription.expired', id: string) =>
  system.of(type).filter(({ data }) => data.subscription.id === id)

describe('PATCH /api/v1/subscriptions/:id', () => {
  it('keeps what is absent, clears what is null and answers all of it', async () => {
    const { id } = await system.create({ external_ref: 'A', description: 'b', max_periods: 3 })
    const { status, body } = await patch(id, { external_ref: null, max_periods: 5, metadata: { a: 'b' } })
    expect([status, body]).toMatchObject([200, { external_ref: null, description: 'b', max_periods: 5, metadata: { a: 'b' } }])
    expect(await system.get(id)).toEqual({ ...body, charges: [] })
  })

  it('charges the new amount from the next period; the open order keeps the old one', async () => {
    const { id } = await system.create({ interval: 'month', brl_amount: '10.00' })
    await system.idle()
    const before = await system.get(id)
    await patch(id, { brl_amount: '20', interval: 'week' })
    expect(await system.get(id)).toMatchObject({
      brl_amount: '20.00',
      interval: 'week',
      next_charge_at: before.next_charge_at,
      open_order_id: before.open_order_id,
      charges: [{ brl_amount: '10.00' }],
    })
  })

  it.each([
    [{ brl_amount: '0' }, 'brl_amount'],
    [{ start_at: '2026-01-01T00:00:00.000Z' }, 'start_at'],
    [{ status: 'active' }, 'status'],
    [{ expires_at: '2020-01-01T00:00:00.000Z' }, 'expires_at'],
    [{ interval: 'day' }, 'interval'],
    [{ timezone: 'Nowhere/Else' }, 'timezone'],
  ])('refuses %j, naming the field', async (body, path) => {
    const { id } = await system.create()
    const answer = await patch(id, body)
    expect([answer.status, answer.body.errors?.[0].path]).toEqual([400, path])
  })

  it('refuses max_periods below charges_done', async () => {
    const { id } = await system.create()
    for (let n = 0; n < 2; n += 1) {
      await system.pay((await system.call('post', `/${id}/charge`)).body.id)
      await system.idle()
    }
    expect((await patch(id, { max_periods: 1 })).body).toMatchObject({ status: 400, errors: [{ path: 'max_periods' }] })
    expect((await patch(id, { max_periods: 2 })).body).toMatchObject({ status: 'expired', charges_done: 2 })
    await system.idle()
    expect(published('subscription.expired', id)).toHaveLength(1)
  })

  it('refuses a final state with 409', async () => {
    const { id } = await system.create()
    await cancel(id)
    expect((await patch(id, { brl_amount: '1' })).body).toMatchObject({ status: 409, code: 'invalid_state' })
  })

  it('loses nothing when many change it at once', async () => {
    const { id } = await system.create({ interval: 'day' })
    const changes = Array.from({ length: 60 }, (_, n) =>
      system.call('patch', `/${id}`, n % 2 ? { description: `d${n}` } : { external_ref: `e${n}` }, {}, n % 2),
    )
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 200))
    expect(await system.get(id)).toMatchObject({ description: expect.stringMatching(/^d/), external_ref: expect.stringMatching(/^e/) })
  })
})

describe('POST /api/v1/subscriptions/:id/cancel', () => {
  it('answers 200, publishes once which open order goes too, and answers the same body again', async () => {
    const { id } = await system.create({ external_ref: 'C-1' })
    const open = (await system.call('post', `/${id}/charge`)).body.id
    const first = await cancel(id)
    expect([first.status, first.body]).toMatchObject([200, { status: 'cancelled', cancelled_at: '2026-01-31T12:00:00.000Z' }])
    const answers = await Promise.all(Array.from({ length: 5 }, () => cancel(id)))
    expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 5 }, () => first.text))
    await system.idle()
    expect(published('subscription.cancelled', id).map(({ data }) => data)).toMatchObject([
      { open_order_id: open, subscription: { id, external_ref: 'C-1' } },
    ])
    await system.close(open, 'cancelled')
    expect(await system.get(id)).toMatchObject({ status: 'cancelled', open_order_id: null })
  })

  it('replays its answer for an Idempotency-Key', async () => {
    const { id } = await system.create()
    const first = await cancel(id, { 'Idempotency-Key': 'c' })
    const again = await cancel(id, { 'Idempotency-Key': 'c' })
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true'])
  })

  it('still counts a payment that was in flight, and sends subscription.charged for it', async () => {
    const { id } = await system.create({ max_periods: 1 })
    const open = (await system.call('post', `/${id}/charge`)).body.id
    await cancel(id)
    await system.pay(open)
    await system.idle()
    expect(await system.get(id)).toMatchObject({ status: 'cancelled', charges_done: 1 })
    expect(system.of('subscription.charged').filter(({ data }) => data.subscription_id === id)).toHaveLength(1)
    expect(published('subscription.expired', id)).toEqual([])
  })

  it('is refused once expired, and nothing is charged after either end', async () => {
    const { id } = await system.create({ max_periods: 1 })
    await system.pay((await system.call('post', `/${id}/charge`)).body.id)
    await system.idle()
    expect((await cancel(id)).body).toMatchObject({ status: 409, code: 'invalid_state' })
    expect((await system.call('post', `/${id}/charge`)).body).toMatchObject({ status: 409, code: 'invalid_state' })
  })

  it('wins or loses against a charge at the same moment, and never leaves an order that is not cancelled', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await system.create()
      const [charged] = await Promise.all([
        system.call('post', `/${id}/charge`, {}, {}, 0),
        system.call('post', `/${id}/cancel`, {}, {}, 1),
      ])
      await system.idle()
      const [end] = published('subscription.cancelled', id)
      const asked = system.of('subscription.charge_requested').filter(({ data }) => data.subscription_id === id)
      expect(end?.data.open_order_id ?? null).toBe(asked[0]?.data.order_id ?? null)
      expect(charged.status).toBe(asked.length === 1 ? 201 : 409)
    }
  })
})
