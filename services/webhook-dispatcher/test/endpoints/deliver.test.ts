import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { deliveryDetail, OPT_IN_EVENTS, SPECIFIED_EVENTS } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import request from 'supertest'
import { asMerchant, event, merchantUpdated, optIn, orderPaid, paidOrder, runDispatcher, startReceiver, system } from '../setup'
import { addEndpoint, post } from './kinds'

const stops: (() => Promise<void>)[] = []
runDispatcher()
afterEach(async () => {
  await Promise.all(stops.splice(0).map(stop => stop()))
})

async function receive(answer?: (res: ServerResponse) => void) {
  const receiver = await startReceiver(answer)
  stops.push(receiver.stop)
  return { ...receiver, types: () => receiver.received.map(({ body }) => JSON.parse(body.toString()).type) }
}
const get = (merchantId: string, path: string) => request(system.url).get(`/api/v1${path}`).set(asMerchant(merchantId))
const patch = (merchantId: string, id: string, body: object) =>
  request(system.url).patch(`/api/v1/webhook-endpoints/${id}`).set(asMerchant(merchantId)).send(body)
const known = async (webhookUrl: string | null = null) => {
  const merchantId = randomUUID()
  await system.publish(merchantUpdated(merchantId, { webhook_url: webhookUrl }))
  return merchantId
}
const cancelled = (merchantId: string) =>
  event('order.cancelled', {
    merchant_id: merchantId,
    merchant_version: 1,
    subscription_id: null,
    order: { id: randomUUID(), external_ref: null },
  })

describe('what goes where', () => {
  it('each endpoint gets what it chose, "*" gets everything, the webhook_url the seven kinds', async () => {
    const [main, erp, all] = [await receive(), await receive(), await receive()]
    const merchantId = await known(main.url)
    await addEndpoint(system, merchantId, { url: erp.url, events: ['order.cancelled', 'order.settled'] })
    await addEndpoint(system, merchantId, { url: all.url })
    for (const each of [orderPaid(merchantId), cancelled(merchantId), ...OPT_IN_EVENTS.map(type => optIn(type, merchantId))])
      await system.publish(each)
    await system.dispatcher.idle()
    expect(main.types().sort()).toEqual(['order.cancelled', 'order.paid'])
    expect(erp.types().sort()).toEqual(['order.cancelled', 'order.settled'])
    expect(all.types().sort()).toEqual(['order.cancelled', 'order.paid', ...OPT_IN_EVENTS].sort())
    expect(SPECIFIED_EVENTS).toHaveLength(7)
  })

  it('also of events that waited for the merchant, each once', async () => {
    const [main, other] = [await receive(), await receive()]
    const merchantId = randomUUID()
    await addEndpoint(system, merchantId, { url: other.url })
    const early = orderPaid(merchantId, 2)
    await system.publish(early, early)
    await system.publish(merchantUpdated(merchantId, { version: 2, webhook_url: main.url }))
    await system.publish(early)
    await system.dispatcher.idle()
    expect([main.types(), other.types()]).toEqual([['order.paid'], ['order.paid']])
  })
})

describe('an endpoint that is dead', () => {
  it('delays none of the others of its merchant', async () => {
    let hanging = 0
    const dead = await receive(() => {
      hanging += 1
    })
    const [main, other] = [await receive(), await receive()]
    const merchantId = await known(main.url)
    await addEndpoint(system, merchantId, { url: dead.url })
    await addEndpoint(system, merchantId, { url: other.url })
    await system.publish(orderPaid(merchantId))
    await until(() => hanging === 1, 'nothing was sent to the dead endpoint')
    // Its attempts end after fifteen seconds; all others end meanwhile.
    for (let n = 0; n < 40; n += 1) await system.publish(orderPaid(merchantId))
    await until(
      () => main.received.length === 41 && other.received.length === 41,
      () => `${main.received.length} and ${other.received.length}`,
      14_000,
    )
    expect(hanging).toBeLessThanOrEqual(8)
  })

  it('is shown as failing since its first failure and until a success, with what is dead and not replayed', async () => {
    let status = 500
    const receiver = await receive(res => void res.writeHead(status).end())
    const merchantId = await known()
    const { id } = await addEndpoint(system, merchantId, { url: receiver.url })
    const health = async () => {
      const { body } = await get(merchantId, `/webhook-endpoints/${id}`)
      return [body.failing_since, body.dead]
    }
    expect(await health()).toEqual([null, 0])
    await system.publish(orderPaid(merchantId))
    await system.dispatcher.idle()
    const [since] = await health()
    expect(Date.parse(since)).toBeGreaterThan(Date.now() - 60_000)
    await system.publish(orderPaid(merchantId))
    await system.dispatcher.idle()
    expect(await health()).toEqual([since, 0])
    await system.sql.query(
      "UPDATE deliveries SET status = 'dead', dead_reason = 'attempts_exhausted', next_attempt_at = NULL, attempts = 7 WHERE endpoint_id = $1",
      [id],
    )
    expect(await health()).toEqual([since, 2])
    status = 200
    const { body } = await get(merchantId, `/deliveries?endpoint_id=${id}`)
    await request(system.url).post(`/api/v1/deliveries/${body.data[0].id}/replay`).set(asMerchant(merchantId)).send({}).expect(201)
    await system.dispatcher.idle()
    expect(await health()).toEqual([null, 1])
    // A failure at an old URL states nothing of the new one.
    status = 500
    await system.publish(orderPaid(merchantId))
    await system.dispatcher.idle()
    expect((await health())[0]).not.toBeNull()
    await patch(merchantId, id, { url: `${receiver.url}/new` }).expect(200)
    expect((await health())[0]).toBeNull()
  })
})

