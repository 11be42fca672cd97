import { randomUUID } from 'node:crypto'
import { delivery, deliveryDetail, deliveryOverview, eventBody } from '@ponte/contracts'
import { openDatabase, signCaller } from '@ponte/service-kit'
import pg from 'pg'
import request from 'supertest'
import { openStore } from '../src/store'
import { KINDS, type Kind, notifyAt } from './endpoints/kinds'
import {
  asMerchant,
  event,
  merchantUpdated,
  orderPaid,
  paidOrder,
  type System,
  startDispatcher,
  startReceiver,
  TOKEN_SECRET,
} from './setup'

let system: System
let receiver: Awaited<ReturnType<typeof startReceiver>>
let status = 200
beforeAll(async () => {
  system = await startDispatcher()
  receiver = await startReceiver(res => res.writeHead(status).end(status === 200 ? '' : 'closed'))
})
afterAll(async () => {
  await system.stop()
  await receiver.stop()
})
beforeEach(() => {
  status = 200
})

const get = (path: string, merchantId: string) => request(system.url).get(`/api/v1${path}`).set(asMerchant(merchantId))
const post = (path: string, merchantId: string, body: object = {}) =>
  request(system.url).post(`/api/v1${path}`).set(asMerchant(merchantId)).send(body)

/** A merchant with so many events of paid orders. */
async function notified(count: number, merchant: Parameters<typeof merchantUpdated>[1] = {}) {
  const merchantId = randomUUID()
  await system.publish(merchantUpdated(merchantId, { webhook_url: receiver.url, ...merchant }))
  const events = Array.from({ length: count }, () => orderPaid(merchantId))
  for (const each of events) await system.publish(each)
  await system.dispatcher.idle()
  return { merchantId, ids: events.map(({ id }) => id).reverse() }
}
/** The same at an endpoint of this kind. */
async function notifiedAt(kind: Kind, count: number) {
  const merchantId = randomUUID()
  const { endpointId } = await notifyAt(system, kind, merchantId, receiver.url)
  const events = Array.from({ length: count }, () => orderPaid(merchantId))
  for (const each of events) await system.publish(each)
  await system.dispatcher.idle()
  return { merchantId, endpointId, ids: events.map(({ id }) => id).reverse() }
}
const dead = (merchantId: string) =>
  system.sql.query(
    "UPDATE deliveries SET status = 'dead', dead_reason = 'attempts_exhausted', next_attempt_at = NULL, attempts = 7, delivered_at = NULL WHERE merchant_id = $1",
    [merchantId],
  )

/** So many deliveries of an event again, which are over. */
const replayedBefore = (eventId: string | undefined, count: number) =>
  system.sql.query(
    `INSERT INTO deliveries (id, event_id, merchant_id, event_type, status, attempts, replay_of, delivered_at)
     SELECT new_id(), event_id, merchant_id, event_type, 'delivered', 1, id, now() FROM deliveries, generate_series(1, $2) WHERE id = $1`,
    [eventId, count],
  )

