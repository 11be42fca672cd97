import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type System, startAll } from '@ponte/all-in-one'
import { isPonteError, Ponte, type StoredEvent, verifyWebhook } from '@ponte/sdk'
import { call, createMerchant, startWorld, type World } from '../world'

let world: World
let system: System
let merchant: Awaited<ReturnType<typeof createMerchant>>
let line: Awaited<ReturnType<typeof startLine>>
let ponte: Ponte
beforeAll(async () => {
  world = await startWorld()
  system = await startAll(world.place, { logger: world.logger })
  merchant = await createMerchant(world, system.gatewayUrl)
  line = await startLine(system.gatewayUrl)
  ponte = new Ponte(merchant.api_key, { baseUrl: line.url, timeoutMs: 30_000 })
}, 120_000)
afterAll(async () => {
  await line?.stop()
  await system?.stop()
  await world?.stop()
})

type Fault = 'cut before' | 'cut after' | 'busy'

/** A network between client and gateway: it loses requests and answers, and counts what came through. */
async function startLine(target: string) {
  let faults: Fault[] = []
  const forwarded: string[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request as AsyncIterable<Uint8Array>) chunks.push(chunk)
    const fault = faults.shift()
    if (fault === 'cut before') return request.socket.destroy()
    if (fault === 'busy') return response.writeHead(503, { 'Retry-After': '0' }).end('busy')
    forwarded.push(`${request.method} ${request.headers['idempotency-key'] ?? ''}`)
    const headers = Object.entries(request.headers).filter(([name]) => !['host', 'connection', 'content-length'].includes(name))
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}
    const answer = await fetch(`${target}${request.url}`, {
      ...body,
      method: request.method ?? 'GET',
      headers: Object.fromEntries(headers) as Record<string, string>,
    })
    const text = await answer.text()
    if (fault === 'cut after') return request.socket.destroy()
    return response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? '' }).end(text)
  }
  const server: Server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwarded,
    next(...given: Fault[]) {
      faults = given
      forwarded.length = 0
    },
    cutAll: () => server.closeAllConnections(),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const countOrders = async () => {
  let count = 0
  for await (const _ of ponte.orders.list({ limit: 2 })) count++
  return count
}

it('an order whose answer is lost is one order: its key stays the same over the attempts', async () => {
  const before = await countOrders()
  line.next('cut after', 'cut before')
  const order = await ponte.orders.create({ brl_amount: '150.00', external_ref: 'LOST-1' })
  expect(order).toMatchObject({ object: 'order', external_ref: 'LOST-1', usdc_amount: '27.675277' })
  expect(line.forwarded).toEqual([expect.stringMatching(/^POST [0-9a-f-]{36}$/), line.forwarded[0]])
  expect(await countOrders()).toBe(before + 1)
}, 60_000)

it('an error after the last attempt names the key, with which the same order comes of it later', async () => {
  line.next('cut after', 'busy', 'cut before')
  const error: unknown = await ponte.orders.create({ brl_amount: '10.00', external_ref: 'LOST-2' }).catch((caught: unknown) => caught)
  if (!isPonteError(error) || error.idempotencyKey === null) throw error
  expect(error).toMatchObject({ code: 'connection_failed', status: 0 })
  line.next()
  const { idempotencyKey } = error
  const order = await ponte.orders.create({ brl_amount: '10.00', external_ref: 'LOST-2' }, { idempotencyKey })
  const { data } = await ponte.orders.list({ external_ref: 'LOST-2' })
  expect(data.map(({ id }) => id)).toEqual([order.id])
}, 60_000)

it('a change without a key is not sent again when its fate is unknown', async () => {
  const subscription = await ponte.subscriptions.create({ brl_amount: '49.90' })
  line.next('cut after')
  await expect(ponte.subscriptions.update(subscription.id, { description: 'once' })).rejects.toMatchObject({ code: 'connection_failed' })
  expect(line.forwarded).toEqual(['PATCH '])
  expect((await ponte.subscriptions.get(subscription.id)).description).toBe('once')
}, 60_000)

