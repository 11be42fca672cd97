import { randomBytes, randomUUID } from 'node:crypto'
import { migrate, openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import type { Response } from 'express'
import request from 'supertest'
import { apiGatewayMigrations } from '../src'
import { auditLogStore } from '../src/store/audit-log'
import { bearer, newMerchant, runGateway, system } from './world'

runGateway({ TRUSTED_PROXIES: '1', PUBLIC_URL: 'https://pay.ponte.dev', RATE_LIMIT_UNCHANGED_PER_MINUTE: '5' })

const AUDIT = '/api/v1/merchants/me/audit'
const audit = (token: string, query = '') => request(system.url).get(`${AUDIT}${query}`).set(bearer(token))

test('who changed what, when and from where is read by page, by action and by a key with the scope', async () => {
  const { token, merchant } = await newMerchant(system, { display_name: 'Padaria' }, 'auditor')
  const from = (address: string, id: string) => ({ ...bearer(token), 'X-Forwarded-For': address, 'X-Request-Id': id })
  await request(system.url).patch('/api/v1/merchants/me').set(from('203.0.113.77', 'request-1')).send({ display_name: 'Nova' }).expect(200)
  await request(system.url).post('/api/v1/merchants/me/rotate-key').set(from('2001:db8:1:2::3', 'request-2')).expect(200)
  const { body: key } = await request(system.url)
    .post('/api/v1/merchants/me/api-keys')
    .set(bearer(token))
    .send({ name: 'auditor', scopes: ['audit:read'] })
    .expect(201)

  const { body: page } = await audit(token, '?limit=2').expect(200)
  expect(page).toMatchObject({ object: 'list', has_more: true })
  const { body: rest } = await audit(token, `?starting_after=${page.data[1].id}`).expect(200)
  const entries = [...page.data, ...rest.data]
  expect(entries.map(({ action, changed, network }) => [action, changed, network])).toEqual([
    ['named_key.create', ['api_key', 'audit:read'], '127.0.0.0/24'],
    ['api_key.rotate', ['api_key'], '2001:db8:1::/48'],
    ['merchant.update', ['display_name'], '203.0.113.0/24'],
    ['merchant.create', ['merchant'], '127.0.0.0/24'],
  ])
  expect(entries[2]).toMatchObject({ object: 'audit_entry', user_id: 'auditor', request_id: 'request-1' })
  expect((await audit(token, '?action=api_key.rotate')).body.data).toEqual([entries[1]])
  expect((await request(system.url).get('/api/v1/audit').set(bearer(key.api_key)).expect(200)).body.data).toEqual(entries)
  const file = await request(system.url).get('/api/v1/audit.csv').set(bearer(key.api_key)).expect(200)
  expect(file.headers['content-type']).toBe('text/csv; charset=utf-8')
  const lines = file.text.split('\r\n')
  expect(lines[0]).toBe('\ufeffcreated_at,action,changed,user_id,network,request_id,id,target,outcome')
  expect(lines.slice(1, -1).map(line => line.split(',')[1])).toEqual(entries.map(({ action }) => action))
  const some = await audit(token, '.csv?action=merchant.create').expect(200)
  expect(some.text.split('\r\n')).toHaveLength(3)
  await audit(token, '.csv?limit=1').expect(400)
  const other = await newMerchant(system)
  expect(JSON.stringify((await audit(other.token).expect(200)).body)).not.toContain(merchant.id)
  await audit(token, '?action=%00').expect(400)
})

describe('changes that other services make', () => {
  const id = '01890a5d-ac96-774b-bcce-b302099a8057'
  const ME = '/api/v1/merchants/me'
  const newest = async (token: string) => (await audit(token).expect(200)).body.data[0]
  afterEach(() => {
    for (const owner of Object.values(system.owners)) owner.answers()
  })

  test.each([
    ['patch', `/orders/${id}`, { customer: { tax_id: '12345678909' } }, 'order.update', ['customer']],
    ['post', '/customers/erase', { tax_id: '12345678909' }, 'customer.erase', ['tax_id']],
    ['post', `/orders/${id}/cancel`, {}, 'order.cancel', []],
    ['post', `/orders/${id}/accept`, { reason: 'x' }, 'order.accept', ['reason']],
    ['post', `/orders/${id}/refunds`, { reason: 'x' }, 'refund.create', ['reason']],
    ['post', `/orders/${id}/refund-claims`, { reason: 'x' }, 'refund_claim.create', ['reason']],
    ['post', `/refund-claims/${id}/cancel`, {}, 'refund_claim.cancel', []],
    ['post', `/refunds/${id}/signature`, { valid_before: 1, signature: '0x' }, 'refund.sign', ['valid_before', 'signature']],
    ['post', `/refunds/${id}/cancel`, {}, 'refund.cancel', []],
    ['post', `/orders/${id}/recoveries`, { token_address: null, destination: 'x' }, 'recovery.create', ['token_address', 'destination']],
    ['post', `/attention/${id}/handle`, { facts: 'x' }, 'attention.handle', ['facts']],
    ['post', `/attention/${id}/reopen`, {}, 'attention.reopen', []],
    ['post', `/attention/${id}/attach`, { order_id: id, reason: 'x' }, 'attention.attach', ['order_id', 'reason']],
    ['post', '/subscriptions', { brl_amount: '10.00', 'Bad name': 1 }, 'subscription.create', ['brl_amount']],
    ['post', `/subscriptions/${id}/charge`, {}, 'subscription.charge', []],
    ['post', `/subscriptions/${id}/cancel`, {}, 'subscription.cancel', []],
    ['post', `/subscriptions/${id}/charges/0/accept`, {}, 'subscription.accept', []],
    ['post', '/deliveries/replay', { created_gte: '2026-01-01T00:00:00Z' }, 'deliveries.replay', ['created_gte']],
    ['post', `/deliveries/${id}/replay`, {}, 'delivery.replay', []],
    ['post', '/webhook-endpoints', { url: 'https://shop.example', 'bad name': 1 }, 'endpoint.create', ['url']],
    ['patch', `/webhook-endpoints/${id}`, { url: 'https://thief.example' }, 'endpoint.update', ['url']],
    ['delete', `/webhook-endpoints/${id}`, {}, 'endpoint.delete', []],
    ['post', `/webhook-endpoints/${id}/rotate-secret`, {}, 'endpoint_secret.rotate', []],
    ['post', `/webhook-endpoints/${id}/activate-secret`, {}, 'endpoint_secret.activate', []],
    ['post', `/webhook-endpoints/${id}/test`, {}, 'endpoint.test', []],
  ] as const)('%s %s stands in the same list', async (method, path, body, action, changed) => {
    const { token } = await newMerchant(system, { display_name: 'Padaria' }, `user of ${method} ${path}`)
    const asked = await request(system.url)[method](`${ME}${path}`).set(bearer(token)).set('X-Request-Id', 'request-9').send(body)
    expect(asked.status).toBeLessThan(300)
    expect(await newest(token)).toMatchObject({
      ...{ action, changed, outcome: 'done', user_id: `user of ${method} ${path}`, network: '127.0.0.0/24', request_id: 'request-9' },
      target: path.includes(id) ? id : null,
    })
  })

  test('a key is named by its id, what is created by its own, and an order that a program opens is its own record', async () => {
    const { token, apiKey } = await newMerchant(system)
    const { body: key } = await request(system.url)
      .post(`${ME}/api-keys`)
      .set(bearer(token))
      .send({ name: 'ERP', scopes: ['orders:write', 'subscriptions:write', 'orders:read'] })
      .expect(201)
    system.owners.subscriptions.answers((_req, res) => void res.status(201).json({ id }))
    const subscribe = (credential: string) => request(system.url).post('/api/v1/subscriptions').set(bearer(credential)).send({})
    await subscribe(apiKey).expect(201)
    expect(await newest(token)).toMatchObject({ user_id: 'api_key', target: id })
    await subscribe(key.api_key).expect(201)
    expect(await newest(token)).toMatchObject({ action: 'subscription.create', user_id: `api_key:${key.id}` })
    await request(system.url).post('/api/v1/orders').set(bearer(apiKey)).send({}).expect(201)
    await request(system.url).get('/api/v1/orders').set(bearer(apiKey)).expect(200)
    expect(await newest(token)).toMatchObject({ action: 'subscription.create' })
    await request(system.url).post(`${ME}/orders`).set(bearer(token)).send({}).expect(201)
    expect(await newest(token)).toMatchObject({ action: 'order.create' })
  })

  test.each([
    [409, {}, 'refused'],
    [200, { 'Idempotency-Replayed': 'true' }, 'repeated'],
    [500, {}, 'unknown'],
  ])('an answer of %i with %j is %s', async (status, headers, outcome) => {
    const { token } = await newMerchant(system)
    system.owners.orders.answers((_req, res) => void res.status(status).set(headers).json({}))
    await request(system.url).post(`${ME}/orders/${id}/cancel`).set(bearer(token)).expect(status)
    expect(await newest(token)).toMatchObject({ action: 'order.cancel', target: id, outcome })
  })

  test.each([
    [200, { 'Idempotency-Replayed': 'true' }, 'done'],
    [409, {}, 'unknown'],
  ])('after a connection that was lost, an answer of %i with %j to the same key is %s', async (status, headers, outcome) => {
    const { token, merchant } = await newMerchant(system)
    const answers = [
      (res: Response) => void res.destroy(),
      (res: Response) => void res.status(status).set(headers).json({ id, secret: 'whsec_x' }),
    ]
    system.owners.webhooks.answers((_req, res) => answers.shift()?.(res))
    const path = `${ME}/webhook-endpoints/${id}/rotate-secret`
    await request(system.url).post(path).set(bearer(token)).set('Idempotency-Key', 'once').expect(status)
    const { body } = await audit(token, '?action=endpoint_secret.rotate').expect(200)
    expect(body.data).toMatchObject([{ target: id, outcome }])
    const { rows } = await system.sql.query("SELECT 1 FROM outbox WHERE type = 'account.changed' AND body LIKE $1 AND body LIKE $2", [
      ...[`%${merchant.id}%`, '%endpoint_secret.rotate%'],
    ])
    expect(rows).toHaveLength(outcome === 'done' ? 1 : 0)
  })

  test.each(['/webhook-endpoints', `/webhook-endpoints/${id}/rotate-secret`])(
    'the same answer to POST %s again shows its secret again, which is a row and an event of its own',
    async path => {
      const { token, merchant } = await newMerchant(system)
      const shown = async () => (await audit(token, '?action=endpoint_secret.show_again').expect(200)).body.data
      const send = () => request(system.url).post(`${ME}${path}`).set(bearer(token)).send({})
      await send().expect(201)
      expect(await shown()).toEqual([])
      system.owners.webhooks.answers(
        (_req, res) => void res.status(201).set('Idempotency-Replayed', 'true').json({ id, secret: 'whsec_x' }),
      )
      await send().expect(201)
      expect(await shown()).toMatchObject([{ changed: ['webhook_secret'], outcome: 'done' }])
      const { rows } = await system.sql.query("SELECT 1 FROM outbox WHERE type = 'account.changed' AND body LIKE $1 AND body LIKE $2", [
        ...[`%${merchant.id}%`, '%endpoint_secret.show_again%'],
      ])
      expect(rows).toHaveLength(1)
    },
  )

  test('a secret that was not shown is not recorded as shown, and one that is, with its endpoint and no more than so often', async () => {
    const { token } = await newMerchant(system)
    const look = () => request(system.url).get(`${ME}/webhook-endpoints/${id}`).set(bearer(token))
    const shown = async () => (await audit(token, '?action=endpoint_secret.show_again').expect(200)).body.data
    for (const status of [404, 403, 503]) {
      system.owners.webhooks.answers((_req, res) => void res.status(status).json({ code: 'not_found' }))
      await look().expect(status)
    }
    expect(await shown()).toEqual([])
    system.owners.webhooks.answers((_req, res) => void res.json({ id, secret: 'whsec_x' }))
    await system.sql.query('ALTER TABLE audit_log RENAME TO lost_log')
    const unrecorded = await look()
    await system.sql.query('ALTER TABLE lost_log RENAME TO audit_log')
    expect([unrecorded.status >= 500, unrecorded.text.includes('whsec_x')]).toEqual([true, false])
    for (let n = 0; n < 4; n++) await look().expect(200)
    await look().expect(429)
    expect(await shown()).toMatchObject(Array(4).fill({ target: id, outcome: 'done' }))
  })

  test.each([
    ['refused', 409, {}],
    ['repeated', 200, { 'Idempotency-Replayed': 'true' }],
  ])('what is %s too often in a minute leaves no more rows, and stops no user', async (_outcome, status, headers) => {
    const { token, apiKey } = await newMerchant(system)
    const cancel = (path: string, credential: string) => request(system.url).post(`${path}/orders/${id}/cancel`).set(bearer(credential))
    for (let n = 0; n < 10; n++) await cancel('/api/v1', apiKey).expect(201)
    system.owners.orders.answers((_req, res) => void res.status(status).set(headers).json({}))
    for (let n = 0; n < 5; n++) await cancel('/api/v1', apiKey).expect(status)
    const rows = async () => (await audit(token, '?limit=100').expect(200)).body.data.length
    const [before, asked] = [await rows(), system.owners.orders.received.length]
    const { body, headers: answered } = await cancel('/api/v1', apiKey).expect(429)
    expect([body.code, Number(answered['retry-after']) > 0]).toEqual(['rate_limited', true])
    expect([await rows(), system.owners.orders.received.length]).toEqual([before, asked])
    await cancel(ME, token).expect(status)
  })

  test.each([
    ['a byte order mark', Buffer.from('\ufeff{"url":"https://thief.example"}'), 'application/json', 200],
    ['another charset', Buffer.from('{"url":"https://thief.example"}', 'utf16le'), 'application/json; charset=utf-16le', 415],
  ])('a body with %s does not hide what it changes', async (_name, sent, type, status) => {
    const { token } = await newMerchant(system)
    const path = `${ME}/webhook-endpoints/${id}`
    const answer = await fetch(`${system.url}${path}`, { method: 'PATCH', headers: { ...bearer(token), 'Content-Type': type }, body: sent })
    expect(answer.status).toBe(status)
    expect(await newest(token)).toMatchObject(status === 200 ? { outcome: 'done', changed: ['url'] } : { outcome: 'refused' })
  })

  test('without its row nothing is sent on; without its outcome it is unknown, and the caller has the answer', async () => {
    const { token } = await newMerchant(system)
    const cancel = () => request(system.url).post(`${ME}/orders/${id}/cancel`).set(bearer(token))
    const asked = () => system.owners.orders.received.filter(({ method }) => method === 'POST').length
    const before = asked()
    await system.sql.query('ALTER TABLE audit_log RENAME TO lost_log')
    expect((await cancel()).status).toBeGreaterThanOrEqual(500)
    await system.sql.query('ALTER TABLE lost_log RENAME TO audit_log')
    expect(asked()).toBe(before)
    await system.sql.query('ALTER TABLE audit_outcomes RENAME TO lost_outcomes')
    await cancel().expect(201)
    await system.sql.query('ALTER TABLE lost_outcomes RENAME TO audit_outcomes')
    expect(await newest(token)).toMatchObject({ action: 'order.cancel', outcome: 'unknown' })
    system.owners.webhooks.answers(async (_req, res) => {
      await system.sql.query('ALTER TABLE merchants RENAME COLUMN branding TO lost')
      res.status(201).json({ id, secret: 'whsec_x' })
    })
    const added = await request(system.url).post(`${ME}/webhook-endpoints`).set(bearer(token)).send({})
    await system.sql.query('ALTER TABLE merchants RENAME COLUMN lost TO branding')
    expect([added.status, added.body.secret]).toEqual([201, 'whsec_x'])
    expect(await newest(token)).toMatchObject({ action: 'endpoint.create', outcome: 'unknown' })
  })

  test('while the owner works, and when its answer is lost, the row stands as unknown: what a gateway leaves that dies before or after the change', async () => {
    const { token } = await newMerchant(system)
    const cancel = () => request(system.url).post(`${ME}/orders/${id}/cancel`).set(bearer(token))
    let atWork: unknown
    system.owners.orders.answers(async (_req, res) => {
      atWork = await newest(token)
      res.json({})
    })
    await cancel().expect(200)
    expect(atWork).toMatchObject({ action: 'order.cancel', target: id, outcome: 'unknown' })
    expect(await newest(token)).toMatchObject({ id: (atWork as { id: string }).id, outcome: 'done' })
    system.owners.orders.answers((_req, res) => void res.socket?.destroy())
    await cancel().expect(503)
    expect(await newest(token)).toMatchObject({ action: 'order.cancel', outcome: 'unknown' })
  })
})

test('the log is append-only, even for the role that owns the table', async () => {
  const { token } = await newMerchant(system)
  const attempts = [
    ...['UPDATE audit_log SET user_id = user_id', 'DELETE FROM audit_log', 'TRUNCATE audit_log CASCADE'],
    ...["UPDATE audit_outcomes SET outcome = 'done'", 'DELETE FROM audit_outcomes', 'TRUNCATE audit_outcomes'],
  ]
  for (const attempt of attempts) await expect(system.sql.query(attempt)).rejects.toMatchObject({ code: '42501' })
  expect((await audit(token)).body.data).toHaveLength(1)
})

test('a service that migrates and runs as a role of its own has no right to change the log', async () => {
  const database = await testDatabase()
  const role = `role_${randomBytes(6).toString('hex')}`
  const admin = openDatabase({ url: database.operatorUrl, poolSize: 1 })
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`)
  const url = new URL(database.url)
  try {
    await admin.query(`ALTER SCHEMA public OWNER TO ${role}`)
    Object.assign(url, { username: role, password: role })
    await migrate(url.href, apiGatewayMigrations)
    const { rows } = await admin.query(
      `SELECT name, privilege FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS privilege,
         unnest(ARRAY['audit_log', 'audit_outcomes']) AS name
       WHERE has_table_privilege('${role}', name, privilege) ORDER BY name, privilege`,
    )
    expect(rows.map(({ name, privilege }) => `${name} ${privilege}`)).toEqual([
      ...['audit_log INSERT', 'audit_log SELECT', 'audit_outcomes INSERT', 'audit_outcomes SELECT'],
    ])
    const service = openDatabase({ url: url.href, poolSize: 1 })
    const log = auditLogStore(service, { now: () => new Date(), committed: () => undefined })
    const actor = { userId: 'user', requestId: 'request', network: null }
    await log
      .begin({ action: 'order.cancel', changed: [], target: null, isInforming: false, makesSecret: false, merchantId: randomUUID(), actor })
      .then(entry => log.end(entry, 'done', null, null))
      .finally(() => service.stop?.())
  } finally {
    await admin.query(`REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP OWNED BY ${role}; DROP ROLE ${role}`)
    await admin.stop?.()
    await database.drop()
  }
})
