import { connect } from 'node:net'
import { until, uuidv7 } from '@ponte/service-kit'
import type { Response } from 'express'
import request from 'supertest'
import { bearer, newMerchant, startGateway, type TestGateway } from '../world'

// One merchant may have more answers under way than a gateway has connections to an owner.
const CONNECTIONS = 64
let system: TestGateway
let noisy: string
let neighbour: string

beforeAll(async () => {
  const max = CONNECTIONS + 1
  system = await startGateway({
    ...{ MERCHANT_READS_MAX: '200', EVENT_WAITS_MAX: String(2 * max), STREAMS_PER_ADDRESS_MAX: String(max), OWNER_TIMEOUT_MS: '1500' },
  })
  noisy = (await newMerchant(system)).apiKey
  neighbour = (await newMerchant(system)).apiKey
})
afterAll(() => system.stop())

/** So many requests of the noisy merchant, which the returned function ends. */
function open(path: string, count: number) {
  const ending = new AbortController()
  const headers = bearer(noisy)
  const asked = Array.from({ length: count }, () => fetch(`${system.url}${path}`, { headers, signal: ending.signal }).catch(() => null))
  return async () => {
    ending.abort()
    await Promise.all(asked)
  }
}

test.each(['20', '0020'])(
  'requests that wait for an event (wait=%s) hold up no other request; one merchant has half of the places, and its next is refused',
  async wait => {
    const held: Response[] = []
    system.owners.webhooks.answers((req, res) => void (req.query.wait ? held.push(res) : res.json({ object: 'list', data: [] })))
    const end = open(`/api/v1/events?after=0&wait=${wait}`, CONNECTIONS + 1)
    await until(
      () => held.length === CONNECTIONS + 1,
      () => `${held.length} wait at the owner`,
    )
    await request(system.url).get('/api/v1/events').set(bearer(neighbour)).expect(200)
    const refused = await request(system.url).get('/api/v1/events?after=0&wait=20').set(bearer(noisy)).expect(429)
    expect([refused.body.code, refused.headers['retry-after']]).toEqual(['rate_limited', '2'])
    const beside = request(system.url).get('/api/v1/events?after=0&wait=20').set(bearer(neighbour)).expect(200)
    const answered = beside.then(answer => answer)
    await until(
      () => held.length === CONNECTIONS + 2,
      () => `${held.length} wait at the owner`,
    )
    for (const res of held) res.json({ object: 'list', data: [] })
    await answered
    await end()
    system.owners.webhooks.answers()
    await request(system.url).get('/api/v1/events?after=0&wait=20').set(bearer(neighbour)).expect(200)
  },
)

test('live pages that wait for their orders hold up no other request', async () => {
  let held = 0
  let most = 0
  system.owners.orders.answers((req, res) => {
    if (req.path !== '/api/v1/checkouts') return void res.json({ object: 'list', data: [] })
    held += 1
    most = Math.max(most, held)
    res.on('close', () => {
      held -= 1
    })
  })
  const end = open(`/api/v1/checkout/${uuidv7()}/stream`, CONNECTIONS + 1)
  const metrics = `http://127.0.0.1:${system.gateway.ops.port()}`
  const isOpen = new RegExp(`^ponte_live_streams.* ${CONNECTIONS + 1}$`, 'm')
  await until(async () => isOpen.test((await request(metrics).get('/metrics')).text), 'not all pages wait')
  await request(system.url).get('/api/v1/orders').set(bearer(neighbour)).expect(200)
  expect(most).toBeLessThan(CONNECTIONS / 2)
  await end()
  system.owners.orders.answers()
})

test('files that are read slowly hold up no other request, and end when nothing is read of them', async () => {
  let begun = 0
  let writing = 0
  system.owners.orders.answers((req, res) => {
    if (!req.path.endsWith('.csv')) return void res.json({ object: 'list', data: [] })
    begun += 1
    writing += 1
    res.on('close', () => {
      writing -= 1
    })
    const more = () => {
      while (!res.destroyed && res.write('x'.repeat(65_536)));
    }
    res.on('drain', more)
    more()
  })
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(system.gateway.http.port(), '127.0.0.1').on('error', () => undefined)
    socket.pause().write(`GET /api/v1/orders.csv HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${noisy}\r\n\r\n`)
    return socket
  })
  // Half of the places; the other files are refused.
  await until(
    () => begun === CONNECTIONS / 2,
    () => `the owner has begun ${begun} files`,
  )
  await request(system.url).get('/api/v1/orders').set(bearer(neighbour)).expect(200)
  await until(
    () => writing === 0,
    () => `the owner still writes ${writing} files`,
    30_000,
  )
  for (const socket of sockets) socket.destroy()
})