it('refusals of the API come as errors whose code narrows', async () => {
  const refused: unknown = await ponte.orders.create({ brl_amount: '0' }).catch((caught: unknown) => caught)
  expect(refused).toMatchObject({ code: 'invalid_request', status: 400, requestId: expect.any(String) })
  expect(isPonteError(refused, 'invalid_request') && refused.errors.map(({ path }) => path)).toEqual(['brl_amount'])
  const stranger = new Ponte(`sk_live_${'0'.repeat(64)}`, { baseUrl: line.url })
  await expect(stranger.orders.list()).rejects.toMatchObject({ code: 'invalid_api_key', status: 401 })
  await expect(ponte.orders.get('019c0000-0000-7000-8000-000000000000')).rejects.toMatchObject({ code: 'not_found' })
  await expect(new Ponte(merchant.api_key, { baseUrl: world.place.identity.url }).orders.list()).rejects.toMatchObject({
    code: 'unexpected_answer',
  })
  await expect(ponte.orders.list({}, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
}, 60_000)

it('what the service sends is verified, and is the event that the list shows', async () => {
  const order = await ponte.orders.create({ brl_amount: '20.00' })
  await ponte.orders.cancel(order.id)
  await system.idle()
  const delivered = world.receiver.received.find(({ body }) => body.includes(order.id))
  const event = await verifyWebhook(delivered?.body ?? '', delivered?.headers['x-service-signature'], [
    'whsec_old',
    merchant.webhook_secret,
  ])
  expect(event).toEqual({ type: 'order.cancelled', data: { id: order.id, external_ref: null } })
  const { data } = await ponte.events.list({ type: 'order.cancelled', limit: 1 })
  expect(data[0]).toMatchObject({ object: 'event', ...event })
}, 60_000)

it('events are followed over cut connections: each one once, in order, without gaps', async () => {
  const wanted = 12
  const start = (await ponte.events.list({ limit: 1 })).data[0]?.sequence ?? 0
  const ends = new AbortController()
  const got: StoredEvent[] = []
  const retries: string[] = []
  const following = (async () => {
    const options = { signal: ends.signal, waitS: 2, limit: 5, onRetry: ({ code }: { code: string }) => retries.push(code) }
    for await (const event of ponte.events.follow({ ...options, after: start })) {
      got.push(event)
      if (got.length % 4 === 0) line.cutAll()
      if (got.length === wanted) ends.abort()
    }
  })()
  for (let n = 0; n < wanted; n++) {
    const order = await call<{ id: string }>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '1.00' })
    await call(system.gatewayUrl, 'POST', `/api/v1/orders/${order.id}/cancel`, merchant.api_key)
    if (n % 5 === 0) line.cutAll()
  }
  await following
  expect(got.map(({ sequence }) => sequence)).toEqual(Array.from({ length: wanted }, (_, n) => start + 1 + n))

  const beyond = ponte.events.follow({ after: start + 10_000 })
  await expect(beyond.next()).rejects.toMatchObject({ code: 'events_missing' })
  const types: string[] = []
  for await (const { type } of ponte.events.follow({ after: start, types: ['order.cancelled'], waitS: 0 })) {
    types.push(type)
    if (types.length === 3) break
  }
  expect(new Set(types)).toEqual(new Set(['order.cancelled']))
}, 120_000)

it("the merchant's user reads endpoints and deliveries with a session token", async () => {
  const session = new Ponte(() => merchant.token, { baseUrl: line.url })
  expect((await session.merchant.get()).id).toBe(merchant.id)
  expect((await session.merchant.endpoints.list())[0]?.id).toBe(merchant.id)
  const { data } = await session.merchant.deliveries.list({ limit: 1 })
  expect((await session.merchant.deliveries.get(data[0]?.id ?? '')).attempt_log.length).toBeGreaterThan(0)
  await expect(ponte.merchant.get()).rejects.toMatchObject({ code: 'invalid_jwt' })
}, 60_000)
