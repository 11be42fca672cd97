import { asMerchant, PAYOUT, runSubscriptions, system } from './setup'

runSubscriptions({ replicas: 2 })

const accept = (id: string, period: number | string, headers: Record<string, string> = {}, replica = 0) =>
  system.call('post', `/${id}/charges/${period}/accept`, {}, headers, replica)
const charged = (id: string) => system.of('subscription.charged').filter(({ data }) => data.subscription_id === id)

/** A daily plan whose first order expired, and whose money came when its period was over. */
async function paidLate() {
  const { id } = await system.create({ interval: 'day', retry_after: [] })
  await system.idle()
  const late = (await system.get(id)).open_order_id ?? ''
  await system.close(late, 'expired')
  await system.moveTo(new Date(system.clock.now.getTime() + 86_400_000))
  await system.receive(late, '0.00', 5)
  await system.idle()
  return { id, late }
}

describe('POST /api/v1/subscriptions/:id/charges/:period_index/accept', () => {
  it('counts what came late for a period that is over, once, and leaves the period of now as it is', async () => {
    const { id, late } = await paidLate()
    expect(await system.get(id)).toMatchObject({
      charges_done: 0,
      charges: [{ status: 'open' }, { status: 'skipped', received_brl_amount: '49.90' }],
    })
    const answers = await Promise.all([0, 1, 0, 1].map(replica => accept(id, 0, {}, replica)))
    expect(answers.map(({ status, body }) => [status, body.charges_done])).toEqual(Array(4).fill([200, 1]))
    await system.idle()
    expect(charged(id).map(({ data }) => [data.charges_done, data.order.id, data.accepted])).toEqual([[1, late, { by: null }]])
    expect(await system.get(id)).toMatchObject({ charges_done: 1, charges: [{ status: 'open' }, { status: 'paid' }] })
    // Facts that orders finds later change nothing.
    await system.pay(late)
    await system.idle()
    expect(charged(id)).toHaveLength(1)
  })

  it('repeats its answer for an Idempotency-Key', async () => {
    const { id } = await paidLate()
    const headers = { 'Idempotency-Key': 'accept-1' }
    const [first, second] = [await accept(id, 0, headers), await accept(id, 0, headers, 1)]
    expect([second.status, second.text, second.headers['idempotency-replayed']]).toEqual([200, first.text, 'true'])
  })

  it('closes what is still open of the period', async () => {
    const { id } = await system.create({ interval: 'month' })
    await system.idle()
    const first = (await system.get(id)).open_order_id ?? ''
    await system.close(first, 'expired')
    const second = (await system.call('post', `/${id}/charge`)).body.id
    await system.receive(first, '9.90', 5)
    await system.idle()
    expect((await accept(id, 0)).body).toMatchObject({ status: 'active', charges_done: 1 })
    await system.idle()
    expect(system.of('subscription.order_superseded').map(({ data }) => data.order_id)).toContain(second)
  })

  it('names the order that is short of the least, and who accepted it, so that it is accepted too', async () => {
    const { id } = await system.create({ interval: 'month' })
    await system.idle()
    const first = (await system.get(id)).open_order_id ?? ''
    await system.close(first, 'expired')
    const second = (await system.call('post', `/${id}/charge`)).body.id
    await system.receive(second, '40.00', 1)
    await system.close(second, 'expired')
    await system.receive(first, '0.00', 5)
    await system.idle()
    expect((await accept(id, 0)).body).toMatchObject({ charges_done: 1 })
    await system.idle()
    expect(charged(id).map(({ data }) => [data.order.id, data.accepted])).toEqual([[first, { by: null }]])
  })

  it('refuses a period for which nothing came, one that never was, one that is no number, and one of another merchant', async () => {
    const { id } = await system.create({ interval: 'day' })
    await system.idle()
    expect((await accept(id, 0)).body).toMatchObject({ status: 409, code: 'invalid_state' })
    expect((await accept(id, 7)).body).toMatchObject({ status: 409, code: 'invalid_state' })
    expect((await accept(id, '-1')).body).toMatchObject({ status: 400, code: 'invalid_request' })
    const stranger = asMerchant('01981f3c-0000-7000-8000-000000000002', PAYOUT)
    expect((await accept(id, 0, stranger)).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect(await system.get(id)).toMatchObject({ charges_done: 0 })
  })
})