describe('GET /api/v1/events', () => {
  it('lists what was published, newest first, page by page in both directions', async () => {
    const { merchantId, ids } = await notified(7)
    const first = await get('/events?limit=3', merchantId)
    expect(first.body).toMatchObject({ object: 'list', has_more: true })
    expect(first.body.data.map((each: { id: string }) => each.id)).toEqual(ids.slice(0, 3))
    const second = await get(`/events?limit=5&starting_after=${ids[2]}`, merchantId)
    expect(second.body.data.map((each: { id: string }) => each.id)).toEqual(ids.slice(3))
    expect(second.body.has_more).toBe(false)
    const back = await get(`/events?limit=2&ending_before=${ids[3]}`, merchantId)
    expect(back.body.data.map((each: { id: string }) => each.id)).toEqual(ids.slice(1, 3))
    expect(eventBody.parse(first.body.data[0])).toMatchObject({ type: 'order.paid' })
  })

  it('filters by type and time', async () => {
    const { merchantId } = await notified(2)
    await system.publish(
      event('order.expired', {
        merchant_id: merchantId,
        merchant_version: 1,
        subscription_id: null,
        order: { id: randomUUID(), external_ref: null },
      }),
    )
    const expired = await get('/events?type=order.expired', merchantId)
    expect(expired.body.data.map((each: { type: string }) => each.type)).toEqual(['order.expired'])
    const future = await get('/events?created_gte=2099-01-01T00:00:00.000Z', merchantId)
    expect(future.body.data).toEqual([])
  })

  it('finds those of one order, and those of one subscription, of their merchant alone', async () => {
    const { merchantId } = await notified(3)
    const [orderId, subscriptionId] = [randomUUID(), randomUUID()]
    const data = {
      merchant_id: merchantId,
      merchant_version: 1,
      subscription_id: subscriptionId,
      order: { id: orderId, external_ref: null },
    }
    await system.publish(event('order.expired', data))
    const types = async (query: string, of = merchantId) =>
      (await get(`/events?${query}`, of)).body.data.map((each: { type: string }) => each.type)
    for (const about of [`order_id=${orderId}`, `subscription_id=${subscriptionId}`]) {
      expect(await types(about)).toEqual(['order.expired'])
      expect(await types(`${about}&type=order.paid`)).toEqual([])
      expect(await types(about, randomUUID())).toEqual([])
      expect((await get(`/events?${about}&after=0`, merchantId)).status).toBe(400)
    }
    expect(await types(`order_id=${randomUUID()}`)).toEqual([])
  })

  it('keeps the events of a merchant without webhook_url', async () => {
    const { merchantId, ids } = await notified(2, { webhook_url: null })
    expect((await get('/events', merchantId)).body.data).toHaveLength(2)
    expect((await get(`/events/${ids[0]}`, merchantId)).body.data).toMatchObject({ external_ref: 'INV-7' })
    expect((await get('/deliveries', merchantId)).body.data).toHaveLength(0)
  })

  it.each([
    'limit=0',
    'limit=101',
    'page=2',
    'starting_after=x',
    'type=order.created',
    `starting_after=${randomUUID()}&ending_before=${randomUUID()}`,
  ])('400 for ?%s', async query => {
    const { status, body } = await get(`/events?${query}`, randomUUID())
    expect([status, body.code]).toEqual([400, 'invalid_request'])
  })
})

describe('whose is it', () => {
  it("403 for another merchant's, 404 for an unknown one, 400 for what is no id", async () => {
    const { merchantId, ids } = await notified(1)
    const { body } = await get('/deliveries', merchantId)
    const deliveryId = body.data[0].id
    const stranger = randomUUID()
    for (const [path, code] of [
      [`/events/${ids[0]}`, 'forbidden'],
      [`/deliveries/${deliveryId}`, 'forbidden'],
      [`/events/${randomUUID()}`, 'not_found'],
      [`/deliveries/${randomUUID()}`, 'not_found'],
      ['/events/7', 'invalid_request'],
      ['/deliveries/7', 'invalid_request'],
    ]) {
      expect((await get(path ?? '', stranger)).body.code).toBe(code)
    }
    expect((await post(`/deliveries/${deliveryId}/replay`, stranger)).body.code).toBe('forbidden')
    expect((await get('/deliveries', stranger)).body.data).toEqual([])
  })

  it('401 without the gateway, 403 for a payer', async () => {
    expect((await request(system.url).get('/api/v1/events')).body.code).toBe('missing_authorization')
    const payer = signCaller({ kind: 'checkout' }, { secrets: [TOKEN_SECRET], audience: 'webhook-dispatcher' })
    expect(
      (
        await request(system.url)
          .get('/api/v1/events')
          .set({ Authorization: `Bearer ${payer}` })
      ).body.code,
    ).toBe('forbidden')
  })
})

