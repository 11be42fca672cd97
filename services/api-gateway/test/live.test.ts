import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { until, uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { runGateway, system } from './world'

const orderId = uuidv7()
const merchantId = uuidv7()
const view = { status: 'pending', received: '0.000000' }

runGateway({ STREAMS_PER_ADDRESS_MAX: '5' })
beforeAll(() => {
  system.owners.orders.answers((req, res) => {
    if (req.path === '/api/v1/checkouts') {
      const known = req.body.ids.includes(orderId)
      res.json({ data: known ? [{ merchant_id: merchantId, checkout: { object: 'checkout', id: orderId, ...view } }] : [] })
    } else if (req.path === `/api/v1/checkout/${orderId}`) res.json({ object: 'checkout', id: orderId, ...view })
    else res.status(404).type('application/problem+json').send('{"code":"not_found"}')
  })
})

const changed = () => {
  const event = {
    id: uuidv7(),
    type: 'order.changed',
    occurred_at: new Date().toISOString(),
    data: { merchant_id: uuidv7(), order_id: orderId },
    trace: null,
  }
  system.bus.announce({ id: event.id, type: event.type, body: JSON.stringify(event) })
}

/** A reader that keeps what it was sent. */
async function open(id = orderId, headers: Record<string, string> = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${system.url}/api/v1/checkout/${id}/stream`, { headers }, resolve).on('error', reject)
  })
  let text = ''
  let ended = false
  response.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  response.on('close', () => {
    ended = true
  })
  const views = () => [...text.matchAll(/^event: checkout\ndata: (.*)\n\n/gm)].map(match => JSON.parse(match[1] ?? '{}'))
  return { response, views, text: () => text, ended: () => ended, close: () => response.destroy() }
}

test('a payer sees the order at once and each change of it, without asking again', async () => {
  const stream = await open()
  expect(stream.response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  await until(() => stream.views().length === 1, 'the present view was not sent')
  expect(stream.text()).toMatch(/^retry: \d+\n\n/)
  view.status = 'confirming'
  changed()
  await until(() => stream.views().length === 2, 'the change was not sent')
  expect(stream.views().map(view => view.status)).toEqual(['pending', 'confirming'])
  changed()
  await system.gateway.idle()
  expect(stream.views()).toHaveLength(2)
  stream.close()
})

test('an announcement that cannot be read harms nothing, and a HEAD request opens no stream', async () => {
  const stream = await open()
  for (const body of ['{', '{}', '{"type":"order.changed"}']) system.bus.announce({ id: uuidv7(), type: 'order.changed', body })
  await request(system.url).head(`/api/v1/checkout/${orderId}/stream`).expect(200)
  expect(stream.ended()).toBe(false)
  stream.close()
})

test('a payer who reconnects gets the present view first', async () => {
  view.status = 'paid'
  const stream = await open()
  await until(() => stream.views().length === 1, 'the present view was not sent')
  expect(stream.views()[0].status).toBe('paid')
  stream.close()
})

test('many payers of one order cost one look at it per change', async () => {
  const streams = await Promise.all([1, 2, 3, 4].map(() => open()))
  await until(() => streams.every(stream => stream.views().length === 1), 'not all were sent')
  await system.gateway.idle()
  system.owners.orders.received.length = 0
  view.received = '1.000000'
  for (let n = 0; n < 50; n++) changed()
  await until(() => streams.every(stream => stream.views().at(-1).received === '1.000000'), 'not all were sent')
  expect(system.owners.orders.received.length).toBeLessThanOrEqual(2)
  for (const stream of streams) stream.close()
})

test('an order that is not there is 404, an id that is none 400, too many streams of one address 429', async () => {
  await request(system.url).get(`/api/v1/checkout/${uuidv7()}/stream`).expect(404)
  await request(system.url).get('/api/v1/checkout/abc/stream').expect(400)
  await until(async () => (await gauge()) === 0, 'closed streams are still counted')
  const streams = await Promise.all([1, 2, 3, 4, 5].map(() => open()))
  const { body, headers } = await request(system.url).get(`/api/v1/checkout/${orderId}/stream`).expect(429)
  expect(body.code).toBe('rate_limited')
  expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  for (const stream of streams) stream.close()
  await until(async () => (await gauge()) === 0, 'closed streams are still counted')
  ;(await open()).close()
})

test('a connection that closes while its body is unpacked takes no place', async () => {
  const body = gzipSync('{}')
  const head = ['Host: x', 'Content-Encoding: gzip', `Content-Length: ${body.length}`].join('\r\n')
  for (let n = 0; n < 20; n++) {
    await new Promise<void>(resolve => {
      const socket = connect(Number(new URL(system.url).port), '127.0.0.1', () => {
        socket.write(`GET /api/v1/checkout/${orderId}/stream HTTP/1.1\r\n${head}\r\n\r\n`)
        socket.write(body, () => socket.resetAndDestroy())
      })
      socket.on('close', () => resolve())
    })
  }
  await request(system.url).get(`/api/v1/checkout/${orderId}`).expect(200)
  await until(async () => (await gauge()) === 0, 'closed streams are still counted')
  ;(await open()).close()
})

test('a payer gets nothing without a view, and the plain checkout answers the same view', async () => {
  const { body } = await request(system.url).get(`/api/v1/checkout/${orderId}`).expect(200)
  expect(body).toMatchObject({ object: 'checkout', id: orderId })
  expect(system.owners.orders.received.at(-1)?.caller).toEqual({ kind: 'checkout' })
})

test('a gateway that stops ends its streams, so that their readers go to another', async () => {
  const stream = await open()
  await until(() => stream.views().length === 1, 'the present view was not sent')
  await system.gateway.stop()
  await until(() => stream.ended(), 'the stream was left open')
})

async function gauge(): Promise<number> {
  const { text } = await request(`http://127.0.0.1:${system.gateway.ops.port()}`).get('/metrics')
  return Number(/ponte_live_streams\{[^}]*\} (\d+)/.exec(text)?.[1] ?? Number.NaN)
}
