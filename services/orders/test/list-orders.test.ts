import type { OrderBody } from '@ponte/contracts'
import { uuidv7, uuidv7At } from '@ponte/service-kit'
import request from 'supertest'
import { fillOrders, listQueries, plansOf } from '../bench/many-orders'
import { listener } from './listener'
import { asMerchant, startOrders } from './setup'

let system: Awaited<ReturnType<typeof startOrders>>
beforeAll(async () => {
  system = await startOrders()
})
afterAll(() => system.stop())

const create = async (merchant: string, body: object = {}): Promise<OrderBody> =>
  (
    await request(system.url)
      .post('/api/v1/orders')
      .set(asMerchant(merchant))
      .send({ brl_amount: '10', ...body })
  ).body
const list = async (merchant: string, query: object = {}): Promise<{ data: OrderBody[]; has_more: boolean }> => {
  const { status, body } = await request(system.url).get('/api/v1/orders').query(query).set(asMerchant(merchant))
  expect(status).toBe(200)
  return body
}
const ids = (orders: readonly { id: string }[]) => orders.map(order => order.id)

describe('GET /api/v1/orders', () => {
  const merchant = uuidv7()
  let made: OrderBody[]
  beforeAll(async () => {
    made = []
    for (let index = 0; index < 25; index++) made.unshift(await create(merchant, { external_ref: `R-${index % 3}` }))
    await create(uuidv7())
  })

  it('lists the caller’s own, newest first, twenty unless asked otherwise', async () => {
    const page = await list(merchant)
    expect([ids(page.data), page.has_more]).toEqual([ids(made).slice(0, 20), true])
    expect(page.data[0]).not.toHaveProperty('payments')
    expect((await list(uuidv7())).data).toEqual([])
  })

  it('pages in both directions over every order exactly once', async () => {
    const forward: string[] = []
    for (let more = true; more; ) {
      const page = await list(merchant, { limit: 7, ...(forward.length ? { starting_after: forward.at(-1) } : {}) })
      forward.push(...ids(page.data))
      more = page.has_more
    }
    expect(forward).toEqual(ids(made))
    const back: string[] = []
    for (let more = true; more; ) {
      const page = await list(merchant, { limit: 7, ending_before: back[0] ?? made.at(-1)?.id })
      back.unshift(...ids(page.data))
      more = page.has_more
    }
    expect(back).toEqual(ids(made).slice(0, -1))
  })

  it('filters by time exactly, to the millisecond', async () => {
    const times = made.map(order => order.created_at)
    const [from, to] = [times[20] ?? '', times[5] ?? '']
    const page = await list(merchant, { created_gte: from, created_lt: to, limit: 100 })
    expect(ids(page.data)).toEqual(ids(made.filter(order => order.created_at >= from && order.created_at < to)))
    const between = from.replace('Z', '0001Z')
    const later = await list(merchant, { created_gte: between, limit: 100 })
    expect(ids(later.data)).toEqual(ids(made.filter(order => order.created_at > from)))
    for (const strange of ['1970-01-01T00:00:00Z', '2999-12-31T23:59:59.999Z'])
      await list(merchant, { created_gte: strange, created_lt: strange })
  })

  it.each([
    ['external_ref', () => ({ external_ref: 'R-1' }), (order: OrderBody) => order.external_ref === 'R-1'],
    ['memo', () => ({ memo: made[3]?.memo }), (order: OrderBody) => order.memo === made[3]?.memo],
    ['status', () => ({ status: 'paid' }), (order: OrderBody) => order.id === made[1]?.id],
    ['exception', () => ({ exception: 'overpaid' }), (order: OrderBody) => order.id === made[1]?.id],
    ['subscription_id', () => ({ subscription_id: uuidv7() }), () => false],
    [
      'two at once',
      () => ({ external_ref: 'R-1', created_lt: made[9]?.created_at }),
      (order: OrderBody) => order.external_ref === 'R-1' && order.created_at < (made[9]?.created_at ?? ''),
    ],
  ])('filters by %s', async (_name, query, belongs) => {
    const target = made[1]
    if (target && (await list(merchant, { status: 'paid' })).data.length === 0) {
      const chain = listener(system.bus)
      await chain.report('confirmed', chain.payment(target, { gross: 90_000_000n }))
    }
    const page = await list(merchant, { limit: 100, ...query() })
    expect(ids(page.data)).toEqual(ids(made.filter(belongs)))
  })

  it('filters by tx_hash', async () => {
    const [paid] = (await list(merchant, { status: 'paid' })).data
    expect(ids((await list(merchant, { tx_hash: paid?.tx_hash })).data)).toEqual([paid?.id])
  })
})

it('an order’s id begins with the time of its creation', async () => {
  const order = await create(uuidv7())
  expect(order.id.slice(0, 13)).toBe(uuidv7At(new Date(order.created_at)).slice(0, 13))
})

it('every filter seeks in an index and reads little more than it answers, at any depth, also for a merchant that has long been quiet', async () => {
  const [busy, quiet] = [uuidv7(), uuidv7()]
  await fillOrders(system.sql, quiet, 10_000, 1_000_000)
  await fillOrders(system.sql, busy, 20_000)
  for (const merchant of [busy, quiet]) {
    for (const [name, query] of Object.entries(await listQueries(system.sql, merchant))) {
      const [plan] = await plansOf(system.sql, () => list(merchant, query))
      expect({ name, scan: plan?.scan }).toEqual({ name, scan: expect.stringMatching(/^(Bitmap )?Index/) })
      // Where a few rows are all there is, the planner may as well read them all.
      expect({ name, excess: (plan?.rowsRead ?? 0) - (plan?.rowsAnswered ?? 0) > 50 }).toEqual({ name, excess: false })
    }
  }
})
