import { uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { bearer, claimsOf, newMerchant, runGateway, system } from '../world'
import { joins, logIn, newUser } from '../world/people'

const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }

runGateway({}, { now: () => new Date(at.ms), replicas: 2 })

const KEYS = '/api/v1/merchants/me/api-keys'
const reading = { name: 'ERP', scopes: ['orders:read', 'deliveries:read'] }
const urlOf = (replica: number) => `http://127.0.0.1:${system.replicas[replica]?.http.port()}`
const make = (token: string, body: object = reading, replica = 0) => request(urlOf(replica)).post(KEYS).set(bearer(token)).send(body)
const use = (key: string, path = '/api/v1/orders', replica = 0) => request(urlOf(replica)).get(path).set(bearer(key))
const renewed = (token: string) => system.identity.sign({ sub: claimsOf(token).sub })
const stale = (token: string) =>
  system.identity.sign({
    sub: claimsOf(token).sub,
    amr: [{ method: 'password', timestamp: at.ms / 1000 - 301 }],
  })

test('a named key does what its scopes name on every replica, and nothing else', async () => {
  const { token, merchant } = await newMerchant(system)
  const { body, headers } = await make(token).expect(201)
  expect(body).toMatchObject({ object: 'api_key', ...reading, prefix: body.api_key.slice(0, 12), last_used_at: null, expires_at: null })
  expect((await request(system.url).get(String(headers.location)).set(bearer(token)).expect(200)).body).not.toHaveProperty('api_key')
  system.owners.orders.received.length = 0
  await use(body.api_key, '/api/v1/orders', 1).expect(200)
  expect(system.owners.orders.received[0]?.caller).toMatchObject({ kind: 'merchant', terms: { merchant_id: merchant.id } })
  expect(system.owners.orders.received[0]?.caller).not.toHaveProperty('terms.scopes')
  await use(body.api_key, '/api/v1/deliveries').expect(200)
  const refused = await request(system.url).post('/api/v1/orders').set(bearer(body.api_key)).send({ brl_amount: '1.00' }).expect(403)
  expect(refused.body).toMatchObject({ code: 'forbidden', detail: 'This API key may not do this; it needs orders:write.' })
  await use(body.api_key, '/api/v1/merchants/me').expect(401)
})

test('no key reaches what is for users alone, and the merchant that a key sees has no secret', async () => {
  const { token, merchant } = await newMerchant(system)
  for (const scope of ['payout:write', 'keys:write', 'secrets:write', 'merchant:write', 'orders:delete', '*', '__proto__']) {
    await make(token, { name: 'x', scopes: [scope] }).expect(400)
  }
  const { api_key } = (await make(token, { name: 'x', scopes: ['merchant:read'] }).expect(201)).body
  const { body } = await use(api_key, '/api/v1/merchant').expect(200)
  expect(body).toMatchObject({ id: merchant.id, webhook_secret: null })
  expect(JSON.stringify(body)).not.toContain('whsec_')
})

test('no role makes a key that may do more than the role, and none replaces the key of the shop that may', async () => {
  const { token } = await newMerchant(system)
  for (const [role, allowed, beyond] of [
    ['developer', ['endpoints:write', 'orders:read'], ['orders:read', 'orders:write']],
    ['admin', ['orders:write'], null],
  ] as const) {
    const user = newUser()
    await joins(system, token, user, role)
    const session = logIn(system, user)
    await make(session, { name: role, scopes: [...allowed] }).expect(201)
    if (beyond) {
      const { body } = await make(session, { name: role, scopes: [...beyond] }).expect(403)
      expect(body).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('orders:write') })
    }
    await request(system.url)
      .post('/api/v1/merchants/me/rotate-key')
      .set(bearer(session))
      .expect(beyond ? 403 : 200)
  }
})

