import { createHash } from 'node:crypto'
import { get } from 'node:http'
import request from 'supertest'
import { bearer, newMerchant, runGateway, system } from '../world'

let apiKey: string
let merchantId: string

runGateway({ OWNER_TIMEOUT_MS: '1500' })
beforeAll(async () => {
  const made = await newMerchant(system, { display_name: 'Padaria', payout_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })
  apiKey = made.apiKey
  merchantId = made.merchant.id
})
beforeEach(() => {
  for (const owner of Object.values(system.owners)) {
    owner.answers()
    owner.received.length = 0
  }
})

test('who belongs to the merchant goes with what its owner judges by members, and with nothing else', async () => {
  const { token, apiKey: key } = await newMerchant(system)
  const id = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
  await request(system.url).get(`/api/v1/refunds/${id}`).set(bearer(token)).expect(200)
  await request(system.url).post(`/api/v1/refunds/${id}/cancel`).set(bearer(key)).send({})
  await request(system.url).get(`/api/v1/orders/${id}`).set(bearer(key)).expect(200)
  const [read, cancelled, order] = system.owners.orders.received.map(({ caller }) => caller as { user_id?: string; member_ids?: string[] })
  expect(read?.member_ids).toEqual([read?.user_id])
  expect(cancelled?.member_ids).toEqual([read?.user_id])
  expect(order).not.toHaveProperty('member_ids')
})

test('a request reaches the owner as it came, with the merchant and its terms in a fresh token', async () => {
  const body = '{ "brl_amount": "150.00",  "metadata": {"b":"1","a":"2"} }'
  const { headers } = await request(system.url)
    .post('/api/v1/orders')
    .set(bearer(apiKey))
    .set({ 'Content-Type': 'application/json', 'Idempotency-Key': 'key-1', 'X-Request-Id': 'request-0001', Cookie: 'a=b', 'X-Odd': '1' })
    .send(body)
    .expect(201)
  expect(headers['x-request-id']).toBe('request-0001')
  const [received] = system.owners.orders.received
  expect(received).toMatchObject({ method: 'POST', url: '/api/v1/orders', body: JSON.parse(body) })
  expect(received?.caller).toEqual({
    kind: 'merchant',
    terms: {
      ...{ merchant_id: merchantId, version: 1, display_name: 'Padaria', payment_tolerance: null },
      ...{ refund_approval_above: null, chain_ids: null },
      payout_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    },
  })
  expect(received?.headers).toMatchObject({
    'idempotency-key': 'key-1',
    'x-request-id': 'request-0001',
    'content-type': 'application/json',
  })
  expect(received?.headers).not.toHaveProperty('cookie')
  expect(received?.headers).not.toHaveProperty('x-odd')
  expect(JSON.stringify(received?.headers)).not.toContain(apiKey)
})

test('the query arrives byte for byte', async () => {
  await request(system.url).get('/api/v1/orders?external_ref=a%20b%2Bc+d&limit=3').set(bearer(apiKey)).expect(200)
  expect(system.owners.orders.received.map(({ url }) => url)).toEqual(['/api/v1/orders?external_ref=a%20b%2Bc+d&limit=3'])
})

test('the body arrives byte for byte', async () => {
  const seen: string[] = []
  system.owners.orders.answers((req, res) => {
    seen.push(createHash('sha256').update(JSON.stringify(req.body)).digest('hex'))
    res.status(200).json({})
  })
  const text = JSON.stringify({ name: 'ação 漢字 😀', n: '0.10' })
  await request(system.url).post('/api/v1/orders').set(bearer(apiKey)).set('Content-Type', 'application/json').send(text)
  expect(seen).toEqual([createHash('sha256').update(text).digest('hex')])
})

test("the owner's answer comes back as it is, with the headers that mean something", async () => {
  system.owners.orders.answers((_req, res) => {
    res
      .status(409)
      .set({ 'Content-Type': 'application/problem+json', 'Idempotency-Replayed': 'true', 'Retry-After': '7', 'X-Internal': 'no' })
    res.end('{"code":"order_has_payments"}')
  })
  const { headers, text } = await request(system.url)
    .post('/api/v1/orders/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90/cancel')
    .set(bearer(apiKey))
    .expect(409)
  expect(headers).toMatchObject({ 'content-type': 'application/problem+json', 'idempotency-replayed': 'true', 'retry-after': '7' })
  expect(headers).not.toHaveProperty('x-internal')
  expect(text).toBe('{"code":"order_has_payments"}')
})

test.each([
  ['get', '/api/v1/subscriptions', 'subscriptions', '/api/v1/subscriptions'],
  [
    'patch',
    '/api/v1/subscriptions/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c91',
    'subscriptions',
    '/api/v1/subscriptions/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c91',
  ],
  [
    'post',
    '/api/v1/subscriptions/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c91/charge',
    'subscriptions',
    '/api/v1/subscriptions/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c91/charge',
  ],
  ['get', '/api/v1/events?limit=3', 'webhooks', '/api/v1/events?limit=3'],
] as const)('%s %s is answered by %s', async (method, path, owner, ownerPath) => {
  await request(system.url)[method](path).set(bearer(apiKey)).expect(/owner/)
  expect(system.owners[owner].received.map(received => received.url)).toEqual([ownerPath])
})

