import { silentLogger } from '@ponte/service-kit'
import request from 'supertest'
import { createApiGateway } from '../../src'
import { forgetKeyRequests } from '../../src/account/key-routes'
import { openStore } from '../../src/store'
import { bearer, newMerchant, runGateway, system } from '../world'
import { joins, logIn, newUser } from '../world/people'

runGateway({}, { replicas: 2 })

const urlOf = (replica: number) => `http://127.0.0.1:${system.replicas[replica]?.http.port()}`
const use = (replica: number, key: string) => request(urlOf(replica)).get('/api/v1/orders').set(bearer(key))
const rotate = (replica: number, token: string) => request(urlOf(replica)).post('/api/v1/merchants/me/rotate-key').set(bearer(token))

test('a key rotated on one replica is refused by the other on the very next request, and the new one accepted', async () => {
  const { token, apiKey } = await newMerchant(system)
  let key = apiKey
  for (let round = 0; round < 10; round++) {
    await use(1, key).expect(200)
    const { body } = await rotate(0, token).expect(200)
    expect((await use(1, key).expect(401)).body.code).toBe('invalid_api_key')
    expect((await use(0, key).expect(401)).body.code).toBe('invalid_api_key')
    await use(1, body.api_key).expect(200)
    key = body.api_key
  }
})

test('rotations at one moment on both replicas leave exactly one key that works', async () => {
  const { token, merchant } = await newMerchant(system)
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => rotate(n % 2, token).expect(200)))
  const statuses = await Promise.all(answers.map(async answer => (await use(0, answer.body.api_key)).status))
  expect(statuses.filter(status => status === 200)).toHaveLength(1)
  const { rows } = await system.sql.query(
    "SELECT count(*) FILTER (WHERE action = 'api_key.rotate')::int AS rotations FROM audit_log WHERE merchant_id = $1",
    [merchant.id],
  )
  expect(rows[0]?.rotations).toBe(10)
})

test('a rotated key keeps its merchant: the terms and their version stay, and the merchant alone is notified', async () => {
  const { token, merchant } = await newMerchant(system)
  const before = await system.sql.query("SELECT count(*)::int AS events FROM outbox WHERE type <> 'account.changed'")
  const { body } = await rotate(0, token).expect(200)
  expect(body).toEqual({ ...merchant, webhook_secret: null, api_key: expect.stringMatching(/^sk_live_[0-9a-f]{64}$/) })
  expect(
    await system.sql.query("SELECT count(*)::int AS events FROM outbox WHERE type <> 'account.changed'").then(({ rows }) => rows),
  ).toEqual(before.rows)
})

test('a change of terms on one replica is what the next request on the other carries', async () => {
  const { token, apiKey } = await newMerchant(system)
  system.owners.orders.received.length = 0
  await request(urlOf(0)).patch('/api/v1/merchants/me').set(bearer(token)).send({ display_name: 'Novo Nome' }).expect(200)
  await use(1, apiKey).expect(200)
  expect(system.owners.orders.received[0]?.caller).toMatchObject({ terms: { display_name: 'Novo Nome', version: 2 } })
})

test('merchant.updated reaches each of its readers once, through the outbox of whichever replica is there', async () => {
  const { merchant } = await newMerchant(system)
  for (const replica of system.replicas) await replica.idle()
  const received = system.published.filter(message => message.body.includes(merchant.id))
  expect(received.map(message => message.type)).toEqual(['merchant.updated', 'merchant.updated', 'merchant.updated'])
  expect(new Set(received.map(message => message.id)).size).toBe(1)
})