describe('a limit of requests in flight', () => {
  it('holds from the first claim on, and when it is changed', async () => {
    const open: ServerResponse[] = []
    const receiver = await receive(res => void open.push(res))
    const merchantId = await known()
    const { id } = await addEndpoint(system, merchantId, { url: receiver.url, max_in_flight: 2 })
    for (let n = 0; n < 12; n += 1) await system.publish(orderPaid(merchantId))
    let most = 0
    const answerAll = async (count: number) => {
      most = Math.max(most, open.length)
      for (const res of open.splice(0)) res.writeHead(200).end()
      return receiver.received.length === count
    }
    await until(() => answerAll(12), 'deliveries do not end')
    await system.dispatcher.idle()
    expect(most).toBeLessThanOrEqual(2)
    await patch(merchantId, id, { max_in_flight: 1 }).expect(200)
    for (let n = 0; n < 4; n += 1) await system.publish(orderPaid(merchantId))
    most = 0
    await until(() => answerAll(16), 'deliveries do not end')
    expect(most).toBe(1)
    await system.dispatcher.idle()
  })
})

describe('a paused endpoint', () => {
  it('is sent nothing; its deliveries wait without an attempt and go out when it is resumed', async () => {
    const [main, receiver] = [await receive(), await receive()]
    const merchantId = await known(main.url)
    const { id } = await addEndpoint(system, merchantId, { url: receiver.url })
    await patch(merchantId, id, { paused: true }).expect(200)
    for (let n = 0; n < 3; n += 1) await system.publish(orderPaid(merchantId))
    await system.dispatcher.idle()
    expect([main.received.length, receiver.received.length]).toEqual([3, 0])
    const waiting = (await get(merchantId, `/deliveries?endpoint_id=${id}&status=pending`)).body.data
    expect(waiting.map((each: { attempts: number }) => each.attempts)).toEqual([0, 0, 0])
    expect((await post(system, merchantId, `/${id}/test`)).body.code).toBe('invalid_state')
    await patch(merchantId, id, { paused: false }).expect(200)
    await system.dispatcher.idle()
    expect(receiver.received).toHaveLength(3)
  })

  it('gets no more than what is in flight at that moment', async () => {
    const open: ServerResponse[] = []
    const receiver = await receive(res => void open.push(res))
    const merchantId = await known()
    const { id } = await addEndpoint(system, merchantId, { url: receiver.url, max_in_flight: 1 })
    for (let n = 0; n < 3; n += 1) await system.publish(orderPaid(merchantId))
    await until(() => open.length === 1, 'nothing was sent')
    await patch(merchantId, id, { paused: true }).expect(200)
    open.shift()?.writeHead(200).end()
    await system.dispatcher.idle()
    expect(receiver.received).toHaveLength(1)
    await patch(merchantId, id, { paused: false }).expect(200)
    await until(async () => {
      for (const res of open.splice(0)) res.writeHead(200).end()
      return receiver.received.length === 3
    }, 'what waited did not go out')
    await system.dispatcher.idle()
  })

  it('keeps no event for longer than others', async () => {
    const merchantId = await known()
    const { id } = await addEndpoint(system, merchantId, { url: 'http://127.0.0.1:8080/' })
    await patch(merchantId, id, { paused: true }).expect(200)
    await system.publish(orderPaid(merchantId))
    await system.sql.query("UPDATE events SET created_at = now() - interval '31 days' WHERE merchant_id = $1", [merchantId])
    await system.forgetOld()
    const { rows } = await system.sql.query('SELECT (SELECT count(*)::int FROM deliveries WHERE endpoint_id = $1) AS n', [id])
    expect(rows).toEqual([{ n: 0 }])
  })
})

describe('a deleted endpoint', () => {
  it('is sent nothing more: what waited is dead with the reason', async () => {
    const receiver = await receive()
    const merchantId = await known()
    const { id } = await addEndpoint(system, merchantId, { url: receiver.url })
    await patch(merchantId, id, { paused: true }).expect(200)
    await system.publish(orderPaid(merchantId))
    await request(system.url).delete(`/api/v1/webhook-endpoints/${id}`).set(asMerchant(merchantId)).expect(200)
    await system.publish(orderPaid(merchantId))
    await system.dispatcher.idle()
    expect(receiver.received).toHaveLength(0)
    const { body } = await get(merchantId, `/deliveries?endpoint_id=${id}`)
    expect(body.data).toMatchObject([{ status: 'dead', dead_reason: 'endpoint_deleted', attempts: 0 }])
    const replay = await request(system.url).post(`/api/v1/deliveries/${body.data[0].id}/replay`).set(asMerchant(merchantId)).send({})
    expect(replay.body.code).toBe('not_found')
  })
})

