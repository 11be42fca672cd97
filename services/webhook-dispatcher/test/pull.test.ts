import { randomUUID } from 'node:crypto'
import { eventList } from '@ponte/contracts'
import { silentLogger } from '@ponte/service-kit'
import request from 'supertest'
import { createWebhookDispatcher } from '../src'
import { asMerchant, merchantUpdated, orderPaid, runDispatcher, system, testBus } from './setup'

runDispatcher()

const get = (merchantId: string, query: string) => request(system.url).get(`/api/v1/events?${query}`).set(asMerchant(merchantId))
const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id)

/** Follows `next_cursor` until nothing is left. */
async function pullAll(merchantId: string, limit: number) {
  const pulled: { id: string; sequence: number; cursor: string }[] = []
  for (let after = '0'; ; ) {
    const { body } = await get(merchantId, `after=${after}&limit=${limit}`)
    const list = eventList.parse(body)
    pulled.push(...list.data)
    after = list.next_cursor ?? ''
    if (!list.has_more) return { pulled, after }
  }
}

describe('GET /api/v1/events?after=', () => {
  it('pages oldest first by a sequence without gaps, and an empty answer names where to go on', async () => {
    const merchantId = randomUUID()
    const events = Array.from({ length: 7 }, () => orderPaid(merchantId))
    for (const each of events) await system.publish(each)
    const { pulled, after } = await pullAll(merchantId, 3)
    expect(pulled.map(({ id }) => id)).toEqual(events.map(({ id }) => id))
    expect(pulled.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect((await get(merchantId, `after=${after}`)).body).toEqual({
      ...{ object: 'list', data: [], has_more: false },
      ...{ next_cursor: expect.stringMatching(/^7-[0-9a-f]{16}$/), next_after: 7 },
    })
    expect((await get(merchantId, 'after=7')).body).toMatchObject({ data: [], next_cursor: after })
    expect((await get(randomUUID(), 'after=0')).body).toMatchObject({ data: [], next_cursor: '0' })
  })

  it('shows the same cursor of an event wherever it is read', async () => {
    const merchantId = randomUUID()
    const [one, two] = [orderPaid(merchantId), orderPaid(merchantId)]
    await system.publish(one)
    await system.publish(two)
    const { pulled } = await pullAll(merchantId, 1)
    const { body: newest } = await get(merchantId, 'limit=1')
    expect(newest.data[0].cursor).toBe(pulled[1]?.cursor)
    expect(idsOf((await get(merchantId, `after=${pulled[0]?.cursor}`)).body)).toEqual([two.id])
  })

  it('shows an event that arrives late to a reader who has passed its id', async () => {
    const merchantId = randomUUID()
    const late = orderPaid(merchantId)
    await system.publish(orderPaid(merchantId))
    const { after } = await pullAll(merchantId, 10)
    await system.publish(late)
    expect(idsOf((await get(merchantId, `after=${after}`)).body)).toEqual([late.id])
  })

  it('has every event once and no gap when two replicas store the same events at once, each more than once', async () => {
    const merchants = Array.from({ length: 3 }, () => randomUUID())
    const bus = testBus()
    const other = createWebhookDispatcher(system.config, { bus, logger: silentLogger })
    await other.start()
    const events = Array.from({ length: 120 }, (_, n) => orderPaid(merchants[n % merchants.length] ?? ''))
    const toOther = events.map(each => bus.publish({ id: each.id, type: each.type, body: JSON.stringify(each) }))
    await Promise.all([system.publish(...events), system.publish(...events), ...toOther])
    for (const merchantId of merchants) {
      const { pulled } = await pullAll(merchantId, 7)
      expect(pulled.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
      expect(new Set(pulled.map(({ id }) => id)).size).toBe(40)
    }
    await other.stop()
  })

  it('shows the bytes that webhooks send to who asks for them, and to no other', async () => {
    const merchantId = randomUUID()
    await system.publish(orderPaid(merchantId))
    const [plain] = (await get(merchantId, 'after=0')).body.data
    expect(plain).not.toHaveProperty('body')
    const [shown] = (await get(merchantId, 'after=0&include=body')).body.data
    expect(shown.body).toBe(JSON.stringify({ type: plain.type, data: plain.data }))
    const one = (query: string) => request(system.url).get(`/api/v1/events/${plain.id}${query}`).set(asMerchant(merchantId))
    expect((await one('?include=body')).body.body).toBe(shown.body)
    expect((await one('')).body).not.toHaveProperty('body')
    expect((await one('?include=headers')).status).toBe(400)
  })

  it('waits for an event, and answers when it is stored', async () => {
    const merchantId = randomUUID()
    await system.publish(merchantUpdated(merchantId))
    const asked = get(merchantId, 'after=0&wait=20').then(({ body }) => body)
    const paid = orderPaid(merchantId)
    await system.publish(paid)
    expect(idsOf(await asked)).toEqual([paid.id])
  })

  it('with a type counts on over the others', async () => {
    const merchantId = randomUUID()
    const paid = orderPaid(merchantId)
    await system.publish(paid)
    expect(idsOf((await get(merchantId, 'after=0&type=order.paid')).body)).toEqual([paid.id])
    expect((await get(merchantId, 'after=0&type=order.expired')).body).toMatchObject({ data: [], has_more: false, next_after: 1 })
  })

  it.each([
    'after=-1',
    'after=x',
    'after=1-',
    'after=1-xyz',
    'after=-0123456789abcdef',
    'after=1&wait=21',
    'wait=1',
    `after=1&starting_after=${randomUUID()}`,
  ])('refuses %s', async query => {
    const { status, body } = await get(randomUUID(), query)
    expect([status, body.code]).toEqual([400, 'invalid_request'])
  })
})