describe('a rotation with an Idempotency-Key', () => {
  const keyed = (replica: number, token: string, key: string) => rotate(replica, token).set('Idempotency-Key', key)

  test('sent again gives the same key and revokes nothing, on another replica too', async () => {
    const { token, merchant } = await newMerchant(system)
    const first = await keyed(0, token, 'rotation-1').expect(200)
    expect(first.headers).not.toHaveProperty('idempotency-replayed')
    const again = await keyed(1, token, 'rotation-1').expect(200)
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.body).toEqual(first.body)
    await use(0, first.body.api_key).expect(200)
    const { rows } = await system.sql.query("SELECT 1 FROM audit_log WHERE merchant_id = $1 AND action = 'api_key.rotate'", [merchant.id])
    expect(rows).toHaveLength(1)
  })

  test('sent again while SEAL_KEY is changed gives the same key, and the merchant keeps its secret when the old one is gone', async () => {
    const { token, merchant } = await newMerchant(system)
    const first = await keyed(0, token, 'rotation-1').expect(200)
    const fresh = 'cd'.repeat(32)
    const withKeys = async <T>(keys: string[], work: (gateway: ReturnType<typeof createApiGateway>) => Promise<T>): Promise<T> => {
      const gateway = createApiGateway({ ...system.config, SEAL_KEY: keys }, { bus: system.bus, logger: silentLogger })
      await gateway.start()
      try {
        return await work(gateway)
      } finally {
        await gateway.stop()
      }
    }
    await withKeys([fresh, ...system.config.SEAL_KEY], async ({ http, ops }) => {
      const repeated = await request(`http://127.0.0.1:${http.port()}`)
        .post('/api/v1/merchants/me/rotate-key')
        .set(bearer(token))
        .set('Idempotency-Key', 'rotation-1')
      expect([repeated.status, repeated.body]).toEqual([200, first.body])
      const reseal = () => request(`http://127.0.0.1:${ops.port()}`).post('/reseal').expect(200)
      expect((await reseal()).body).toEqual({ resealed: expect.any(Number), keys: 2 })
      expect((await reseal()).body).toEqual({ resealed: 0, keys: 2 })
    })
    await withKeys([fresh], async ({ http }) => {
      const own = await request(`http://127.0.0.1:${http.port()}`).get('/api/v1/merchants/me').set(bearer(token)).expect(200)
      expect(own.body.webhook_secret).toBe(merchant.webhook_secret)
    })
    await withKeys([fresh, ...system.config.SEAL_KEY].reverse(), ({ ops }) =>
      request(`http://127.0.0.1:${ops.port()}`).post('/reseal').expect(200),
    )
  })

  test('with another Idempotency-Key gives another key', async () => {
    const { token } = await newMerchant(system)
    const first = await keyed(0, token, 'rotation-1').expect(200)
    const second = await keyed(0, token, 'rotation-2').expect(200)
    expect(second.body.api_key).not.toBe(first.body.api_key)
    await use(0, first.body.api_key).expect(401)
    await use(0, second.body.api_key).expect(200)
  })

  test('at one moment on both replicas is done once', async () => {
    const { token, merchant } = await newMerchant(system)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => keyed(n % 2, token, 'rotation-1').expect(200)))
    expect(new Set(answers.map(({ body }) => body.api_key)).size).toBe(1)
    await use(0, answers[0]?.body.api_key).expect(200)
    const { rows } = await system.sql.query('SELECT 1 FROM api_keys WHERE merchant_id = $1', [merchant.id])
    expect(rows).toHaveLength(2)
  })

  test('is another one for another merchant, and a new one after an hour', async () => {
    const { token, merchant } = await newMerchant(system)
    const other = await newMerchant(system)
    const first = await keyed(0, token, 'rotation-1').expect(200)
    const ofOther = await keyed(0, other.token, 'rotation-1').expect(200)
    expect(ofOther.body.api_key).not.toBe(first.body.api_key)
    await system.sql.query("UPDATE api_keys SET created_at = created_at - interval '61 minutes' WHERE merchant_id = $1", [merchant.id])
    const later = await keyed(0, token, 'rotation-1').expect(200)
    expect(later.body.api_key).not.toBe(first.body.api_key)
    await use(0, later.body.api_key).expect(200)
  })

  test('is shown again to the user who made it alone, and each time is in the audit log and published', async () => {
    const owner = await newMerchant(system)
    const user = newUser()
    await joins(system, owner.token, user, 'admin')
    const developer = logIn(system, user)
    const first = await keyed(0, owner.token, 'rotation-1').expect(200)
    await keyed(0, owner.token, 'rotation-1').expect(200)
    const guessed = await keyed(1, developer, 'rotation-1').expect(200)
    expect(guessed.body.api_key).not.toBe(first.body.api_key)
    await use(0, first.body.api_key).expect(401)
    const { rows } = await system.sql.query(
      `SELECT (SELECT count(*)::int FROM audit_log WHERE action = 'api_key.show_again' AND merchant_id = $1::uuid) AS noted,
         (SELECT count(*)::int FROM outbox WHERE body LIKE '%api_key.show_again%' AND body LIKE '%' || $1 || '%') AS published`,
      [owner.merchant.id],
    )
    expect(rows).toEqual([{ noted: 1, published: 1 }])
  })

  test('leaves nothing after an hour that the key could be derived from', async () => {
    const { token, merchant } = await newMerchant(system)
    await keyed(0, token, 'rotation-1').expect(200)
    const store = openStore(system.sql, { now: () => new Date(Date.now() + 61 * 60_000), committed: () => undefined })
    await forgetKeyRequests(store)
    const { rows } = await system.sql.query('SELECT salt, request_hash FROM api_keys WHERE merchant_id = $1', [merchant.id])
    expect(rows).toEqual([
      { salt: null, request_hash: null },
      { salt: null, request_hash: null },
    ])
  })

  test('leaves nothing in the database that is the key, and refuses an Idempotency-Key that is none', async () => {
    const { token } = await newMerchant(system)
    const { body } = await keyed(0, token, 'rotation-1').expect(200)
    const { rows } = await system.sql.query('SELECT encode(hash, $1) AS hash, encode(salt, $1) AS salt FROM api_keys', ['hex'])
    expect(JSON.stringify(rows)).not.toContain(body.api_key.slice('sk_live_'.length))
    await keyed(0, token, 'x'.repeat(256)).expect(400)
  })
})
