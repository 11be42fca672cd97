import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { until } from '@ponte/service-kit'
import request from 'supertest'
import { bearer, newMerchant, runGateway, system } from './world'

runGateway()

describe('GET /ping', () => {
  test.each([
    [undefined, 'application/vnd.api+json'],
    ['*/*', 'application/vnd.api+json'],
    ['application/vnd.api+json', 'application/vnd.api+json'],
    ['application/json', 'application/json'],
    ['application/json, */*;q=0.1', 'application/json'],
    ['text/html', 'application/vnd.api+json'],
  ])('specification, Liveness: Accept %j is answered as %s', async (accept, type) => {
    const asked = request(system.url).get('/ping')
    const { headers, text } = await (accept ? asked.set('Accept', accept) : asked).expect(200)
    expect(headers['content-type']).toBe(type)
    expect(JSON.parse(text)).toEqual({ message: 'Ponte is online' })
  })
})

test('every answer, errors too, carries a request id and the security headers, and states nothing of its server', async () => {
  for (const path of ['/ping', '/api/v1/orders', '/nowhere']) {
    const { headers } = await request(system.url).get(path)
    expect(headers['x-request-id']).toMatch(/^[\w.:-]{8,128}$/)
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' })
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(headers['content-security-policy']).not.toContain('unsafe')
    expect(headers).not.toHaveProperty('x-powered-by')
    expect(headers).not.toHaveProperty('server')
  }
})

test.each(['a', 'x'.repeat(200), 'two words here', '<script>alert(1)</script>'])(
  'the request id %j of a caller is not taken over',
  async given => {
    const { headers } = await request(system.url).get('/nowhere').set('X-Request-Id', given)
    expect(headers['x-request-id']).not.toBe(given)
  },
)

test.each([
  ['get', '/api/v2/orders'],
  ['get', '/nowhere'],
] as const)('a route that does not exist is 404 not_found: %s %s', async (method, path) => {
  const { body, headers } = await request(system.url)[method](path).expect(404)
  expect(body).toMatchObject({ code: 'not_found', status: 404, request_id: headers['x-request-id'] })
  expect(headers['content-type']).toContain('application/problem+json')
})

describe('a method that a path does not have', () => {
  test.each([
    ['delete', '/api/v1/orders', 'GET, HEAD, POST'],
    ['put', '/api/v1/merchants/me', 'GET, HEAD, PATCH'],
    ['patch', '/api/v1/merchants', 'GET, HEAD, POST'],
    ['post', '/ping', 'GET, HEAD'],
    ['put', '/api/v1/orders/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90', 'GET, HEAD, PATCH'],
    ['get', '/api/v1/subscriptions/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90/charge', 'POST'],
    ['delete', '/openapi.json', 'GET, HEAD'],
    ['patch', '/dashboard/session', 'DELETE, POST, PUT'],
    ['put', '/api/v1/deliveries/replay', 'POST'],
    ['put', '/api/v1/merchants/me/deliveries/replay', 'POST'],
  ] as const)('is 405 with Allow: %s %s', async (method, path, allow) => {
    const { body, headers } = await request(system.url)[method](path).expect(405)
    expect(body).toMatchObject({ code: 'method_not_allowed', status: 405 })
    expect(headers.allow).toBe(allow)
  })

  test('OPTIONS names which it has, without a body', async () => {
    const { headers, text } = await request(system.url).options('/api/v1/orders').expect(204)
    expect([headers.allow, text]).toEqual(['GET, HEAD, POST', ''])
  })
})

test.each([
  ['patch', '/api/v1/merchants/me'],
  ['patch', '/api/v1/merchants/me/mail'],
  ['post', '/api/v1/merchants/me/rotate-webhook-secret'],
] as const)('a body that is null is no body that was left out, and 400: %s %s', async (method, path) => {
  const { token } = await newMerchant(system)
  const { body } = await request(system.url)
    [method](path)
    .set(bearer(token))
    .set('Content-Type', 'application/json')
    .send('null')
    .expect(400)
  expect(body.code).toBe('invalid_request')
})

test('/ leads to the dashboard, or to the documentation where no pages are built', async () => {
  const { headers } = await request(system.url).get('/').expect(302)
  expect(['/dashboard', '/docs']).toContain(headers.location)
})

