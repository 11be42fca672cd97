import type { OrderBody, OrderListBody } from '@ponte/contracts'
import { uuidv7, uuidv7At } from '@ponte/service-kit'
import request from 'supertest'
import { fillOrders, listQueries, plansOf } from '../bench/many-orders'
import { listener } from './listener'
import { runOrders, system } from './run-orders'
import { asMerchant } from './setup'

runOrders()

const create = async (merchant: string, body: object = {}): Promise<OrderBody> =>
  (
    await request(system.url)
      .post('/api/v1/orders')
      .set(asMerchant(merchant))
      .send({ brl_amount: '10', ...body })
  ).body
const list = async (merchant: string, query: object = {}): Promise<OrderListBody> => {
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

describe('what no index answers', () => {
  const merchant = uuidv7()
  let made: OrderBody[]
  beforeAll(async () => {
    made = []
    for (const body of [
      { external_ref: 'PED-Ç1', description: 'Cesta de PÃES' },
      { external_ref: 'ped-2', description: 'Bolo 100% cacau_' },
      { external_ref: 'X', brl_amount: '150.00' },
    ])
      made.unshift(await create(merchant, body))
  })
  const named = async (query: object) => (await list(merchant, query)).data.map(order => order.external_ref)

  it('is found in any case and anywhere in the text, which is a text and no pattern', async () => {
    expect(await named({ description: 'pães' })).toEqual(['PED-Ç1'])
    expect(await named({ text: 'ped-' })).toEqual(['ped-2', 'PED-Ç1'])
    expect(await named({ text: 'ç1' })).toEqual(['PED-Ç1'])
    expect(await named({ description: 'ped-' })).toEqual([])
    expect(await named({ description: '100% CACAU_' })).toEqual(['ped-2'])
    for (const pattern of ['%', '_', '100%cacau'])
      expect(await named({ description: pattern })).toEqual(pattern.length > 1 ? [] : ['ped-2'])
  })

  it('amounts are compared as amounts, together with other filters', async () => {
    expect(await named({ brl_amount: '150' })).toEqual(['X'])
    expect(await named({ brl_amount: '10.00', status: 'pending', text: 'PED' })).toEqual(['ped-2', 'PED-Ç1'])
    expect(await named({ brl_amount: '10.00', status: 'paid' })).toEqual([])
  })

  it('is paged in both directions', async () => {
    const [first] = (await list(merchant, { text: 'ped', limit: 1 })).data
    expect(await named({ text: 'ped', limit: 1, starting_after: first?.id })).toEqual(['PED-Ç1'])
    expect(await named({ text: 'ped', limit: 1, ending_before: made[2]?.id })).toEqual(['ped-2'])
  })
})

describe('a list of what was paid in a span of time', () => {
  const merchant = uuidv7()
  const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 12, minute)).toISOString()
  let made: OrderBody[]
  beforeAll(async () => {
    // Paid in the opposite order of their creation, two of them at one moment.
    made = []
    for (const minute of [9, 7, 7, 5, 3]) {
      const order = await create(merchant)
      made.push(order)
      await system.sql.query("UPDATE orders SET status = 'paid', paid_at = $2, settled_at = $2 WHERE id = $1", [order.id, at(minute)])
    }
    await create(merchant)
  })

  it('is in order of payment, ends before its end, and holds paid orders alone', async () => {
    const page = await list(merchant, { paid_gte: at(3), paid_lt: at(9) })
    expect(ids(page.data)).toEqual([made[2], made[1], made[3], made[4]].map(order => order?.id))
    expect(ids((await list(merchant, { paid_gte: at(9) })).data)).toEqual([made[0]?.id])
    const refused = await request(system.url)
      .get('/api/v1/orders')
      .query({ paid_gte: at(0), status: 'expired' })
      .set(asMerchant(merchant))
    expect([refused.status, refused.body.errors[0].path]).toEqual([400, 'status'])
  })

  it('is paged in both directions over every one exactly once, with other filters beside it', async () => {
    const all = ids((await list(merchant, { paid_gte: at(0) })).data)
    for (const more of [{}, { brl_amount: '10' }]) {
      const query = { paid_gte: at(0), limit: 2, ...more }
      const forward: string[] = []
      for (let hasMore = true; hasMore; ) {
        const page = await list(merchant, { ...query, ...(forward.length ? { starting_after: forward.at(-1) } : {}) })
        forward.push(...ids(page.data))
        hasMore = page.has_more
      }
      expect(forward).toEqual(all)
      expect(ids((await list(merchant, { ...query, ending_before: all[3] })).data)).toEqual(all.slice(1, 3))
    }
    // A place of another merchant is none.
    expect((await list(merchant, { paid_gte: at(0), starting_after: (await create(uuidv7())).id })).data).toEqual([])
  })
})

it('an order’s id begins with the time of its creation', async () => {
  const order = await create(uuidv7())
  expect(order.id.slice(0, 13)).toBe(uuidv7At(new Date(order.created_at)).slice(0, 13))
})

async function allPages(merchant: string, query: object) {
  const found: string[] = []
  let pages = 0
  for (let place: string | undefined; ; pages += 1) {
    const page = await list(merchant, { ...query, ...(place ? { starting_after: place } : {}) })
    found.push(...ids(page.data))
    if (!page.has_more) return { found, pages }
    expect(page.searched_to).toBeDefined()
    place = page.searched_to
  }
}

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

  const { text } = await request(system.url).get('/api/v1/orders.csv').query({ status: 'underpaid' }).set(asMerchant(busy))
  expect(text.trimEnd().split('\r\n')).toHaveLength(1 + 20)
  const everything = await request(system.url).get('/api/v1/orders.csv').query({ text: 'pedido', brl_amount: '1.00' }).set(asMerchant(busy))
  expect(everything.headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(new Set(everything.text.trimEnd().split('\r\n')).size).toBe(1 + 20_000 - 20)

  // A search among the same orders ends early, names where, and goes on from there until all were looked through.
  const { found, pages } = await allPages(busy, { description: 'cesta de pães', limit: 100 })
  expect({ found: found.length, pages }).toEqual({ found: 20, pages: 4 })
  const upwards = await list(busy, { description: 'cesta de pães', limit: 100, ending_before: found.at(-1) })
  expect({ found: upwards.data.length, more: upwards.has_more }).toEqual({ found: 5, more: true })
  expect(upwards.searched_to).toBe(upwards.data[0]?.id)

  // So are those of a state among all that one reference names.
  await system.sql.query("UPDATE orders SET external_ref = 'one' WHERE merchant_id = $1", [busy])
  const ofOne = { external_ref: 'one', status: 'underpaid', limit: 100 }
  const [plan] = await plansOf(system.sql, () => list(busy, ofOne))
  expect(plan?.rowsRead).toBeLessThan(6_000)
  const all = await allPages(busy, ofOne)
  expect({ found: all.found.length, pages: all.pages }).toEqual({ found: 20, pages: 4 })
})
