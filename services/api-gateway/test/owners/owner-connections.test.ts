import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort, startHttpServer, startTcpProxy, type TcpProxy } from '@ponte/local-servers'
import { silentLogger, until } from '@ponte/service-kit'
import request from 'supertest'
import { createApiGateway } from '../../src'
import { openOwner } from '../../src/owners/owner'
import { bearer, newMerchant, startGateway, type TestGateway } from '../world'
import { startOwner } from '../world/owner'

const SECRET = 'a-test-secret-of-at-least-32-characters'

let system: TestGateway
/** Hands each connection to the next replica, as a service address in front of them does. */
let front: TcpProxy
const replicas: Awaited<ReturnType<typeof startOwner>>[] = []

beforeAll(async () => {
  replicas.push(await startOwner('orders', SECRET))
  front = await startTcpProxy(() => replicas.map(({ url }) => url))
  system = await startGateway({ ORDERS_URL: front.url, ORDERS_TOKEN_SECRET: SECRET, OWNER_CONNECTION_AGE_MS: '200' })
})
afterAll(async () => {
  await system.stop()
  for (const replica of replicas) await replica.stop()
  await front.stop()
})

test('a replica that is added gets requests within the age of a connection, under steady load and without any failure', async () => {
  const { apiKey } = await newMerchant(system)
  const statuses = new Set<number>()
  let running = true
  const client = async () => {
    while (running) statuses.add((await request(system.url).get('/api/v1/orders').set(bearer(apiKey))).status)
  }
  const clients = Promise.all([1, 2, 3, 4].map(client))
  const received = () => replicas.map(replica => replica.received.length)
  await until(() => (received()[0] ?? 0) > 20, 'the first replica was not asked')
  for (const count of [2, 4]) {
    while (replicas.length < count) replicas.push(await startOwner('orders', SECRET))
    for (const replica of replicas) replica.received.length = 0
    await until(
      () => received().every(number => number > 5),
      () => `one of ${count} replicas gets no requests: ${received()}`,
    )
  }
  running = false
  await clients
  expect([...statuses]).toEqual([200])
})

test('connections to an owner that are half open hold no request for longer than its timeout, and are used no more', async () => {
  const { apiKey } = await newMerchant(system)
  const gateway = createApiGateway(
    { ...system.config, OWNER_TIMEOUT_MS: 2_000, OWNER_CONNECTION_AGE_MS: 600_000 },
    { bus: system.bus, logger: silentLogger },
  )
  await gateway.start()
  try {
    const ask = () => request(`http://127.0.0.1:${gateway.http.port()}`).get('/api/v1/orders').set(bearer(apiKey))
    const many = () => Promise.all(Array.from({ length: 8 }, ask))
    expect((await many()).map(({ status }) => status)).toEqual(Array(8).fill(200))
    front.freeze()
    const answers = await many()
    expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([])
    expect(answers.map(({ status }) => status)).toContain(503)
    // Each frozen one was given up with the request that it held.
    await until(
      async () => (await many()).every(({ status }) => status === 200),
      'requests go on being sent into half-open connections',
      20_000,
    )
  } finally {
    await gateway.stop()
  }
})

test.each([1, 2, 3, 4])('a request after a pause is answered, when %i at once had come before it', async atOnce => {
  const ageMs = 20
  const owner = openOwner({
    ...{ name: 'orders', urls: [front.url], secrets: [SECRET], timeoutMs: 2_000, connections: 4, logger: silentLogger },
    connectionAgeMs: ageMs,
  })
  const ask = () => owner.ask({ kind: 'checkout' }, { method: 'GET', path: '/api/v1/checkout' })
  const statuses = new Set<number>()
  for (let round = 0; round < 8; round += 1) {
    // The round begins at another connection each time.
    for (const { status } of await Promise.all(Array.from({ length: atOnce + (round % 2) }, ask))) statuses.add(status)
    const pausedAt = performance.now()
    await until(() => performance.now() - pausedAt > ageMs + 5, 'the clock stands still')
    statuses.add((await ask()).status)
  }
  expect([...statuses]).toEqual([200])
  await owner.stop?.()
})

