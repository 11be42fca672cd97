import type { OrderBody } from '@ponte/contracts'
import { silentLogger, until } from '@ponte/service-kit'
import request from 'supertest'
import { createOrders } from '../src'
import { listener } from './listener'
import { asMerchant, startOrders } from './setup'

let system: Awaited<ReturnType<typeof startOrders>>
let chain: ReturnType<typeof listener>
let second: ReturnType<typeof createOrders>
beforeAll(async () => {
  system = await startOrders()
  chain = listener(system.bus)
  second = createOrders(system.config, { bus: system.bus, logger: silentLogger })
  await second.start()
})
afterAll(async () => {
  await second.stop()
  await system.stop()
})

/** Chain time only goes forward, so each test's orders expire later than those before. */
let expiresIn = 600
beforeEach(() => {
  expiresIn += 40_000
})
const create = async (): Promise<OrderBody> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00', expires_in: expiresIn })).body
const status = async (id: string): Promise<string> => (await request(system.url).get(`/api/v1/orders/${id}`).set(asMerchant())).body.status
const types = async (id: string) => (await system.published(id)).map(event => event.type)
const believed = async (): Promise<Date | null> =>
  (await system.sql.query('SELECT confirmed_time FROM chain_cursors')).rows[0]?.confirmed_time
/** Waits until the service has worked out that the confirmed chain is at least there. */
const seen = (time: Date) => until(async () => ((await believed()) ?? new Date(0)) >= time, 'Tc did not move')
const after = (order: OrderBody, seconds: number) => new Date(Date.parse(order.expires_at) + seconds * 1000)

describe('invariant 4: only the confirmed chain time expires an order', () => {
  it('expires when Tc has passed expires_at, not when it is there; published once by two replicas', async () => {
    const orders = await Promise.all(Array.from({ length: 30 }, create))
    const latest = orders.reduce((a, b) => (a.expires_at > b.expires_at ? a : b))
    const first = orders.reduce((a, b) => (a.expires_at < b.expires_at ? a : b))
    await chain.advances(after(first, 0))
    await seen(after(first, 0))
    expect(await status(first.id)).toBe('pending')
    await chain.advances(after(latest, 0.001))
    await until(async () => (await Promise.all(orders.map(order => status(order.id)))).every(each => each === 'expired'), 'not all expired')
    for (const order of orders) expect(await types(order.id)).toEqual(['order.expired'])
  })

  it('orders that cannot be read are in the way of no other', async () => {
    const unreadable = await Promise.all(Array.from({ length: 4 }, create))
    const ids = unreadable.map(({ id }) => id)
    await system.sql.query(`UPDATE orders SET metadata = '{"a": 1}' WHERE id = ANY($1)`, [ids])
    const other = await create()
    await chain.advances(after(other, 1))
    await until(async () => (await status(other.id)) === 'expired', 'it did not expire')
    await system.sql.query(`UPDATE orders SET metadata = '{}' WHERE id = ANY($1)`, [ids])
    const isOver = async () => (await Promise.all(ids.map(status))).every(each => each === 'expired')
    await until(isOver, 'they did not expire once they could be read')
  })

  it('later blocks that overtake those of a payment expire nothing', async () => {
    const [paying, other] = [await create(), await create()]
    const tc = after(other, 1000)
    const overtaken = chain.advance(after(paying, -10), {
      payments: [chain.payment(paying, { block_time: paying.created_at, block_number: 1_000_025 })],
    })
    await chain.advances(tc)
    // Another range beyond it does not close the gap.
    await chain.advances(tc)
    await system.orders.idle()
    expect([await status(paying.id), await status(other.id)]).toEqual(['pending', 'pending'])
    await system.bus.publish(overtaken)
    await until(async () => (await status(other.id)) === 'expired', 'expiry did not go on')
    expect([await status(paying.id), await types(paying.id)]).toEqual(['paid', ['order.paid']])
  })

  it('copies and late statements leave no gap', async () => {
    const order = await create()
    const range = chain.advance(after(order, 1), { watched: [{ order_id: order.id, through: 0 }] })
    const paid = chain.payment(await create())
    const [detected, confirmed] = [chain.next('detected', paid), chain.next('confirmed', paid)]
    for (const event of [confirmed, detected, range, detected, range, confirmed]) await system.bus.publish(event)
    await until(async () => (await status(order.id)) === 'expired', 'a gap was left')
  })

  it('a reading of the chain that goes back brings nothing back', async () => {
    const order = await create()
    await chain.advances(after(order, 20_000))
    await seen(after(order, 20_000))
    await until(async () => (await status(order.id)) === 'expired', 'it did not expire')
    await chain.advances(after(order, -20_000))
    await second.idle()
    await system.orders.idle()
    expect(await believed()).toEqual(after(order, 20_000))
    await chain.report('confirmed', chain.payment(order, { block_time: after(order, 1).toISOString() }))
    expect([await status(order.id), await types(order.id)]).toEqual(['expired', ['order.expired']])
  })

  it('knows nothing of a chain, expires nothing', async () => {
    const fresh = await startOrders()
    const { body } = await request(fresh.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '1', expires_in: 10 })
    await fresh.sql.query("UPDATE orders SET expires_at = now() - interval '1 year', created_at = now() - interval '2 years'")
    await fresh.orders.idle()
    expect((await request(fresh.url).get(`/api/v1/orders/${body.id}`).set(asMerchant())).body.status).toBe('pending')
    await fresh.stop()
  })
})