test('a key with orders:write sells and accepts, and returns money with refunds:write alone', async () => {
  const { token, apiKey } = await newMerchant(system)
  const [sells, returns] = await Promise.all(
    [['orders:write'], ['refunds:write']].map(async scopes => (await make(token, { name: 'x', scopes }).expect(201)).body.api_key),
  )
  const id = uuidv7()
  const post = (key: string, path: string) => request(system.url).post(`/api/v1${path}`).set(bearer(key)).send({})
  for (const path of [`/orders/${id}/accept`, `/attention/${id}/attach`]) {
    await post(sells, path).expect(201)
    await post(returns, path).expect(403)
  }
  for (const path of [`/orders/${id}/refunds`, `/refunds/${id}/signature`, `/refunds/${id}/cancel`, `/orders/${id}/recoveries`]) {
    expect((await post(sells, path).expect(403)).body.detail).toBe('This API key may not do this; it needs refunds:write.')
    await post(returns, path).expect(201)
    await post(apiKey, path).expect(201)
  }
})

test('an owner learns that secrets may be seen where they are made, and by a login of the last minutes that leaves a row', async () => {
  const { token, merchant } = await newMerchant(system)
  const seen = async (credential: string, path: string) => {
    system.owners.webhooks.received.length = 0
    const [method, where = ''] = path.split(' ')
    await request(system.url)
      [method === 'post' ? 'post' : 'get'](where)
      .set(bearer(credential))
      .send(method === 'post' ? {} : undefined)
    return system.owners.webhooks.received[0]?.caller
  }
  const reads = (await make(token, { name: 'x', scopes: ['endpoints:read'] }).expect(201)).body.api_key
  const writes = (await make(token, { name: 'x', scopes: ['endpoints:read', 'endpoints:write'] }).expect(201)).body.api_key
  const one = `/api/v1/webhook-endpoints/${uuidv7()}`
  for (const asked of [
    [reads, `get ${one}`],
    [writes, `get ${one}`],
    [writes, 'get /api/v1/webhook-endpoints'],
    [stale(token), `get ${one}`],
  ] as const)
    expect(await seen(asked[0], asked[1])).not.toHaveProperty('may_see_secrets')
  expect(await seen(token, 'get /api/v1/webhook-endpoints')).not.toHaveProperty('may_see_secrets')
  for (const asked of [
    [writes, 'post /api/v1/webhook-endpoints'],
    [token, `post ${one}/rotate-secret`],
    [token, `get ${one}`],
  ] as const)
    expect(await seen(asked[0], asked[1])).toHaveProperty('may_see_secrets', true)
  const { rows } = await system.sql.query(
    "SELECT user_id FROM audit_log WHERE action = 'endpoint_secret.show_again' AND merchant_id = $1",
    [merchant.id],
  )
  expect(rows).toEqual([{ user_id: claimsOf(token).sub }])
})

test('the API key of the specification stays as it is', async () => {
  const { token, apiKey } = await newMerchant(system)
  await make(token).expect(201)
  await use(apiKey).expect(200)
  expect((await use(apiKey, '/api/v1/deliveries').expect(403)).body.detail).toContain('deliveries:read')
  const { api_key } = (await make(token).expect(201)).body
  await request(system.url).post('/api/v1/merchants/me/rotate-key').set(bearer(token)).expect(200)
  await use(apiKey).expect(401)
  await use(api_key).expect(200)
})

test('a key that is revoked many times at one moment has one entry, one event and one time of its end', async () => {
  const { token, merchant } = await newMerchant(system)
  const { body: key } = await make(token).expect(201)
  const revoke = (replica: number) => request(urlOf(replica)).delete(`${KEYS}/${key.id}`).set(bearer(token))
  const held = await system.sql.pool.connect()
  await held.query('BEGIN')
  await held.query('SELECT FROM named_keys WHERE id = $1 FOR UPDATE', [key.id])
  const asked = Promise.all(Array.from({ length: 6 }, (_, index) => revoke(index % 2)))
  await new Promise(resolve => setTimeout(resolve, 1_000))
  await held.query('COMMIT')
  held.release()
  const answers = await asked
  expect(answers.map(({ status, body }) => [status, body.revoked_at])).toEqual(answers.map(() => [200, new Date(at.ms).toISOString()]))
  const { rows } = await system.sql.query(
    `SELECT (SELECT count(*)::int FROM audit_log WHERE merchant_id = $1 AND action = 'named_key.revoke') AS entries,
      (SELECT count(*)::int FROM outbox WHERE type = 'account.changed' AND body LIKE '%named_key.revoke%' AND body LIKE '%' || $2 || '%') AS events`,
    [merchant.id, merchant.id],
  )
  expect(rows).toEqual([{ entries: 1, events: 1 }])
})