describe('GET /api/v1/deliveries', () => {
  it.each(KINDS)('shows status, last error and every attempt, and the body as it is sent to %s', async kind => {
    status = 500
    const { merchantId, ids } = await notifiedAt(kind, 1)
    const { body: list } = await get('/deliveries?status=pending&event_type=order.paid', merchantId)
    expect(delivery.parse(list.data[0])).toMatchObject({
      event_id: ids[0],
      status: 'pending',
      attempts: 1,
      last_http_status: 500,
      last_error_code: 'http_status',
      last_error: 'The endpoint answered 500: closed',
    })
    const { body } = await get(`/deliveries/${list.data[0].id}`, merchantId)
    expect(deliveryDetail.parse(body).attempt_log).toMatchObject([
      { ordinal: 1, outcome: 'failed', http_status: 500, error_code: 'http_status', response_snippet: 'closed' },
    ])
    expect(body.body).toBe(receiver.received.at(-1)?.body.toString('utf8'))
    expect((await get(`/deliveries?event_id=${ids[0]}`, merchantId)).body.data).toHaveLength(1)
    expect((await get('/deliveries?status=dead', merchantId)).body.data).toHaveLength(0)
  })

  it('is answered as a file too, by the same filters, and what an endpoint answered is no formula in it', async () => {
    const { merchantId, ids } = await notified(2)
    await system.sql.query("UPDATE deliveries SET last_error = '=1+1' WHERE merchant_id = $1 AND event_id = $2", [merchantId, ids[0]])
    const { text } = await get('/deliveries.csv', merchantId)
    const [head = '', ...rows] = text.trimEnd().split('\r\n')
    const cells = rows.map(row => Object.fromEntries(head.split(',').map((name, index) => [name, row.split(',')[index]])))
    expect(cells).toMatchObject([
      { event_id: ids[0], event_type: 'order.paid', status: 'delivered', attempts: '1', last_error: "'=1+1" },
      { event_id: ids[1], event_type: 'order.paid', status: 'delivered', attempts: '1', last_error: '' },
    ])
    expect((await get(`/deliveries.csv?event_id=${ids[1]}`, merchantId)).text.trimEnd().split('\r\n')).toEqual([head, rows[1]])
  })

  it('counts for the overview', async () => {
    const { merchantId } = await notified(3)
    status = 500
    await system.publish(orderPaid(merchantId))
    await system.dispatcher.idle()
    const { body } = await get('/deliveries/overview', merchantId)
    expect(deliveryOverview.parse(body)).toEqual({ object: 'delivery_overview', pending: 0, retrying: 1, delivered_24h: 3, dead_24h: 0 })
  })
})

describe('GET /metrics', () => {
  it('counts from 0 for every label value, so that the first one is an increase', async () => {
    const fresh = await startDispatcher()
    const { text } = await request(fresh.opsUrl).get('/metrics')
    await fresh.stop()
    for (const line of [
      'ponte_webhook_deliveries_total{status="dead",service="webhook-dispatcher"} 0',
      'ponte_webhook_attempts_total{outcome="timeout",service="webhook-dispatcher"} 0',
      'ponte_events_handled_total{type="order.paid",outcome="dead",service="webhook-dispatcher"} 0',
    ])
      expect(text).toContain(line)
  })
})

describe('GET /api/v1/deliveries/:id while its attempt is being recorded', () => {
  const original = pg.Client.prototype.query
  afterEach(() => Object.assign(pg.Client.prototype, { query: original }))

  /** Runs `work` once, just before the first statement that reads attempts and nothing else. */
  function beforeAttemptsAreRead(work: () => Promise<unknown>) {
    let armed = true
    Object.assign(pg.Client.prototype, {
      query(this: pg.Client, ...args: unknown[]) {
        const [first] = args
        const text = typeof first === 'string' ? first : String(Reflect.get(Object(first), 'text'))
        if (!armed || !text.includes('"attempts"') || text.includes('"deliveries"."')) return Reflect.apply(original, this, args)
        armed = false
        return work().then(() => Reflect.apply(original, this, args))
      },
    })
  }

  it('shows the count and the log of one moment', async () => {
    const { merchantId } = await notified(1)
    const { rows } = await system.sql.query(
      "UPDATE deliveries SET status = 'pending', attempts = 0, tries = 0, delivered_at = NULL, next_attempt_at = now() + interval '1 day' WHERE merchant_id = $1 RETURNING id",
      [merchantId],
    )
    const [{ id }] = rows
    const kept = await system.sql.query('DELETE FROM attempts WHERE delivery_id = $1 RETURNING *', [id])
    expect(kept.rowCount).toBe(1)
    const record = async () => {
      await system.sql.query('UPDATE deliveries SET attempts = 1, tries = 1 WHERE id = $1', [id])
      await system.sql.query(
        "INSERT INTO attempts (delivery_id, ordinal, outcome, http_status, started_at, duration_ms) VALUES ($1, 1, 'failed', 500, now(), 5)",
        [id],
      )
    }
    beforeAttemptsAreRead(record)
    const { body } = await get(`/deliveries/${id}`, merchantId)
    expect(body.attempt_log).toHaveLength(body.attempts)
    expect((await get(`/deliveries/${id}`, merchantId)).body).toMatchObject({
      attempts: 1,
      attempt_log: [{ ordinal: 1, http_status: 500 }],
    })
  })
})

