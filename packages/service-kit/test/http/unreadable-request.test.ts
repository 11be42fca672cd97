import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { Router } from 'express'
import request from 'supertest'
import { createApp, createMetrics, httpServer, opsServer, SERIES_MAX, silentLogger, until } from '../../src'

const routes = Router()
routes.get('/ping', (_req, res) => void res.json({ pong: true }))
routes.get('/items/:id', (_req, res) => void res.json({}))
routes.get('/fails', () => {
  throw new Error('a fault')
})
let stuck = 0
routes.get('/stuck', (_req, res) => {
  stuck += 1
  res.on('close', () => {
    stuck -= 1
  })
})
// Stands for a route of its own at each path.
routes.use('/many', (req, res) => {
  req.route = { path: req.originalUrl }
  res.end()
})
const http = httpServer('http', createApp({ routes, logger: silentLogger }), { host: '127.0.0.1', port: 0 })
const metrics = createMetrics('shoes')
const ops = opsServer({ host: '127.0.0.1', port: 0, metrics, parts: () => [http], logger: silentLogger })

beforeAll(async () => {
  await http.start?.()
  await ops.start?.()
})
afterAll(async () => {
  await http.stop?.()
  await ops.stop?.()
})

/** Sends bytes as they are, and resolves with everything that comes back before the connection ends. */
async function exchange(bytes: string): Promise<{ status: number; headers: string; body: string }> {
  const socket = connect(http.port(), '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  const ended = new Promise<void>(resolve => socket.once('close', () => resolve()))
  socket.on('error', () => undefined)
  socket.write(bytes)
  await ended
  const [headers = '', body = ''] = text.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(headers)?.[1]), headers, body }
}
const get = (target: string, headers = 'Host: x\r\n') => `GET ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`

describe('what the parser refuses', () => {
  test.each([
    ['no HTTP at all', 'GARBAGE\r\n\r\n', 400, 'invalid_request'],
    ['a header without a name', 'GET /ping HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', 400, 'invalid_request'],
    ['a negative length', 'POST /ping HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400, 'invalid_request'],
    [
      'a length beside chunks',
      'POST /ping HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'invalid_request',
    ],
    ['headers over 16 KiB', get('/ping', `Host: x\r\nX-Large: ${'a'.repeat(20_000)}\r\n`), 431, 'headers_too_large'],
  ])('is answered with a problem and a request id: %s', async (_name, bytes, status, code) => {
    const answer = await exchange(bytes)
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatch(/^content-type: application\/problem\+json/im)
    const requestId = /^x-request-id: (.*)$/im.exec(answer.headers)?.[1]
    expect(JSON.parse(answer.body)).toMatchObject({ status, code, request_id: requestId, detail: expect.any(String) })
  })

  test('a request that is not sent in time is 408', async () => {
    const { headersTimeout } = http.server
    http.server.headersTimeout = 100
    const answer = await exchange('GET /ping HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    http.server.headersTimeout = headersTimeout
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([408, 'request_timeout'])
  })

  test('a response that has begun is not followed by another one', async () => {
    const { headers, body } = await exchange(`GET /ping HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n`)
    expect(headers.match(/HTTP\/1\.1 \d/g) ?? []).toHaveLength(1)
    expect(body).not.toContain('HTTP/1.1 200')
  })
})

describe('a request target that is not a path of this server', () => {
  test.each(['http://anything/ping', 'https://evil.example/', 'ping', '*', '/ping#/word', '/ping?x=1#y'])('is 400: %s', async target => {
    const answer = await exchange(get(target))
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([400, 'invalid_request'])
  })

  test('a request without a Host is 400, and an expectation that is not known is ignored', async () => {
    expect((await exchange(get('/ping', ''))).status).toBe(400)
    expect((await exchange(get('/ping', 'Host: x\r\nExpect: the-impossible\r\n'))).status).toBe(200)
  })
})

test('metric labels are routes of a fixed table, whatever is asked', async () => {
  for (let n = 0; n < 40; n++) {
    await exchange(get(`http://host-${n}/ping`))
    await exchange(get(`/word-${n}/ping`))
    await exchange(get(`/ping/word-${n}`))
    await exchange(get(`/ping#/word-${n}`))
    await exchange(get(`/items/word-${n}`))
  }
  const { text } = await request(`http://127.0.0.1:${ops.port()}`).get('/metrics')
  const labels = [...text.matchAll(/ponte_http_request_duration_seconds_count\{.*route="([^"]*)"/g)].map(match => match[1])
  expect([...new Set(labels)].sort()).toEqual(['(none)', '/items/:id', '/ping'])
})

describe('requests that wait behind another one on their connection', () => {
  const pipelined = (count: number) => {
    const socket = connect(http.port(), '127.0.0.1')
      .on('error', () => undefined)
      .resume()
    socket.write('GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count))
    return socket
  }

  test('are not begun before it is answered, and hold nothing when the connection is lost', async () => {
    const socket = pipelined(3)
    await until(() => stuck > 0, 'the first is not handled')
    await exchange(get('/ping'))
    expect(stuck).toBe(1)
    socket.destroy()
    await until(() => stuck === 0, 'the first is not closed')
  })

  test('are a hundred at most: more end the connection', async () => {
    const socket = pipelined(102)
    await until(() => socket.destroyed, 'the connection is still open')
    await until(() => stuck === 0, 'the first is not closed')
  })
})

describe('however many sets of labels strangers make', () => {
  const counted = async () => {
    const { text } = await request(`http://127.0.0.1:${ops.port()}`).get('/metrics')
    return text.split('\n').filter(line => line.startsWith('ponte_http_request_duration_seconds_count{'))
  }

  test('a method that no route has is one of the others', async () => {
    for (const method of METHODS) if (method !== 'CONNECT') await exchange(get('/ping').replace('GET', method))
    const methods = (await counted()).map(line => /method="([^"]*)"/.exec(line)?.[1])
    expect([...new Set(methods)].sort()).toEqual(['(other)', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])
  })

  test('a failure is counted as one: what is beyond the bound keeps its status', async () => {
    for (let from = 0; from < SERIES_MAX; from += 100) {
      const some = Array.from({ length: 100 }, (_, n) => `GET /many/${from + n} HTTP/1.1\r\nHost: x\r\n\r\n`)
      await exchange(some.join('') + get('/ping'))
    }
    await exchange(get('/fails'))
    expect(await counted()).toContainEqual(expect.stringMatching(/method="\(other\)",route="\(other\)",status="500"\} 1$/))
  })
})

test('a server that is retired is not ready, still answers new connections, and asks each to close', async () => {
  const retired = httpServer('http', createApp({ routes, logger: silentLogger }), { host: '127.0.0.1', port: 0 })
  await retired.start?.()
  retired.retire?.()
  expect(retired.ready?.()).toBe(false)
  const { headers } = await request(`http://127.0.0.1:${retired.port()}`).get('/ping').set('Connection', 'keep-alive').expect(200)
  expect(headers.connection).toBe('close')
  await retired.stop?.()
})