describe('bodies that are too much (413)', () => {
  let apiKey: string
  beforeAll(async () => {
    apiKey = (await newMerchant(system)).apiKey
    system.owners.orders.received.length = 0
  })
  const post = (path: string, body: string | Buffer) =>
    request(system.url).post(path).set(bearer(apiKey)).set('Content-Type', 'application/json').send(body)

  test('one byte over 64 KiB is refused, 64 KiB pass', async () => {
    const json = (size: number) => `"${'a'.repeat(size - 2)}"`
    const refused = await post('/api/v1/orders', json(65_537)).expect(413)
    expect(refused.body.code).toBe('payload_too_large')
    expect(refused.headers['ponte-version']).toMatch(/^\d{4}-\d\d-\d\d$/)
    expect(system.owners.orders.received).toEqual([])
    const { status } = await post('/api/v1/orders', `{"a":"${'a'.repeat(65_536 - 8)}"}`)
    expect(status).toBe(201)
  })

  test('a chunked body without length is refused at the limit, and a decompression bomb too', async () => {
    const big = 'a'.repeat(200_000)
    const chunked = request(system.url)
      .post('/api/v1/orders')
      .set(bearer(apiKey))
      .set('Content-Type', 'application/json')
      .set('Transfer-Encoding', 'chunked')
    chunked.write(big)
    await chunked.expect(413)
    const headers = { ...bearer(apiKey), 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }
    const bomb = await fetch(`${system.url}/api/v1/orders`, { method: 'POST', headers, body: gzipSync(Buffer.alloc(5_000_000, 32)) })
    expect(bomb.status).toBe(413)
    await post('/api/v1/orders', '{}').set('Content-Encoding', 'unknown').expect(415)
  })

  test('headers over 16 KiB are refused', async () => {
    await request(system.url).get('/ping').set('X-Large', 'a'.repeat(20_000)).expect(431)
  })
})

describe('sockets that mean no good', () => {
  const open = async () => {
    const socket = connect(system.gateway.http.port(), '127.0.0.1')
    let text = ''
    socket
      .on('error', () => undefined)
      .setEncoding('utf8')
      .on('data', chunk => {
        text += chunk
      })
    await new Promise<void>(resolve => socket.once('connect', () => resolve()))
    return { socket, text: () => text }
  }
  const healthy = () => request(system.url).get('/ping').expect(200)

  test('slow-loris: two hundred half-sent requests are cut off in time, and the service answers others meanwhile', async () => {
    const { server } = system.gateway.http
    const [headersTimeout, requestTimeout] = [server.headersTimeout, server.requestTimeout]
    expect([headersTimeout, requestTimeout]).toEqual([15_000, 30_000])
    server.headersTimeout = 500
    const sockets = await Promise.all(Array.from({ length: 200 }, open))
    for (const { socket } of sockets) socket.write('GET /ping HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    await healthy()
    await until(() => sockets.every(({ socket }) => socket.destroyed), 'slow senders are still connected', 15_000)
    expect(sockets[0]?.text()).toContain('408')
    Object.assign(server, { headersTimeout })
    await healthy()
  })

  test('clients that read nothing of what they asked for are cut off in time, and the service answers others meanwhile', async () => {
    const { server } = system.gateway.http
    const { timeout } = server
    expect(timeout).toBe(120_000)
    server.timeout = 500
    const accepted: Socket[] = []
    const accept = (socket: Socket) => void accepted.push(socket)
    server.on('connection', accept)
    const clients = await Promise.all(Array.from({ length: 20 }, open))
    for (const { socket } of clients) socket.pause().write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(60))
    await healthy()
    await until(
      () => accepted.length >= clients.length && accepted.every(socket => socket.destroyed),
      'connections of clients that read nothing are still open',
      15_000,
    )
    server.off('connection', accept)
    server.timeout = timeout
    for (const { socket } of clients) socket.destroy()
  })

  test('pipelined requests are answered each, in order', async () => {
    const { socket, text } = await open()
    const one = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
    socket.write(Array.from({ length: 50 }, (_, n) => one(n % 2 ? '/nowhere' : '/ping')).join(''))
    await until(() => (text().match(/HTTP\/1\.1 /g) ?? []).length === 50, 'not all were answered')
    expect([...text().matchAll(/HTTP\/1\.1 (\d+)/g)].map(match => match[1])).toEqual(
      Array.from({ length: 50 }, (_, n) => (n % 2 ? '404' : '200')),
    )
    socket.destroy()
  })

  test.each([
    ['two lengths', 'POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
    [
      'length and chunks (request smuggling)',
      'POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a header with a bare newline', 'GET /ping HTTP/1.1\r\nHost: x\r\nX: a\nb\r\n\r\n'],
  ])('%s is refused with 400 and the connection closed', async (_name, bytes) => {
    const { socket, text } = await open()
    socket.write(bytes)
    await until(() => socket.destroyed, 'the connection is still open')
    expect(text()).toMatch(/^HTTP\/1\.1 400/)
    await healthy()
  })

  test('clients that vanish in the middle of a body leave nothing behind', async () => {
    const sockets: Socket[] = []
    for (let n = 0; n < 50; n++) {
      const { socket } = await open()
      socket.write('POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"a":')
      sockets.push(socket)
    }
    for (const socket of sockets) socket.destroy()
    await healthy()
    await system.gateway.idle()
  })
})

describe('what must not be public', () => {
  test('health, readiness and metrics are on the ops port alone', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      await request(system.url).get(path).expect(404)
      await request(`http://127.0.0.1:${system.gateway.ops.port()}`).get(path).expect(200)
    }
  })

  test('metrics name routes, not paths, and hold no credential', async () => {
    const { apiKey } = await newMerchant(system)
    await request(system.url).get('/api/v1/orders/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90').set(bearer(apiKey))
    const { text } = await request(`http://127.0.0.1:${system.gateway.ops.port()}`).get('/metrics')
    expect(text).toContain('route="/api/v1/orders/:id"')
    expect(text).not.toContain('01981f3c')
    expect(text).not.toContain('sk_live_')
  })
})