test('an expired or revoked key is refused on the next request, and its use is noted to the minute', async () => {
  const { token } = await newMerchant(system)
  await make(token, { ...reading, expires_at: new Date(at.ms).toISOString() }).expect(400)
  const { body: brief } = await make(token, { ...reading, expires_at: new Date(at.ms + 60_000).toISOString() }).expect(201)
  const { body: lasting } = await make(token).expect(201)
  const lastUse = async () => (await request(system.url).get(`${KEYS}/${lasting.id}`).set(bearer(token))).body.last_used_at
  await use(brief.api_key).expect(200)
  await use(lasting.api_key).expect(200)
  const first = new Date(at.ms).toISOString()
  at.ms += 59_000
  await use(lasting.api_key).expect(200)
  await use(brief.api_key).expect(200)
  expect(await lastUse()).toBe(first)
  at.ms += 1_000
  await use(brief.api_key).expect(401)
  await use(lasting.api_key).expect(200)
  expect(await lastUse()).toBe(new Date(at.ms).toISOString())
  await request(system.url)
    .delete(`${KEYS}/${lasting.id}`)
    .set(bearer(stale(token)))
    .expect(403)
  const fresh = system.identity.sign({ sub: claimsOf(token).sub })
  await request(system.url).delete(`${KEYS}/${lasting.id}`).set(bearer(fresh)).expect(200)
  expect((await use(lasting.api_key, '/api/v1/orders', 1).expect(401)).body.code).toBe('invalid_api_key')
  const { body } = await request(system.url).get(KEYS).set(bearer(token)).expect(200)
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual([brief.id])
})

test('a session stolen after the login makes no key, and a stranger sees none', async () => {
  const [mine, theirs] = [await newMerchant(system), await newMerchant(system)]
  expect((await make(stale(mine.token)).expect(403)).body.code).toBe('fresh_login_required')
  const { body } = await make(mine.token).expect(201)
  await request(system.url).get(`${KEYS}/${body.id}`).set(bearer(theirs.token)).expect(404)
  await request(system.url).delete(`${KEYS}/${body.id}`).set(bearer(theirs.token)).expect(404)
  await use(body.api_key).expect(200)
})

test('the same request gives the same key, at one moment and later; another body is refused; no copy of the key is kept', async () => {
  const { token } = await newMerchant(system)
  const keyed = (body: object = reading, replica = 0) => make(token, body, replica).set('Idempotency-Key', 'make-1')
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => keyed(reading, n % 2).expect(201)))
  const reordered = await keyed({ scopes: reading.scopes, name: reading.name }).expect(201)
  expect(reordered.headers['idempotency-replayed']).toBe('true')
  expect(new Set([...answers, reordered].map(({ body }) => body.api_key)).size).toBe(1)
  expect((await keyed({ ...reading, name: 'other' }).expect(422)).body.code).toBe('idempotency_mismatch')
  const { rows } = await system.sql.query(
    'SELECT (SELECT json_agg(k) FROM named_keys k)::text || (SELECT json_agg(a) FROM audit_log a)::text AS text',
  )
  expect(rows[0]?.text).not.toContain(reordered.body.api_key.slice(12))
  at.ms += 61 * 60_000
  const later = await make(renewed(token)).set('Idempotency-Key', 'make-1').expect(201)
  expect(later.body.api_key).not.toBe(reordered.body.api_key)
  const other = await request(system.url)
    .post(KEYS)
    .set(bearer(renewed(token)))
    .set('Idempotency-Key', 'make-2')
    .send(reading)
    .expect(201)
  expect(other.body.api_key).not.toBe(reordered.body.api_key)
  await use(other.body.api_key).expect(200)
})

test('a merchant has fifty named keys at most', async () => {
  const { token } = await newMerchant(system)
  for (let n = 0; n < 50; n++) await make(token).expect(201)
  expect((await make(token).expect(409)).body.code).toBe('invalid_state')
})