test.each([
  ['get', '/orders?status=paid', 'orders', '/api/v1/orders?status=paid'],
  ['post', '/orders', 'orders', '/api/v1/orders'],
  [
    'post',
    '/subscriptions/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c92/charge',
    'subscriptions',
    '/api/v1/subscriptions/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c92/charge',
  ],
  ['get', '/subscriptions', 'subscriptions', '/api/v1/subscriptions'],
  ['get', '/events', 'webhooks', '/api/v1/events'],
  ['get', '/deliveries/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c92', 'webhooks', '/api/v1/deliveries/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c92'],
  [
    'post',
    '/deliveries/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c92/replay',
    'webhooks',
    '/api/v1/deliveries/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c92/replay',
  ],
  [
    'patch',
    '/webhook-endpoints/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c92',
    'webhooks',
    '/api/v1/webhook-endpoints/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c92',
  ],
  [
    'delete',
    '/webhook-endpoints/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c92',
    'webhooks',
    '/api/v1/webhook-endpoints/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c92',
  ],
] as const)('with a session, %s /merchants/me%s is answered by %s', async (method, path, owner, ownerPath) => {
  const { token, merchant } = await newMerchant(system)
  await request(system.url)[method](`/api/v1/merchants/me${path}`).set(bearer(token)).expect(/owner/)
  const [received] = system.owners[owner].received
  expect(received).toMatchObject({
    method: method.toUpperCase(),
    url: ownerPath,
    caller: { kind: 'merchant', terms: { merchant_id: merchant.id } },
  })
})

test.each(['..%2f..%2fdeliveries', 'overview', '%00', '..', 'a%20b', '%', '01981f3c'])(
  '%s is no id: refused before any owner is notified of it',
  async id => {
    // Not through a client that tidies paths.
    const { port } = new URL(system.url)
    const status = await new Promise<number | undefined>((resolve, reject) => {
      get({ port, path: `/api/v1/orders/${id}`, headers: bearer(apiKey) }, res => resolve(res.resume().statusCode)).on('error', reject)
    })
    expect(status).toBe(400)
    expect(system.owners.orders.received).toEqual([])
  },
)

test('an owner that is slow, cuts off or refuses our token is 503 service_unavailable with Retry-After', async () => {
  for (const failure of [
    () => undefined,
    (_req: unknown, res: { destroy(): void }) => res.destroy(),
    (_req: unknown, res: { status(code: number): { json(body: object): void } }) => res.status(401).json({ code: 'invalid_jwt' }),
  ]) {
    system.owners.orders.answers(failure as Parameters<typeof system.owners.orders.answers>[0])
    const { body, headers } = await request(system.url).get('/api/v1/orders').set(bearer(apiKey)).expect(503)
    expect(body.code).toBe('service_unavailable')
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  }
})

test('an owner that was asked to wait is given that much longer to answer', async () => {
  system.owners.webhooks.answers((_req, res) => void setTimeout(() => res.json({ waited: true }), 1_700))
  await request(system.url).get('/api/v1/events?after=0&wait=9').set(bearer(apiKey)).expect(200)
  await request(system.url).get('/api/v1/events?after=0').set(bearer(apiKey)).expect(503)
})

test('a connection that an owner cuts off as it stops is tried once more, where a second time changes nothing', async () => {
  const cutting = (times: number) => {
    let left = times
    system.owners.orders.answers((_req, res) => {
      if (left-- > 0) res.destroy()
      else res.status(200).json({ served: true })
    })
  }
  const received = () => system.owners.orders.received.splice(0).length
  const post = () => request(system.url).post('/api/v1/orders').set(bearer(apiKey)).send({ brl_amount: '1.00' })
  cutting(1)
  await request(system.url).get('/api/v1/orders').set(bearer(apiKey)).expect(200)
  expect(received()).toBe(2)
  cutting(1)
  await post().set('Idempotency-Key', 'key-1').expect(200)
  expect(received()).toBe(2)
  cutting(1)
  await post().expect(503)
  expect(received()).toBe(1)
  cutting(1)
  const order = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
  await request(system.url).patch(`/api/v1/orders/${order}`).set(bearer(apiKey)).set('Idempotency-Key', 'key-1').send({}).expect(503)
  expect(received()).toBe(1)
  cutting(2)
  await request(system.url).get('/api/v1/orders').set(bearer(apiKey)).expect(503)
  expect(received()).toBe(2)
})

test('an owner that is not there is 503, and the others go on', async () => {
  await system.owners.subscriptions.stop()
  await request(system.url).get('/api/v1/subscriptions').set(bearer(apiKey)).expect(503)
  await request(system.url).get('/api/v1/orders').set(bearer(apiKey)).expect(200)
})

test('checkpoints are 503 where no listener can be asked, and that answer is not kept', async () => {
  const { body, headers } = await request(system.url).get('/api/v1/chain/checkpoints').expect(503)
  expect([body.code, headers['cache-control']]).toEqual(['service_unavailable', 'no-store'])
})
