import { randomUUID } from 'node:crypto'
import { Wallet } from 'ethers'
import request from 'supertest'
import { bearer, newMerchant, runGateway, startGateway, system } from '../world'
import { startOwner } from '../world/owner'

// The database's minute may turn under a test on a machine that is busy.
jest.retryTimes(2)

runGateway(
  {
    ...{ RATE_LIMIT_CALLER_PER_MINUTE: '20', RATE_LIMIT_CHANGES_PER_MINUTE: '3', RATE_LIMIT_ADDRESS_PER_MINUTE: '300' },
    RATE_LIMIT_LINK_ORDERS_PER_MINUTE: '4',
    ...{ TRUSTED_PROXIES: '1', PUBLIC_URL: 'https://pay.ponte.dev' },
  },
  { replicas: 2 },
)

const urlOf = (replica: number) => `http://127.0.0.1:${system.replicas[replica]?.http.port()}`
let address = 0
/** Each test comes from an address of its own, as a proxy in front would report. */
beforeEach(() => {
  address += 1
})
const from = () => ({ 'X-Forwarded-For': `203.0.113.${address}` })

/** Never at the turn of the database's minute: the window would change under the test. */
async function insideOneWindow() {
  for (;;) {
    const { rows } = await system.sql.query('SELECT (extract(epoch FROM now()) % 60)::float8 AS second')
    if (Number(rows[0]?.second) < 55) return
    await system.sql.query('SELECT pg_sleep(61 - $1::float8)', [rows[0]?.second])
  }
}

test('a key is limited over all replicas together, with the standard headers', async () => {
  const { apiKey } = await newMerchant(system)
  const other = await newMerchant(system)
  await insideOneWindow()
  const use = (n: number, key = apiKey) =>
    request(urlOf(n % 2))
      .get('/api/v1/orders')
      .set(bearer(key))
      .set(from())
  const { headers } = await use(0).expect(200)
  expect(headers).toMatchObject({ 'ratelimit-limit': '20', 'ratelimit-remaining': '19', 'ratelimit-policy': '20;w=60' })
  expect(Number(headers['ratelimit-reset'])).toBeLessThanOrEqual(60)

  const statuses: number[] = []
  for (let n = 1; n < 40; n++) statuses.push((await use(n)).status)
  expect(statuses.filter(status => status === 200)).toHaveLength(19)
  const refused = await use(0).expect(429)
  expect(refused.body.code).toBe('rate_limited')
  expect(refused.headers['ratelimit-remaining']).toBe('0')
  expect(refused.headers['retry-after']).toBe(refused.headers['ratelimit-reset'])
  await use(0, other.apiKey).expect(200)
})

test('a minute of a key is the database`s, however the clock of a replica moves', async () => {
  const at = { ms: Date.now() }
  const moved = await startGateway({ RATE_LIMIT_CALLER_PER_MINUTE: '20' }, { now: () => new Date(at.ms) })
  try {
    const { apiKey } = await newMerchant(moved)
    await insideOneWindow()
    const use = () => request(moved.url).get('/api/v1/orders').set(bearer(apiKey))
    for (let n = 0; n < 20; n++) {
      at.ms += 120_000
      await use().expect(200)
    }
    at.ms -= 3_600_000
    const { headers } = await use().expect(429)
    expect(Number(headers['ratelimit-reset'])).toBeLessThanOrEqual(60)
  } finally {
    await moved.stop()
  }
})

test('each key has an allowance of its own', async () => {
  const { apiKey, token } = await newMerchant(system)
  const { body: named } = await request(system.url)
    .post('/api/v1/merchants/me/api-keys')
    .set(bearer(token))
    .set(from())
    .send({ name: 'ERP', scopes: ['orders:read'] })
    .expect(201)
  await insideOneWindow()
  const use = (key: string, n: number) =>
    request(urlOf(n % 2))
      .get('/api/v1/orders')
      .set(bearer(key))
      .set(from())
  for (let n = 0; n < 21; n++) await use(named.api_key, n)
  await use(named.api_key, 0).expect(429)
  await use(apiKey, 1).expect(200)
})

test('a key that replaces another has no new allowance', async () => {
  const { apiKey, token } = await newMerchant(system)
  await insideOneWindow()
  for (let n = 0; n < 21; n++) await request(urlOf(0)).get('/api/v1/orders').set(bearer(apiKey)).set(from())
  const { body } = await request(urlOf(1)).post('/api/v1/merchants/me/rotate-key').set(bearer(token)).set(from()).expect(200)
  await request(urlOf(1)).get('/api/v1/orders').set(bearer(body.api_key)).set(from()).expect(429)
})

