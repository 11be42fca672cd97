import { uuidv7 } from '@ponte/service-kit'
import { runSubscriptions, system } from './setup'

runSubscriptions({ replicas: 2 })

const charged = (id: string) => system.of('subscription.charged').filter(({ data }) => data.subscription_id === id)
const charge = async (id: string): Promise<string> => (await system.call('post', `/${id}/charge`)).body.id
/** A charge with two orders: the first expired, the second open. */
async function issuedTwice() {
  const { id } = await system.create({ interval: 'month' })
  const older = await charge(id)
  await system.close(older, 'expired')
  return { id, older, newer: await charge(id) }
}

describe('payments of a subscription', () => {
  it('count the older order of the same period once, when it turns out to have been paid in time', async () => {
    const { id, older, newer } = await issuedTwice()
    await system.pay(older)
    await system.idle()
    expect(await system.get(id)).toMatchObject({ status: 'active', charges_done: 1 })
    expect(charged(id).map(({ data }) => data.order.id)).toEqual([older])
    const calledOff = system.of('subscription.order_superseded').filter(({ data }) => data.subscription_id === id)
    expect(calledOff.map(({ data }) => data.order_id)).toEqual([newer])
    expect((await system.call('post', `/${id}/charge`)).body).toMatchObject({ code: 'not_due' })
  })

  it('count two paid orders of one period once; the second is a duplicate (invariant 1)', async () => {
    const { id, older, newer } = await issuedTwice()
    await Promise.all([system.pay(newer), system.pay(older)])
    await system.idle()
    const now = await system.get(id)
    expect(now).toMatchObject({ charges_done: 1, charges: [{ status: 'paid' }] })
    expect(now.charges?.[0]?.orders.map(({ status }) => status).sort()).toEqual(['duplicate', 'paid'])
    expect(charged(id)).toHaveLength(1)
    const pages = system.replicas.map(async ({ ops }) => (await fetch(`http://127.0.0.1:${ops.port()}/metrics`)).text())
    expect((await Promise.all(pages)).join()).toMatch(/ponte_subscription_facts_total\{fact="duplicate",service="subscriptions"\} 1/)
  })

  it('count once when the event comes twice, or a fact comes under another event id', async () => {
    const { id } = await system.create()
    const order = await charge(id)
    const event = uuidv7()
    await system.pay(order, event)
    await Promise.all([system.pay(order, event), system.pay(order), system.pay(order)])
    await system.idle()
    expect(await system.get(id)).toMatchObject({ charges_done: 1 })
    expect(charged(id)).toHaveLength(1)
  })

  it('win over an expiry that arrives after them', async () => {
    const { id } = await system.create({ interval: 'month' })
    const order = await charge(id)
    await Promise.all([system.pay(order), system.close(order, 'expired')])
    await system.close(order, 'expired')
    await system.idle()
    expect(await system.get(id)).toMatchObject({ status: 'active', charges_done: 1 })
  })

  it('are counted when the service returns, if it was down while they settled', async () => {
    const { id } = await system.create({ max_periods: 1 })
    const order = await charge(id)
    await system.stopReplicas()
    const received = system.pay(order)
    await system.startReplica()
    await system.startReplica()
    await received
    await system.idle()
    expect(await system.get(id)).toMatchObject({ status: 'expired', charges_done: 1 })
    expect(charged(id)).toHaveLength(1)
    expect(system.of('subscription.expired').filter(({ data }) => data.subscription.id === id)).toHaveLength(1)
  })

  it('of one-shot orders are none of its business', async () => {
    const { id } = await system.create()
    const order = system.orders.get(await charge(id))
    const before = await system.sql.query('SELECT count(*)::int AS n FROM inbox')
    await system.publish('order.cancelled', {
      merchant_id: order?.terms.merchant_id ?? '',
      merchant_version: 1,
      subscription_id: null,
      order: { id: uuidv7(), external_ref: null },
    })
    expect((await system.sql.query('SELECT count(*)::int AS n FROM inbox')).rows).toEqual(before.rows)
  })

  it('leave the merchant to decide after an order that was cancelled: it is not issued again by itself', async () => {
    const { id } = await system.create({ interval: 'month' })
    await system.close(await charge(id), 'cancelled')
    await system.moveTo(new Date(system.clock.now.getTime() + 10 * 86_400_000))
    expect(await system.get(id)).toMatchObject({ status: 'active', open_order_id: null, charges: [{ status: 'open' }] })
    expect((await system.call('post', `/${id}/charge`)).status).toBe(201)
  })
})

describe('orders that were asked for after the moment to which the database was restored', () => {
  /** As a restore leaves a subscription that had charged nothing at its moment. */
  async function forget(id: string) {
    for (const table of ['attempts', 'charges']) await system.sql.query(`DELETE FROM ${table} WHERE subscription_id = $1`, [id])
    await system.sql.query(
      `UPDATE subscriptions SET charges_done = 0, last_paid_index = -1, version = version + 1, wake_at = now(),
       period_index = CASE WHEN interval IS NULL THEN 0 ELSE -1 END WHERE id = $1`,
      [id],
    )
  }

  it('count again when orders publishes them again, however many', async () => {
    const { id } = await system.create()
    const orders: string[] = []
    for (let count = 0; count < 3; count += 1) {
      orders.push(await charge(id))
      await system.pay(orders[count] ?? '')
      await system.idle()
    }
    await forget(id)
    for (const order of orders) {
      // At one moment, as to two replicas.
      await Promise.all([order, order, order].map(system.createAgain))
      await system.idle()
      await system.pay(order)
    }
    await system.idle()
    const found = await system.get(id)
    expect(found).toMatchObject({ charges_done: 3 })
    expect(found.charges?.map(charge => charge.orders.map(order => order.id))).toEqual(orders.toReversed().map(order => [order]))
    expect(await system.bus.deadLetters('subscriptions').count()).toBe(0)
  })

  it('end the order that a plan issued anew for the same period, when they are paid', async () => {
    const { id } = await system.create({ interval: 'month' })
    const order = await charge(id)
    await forget(id)
    await system.idle()
    const anew = await charge(id)
    expect(anew).not.toBe(order)
    await system.createAgain(order)
    await system.pay(order)
    await system.idle()
    expect(await system.get(id)).toMatchObject({ charges_done: 1, open_order_id: null })
    expect(charged(id).map(({ data }) => data.order.id)).toEqual([order])
    expect(system.of('subscription.order_superseded').map(({ data }) => data.order_id)).toContain(anew)
  })
})

describe('a change and its events are one transaction (invariant 2)', () => {
  it('leaves neither when the event cannot be written', async () => {
    const { id } = await system.create()
    await system.sql.query('ALTER TABLE outbox ADD CONSTRAINT nothing_more CHECK (false) NOT VALID')
    try {
      const answer = await system.call('post', `/${id}/charge`)
      expect(answer.status).toBe(500)
      const { rows } = await system.sql.query('SELECT count(*)::int AS n FROM charges WHERE subscription_id = $1', [id])
      expect(rows).toEqual([{ n: 0 }])
    } finally {
      await system.sql.query('ALTER TABLE outbox DROP CONSTRAINT nothing_more')
    }
    expect((await system.call('post', `/${id}/charge`)).status).toBe(201)
  })
})
