import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type RequestHandler, Router } from 'express'
import request from 'supertest'
import { createApp, createMetrics, type Database, openDatabase, silentLogger } from '../../src'
import { type TestDatabase, testDatabase } from '../../src/testing'

// A server that takes every connection and answers nothing, as a PostgreSQL that is stopped in the middle does.

/** A crowded machine's; its statements would be given up after 32 s. */
const LIMIT_MS = 10_000
const LONG_MS = 2_000
const sockets = new Set<Socket>()
let server: Server
let silent: Database
let living: Database
let file: TestDatabase
beforeAll(async () => {
  server = createServer(socket => void sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  silent = openDatabase({ url: `postgresql://ponte:secret@127.0.0.1:${(server.address() as AddressInfo).port}/ponte` })
  file = await testDatabase()
  living = openDatabase({ url: file.url })
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  server.close()
  await Promise.all([silent.stop?.(), living.stop?.()])
  await file.drop()
})

it('answers 503 to what waits for it, and does nothing of what has not begun', async () => {
  let isRouted = false
  const routes = Router()
  routes.get('/', () => {
    isRouted = true
  })
  let goOn: () => void = () => undefined
  const wait: RequestHandler = (_req, _res, next) => {
    goOn = next
  }
  const app = createApp({ routes, logger: silentLogger, database: silent, before: [wait] })
  const since = performance.now()
  const { status, body, headers } = await request(app).get('/')
  expect({ status, code: body.code, after: headers['retry-after'] }).toEqual({ status: 503, code: 'service_unavailable', after: '2' })
  expect(performance.now() - since).toBeLessThan(LIMIT_MS)
  goOn()
  expect(isRouted).toBe(false)
})

it('lets work that has begun end unheard', async () => {
  let answer: () => void = () => undefined
  const routes = Router()
  routes.get('/', (_req, res) => {
    answer = () => void res.json({})
  })
  routes.get('/failing', async () => {
    await silent.query('SELECT 1')
  })
  const app = createApp({ routes, logger: silentLogger, database: silent })
  const [{ status }, failing] = await Promise.all([request(app).get('/'), request(app).get('/failing')])
  expect([status, failing.status]).toEqual([503, 503])
  expect(answer).toThrow('headers')
})

it('lets what takes long have its time while the database lives', async () => {
  const routes = Router()
  routes.get('/', async (_req, res) => {
    await pause(LONG_MS)
    res.json({})
  })
  const app = createApp({ routes, logger: silentLogger, database: living })
  expect((await request(app).get('/')).status).toBe(200)
})

it('takes an error for a sign of life, and for no answer in its metric', async () => {
  const refused = openDatabase({ url: file.url.replace(/\/[^/]+$/, '/no_such_database') })
  expect(await refused.isAlive()).toBe(true)
  const answers = async (database: Database) => {
    const metrics = createMetrics('one')
    database.observe?.(metrics)
    return /^ponte_database_answers\S* (\S+)$/m.exec(await metrics.registry.metrics())?.[1]
  }
  expect([await answers(living), await answers(refused), await answers(silent)]).toEqual(['1', '0', '0'])
  await refused.stop?.()
})
