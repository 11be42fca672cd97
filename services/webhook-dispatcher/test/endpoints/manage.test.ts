import { randomUUID } from 'node:crypto'
import { webhookEndpoint } from '@ponte/contracts'
import request from 'supertest'
import { asMerchant, merchantUpdated, runDispatcher, system } from '../setup'
import { addEndpoint, post } from './kinds'

runDispatcher()

const URL_ = 'https://example.com/hooks'
const call = (method: 'get' | 'patch' | 'delete', merchantId: string, path = '', body?: object) => {
  const asked = request(system.url)[method](`/api/v1/webhook-endpoints${path}`).set(asMerchant(merchantId))
  return body ? asked.send(body) : asked
}
const list = async (merchantId: string) => (await call('get', merchantId)).body.data

describe('webhook endpoints', () => {
  it('are added beside the webhook_url, which is the first of them and has no secret here', async () => {
    const merchantId = randomUUID()
    await system.publish(merchantUpdated(merchantId, { webhook_url: 'https://shop.example/' }))
    const made = await addEndpoint(system, merchantId, {
      url: URL_,
      events: ['order.paid'],
      format: 'standard',
      description: 'ERP',
      max_in_flight: 2,
    })
    expect(webhookEndpoint.strict().parse(made)).toMatchObject({
      ...{ is_default: false, url: URL_, events: ['order.paid'], format: 'standard', description: 'ERP', max_in_flight: 2 },
      ...{ paused: false, header_names: [], failing_since: null, dead: 0 },
    })
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const [main, other] = await list(merchantId)
    expect(webhookEndpoint.strict().parse(main)).toMatchObject({
      id: merchantId,
      is_default: true,
      url: 'https://shop.example/',
      format: 'ponte',
      secret: null,
    })
    expect(other).toEqual(made)
  })

  it('are ten at most, also when many are added at once; a deleted one leaves its place', async () => {
    const merchantId = randomUUID()
    const answers = await Promise.all(Array.from({ length: 14 }, () => post(system, merchantId, '', { url: URL_, events: ['*'] })))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), ...Array(4).fill(409)])
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('invalid_state')
    const [, first] = await list(merchantId)
    expect((await call('delete', merchantId, `/${first.id}`)).body).toEqual({ object: 'webhook_endpoint', id: first.id, deleted: true })
    expect((await call('get', merchantId, `/${first.id}`)).status).toBe(404)
    expect((await call('delete', merchantId, `/${first.id}`)).status).toBe(404)
    expect((await post(system, merchantId, '', { url: URL_, events: ['*'] })).status).toBe(201)
    expect(await list(merchantId)).toHaveLength(11)
  })

  it('are added no more while two hundred that were deleted are kept', async () => {
    const merchantId = randomUUID()
    await addEndpoint(system, merchantId, { url: URL_ })
    const { rows } = await system.sql.query(
      `INSERT INTO endpoints (id, merchant_id, place, url, events, format, sealed_secret, created_at, deleted_at)
       SELECT gen_random_uuid(), $1, 2, url, events, format, sealed_secret, created_at, now() FROM endpoints, generate_series(1, 200) WHERE merchant_id = $1
       RETURNING id`,
      [merchantId],
    )
    const { status, body } = await post(system, merchantId, '', { url: URL_, events: ['*'] })
    expect([status, body.code]).toEqual([409, 'invalid_state'])
    await system.sql.query("UPDATE endpoints SET deleted_at = now() - interval '31 days' WHERE id = $1", [rows[0].id])
    await system.forgetOld()
    await addEndpoint(system, merchantId, { url: URL_ })
  })

  it('never show a static header again, nor keep one or a secret in the clear', async () => {
    const merchantId = randomUUID()
    const made = await addEndpoint(system, merchantId, { url: URL_, headers: { Authorization: 'Bearer hush-42' } })
    expect(made.header_names).toEqual(['Authorization'])
    const patched = await call('patch', merchantId, `/${made.id}`, { description: 'x' })
    expect(patched.body.header_names).toEqual(['Authorization'])
    const { rows } = await system.sql.query('SELECT row_to_json(e)::text AS text FROM endpoints e WHERE id = $1', [made.id])
    for (const text of [JSON.stringify(made), JSON.stringify(await list(merchantId)), rows[0].text]) expect(text).not.toContain('hush-42')
    expect(rows[0].text).not.toContain(made.secret)
    expect((await call('patch', merchantId, `/${made.id}`, { headers: {} })).body.header_names).toEqual([])
  })

  it('show their secrets, the waiting one too, only to a credential that may replace them', async () => {
    const merchantId = randomUUID()
    const { id } = await addEndpoint(system, merchantId, { url: URL_ })
    await post(system, merchantId, `/${id}/rotate-secret`)
    for (const granted of [{}, { may_see_secrets: false }]) {
      for (const path of ['', `/${id}`]) {
        const { body } = await request(system.url)
          .get(`/api/v1/webhook-endpoints${path}`)
          .set(asMerchant(merchantId, 1, granted))
          .expect(200)
        expect(JSON.stringify(body)).not.toContain('whsec_')
        expect(JSON.stringify(body)).toContain(id)
      }
    }
    expect(await list(merchantId)).toMatchObject([{}, { secret: expect.anything(), pending_secret: expect.anything() }])
  })

  it("are the merchant's own: 403 for another's, 404 for none, 409 for the webhook_url", async () => {
    const [mine, other] = [randomUUID(), randomUUID()]
    const { id } = await addEndpoint(system, mine, { url: URL_ })
    for (const [method, path] of [
      ['get', `/${id}`],
      ['patch', `/${id}`],
      ['delete', `/${id}`],
    ] as const) {
      expect((await call(method, other, path, method === 'patch' ? {} : undefined)).body.code).toBe('forbidden')
      expect((await call(method, mine, `/${randomUUID()}`, method === 'patch' ? {} : undefined)).body.code).toBe('not_found')
      expect((await call(method, mine, `/${mine}`, method === 'patch' ? {} : undefined)).body.code).toBe('invalid_state')
    }
    for (const action of ['rotate-secret', 'activate-secret', 'test']) {
      expect((await post(system, other, `/${id}/${action}`)).body.code).toBe('forbidden')
      expect((await post(system, mine, `/${mine}/${action}`)).body.code).toBe('invalid_state')
    }
  })

  it.each([
    [{ url: 'ftp://example.com', events: ['*'] }, 'url'],
    [{ url: 'http://example.com:6379/', events: ['*'] }, 'url'],
    [{ url: URL_, events: [] }, 'events'],
    [{ url: URL_, events: ['order.paid', 'order.paid'] }, 'events'],
    [{ url: URL_, events: ['*', 'order.paid'] }, 'events'],
    [{ url: URL_, events: ['endpoint.test'] }, 'events.0'],
    [{ url: URL_, events: ['order.created'] }, 'events.0'],
    [{ url: URL_, events: ['*'], format: 'cloudevents' }, 'format'],
    [{ url: URL_, events: ['*'], max_in_flight: 0 }, 'max_in_flight'],
    [{ url: URL_, events: ['*'], headers: { 'X-Service-Signature': 'x' } }, 'headers'],
    [{ url: URL_, events: ['*'], headers: { 'X-A': 'a\r\nX-B: b' } }, 'headers'],
    [{ url: URL_, events: ['*'], headers: { Connection: 'close' } }, 'headers'],
    [{ url: URL_, events: ['*'], secret: 'mine' }, 'secret'],
  ])('%j is 400 at %s', async (body, path) => {
    const { status, body: problem } = await post(system, randomUUID(), '', body)
    expect([status, problem.errors?.[0]?.path]).toEqual([400, path])
  })

  it('warn of an internal address', async () => {
    expect((await addEndpoint(system, randomUUID(), { url: 'http://10.0.0.1/' })).warnings).toHaveLength(1)
    expect(await addEndpoint(system, randomUUID(), { url: URL_ })).not.toHaveProperty('warnings')
  })

  it('take two changes of one moment one after the other', async () => {
    const merchantId = randomUUID()
    const { id } = await addEndpoint(system, merchantId, { url: URL_ })
    const bodies = [{ description: 'a' }, { max_in_flight: 3 }, { paused: true }, { events: ['order.paid'] }]
    const answers = await Promise.all(bodies.map(body => call('patch', merchantId, `/${id}`, body)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await call('get', merchantId, `/${id}`)).body).toMatchObject({
      description: 'a',
      max_in_flight: 3,
      paused: true,
      events: ['order.paid'],
    })
  })
})