describe('a test event', () => {
  it('goes to its endpoint alone, whatever that chose', async () => {
    const [main, one, other] = [await receive(), await receive(), await receive()]
    const merchantId = await known(main.url)
    const { id } = await addEndpoint(system, merchantId, { url: one.url, events: ['order.paid'] })
    await addEndpoint(system, merchantId, { url: other.url })
    const { status, body } = await post(system, merchantId, `/${id}/test`)
    expect([status, body.event_type, body.endpoint_id]).toEqual([201, 'endpoint.test', id])
    await system.dispatcher.idle()
    expect([main.types(), one.types(), other.types()]).toEqual([[], ['endpoint.test'], []])
    expect((await get(merchantId, `/deliveries/${body.id}`)).body.status).toBe('delivered')
    expect((await get(merchantId, '/events?after=0')).body.data).toMatchObject([
      { type: 'endpoint.test', sequence: 1, cursor: expect.stringMatching(/^1-[0-9a-f]{16}$/) },
    ])
  })
})

describe('a delivery', () => {
  it('shows where it went, headers without secrets, body and answer, and is found by order, subscription and endpoint', async () => {
    const receiver = await receive(res => void res.writeHead(500).end('no'))
    const merchantId = await known(receiver.url)
    const { id, secret } = await addEndpoint(system, merchantId, {
      url: receiver.url,
      format: 'standard',
      headers: { 'X-Api-Key': 'hush-7' },
    })
    const subscriptionId = randomUUID()
    const order = paidOrder()
    const charged = event('subscription.charged', {
      ...{ merchant_id: merchantId, merchant_version: 1, charges_done: 1 },
      ...{ subscription_id: subscriptionId, order: { ...order, subscription_id: subscriptionId } },
    })
    await system.publish(charged, orderPaid(merchantId))
    await system.dispatcher.idle()
    for (const query of [`order_id=${order.id}`, `subscription_id=${subscriptionId}`]) {
      const { body } = await get(merchantId, `/deliveries?${query}`)
      expect(body.data.map((each: { endpoint_id: string }) => each.endpoint_id).sort()).toEqual([merchantId, id].sort())
      expect(body.data[0]).toMatchObject({ order_id: order.id, subscription_id: subscriptionId, event_id: charged.id })
    }
    expect((await get(merchantId, `/deliveries?endpoint_id=${merchantId}`)).body.data).toHaveLength(2)
    expect((await get(merchantId, `/deliveries?order_id=${randomUUID()}`)).body.data).toEqual([])
    const [found] = (await get(merchantId, `/deliveries?order_id=${order.id}&endpoint_id=${id}`)).body.data
    const { body: detail } = await get(merchantId, `/deliveries/${found.id}`)
    const [attempt] = deliveryDetail.parse(detail).attempt_log
    expect(attempt).toMatchObject({
      ...{ url: receiver.url, http_status: 500, response_snippet: 'no' },
      request_headers: {
        ...{ 'X-Api-Key': '(not shown)', 'Content-Type': 'application/json', 'X-Service-Signature': '(not shown)' },
        ...{ 'webhook-id': charged.id, 'webhook-sequence': expect.any(String), 'webhook-signature': '(not shown)' },
      },
    })
    expect(detail).toMatchObject({ url: receiver.url, body: receiver.received[0]?.body.toString() })
    expect(JSON.stringify(detail)).not.toContain('hush-7')
    const text = (await system.sql.query('SELECT json_agg(a)::text AS text FROM attempts a')).rows[0].text
    for (const hidden of ['hush-7', secret, String(receiver.received[0]?.headers['x-service-signature'])])
      expect(text).not.toContain(hidden)
    const sent = receiver.received.find(({ headers }) => headers['webhook-id'] !== undefined)
    expect(sent?.headers['x-api-key']).toBe('hush-7')
  })

  it('of a time range is replayed to one endpoint, also to one that is younger than the events', async () => {
    const [main, young] = [await receive(), await receive()]
    const merchantId = await known(main.url)
    await system.publish(orderPaid(merchantId), orderPaid(merchantId), cancelled(merchantId))
    await system.dispatcher.idle()
    const { id } = await addEndpoint(system, merchantId, { url: young.url, events: ['order.paid'] })
    const range = { created_gte: '2020-01-01T00:00:00.000Z', created_lt: '2099-01-01T00:00:00.000Z', endpoint_id: id }
    const replay = () => request(system.url).post('/api/v1/deliveries/replay').set(asMerchant(merchantId)).send(range)
    const [first, second] = await Promise.all([replay(), replay()])
    expect(first.body.replayed + second.body.replayed).toBe(2)
    await system.dispatcher.idle()
    expect((await replay()).body.replayed).toBe(0)
    expect([main.received.length, young.types()]).toEqual([3, ['order.paid', 'order.paid']])
    const stranger = await request(system.url).post('/api/v1/deliveries/replay').set(asMerchant(randomUUID())).send(range)
    expect(stranger.body.code).toBe('forbidden')
  })
})