describe.each(KINDS)('POST /api/v1/deliveries/:id/replay to %s', kind => {
  it('is a new delivery of the same bytes that names the old one', async () => {
    const { merchantId } = await notifiedAt(kind, 1)
    const [old] = (await get('/deliveries', merchantId)).body.data
    const first = receiver.received.at(-1)
    const { status, body } = await post(`/deliveries/${old.id}/replay`, merchantId)
    expect([status, body.replay_of]).toEqual([201, old.id])
    await system.dispatcher.idle()
    const again = receiver.received.at(-1)
    expect(again).not.toBe(first)
    expect(again?.body.equals(first?.body ?? Buffer.of())).toBe(true)
    expect((await get(`/deliveries/${body.id}`, merchantId)).body.status).toBe('delivered')
    expect((await get(`/deliveries/${old.id}`, merchantId)).body).toMatchObject({ status: 'delivered', attempts: 1 })
  })

  it('answers the one that is on its way when asked again', async () => {
    status = 500
    const { merchantId } = await notifiedAt(kind, 1)
    const [old] = (await get('/deliveries', merchantId)).body.data
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(`/deliveries/${old.id}/replay`, merchantId)))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201])
  })
})

describe('POST /api/v1/deliveries/:id/replay', () => {
  it('needs a webhook_url, and waits for the settings that the gateway knows already', async () => {
    const { merchantId } = await notified(1)
    const [old] = (await get('/deliveries', merchantId)).body.data
    const asked = request(system.url).post(`/api/v1/deliveries/${old.id}/replay`).set(asMerchant(merchantId, 2)).send({})
    const [{ status, body }] = await Promise.all([asked, system.publish(merchantUpdated(merchantId, { version: 2, webhook_url: null }))])
    expect([status, body.code]).toEqual([409, 'invalid_state'])
  })

  it('is refused where the event was delivered again a hundred times, alone and in a time range', async () => {
    const { merchantId, ids } = await notified(2)
    const [, full] = ids
    await replayedBefore(full, 99)
    const last = await post(`/deliveries/${full}/replay`, merchantId)
    expect(last.status).toBe(201)
    await system.dispatcher.idle()
    const refused = await post(`/deliveries/${full}/replay`, merchantId)
    expect([refused.status, refused.body.code]).toEqual([409, 'invalid_state'])
    const ofReplay = await post(`/deliveries/${last.body.id}/replay`, merchantId)
    expect([ofReplay.status, ofReplay.body.code]).toEqual([409, 'invalid_state'])
    expect((await post('/deliveries/replay', merchantId, { ...range(), scope: 'all' })).body.replayed).toBe(1)
    await system.dispatcher.idle()
    const { rows } = await system.sql.query('SELECT count(*)::int AS count FROM deliveries WHERE event_id = $1', [full])
    expect(rows).toEqual([{ count: 101 }])
  })

  it('answers the hundredth while it is on its way', async () => {
    const { merchantId, ids } = await notified(1)
    await replayedBefore(ids[0], 99)
    status = 500
    const made = await post(`/deliveries/${ids[0]}/replay`, merchantId)
    const again = await post(`/deliveries/${ids[0]}/replay`, merchantId)
    expect([made.status, again.status, again.body.id]).toEqual([201, 200, made.body.id])
  })

  it('takes no event that retention is about to remove, alone and in a time range', async () => {
    const { merchantId, ids } = await notified(2)
    await system.sql.query("UPDATE events SET created_at = now() - interval '30 days' + interval '30 minutes' WHERE id = $1", [ids[1]])
    const { status, body } = await post(`/deliveries/${ids[1]}/replay`, merchantId)
    expect([status, body.code]).toEqual([404, 'not_found'])
    expect((await post('/deliveries/replay', merchantId, { ...range(), scope: 'all' })).body.replayed).toBe(1)
    await system.dispatcher.idle()
  })

  it('takes no fields', async () => {
    const { merchantId } = await notified(1)
    const [old] = (await get('/deliveries', merchantId)).body.data
    expect((await post(`/deliveries/${old.id}/replay`, merchantId, { url: 'http://evil' })).status).toBe(400)
  })
})

