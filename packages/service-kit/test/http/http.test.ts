import { request as rawRequest } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { ApiError } from '@ponte/contracts'
import { Router } from 'express'
import request from 'supertest'
import { z } from 'zod'
import { createApp, httpServer, type Logger, parseRequest, silentLogger, until } from '../../src'

const logged: Record<string, unknown>[] = []
const logger: Logger = Object.assign(Object.create(silentLogger) as Logger, {
  error: (_: string, fields?: Record<string, unknown>) => void logged.push(fields ?? {}),
})

const routes = Router()
routes.post(
  '/echo',
  (req, res) => void res.json(parseRequest(z.strictObject({ name: z.string(), n: z.int().optional() }), req.body, 'body')),
)
routes.get('/items/:id', (_req, res) => void res.json({}))
routes.get('/refuse', () => {
  throw new ApiError('rate_limited', 'Wait a little.', { retryAfterS: 7 })
})
routes.get('/login', async () => {
  throw new ApiError('missing_authorization', 'Send a key.')
})
routes.get('/bug', () => {
  throw new TypeError('cannot read secret internals')
})
routes.get('/database-down', () => {
  throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' })
})
const app = createApp({ routes, logger })

const problem = {
  type: expect.stringMatching(/^\/docs\/errors#/),
  title: expect.any(String),
  detail: expect.any(String),
  request_id: expect.any(String),
}

describe('the app of any service', () => {
  const post = (body: string | Buffer, headers: Record<string, string> = { 'content-type': 'application/json' }) => {
    const sending = request(app).post('/echo')
    for (const [name, value] of Object.entries(headers)) sending.set(name, value)
    return sending.serialize((sent: unknown) => sent as string).send(body as string)
  }

  it('answers every request with an id: the caller`s when it is well-formed, else its own', async () => {
    expect((await request(app).get('/items/1').set('X-Request-Id', 'req-12345678')).headers['x-request-id']).toBe('req-12345678')
    for (const bad of ['short', 'with space inside', 'x'.repeat(129), '<script>alert(1)']) {
      const answer = await request(app).get('/items/1').set('X-Request-Id', bad)
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  it('states nothing about what it runs on', async () => {
    expect((await request(app).get('/items/1')).headers).not.toHaveProperty('x-powered-by')
  })

  it.each([
    ['malformed JSON', '{"name": ', 400, 'invalid_request'],
    ['JSON that is no object', '"text"', 400, 'invalid_request'],
    ['an unknown field', '{"name":"a","extra":1}', 400, 'invalid_request'],
    ['a wrong field', '{"name":5}', 400, 'invalid_request'],
    ['no body', '', 400, 'invalid_request'],
    ['a body above 64 KiB', JSON.stringify({ name: 'x'.repeat(66_000) }), 413, 'payload_too_large'],
  ])('answers %s with a problem', async (_, body, status, code) => {
    const answer = await post(body)
    expect(answer.status).toBe(status)
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(answer.body).toMatchObject({ ...problem, status, code, request_id: answer.headers['x-request-id'] })
  })

  it('names each field at fault', async () => {
    const answer = await post('{"name":5,"extra":1}')
    expect(answer.body.errors).toEqual([
      { path: 'name', message: expect.any(String) },
      { path: 'extra', message: 'is not a known field' },
    ])
  })

  it.each([
    ['another media type', { 'content-type': 'text/plain' }, 'name'],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'name=a'],
    ['no media type', {}, '{"name":"a"}'],
    ['an unusual charset', { 'content-type': 'application/json; charset=koi8-r' }, '{"name":"a"}'],
    ['UTF-7', { 'content-type': 'application/json; charset=utf-7' }, '{"name":"a"}'],
    ['an encoding we do not know', { 'content-type': 'application/json', 'content-encoding': 'zstd2' }, '{"name":"a"}'],
  ])('answers 415 to %s', async (_, headers, body) => {
    const answer = await post(Buffer.from(body), headers as Record<string, string>)
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type'])
  })

  it('takes a charset and a known encoding, and measures what comes out of it', async () => {
    expect((await post('{"name":"ção"}', { 'content-type': 'application/json; charset=utf-8' })).body).toEqual({ name: 'ção' })
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    expect((await post(gzipSync('{"name":"a"}'), headers)).status).toBe(200)
    expect((await post(gzipSync(JSON.stringify({ name: 'x'.repeat(10_000_000) })), headers)).status).toBe(413)
    expect((await post(Buffer.from('not gzip at all'), headers)).status).toBe(400)
  })

  it('answers 400 to a path that cannot be read, and 404 to one that does not exist', async () => {
    expect((await request(app).get('/items/%E0%A4%A')).body).toMatchObject({ status: 400, code: 'invalid_request' })
    expect((await request(app).get('/nothing')).body).toMatchObject({
      status: 404,
      code: 'not_found',
      detail: 'There is no route GET /nothing.',
    })
  })

  it('turns a refusal into its status, with Retry-After and WWW-Authenticate where they belong', async () => {
    const limited = await request(app).get('/refuse')
    expect([limited.status, limited.headers['retry-after'], limited.body.code]).toEqual([429, '7', 'rate_limited'])
    const login = await request(app).get('/login')
    expect([login.status, login.headers['www-authenticate'], login.body.code]).toEqual([401, 'Bearer', 'missing_authorization'])
  })

  it('keeps the details of a fault of ours to the log, under the request id', async () => {
    logged.length = 0
    const answer = await request(app).get('/bug').set('X-Request-Id', 'req-of-the-bug')
    expect(answer.body).toMatchObject({ ...problem, status: 500, code: 'internal_error', request_id: 'req-of-the-bug' })
    expect(answer.text).not.toContain('internals')
    expect(logged).toEqual([expect.objectContaining({ request_id: 'req-of-the-bug', path: '/bug', code: 'internal_error' })])
  })

  it('answers 503 with Retry-After when the database cannot be asked', async () => {
    const answer = await request(app).get('/database-down')
    expect([answer.status, answer.headers['retry-after'], answer.body.code]).toEqual([503, '2', 'service_unavailable'])
    expect(answer.text).not.toContain('10.0.0.1')
  })
})

describe('the HTTP server', () => {
  it('names the setting when its port is taken', async () => {
    const first = httpServer('http', app, { host: '127.0.0.1', port: 0 })
    await first.start?.()
    const second = httpServer('http', app, { host: '127.0.0.1', port: first.port(), portSetting: 'SHOE_PORT' })
    await expect(second.start?.()).rejects.toThrow(`Port ${first.port()} is taken. Stop what uses it, or set SHOE_PORT to another one.`)
    await first.stop?.()
  })

  it('answers what is in flight when it stops, refuses what is new, and leaves no connection open', async () => {
    let release: () => void = () => undefined
    const slow = Router().get('/slow', async (_req, res) => {
      await new Promise<void>(resolve => {
        release = resolve
      })
      res.json({ done: true })
    })
    slow.get('/quick', (_req, res) => void res.json({}))
    const server = httpServer('http', createApp({ routes: slow, logger }), { host: '127.0.0.1', port: 0 })
    await server.start?.()
    const base = `http://127.0.0.1:${server.port()}`
    await fetch(`${base}/quick`).then(answer => answer.text())
    const answering = new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
      rawRequest(`${base}/slow`, { headers: { connection: 'keep-alive' } }, answer => {
        answer.resume()
        resolve({ status: answer.statusCode, connection: answer.headers.connection })
      })
        .on('error', reject)
        .end()
    })
    await until(async () => (await count(server.server)) > 0, 'the request did not arrive')
    await new Promise(resolve => setTimeout(resolve, 20))
    const stopping = server.stop?.()
    expect(await server.ready?.()).toBe(false)
    await expect(fetch(`${base}/quick`)).rejects.toThrow()
    release()
    expect(await answering).toEqual({ status: 200, connection: 'close' })
    await stopping
    expect(await count(server.server)).toBe(0)
  })

  it('answers a request that comes over an open connection while it stops, and then closes that connection', async () => {
    let release: () => void = () => undefined
    const slow = Router().get('/slow', async (_req, res) => {
      await new Promise<void>(resolve => {
        release = resolve
      })
      res.json({})
    })
    slow.get('/quick', (_req, res) => void res.json({}))
    const server = httpServer('http', createApp({ routes: slow, logger }), { host: '127.0.0.1', port: 0 })
    await server.start?.()
    const socket = connect(server.port(), '127.0.0.1')
    let received = ''
    socket.on('data', chunk => {
      received += chunk
    })
    const ended = new Promise(resolve => socket.on('end', resolve))
    // Two requests on one connection: the second is read only after the first was answered, when the server is stopping.
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /quick HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(async () => (await count(server.server)) > 0, 'the request did not arrive')
    await new Promise(resolve => setTimeout(resolve, 20))
    const stopping = server.stop?.()
    release()
    await Promise.all([ended, stopping])
    expect(received).toMatch(/^HTTP\/1.1 200 OK/)
  })
})

const count = (server: import('node:http').Server) =>
  new Promise<number>((resolve, reject) => server.getConnections((error, n) => (error ? reject(error) : resolve(n))))
