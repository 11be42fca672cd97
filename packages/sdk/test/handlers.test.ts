import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { webhookHandler as expressHandler } from '../src/express.js'
import { webhookHandler as fetchHandler } from '../src/fetch.js'
import { dedupeKey, signTestWebhook } from '../src/index.js'
import { config, webhookHandler as nextHandler, pagesWebhookHandler } from '../src/next.js'

const SECRET = 'whsec_handlers'
const expired = (id = 'order-1') => ({ type: 'order.expired', data: { id, external_ref: null } })

const servers: Server[] = []
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
}

async function deliver(url: string, event: object | string = expired(), secret = SECRET) {
  const { body, headers } = await signTestWebhook(typeof event === 'string' ? event : (event as ReturnType<typeof expired>), secret)
  const answer = await fetch(url, { method: 'POST', body, headers })
  return { status: answer.status, text: await answer.text() }
}

describe.each([
  ['express without a parser', (handler: express.RequestHandler) => express().post('/webhooks', handler)],
  ['express.raw', (handler: express.RequestHandler) => express().post('/webhooks', express.raw({ type: '*/*' }), handler)],
  ['express.text', (handler: express.RequestHandler) => express().post('/webhooks', express.text({ type: '*/*' }), handler)],
])('the handler behind %s', (_, appWith) => {
  it('handles an event, answers 401 to a wrong signature, 500 when it throws, and 200 to what it does not know', async () => {
    const got: string[] = []
    const on = {
      'order.expired': async ({ id }: { id: string }) => {
        if (id === 'bad') throw new Error('the database is away')
        got.push(id)
      },
    }
    const url = await serve(appWith(expressHandler({ secret: SECRET, on })))
    expect(await deliver(url)).toEqual({ status: 200, text: 'ok' })
    expect(await deliver(url, expired(), 'whsec_wrong')).toEqual({ status: 401, text: 'invalid_signature' })
    expect(await deliver(url, expired('bad'))).toEqual({ status: 500, text: 'not handled' })
    expect(await deliver(url, { type: 'order.moved', data: {} })).toEqual({ status: 200, text: 'ok' })
    expect(await deliver(url, '{"type":')).toEqual({ status: 400, text: 'malformed_event' })
    expect(got).toEqual(['order-1'])
  })
})

describe('the handler for express', () => {
  it('behind express.json answers what to do, and reports it', async () => {
    const errors: unknown[] = []
    const handler = expressHandler({ secret: SECRET, on: {}, onError: error => errors.push(error) })
    const url = await serve(express().use(express.json()).post('/webhooks', handler))
    expect(await deliver(url)).toEqual({ status: 500, text: 'raw_body_required' })
    expect(errors).toEqual([expect.objectContaining({ detail: expect.stringContaining('express.raw') })])
  })

  it('does not read a body without an end', async () => {
    const url = await serve(express().post('/webhooks', expressHandler({ secret: SECRET, on: {} })))
    expect((await deliver(url, 'x'.repeat(1_048_577))).status).toBe(413)
  })

  it('handles an event once that comes again, also at the same time, and again when it failed', async () => {
    const got: string[] = []
    let failures = 1
    const gate = new AbortController()
    const held = once(gate.signal, 'abort')
    const seen = new Set<string>()
    const on = {
      '*': async (data: unknown) => {
        await held
        if (failures-- > 0) throw new Error('once')
        got.push((data as { id: string }).id)
      },
    }
    const url = await serve(express().post('/webhooks', expressHandler({ secret: SECRET, on, seen })))
    const both = [deliver(url), deliver(url)]
    gate.abort()
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 500])
    expect((await deliver(url)).status).toBe(200)
    expect(got).toEqual(['order-1'])
    expect([...seen]).toEqual([dedupeKey(expired())])
  })

  it('handles each of two events that have the same body, when their kind can happen twice', async () => {
    const got: string[] = []
    const url = await serve(
      express().post(
        '/webhooks',
        expressHandler({ secret: SECRET, seen: new Set(), on: { 'subscription.resumed': ({ id }) => got.push(id) } }),
      ),
    )
    const resumed = { type: 'subscription.resumed', data: { id: 'plan-1', external_ref: null } }
    expect([(await deliver(url, resumed)).status, (await deliver(url, resumed)).status, got]).toEqual([200, 200, ['plan-1', 'plan-1']])
  })

  it('gives each kind its data', async () => {
    const got: unknown[] = []
    const handler = expressHandler({
      secret: SECRET,
      on: { 'order.expired': data => got.push(data.id), '*': (_, event) => got.push(event.type) },
    })
    const url = await serve(express().post('/webhooks', handler))
    await deliver(url)
    await deliver(url, { type: 'order.cancelled', data: { id: 'order-2', external_ref: null } })
    await deliver(url, { type: 'toString', data: {} })
    expect(got).toEqual(['order-1', 'order.cancelled', 'toString'])
  })
})

describe('the handlers for fetch and Next.js', () => {
  const request = async (secret = SECRET, method = 'POST') => {
    const { body, headers } = await signTestWebhook(expired(), secret)
    return new Request('http://shop.example/webhooks', { method, headers, ...(method === 'POST' ? { body } : {}) })
  }

  it.each([
    ['fetch', fetchHandler],
    ['route handlers', nextHandler],
  ])('%s', async (_, make) => {
    const got: string[] = []
    const handler = make({ secret: ['whsec_next', SECRET], on: { 'order.expired': ({ id }) => got.push(id) } })
    expect((await handler(await request())).status).toBe(200)
    expect((await handler(await request('whsec_wrong'))).status).toBe(401)
    expect((await handler(await request(SECRET, 'GET'))).status).toBe(405)
    expect(got).toEqual(['order-1'])
  })

  it('reads no more of a body in pieces than it may have', async () => {
    let sent = 0
    const pieces = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536))
        if (sent > 8_388_608) controller.close()
      },
    })
    const { headers } = await signTestWebhook(expired(), SECRET)
    const init = { method: 'POST', headers, body: pieces, duplex: 'half' } as const
    const handler = fetchHandler({ secret: SECRET, on: {} })
    expect((await handler(new Request('http://shop.example/webhooks', init))).status).toBe(413)
    expect(sent).toBeLessThan(2_097_152)
  })

  it('takes the standard format', async () => {
    const secret = `whsec_${Buffer.from('secret of a standard endpoint').toString('base64')}`
    const got: string[] = []
    const handler = fetchHandler({ secret, format: 'standard', seen: new Set(), on: { 'order.expired': ({ id }) => got.push(id) } })
    const post = (signed: { body: string; headers: Record<string, string> }) =>
      new Request('http://shop.example/', { method: 'POST', ...signed })
    const first = await signTestWebhook(expired(), secret, { format: 'standard' })
    expect([(await handler(post(first))).status, (await handler(post(first))).status]).toEqual([200, 200])
    expect((await handler(post(await signTestWebhook(expired(), secret)))).status).toBe(401)
    const old = await signTestWebhook(expired(), secret, { format: 'standard', at: new Date(0) })
    const answer = await handler(post(old))
    expect([answer.status, await answer.text()]).toEqual([401, 'timestamp_out_of_range'])
    expect(got).toEqual(['order-1'])
  })

  it('pages/api, whose parser is off', async () => {
    const got: string[] = []
    const url = await serve(pagesWebhookHandler({ secret: SECRET, on: { 'order.expired': ({ id }) => got.push(id) } }))
    expect((await deliver(url)).status).toBe(200)
    expect([got, config.api.bodyParser]).toEqual([['order-1'], false])
  })
})