const range = () => ({ created_gte: '2020-01-01T00:00:00.000Z', created_lt: '2099-01-01T00:00:00.000Z' })

describe.each(KINDS)('POST /api/v1/deliveries/replay to %s', kind => {
  it('replays what never arrived in a time range, and asked again nothing more', async () => {
    const { merchantId, endpointId } = await notifiedAt(kind, 3)
    await dead(merchantId)
    await system.publish(orderPaid(merchantId))
    await system.dispatcher.idle()
    const before = receiver.received.length
    const first = await post('/deliveries/replay', merchantId, { ...range(), endpoint_id: endpointId })
    expect([first.status, first.body]).toEqual([200, { object: 'replay', replayed: 3, has_more: false, next_created_gte: null }])
    const second = await post('/deliveries/replay', merchantId, { ...range(), endpoint_id: endpointId })
    expect(second.body.replayed).toBe(0)
    await system.dispatcher.idle()
    expect(receiver.received.length - before).toBe(3)
    const { body } = await get('/deliveries?limit=100', merchantId)
    expect(body.data.filter((each: { replay_of: string | null }) => each.replay_of !== null)).toHaveLength(3)
  })

  it('replays everything when asked to', async () => {
    const { merchantId, endpointId } = await notifiedAt(kind, 2)
    const all = { ...range(), scope: 'all', event_type: 'order.paid', endpoint_id: endpointId }
    expect((await post('/deliveries/replay', merchantId, all)).body.replayed).toBe(2)
    await system.dispatcher.idle()
  })
})

describe('POST /api/v1/deliveries/replay', () => {
  it('gives events of the time without webhook_url their first delivery', async () => {
    const { merchantId, ids } = await notified(2, { webhook_url: null })
    await system.publish(merchantUpdated(merchantId, { version: 2, webhook_url: receiver.url }))
    expect((await post('/deliveries/replay', merchantId, range())).body.replayed).toBe(2)
    await system.dispatcher.idle()
    const { body } = await get('/deliveries', merchantId)
    expect(body.data.map((each: { event_id: string; replay_of: null }) => each.event_id).sort()).toEqual([...ids].sort())
  })

  it('is limited to the range and the merchant', async () => {
    const { merchantId } = await notified(1)
    await dead(merchantId)
    const past = { created_gte: '2020-01-01T00:00:00.000Z', created_lt: '2021-01-01T00:00:00.000Z' }
    expect((await post('/deliveries/replay', merchantId, past)).body.replayed).toBe(0)
    const other = await notified(0)
    expect((await post('/deliveries/replay', other.merchantId, range())).body.replayed).toBe(0)
    expect((await post('/deliveries/replay', merchantId, { ...range(), created_lt: '2019-01-01T00:00:00.000Z' })).status).toBe(400)
    // More digits than the database reads.
    const exact = `2020-01-01T00:00:00.${'1'.repeat(200)}Z`
    expect((await post('/deliveries/replay', merchantId, { ...range(), created_gte: exact })).status).toBe(400)
  })
})

