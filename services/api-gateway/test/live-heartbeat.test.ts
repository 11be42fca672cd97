import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { createApp, httpServer, silentLogger, until, uuidv7 } from '@ponte/service-kit'
import { Router } from 'express'
import { type LiveView, liveCheckout, REFRESHED_AT_ONCE } from '../src/checkout/live-checkout'

// Questions of a heartbeat, the streams that it ends, and everyone's places. Its time is handed in by calling it.

const STREAMS = 450
const orders = new Map<string, LiveView>()
const asked: number[] = []
const live = liveCheckout({
  views: async ids => {
    asked.push(ids.length)
    return new Map(ids.flatMap(id => [[id, orders.get(id)] as const]).filter((pair): pair is [string, LiveView] => pair[1] !== undefined))
  },
  ...{ streamsMax: 1_000, streamsPerAddressMax: 1_000, streamsPerMerchantMax: 500 },
  logger: silentLogger,
})
const router = Router().get('/:id', (req, res) => live.open(req.params.id, req, res))
const http = httpServer('pages', createApp({ routes: router, logger: silentLogger }), { host: '127.0.0.1', port: 0 })
const readers: IncomingMessage[] = []

beforeAll(() => http.start?.())
beforeEach(() => {
  asked.length = 0
})
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.destroy()
  await until(() => live.count() === 0, 'closed streams are still counted')
  orders.clear()
})
afterAll(() => http.stop?.())

const order = (change: Partial<LiveView> = {}) => {
  const id = uuidv7()
  orders.set(id, { merchantId: 'm', text: `{"id":"${id}"}`, isFinal: false, ...change })
  return id
}
async function open(id: string, headers: Record<string, string> = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`http://127.0.0.1:${http.port()}/${id}`, { headers }, resolve).on('error', reject)
  })
  readers.push(response)
  const reader = { status: response.statusCode, text: '', ended: false }
  response.setEncoding('utf8').on('data', chunk => {
    reader.text += chunk
  })
  response.on('end', () => {
    reader.ended = true
  })
  return reader
}
const open200 = async (ids: readonly string[]) => {
  const streams = await Promise.all(ids.map(id => open(id)))
  await until(() => streams.every(({ text }) => text.includes('event: checkout')), 'not all were sent their view')
  return streams
}

it('asks about all orders at once in a few questions, and sends what is new', async () => {
  const ids = Array.from({ length: STREAMS }, () => order())
  const streams = await open200(ids)
  asked.length = 0
  const changed = ids[7] ?? ''
  orders.set(changed, { merchantId: 'm', text: '{"new":true}', isFinal: false })
  await live.heartbeat()
  expect([asked.length, Math.max(...asked), asked.reduce((sum, count) => sum + count, 0)]).toEqual([
    Math.ceil(STREAMS / REFRESHED_AT_ONCE),
    REFRESHED_AT_ONCE,
    STREAMS,
  ])
  await until(() => streams[7]?.text.includes('{"new":true}') === true, 'the change was not sent')
})

it('asks no more about an order that is final, and ends its streams after a while, for good', async () => {
  const [paid, pending] = [order({ isFinal: true }), order()]
  const [ending, staying] = await open200([paid, pending])
  for (let beat = 0; beat < 2; beat += 1) await live.heartbeat()
  expect(ending?.ended).toBe(false)
  asked.length = 0
  await live.heartbeat()
  expect(asked).toEqual([1])
  await until(() => ending?.ended === true, 'the stream was left open')
  expect([ending?.text.includes('id: end\nevent: end'), staying?.ended]).toEqual([true, false])
  // A browser opens it again by itself and names the last event: 204 makes it stay closed.
  expect((await open(paid, { 'Last-Event-ID': 'end' })).status).toBe(204)
})

it('ends a stream once, also one whose connection takes nothing of it, and gives its place back', async () => {
  const socket = connect(http.port(), '127.0.0.1')
  const ids = [order(), order({ isFinal: true })]
  socket.write(ids.map(id => `GET /${id} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  await until(() => live.count() > 0, 'no stream is open')
  for (let beat = 0; beat < 6; beat += 1) await live.heartbeat()
  expect((await open(order())).status).toBe(200)
  socket.destroy()
})

it('leaves places for the other merchants when one`s orders have as many streams as they may', async () => {
  const mine = Array.from({ length: 500 }, () => order())
  await open200(mine)
  expect((await open(order())).status).toBe(429)
  expect((await open(order({ merchantId: 'another' }))).status).toBe(200)
  expect(live.count()).toBe(501)
})

it('goes on when a question fails, and answers 404 for an order that is not there', async () => {
  const id = order()
  const [stream] = await open200([id])
  orders.delete(id)
  await live.heartbeat()
  expect(stream?.ended).toBe(false)
  expect((await open(uuidv7())).status).toBe(404)
})
