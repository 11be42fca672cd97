import { createHash, randomUUID } from 'node:crypto'
import { merchant as merchantSchema, merchantWithKey } from '@ponte/contracts'
import { unseal } from '@ponte/service-kit'
import { encode } from 'fast-png'
import request from 'supertest'
import { bearer, claimsOf, newMerchant, runGateway, SEAL_KEY, system } from './world'

const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }

runGateway({}, { now: () => new Date(at.ms) })

const events = async (merchantId: string) => {
  const { rows } = await system.sql.query("SELECT body FROM outbox WHERE type = 'merchant.updated' AND body LIKE $1 ORDER BY created_at", [
    `%${merchantId}%`,
  ])
  return rows.map(row => JSON.parse(row.body).data)
}
const call = (token: string, method: 'get' | 'post' | 'patch', path = '', body?: object) => {
  const asked = request(system.url)[method](`/api/v1/merchants/me${path}`).set(bearer(token))
  return body ? asked.send(body) : asked
}

describe('POST /api/v1/merchants', () => {
  test('creates the merchant of the user, returns the key once, keeps its SHA-256 only', async () => {
    const { merchant, token, apiKey } = await newMerchant(system, {
      display_name: 'Padaria',
      webhook_url: 'https://example.com/hook',
      payout_address: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    })
    merchantWithKey.strict().parse(merchant)
    expect(apiKey).toMatch(/^sk_live_[0-9a-f]{64}$/)
    expect(merchant.payout_address).toBe('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')

    const { body: me } = await call(token, 'get').expect(200)
    merchantSchema.strict().parse(me)
    expect({ ...me, api_key: apiKey }).toEqual(merchant)

    const { rows } = await system.sql.query('SELECT hash FROM api_keys WHERE merchant_id = $1', [merchant.id])
    expect(rows).toEqual([{ hash: createHash('sha256').update(apiKey).digest() }])
    const everything = await system.sql.query(
      `SELECT (SELECT json_agg(m) FROM merchants m)::text || (SELECT json_agg(o) FROM outbox o)::text
        || (SELECT json_agg(a) FROM audit_log a)::text AS text`,
    )
    for (const secret of [apiKey, apiKey.slice(8), merchant.webhook_secret]) expect(everything.rows[0]?.text).not.toContain(secret)
  })

  test('a second merchant of the same user is 409 merchant_exists, also when both are asked for at once', async () => {
    const { token } = await newMerchant(system)
    const again = await request(system.url).post('/api/v1/merchants').set(bearer(token)).send({ display_name: 'Two' }).expect(409)
    expect(again.body.code).toBe('merchant_exists')

    const other = system.identity.sign({ sub: 'racing-user' })
    const both = await Promise.all(
      [1, 2, 3, 4].map(n =>
        request(system.url)
          .post('/api/v1/merchants')
          .set(bearer(other))
          .send({ display_name: `M${n}` }),
      ),
    )
    expect(both.map(answer => answer.status).sort()).toEqual([201, 409, 409, 409])
  })

  test.each([
    [{}, 'display_name'],
    [{ display_name: '' }, 'display_name'],
    [{ display_name: 'a\0b' }, 'display_name'],
    [{ display_name: 'x', extra: 1 }, 'extra'],
    [{ display_name: 'x', webhook_url: 'ftp://example.com' }, 'webhook_url'],
    [{ display_name: 'x', webhook_url: 'https://u:p@example.com' }, 'webhook_url'],
    [{ display_name: 'x', payout_address: '0x12' }, 'payout_address'],
    [{ display_name: 'x', payout_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79c8' }, 'payout_address'],
  ])('%j is 400 invalid_request naming %s, and nothing is written', async (body, path) => {
    const token = system.identity.sign()
    const { body: problem } = await request(system.url).post('/api/v1/merchants').set(bearer(token)).send(body).expect(400)
    expect(problem).toMatchObject({ code: 'invalid_request', errors: [expect.objectContaining({ path })] })
    await call(token, 'get').expect(404)
  })

  test('a body that is not JSON is 400 or 415, never 500', async () => {
    const token = system.identity.sign()
    const post = () => request(system.url).post('/api/v1/merchants').set(bearer(token))
    await post().set('Content-Type', 'application/json').send('{"display_name":').expect(400)
    await post()
      .set('Content-Type', 'application/json')
      .send(Buffer.from([0x22, 0xff, 0x22]))
      .expect(400)
    await post().set('Content-Type', 'text/plain').send('hello').expect(415)
    await post().set('Content-Type', 'application/json').send('[]').expect(400)
    await post().expect(400)
  })
})

test('payment_tolerance travels with the terms to the owners, by login and by key, and to all by event; null takes it back', async () => {
  const { token, merchant, apiKey } = await newMerchant(system)
  expect(merchant.payment_tolerance).toBeNull()
  const termsSeen = async () => {
    system.owners.orders.received.length = 0
    await request(system.url).get('/api/v1/orders').set(bearer(apiKey)).expect(200)
    await request(system.url).get('/api/v1/merchants/me/orders').set(bearer(token)).expect(200)
    return system.owners.orders.received.map(({ caller }) => Object(caller).terms.payment_tolerance)
  }
  expect(await termsSeen()).toEqual([null, null])
  expect((await call(token, 'patch', '', { payment_tolerance: '1' }).expect(200)).body).toMatchObject({ payment_tolerance: '1.000000' })
  expect((await call(token, 'get')).body.payment_tolerance).toBe('1.000000')
  expect(await termsSeen()).toEqual(['1.000000', '1.000000'])
  await call(token, 'patch', '', { display_name: 'Padaria' }).expect(200)
  expect((await call(token, 'patch', '', { payment_tolerance: null }).expect(200)).body.payment_tolerance).toBeNull()
  expect((await events(merchant.id)).map(data => data.payment_tolerance)).toEqual([null, '1.000000', '1.000000', null])
  const { rows } = await system.sql.query(
    "SELECT changed FROM audit_log WHERE merchant_id = $1 AND action = 'merchant.update' ORDER BY id",
    [merchant.id],
  )
  expect(rows.map(({ changed }) => changed)).toEqual([['payment_tolerance'], ['display_name'], ['payment_tolerance']])
})

test('refund_approval_above travels with the terms by login and by key, and to all by event; zero is a limit, null takes it back', async () => {
  const { token, merchant, apiKey } = await newMerchant(system)
  expect(merchant.refund_approval_above).toBeNull()
  const named = await request(system.url)
    .post('/api/v1/merchants/me/api-keys')
    .set(bearer(token))
    .send({ name: 'ERP', scopes: ['orders:read'] })
    .expect(201)
  const termsSeen = async () => {
    system.owners.orders.received.length = 0
    for (const key of [apiKey, named.body.api_key]) await request(system.url).get('/api/v1/orders').set(bearer(key)).expect(200)
    await request(system.url).get('/api/v1/merchants/me/orders').set(bearer(token)).expect(200)
    await request(system.url).post(`/api/v1/refunds/${merchant.id}/approve`).set(bearer(token)).expect(201)
    return system.owners.orders.received.map(({ caller }) => Object(caller).terms.refund_approval_above)
  }
  const choose = async (refund_approval_above: string | null) =>
    (await call(token, 'patch', '', { refund_approval_above }).expect(200)).body.refund_approval_above
  expect([await choose('500'), await termsSeen()]).toEqual(['500.000000', Array(4).fill('500.000000')])
  await call(token, 'patch', '', { display_name: 'Padaria' }).expect(200)
  expect([await choose('0'), await termsSeen()]).toEqual(['0.000000', Array(4).fill('0.000000')])
  expect([await choose(null), await termsSeen()]).toEqual([null, Array(4).fill(null)])
  const limits = (await events(merchant.id)).map(data => data.refund_approval_above)
  expect(limits).toEqual([null, ...limits.slice(1, -4), '500.000000', '500.000000', '0.000000', null])
  for (const wrong of ['-1', '1 %', 1]) await call(token, 'patch', '', { refund_approval_above: wrong }).expect(400)
  await request(system.url).post(`/api/v1/refunds/${merchant.id}/approve`).set(bearer(apiKey)).expect(401)
})

test('chain_ids travels with the terms by login and by key, and to all by event, in any order the same; null takes it back', async () => {
  const { token, merchant, apiKey } = await newMerchant(system)
  expect(merchant.chain_ids).toBeNull()
  const networks = [8453, 137, 10].map(chain_id => ({ network: 'n', chain_id, token_address: `0x${'3c'.repeat(20)}`, suspended: false }))
  system.owners.orders.answers((_req, res) => void res.json({ object: 'list', data: networks }))
  const termsSeen = async () => {
    system.owners.orders.received.length = 0
    await request(system.url).get('/api/v1/orders').set(bearer(apiKey)).expect(200)
    await request(system.url).get('/api/v1/merchants/me/orders').set(bearer(token)).expect(200)
    return system.owners.orders.received.map(({ caller }) => Object(caller).terms.chain_ids)
  }
  const choose = async (chain_ids: number[] | null) => (await call(token, 'patch', '', { chain_ids }).expect(200)).body.chain_ids
  expect([await termsSeen(), await choose([8453, 137, 8453]), await termsSeen()]).toEqual([
    ...[
      [null, null],
      [137, 8453],
    ],
    [
      [137, 8453],
      [137, 8453],
    ],
  ])
  expect(await choose([8453, 137])).toEqual([137, 8453])
  for (const [chain_ids, message] of [
    [[8453, 1], 'must be of the networks here: 8453, 137, 10'],
    [[137], 'must name 8453, on which every order may be paid'],
    [[], 'Too small: expected array to have >=1 items'],
  ]) {
    const { body } = await call(token, 'patch', '', { chain_ids }).expect(400)
    expect(body.errors).toEqual([{ path: 'chain_ids', message }])
  }
  system.owners.orders.answers((_req, res) => void res.status(503).json({ code: 'service_unavailable' }))
  await call(token, 'patch', '', { chain_ids: [8453] }).expect(503)
  expect(await choose(null)).toBeNull()
  system.owners.orders.answers()
  expect((await events(merchant.id)).map(data => data.chain_ids)).toEqual([null, [137, 8453], null])
  const { rows } = await system.sql.query(
    "SELECT changed FROM audit_log WHERE merchant_id = $1 AND action = 'merchant.update' ORDER BY id",
    [merchant.id],
  )
  expect(rows.map(({ changed }) => changed)).toEqual([['chain_ids'], ['chain_ids']])
})

test.each([
  ['5.000001', 'must be at most 5.000000'],
  ['-1', 'must be USDC with at most six decimals, for example "27.675277"'],
  ['1%', 'must be USDC with at most six decimals, for example "27.675277"'],
  [1, 'must be a string such as "27.675277"'],
])('a payment_tolerance of %j is refused: %s', async (payment_tolerance, message) => {
  const { token } = await newMerchant(system)
  const { body } = await call(token, 'patch', '', { payment_tolerance }).expect(400)
  expect([body.code, body.errors]).toEqual(['invalid_request', [{ path: 'payment_tolerance', message }]])
})

test('PATCH changes what it names, publishes it with the next version, and warns of an internal webhook_url', async () => {
  const { token, merchant } = await newMerchant(system)
  const { body } = await call(token, 'patch', '', { webhook_url: 'http://10.1.2.3/hook' }).expect(200)
  expect(body).toMatchObject({
    webhook_url: 'http://10.1.2.3/hook',
    display_name: 'Padaria Estrela',
    warnings: [expect.stringContaining('internal')],
  })
  expect((await call(token, 'patch', '', { webhook_url: null })).body).not.toHaveProperty('warnings')
  await call(token, 'patch', '', {}).expect(200)
  expect((await events(merchant.id)).map(data => [data.version, data.webhook_url])).toEqual([
    [1, null],
    [2, 'http://10.1.2.3/hook'],
    [3, null],
  ])
})

test('twenty changes at once are twenty versions, none lost', async () => {
  const { token, merchant } = await newMerchant(system)
  await Promise.all(Array.from({ length: 20 }, (_, n) => call(token, 'patch', '', { display_name: `Name ${n}` }).expect(200)))
  const versions = (await events(merchant.id)).map(data => data.version).sort((a, b) => a - b)
  expect(versions).toEqual(Array.from({ length: 21 }, (_, n) => n + 1))
})

describe('the webhook secret', () => {
  test('rotate shows the new one as pending, activate puts it in force; both are published sealed', async () => {
    const { token, merchant } = await newMerchant(system)
    const { body: rotated } = await call(token, 'post', '/rotate-webhook-secret').expect(200)
    // The one in force was made by another request, and no log would have that it was shown.
    expect(rotated.webhook_secret).toBeNull()
    expect(rotated.pending_webhook_secret).not.toBe(merchant.webhook_secret)
    expect(Date.parse(rotated.pending_webhook_secret_activates_at) - at.ms).toBe(24 * 3_600_000)

    const { body: active } = await call(token, 'post', '/activate-webhook-secret').expect(200)
    expect(active).toMatchObject({ webhook_secret: rotated.pending_webhook_secret, pending_webhook_secret: null })
    expect((await call(token, 'post', '/activate-webhook-secret').expect(409)).body.code).toBe('invalid_state')

    const [, pending, activated] = await events(merchant.id)
    expect(unseal(pending.sealed_pending_webhook_secret, [SEAL_KEY], merchant.id)).toBe(rotated.pending_webhook_secret)
    expect(unseal(activated.sealed_webhook_secret, [SEAL_KEY], merchant.id)).toBe(rotated.pending_webhook_secret)
  })

  test('without activation it is in force after 24 hours', async () => {
    const { token } = await newMerchant(system)
    const { body: rotated } = await call(token, 'post', '/rotate-webhook-secret').expect(200)
    at.ms += 24 * 3_600_000
    const later = system.identity.sign({ sub: claimsOf(token).sub })
    const { body: me } = await call(later, 'get').expect(200)
    expect(me).toMatchObject({ webhook_secret: rotated.pending_webhook_secret, pending_webhook_secret: null })
  })
})

test('the webhook secret of before is shown to a login of the last minutes alone, which leaves a row and an event each time', async () => {
  const { token, merchant } = await newMerchant(system, { display_name: 'Padaria' }, 'shown-user')
  const stale = system.identity.sign({ sub: 'shown-user', amr: [{ method: 'password', timestamp: at.ms / 1000 - 301 }] })
  expect((await call(stale, 'get', '').expect(200)).body).toMatchObject({ webhook_secret: null })
  expect((await call(token, 'get', '?secrets=hidden').expect(200)).body).toMatchObject({ webhook_secret: null })
  // A session that was stolen within the minutes of its login.
  const other = system.identity.sign({ sub: 'shown-user', session_id: randomUUID() })
  const rows = async () =>
    (await system.sql.query("SELECT 1 FROM audit_log WHERE merchant_id = $1 AND action = 'webhook_secret.show_again'", [merchant.id])).rows
      .length
  expect(await rows()).toBe(0)
  for (const [shown, session] of [token, other, other].entries()) {
    expect((await call(session, 'get', '').expect(200)).body).toMatchObject({ webhook_secret: merchant.webhook_secret })
    expect(await rows()).toBe(shown + 1)
  }
  const { rows: events } = await system.sql.query(
    "SELECT 1 FROM outbox WHERE type = 'account.changed' AND body LIKE '%webhook_secret.show_again%' AND body LIKE $1",
    [`%${merchant.id}%`],
  )
  expect(events).toHaveLength(3)
})

test('every change leaves an audit row: who, when, what, never the value', async () => {
  const { token, merchant, apiKey } = await newMerchant(system, { display_name: 'Audited' }, 'audited-user')
  await call(token, 'patch', '', { display_name: 'Renamed', payout_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })
  const { body: rotated } = await call(token, 'post', '/rotate-key').set('X-Request-Id', 'rotation-request-1')
  const { body: secret } = await call(token, 'post', '/rotate-webhook-secret')
  await call(token, 'post', '/activate-webhook-secret')
  const { rows } = await system.sql.query('SELECT * FROM audit_log WHERE merchant_id = $1 ORDER BY id', [merchant.id])
  expect(rows.map(row => [row.user_id, row.action, row.changed])).toEqual([
    ['audited-user', 'merchant.create', ['merchant']],
    ['audited-user', 'merchant.update', ['display_name', 'payout_address']],
    ['audited-user', 'api_key.rotate', ['api_key']],
    ['audited-user', 'webhook_secret.rotate', ['pending_webhook_secret']],
    ['audited-user', 'webhook_secret.activate', ['webhook_secret']],
    ['audited-user', 'webhook_secret.show_again', ['webhook_secret']],
  ])
  expect(rows[2]?.request_id).toBe('rotation-request-1')
  expect(rows.every(row => row.at.getTime() === at.ms)).toBe(true)
  const text = JSON.stringify(rows)
  for (const value of [apiKey, rotated.api_key, secret.pending_webhook_secret, 'Renamed', '0x7099']) expect(text).not.toContain(value)
})

describe('the branding of the checkout', () => {
  const picture = (red: number) =>
    Buffer.from(encode({ width: 2, height: 2, channels: 3, depth: 8, data: new Uint8Array(12).fill(red) })).toString('base64')

  test('is set field by field, and cleared; the picture is served under a name made of its bytes', async () => {
    const { token, merchant } = await newMerchant(system)
    const plain = { object: 'branding', color: null, contact_email: null, terms_url: null, logo_url: null }
    expect((await call(token, 'get', '/branding').expect(200)).body).toEqual(plain)
    await call(token, 'patch', '/branding', { color: '#0E6B54', contact_email: 'ola@padaria.example' }).expect(200)
    const { body } = await call(token, 'patch', '/branding', { logo: picture(7), terms_url: 'https://padaria.example/terms' }).expect(200)
    expect(body).toEqual({
      ...plain,
      color: '#0e6b54',
      contact_email: 'ola@padaria.example',
      terms_url: 'https://padaria.example/terms',
      logo_url: expect.stringMatching(/^\/logos\/[0-9a-f]{32}\.png$/),
    })
    const served = await request(system.url).get(body.logo_url).expect(200)
    expect(served.headers).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
    })
    expect(Buffer.from(served.body).toString('base64')).toBe(picture(7))
    // Its bytes are read once, however many ask.
    await system.sql.query("UPDATE logos SET png = 'another'")
    expect(Buffer.from((await request(system.url).get(body.logo_url).expect(200)).body).toString('base64')).toBe(picture(7))
    const other = (await call(token, 'patch', '/branding', { logo: picture(9) }).expect(200)).body
    expect(other.logo_url).not.toBe(body.logo_url)
    await request(system.url).get(body.logo_url).expect(404)
    expect((await call(token, 'patch', '/branding', { logo: null, color: null }).expect(200)).body).toMatchObject({
      color: null,
      logo_url: null,
    })
    await request(system.url).get(other.logo_url).expect(404)
    const { rows } = await system.sql.query(
      "SELECT changed FROM audit_log WHERE merchant_id = $1 AND action = 'branding.update' ORDER BY id",
      [merchant.id],
    )
    expect(rows.map(({ changed }) => changed)).toEqual([['color', 'contact_email'], ['terms_url', 'logo'], ['logo'], ['color', 'logo']])
  })

  test.each([
    ['a colour that is a name', { color: 'red' }],
    ['a script for a link', { terms_url: 'javascript:alert(1)' }],
    ['http', { terms_url: 'http://padaria.example' }],
    ['no address of mail', { contact_email: 'ola' }],
    ['a picture that is a page', { logo: Buffer.from('<svg/>').toString('base64') }],
    ['too much', { logo: 'A'.repeat(60_004) }],
  ])('%s is refused', async (_, body) => {
    const { token } = await newMerchant(system)
    expect((await call(token, 'patch', '/branding', body).expect(400)).body.code).toBe('invalid_request')
  })

  test('two changes at once are both kept', async () => {
    const { token } = await newMerchant(system)
    await Promise.all([
      call(token, 'patch', '/branding', { color: '#112233' }).expect(200),
      call(token, 'patch', '/branding', { contact_email: 'a@b.example' }).expect(200),
      call(token, 'patch', '/branding', { logo: picture(1) }).expect(200),
    ])
    const { body } = await call(token, 'get', '/branding').expect(200)
    expect(body).toMatchObject({ color: '#112233', contact_email: 'a@b.example', logo_url: expect.any(String) })
  })
})