describe('retention', () => {
  it.each(KINDS)('forgets events, their deliveries and attempts at %s after 30 days, and keeps what is on its way', async kind => {
    const { merchantId, ids } = await notifiedAt(kind, 2)
    status = 500
    const late = orderPaid(merchantId)
    await system.publish(late)
    await system.dispatcher.idle()
    await system.sql.query("UPDATE events SET created_at = now() - interval '31 days' WHERE merchant_id = $1", [merchantId])
    await system.sql.query("UPDATE events SET created_at = now() - interval '29 days' WHERE id = $1", [ids[0]])
    const database = openDatabase({ url: system.databaseUrl })
    expect(await openStore(database).upkeep.forgetEvents(30, 1_000, null)).toMatchObject({ count: 1 })
    await database.stop?.()
    expect((await get('/events', merchantId)).body.data.map((each: { id: string }) => each.id)).toEqual([late.id, ids[0]])
    const { rows } = await system.sql.query(
      `SELECT (SELECT count(*)::int FROM deliveries WHERE event_id = $1) AS deliveries,
         (SELECT count(*)::int FROM attempts WHERE delivery_id NOT IN (SELECT id FROM deliveries)) AS orphans`,
      [ids[1]],
    )
    expect(rows).toEqual([{ deliveries: 0, orphans: 0 }])
  })

  it('forgets an event of many deliveries in parts, and the event with the last of them', async () => {
    const { merchantId, ids } = await notified(1)
    await replayedBefore(ids[0], 12)
    await system.sql.query("UPDATE events SET created_at = now() - interval '31 days' WHERE merchant_id = $1", [merchantId])
    const left = async () =>
      (
        await system.sql.query(
          'SELECT (SELECT count(*)::int FROM events WHERE id = $1) AS events, (SELECT count(*)::int FROM deliveries WHERE event_id = $1) AS deliveries',
          [ids[0]],
        )
      ).rows[0]
    const database = openDatabase({ url: system.databaseUrl })
    const { upkeep } = openStore(database)
    const place = new Date('2020-01-01T00:00:00.000Z')
    expect(await upkeep.forgetEvents(30, 500, place, 5)).toEqual({ count: 500, last: place })
    expect(await left()).toEqual({ events: 1, deliveries: 8 })
    expect(await upkeep.forgetEvents(30, 500, place, 5)).toEqual({ count: 500, last: place })
    expect(await left()).toEqual({ events: 1, deliveries: 3 })
    expect(await upkeep.forgetEvents(30, 500, place, 5)).toMatchObject({ count: 1 })
    expect(await left()).toEqual({ events: 0, deliveries: 0 })
    await database.stop?.()
  })
})

it('deliveries whose event is gone are removed, and no others', async () => {
  const { merchantId, ids } = await notified(1)
  await system.sql.query(
    `INSERT INTO deliveries (id, event_id, merchant_id, event_type, status, attempts, next_attempt_at, replay_of)
     SELECT new_id(), event_id, $1, 'order.paid', 'pending', attempts, now() + wait, new_id()
     FROM (VALUES (gen_random_uuid(), 0, interval '0'), (gen_random_uuid(), 1, interval '0'), ($2::uuid, 1, interval '1 day')) AS made (event_id, attempts, wait)`,
    [merchantId, ids[0]],
  )
  const database = openDatabase({ url: system.databaseUrl })
  await openStore(database).upkeep.repairStuckLanes()
  await database.stop?.()
  const { rows } = await system.sql.query('SELECT event_id, status FROM deliveries WHERE merchant_id = $1 ORDER BY status', [merchantId])
  expect(rows).toEqual([
    { event_id: ids[0], status: 'delivered' },
    { event_id: ids[0], status: 'pending' },
  ])
})

describe('the metrics', () => {
  it('cover deliveries, age, flight and backlog, and hold no secret', async () => {
    const { text } = await request(system.opsUrl).get('/metrics')
    for (const name of [
      'attempts_total',
      'deliveries_total',
      'oldest_due_age_seconds',
      'in_flight',
      'backlog',
      'leases_reaped_total',
      'waiting_events',
    ]) {
      expect(text).toContain(`ponte_webhook_${name}`)
    }
    expect(text).toMatch(/ponte_webhook_attempts_total\{outcome="delivered",service="webhook-dispatcher"\} [1-9]/)
    expect(text).not.toContain('whsec')
    expect(paidOrder().memo).toHaveLength(64)
  })
})