test('changes of an account, each of which may ask the chain, are limited more than other requests', async () => {
  await insideOneWindow()
  const { token } = await newMerchant(system)
  const change = (replica: number, by = token) =>
    request(urlOf(replica))
      .patch('/api/v1/merchants/me')
      .set(bearer(by))
      .set(from())
      .send({ payout_address: Wallet.createRandom().address })
  system.owners.orders.received.length = 0
  const statuses: number[] = []
  for (let n = 0; n < 6; n++) statuses.push((await change(n % 2)).status)
  expect(statuses).toEqual([200, 200, 429, 429, 429, 429])
  expect(system.owners.orders.received).toHaveLength(2)
  await request(urlOf(0)).get('/api/v1/merchants/me').set(bearer(token)).set(from()).expect(200)
  await change(0, (await newMerchant(system)).token).expect(200)
})

test('an address opens a few orders a minute by one payment link, however its token is written', async () => {
  const [link, other] = [randomUUID(), randomUUID()]
  const open = (token: string, more: object = {}) =>
    request(system.url)
      .post(`/api/v1/payer/links/${token}/order`)
      .set({ ...from(), ...more })
      .send({})
  for (let n = 0; n < 4; n++) expect((await open(link)).status).not.toBe(429)
  const refused = await open(link.toUpperCase())
  expect([refused.status, refused.body.code, refused.headers['ratelimit-limit']]).toEqual([429, 'rate_limited', '4'])
  expect((await open(other)).status).not.toBe(429)
  expect((await open(link, { 'X-Forwarded-For': '198.51.100.7' })).status).not.toBe(429)
  // Reading it opens nothing.
  expect((await request(system.url).get(`/api/v1/payer/links/${link}`).set(from())).status).not.toBe(429)
})

test('an address is limited in each replica, before its credential costs a look into the database', async () => {
  const guess = () =>
    request(urlOf(0))
      .get('/api/v1/orders')
      .set(bearer(`sk_live_${'0'.repeat(64)}`))
      .set(from())
  const answers = await Promise.all(Array.from({ length: 310 }, guess))
  const count = (status: number) => answers.filter(answer => answer.status === status).length
  expect([count(401), count(429)]).toEqual([300, 10])
  await request(urlOf(0)).get('/ping').set(from()).expect(429)
  await request(urlOf(1)).get('/ping').set(from()).expect(200)
  address += 1
  await request(urlOf(0)).get('/ping').set(from()).expect(200)
})

test('what a caller writes into X-Forwarded-For beyond the trusted proxy does not change its address', async () => {
  const lying = (n: number) =>
    request(urlOf(0))
      .get('/ping')
      .set('X-Forwarded-For', `198.51.100.${n % 250}, 203.0.113.${address}`)
  const answers = await Promise.all(Array.from({ length: 305 }, (_, n) => lying(n)))
  expect(answers.filter(answer => answer.status === 429)).toHaveLength(5)
})

test('however many orders there are to ask about, nodes are asked little for one address, and for all payers', async () => {
  const listener = await startOwner('chain-listener', 'a-test-secret-of-at-least-32-characters')
  listener.answers((_req, res) => void res.json({ status: 'not_found' }))
  const proxied = { TRUSTED_PROXIES: '1', PUBLIC_URL: 'https://pay.ponte.dev' }
  const gateway = await startGateway({ ...proxied, CHAIN_LISTENER_URL: listener.url, CHAIN_LISTENER_TOKEN_SECRET: listener.secret })
  gateway.owners.orders.answers((req, res) => {
    res.json(req.body.transaction ? { explanation: {}, deposit_address: null } : { explanation: null, deposit_address: null })
  })
  const explain = async (network: number) => {
    const asked = request(gateway.url).post(`/api/v1/checkout/${randomUUID()}/explain`).set('X-Forwarded-For', `198.51.100.${network}`)
    return (await asked.send({ tx_hash: `0x${'5b'.repeat(32)}` })).status
  }
  try {
    for (let network = 0; network < 11; network++) {
      const statuses = await Promise.all(Array.from({ length: 35 }, () => explain(network)))
      expect(statuses.filter(status => status === 200)).toHaveLength(network < 10 ? 30 : 0)
      expect(statuses.filter(status => status === 429)).toHaveLength(network < 10 ? 5 : 35)
    }
    expect(listener.received).toHaveLength(300)
  } finally {
    await gateway.stop()
    await listener.stop()
  }
})