test('a write without a key is answered while several replicas stop or start at once, and while all of them do it is refused', async () => {
  const gone = await Promise.all(Array.from({ length: 3 }, () => freePort()))
  const refusing = gone.map(port => `http://127.0.0.1:${port}`)
  const open = (urls: string[]) =>
    openOwner({ ...{ name: 'orders', urls, secrets: [SECRET], timeoutMs: 2_000, logger: silentLogger }, connectionAgeMs: 10_000 })
  const post = { method: 'POST', path: '/api/v1/orders', headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') } as const
  const [served] = replicas
  const owner = open([...refusing, served?.url ?? ''])
  const answers = [await owner.ask({ kind: 'checkout' }, post), await owner.ask({ kind: 'checkout' }, post)]
  expect(answers.map(({ status }) => status)).toEqual([201, 201])
  await owner.stop?.()
  for (const urls of [refusing, refusing.slice(1)]) {
    const none = open(urls)
    await expect(none.ask({ kind: 'checkout' }, post)).rejects.toMatchObject({ code: 'service_unavailable' })
    await none.stop?.()
  }
})

/** An address where packets vanish, as that of a container which was removed: it takes part in no handshake. */
async function vanishedAddress() {
  const program = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    require('node:fs').writeSync(1, String(this.address().port))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout, 'data')
  const sockets: Socket[] = []
  for (let isTaken = true; isTaken; ) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
    sockets.push(socket)
    isTaken = await Promise.race([once(socket, 'connect').then(() => true), pause(300, false)])
  }
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      child.kill('SIGKILL')
      for (const socket of sockets) socket.destroy()
    },
  }
}

test('a write without a key that met an address where packets vanish is answered by another replica, in seconds', async () => {
  const vanished = await vanishedAddress()
  const [served] = replicas
  const owner = openOwner({
    ...{ name: 'orders', urls: [vanished.url, served?.url ?? ''], secrets: [SECRET], timeoutMs: 15_000, logger: silentLogger },
    connectionAgeMs: 10_000,
  })
  try {
    await owner.start?.()
    const post = {
      method: 'POST',
      path: '/api/v1/orders',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{}'),
    } as const
    const since = performance.now()
    const answers = await Promise.all(Array.from({ length: 8 }, () => owner.ask({ kind: 'checkout' }, post)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201))
    expect(performance.now() - since).toBeLessThan(5_000)
  } finally {
    await owner.stop?.()
    vanished.stop()
  }
})

/** Answers everything, but only after this long. */
const slowOwner = (afterMs: number) =>
  startHttpServer((_request, response) => {
    setTimeout(() => response.writeHead(201, { 'content-type': 'application/json' }).end('{}'), afterMs)
  })

test('of replicas that are all too slow for a sign of life one is asked on, also for a write without a key', async () => {
  const slow = await Promise.all([slowOwner(1_800), slowOwner(1_800)])
  const owner = openOwner({
    ...{ name: 'orders', urls: slow.map(({ url }) => url), secrets: [SECRET], timeoutMs: 15_000, logger: silentLogger },
    connectionAgeMs: 10_000,
  })
  const post = { method: 'POST', path: '/api/v1/orders', body: Buffer.from('{}') } as const
  const ask = () =>
    owner.ask({ kind: 'checkout' }, post).then(
      ({ status }) => status,
      () => 503,
    )
  try {
    await owner.start?.()
    const first = await Promise.all([ask(), ask(), ask(), ask()])
    // Those in hand of the one that was left out; whether they had their effect is not known.
    expect(first.filter(status => status === 503).length).toBeLessThanOrEqual(2)
    expect(await Promise.all([ask(), ask(), ask(), ask()])).toEqual([201, 201, 201, 201])
    expect(owner.silentReplicas()).toBe(1)
  } finally {
    await owner.stop?.()
    await Promise.all(slow.map(one => one.stop()))
  }
})
