import { KEY_SCOPES, operationList, operations, placesOf } from '@ponte/contracts'
import request from 'supertest'
import { bearer, newMerchant, runGateway, startGateway, system } from './world'
import { startOwner } from './world/owner'

let credentials: Record<'api_key' | 'session' | 'link' | 'internal', Record<string, string>>

runGateway({ PONTE_MODE: 'development' })
beforeAll(async () => {
  const { token } = await newMerchant(system)
  const { body } = await request(system.url)
    .post('/api/v1/merchants/me/api-keys')
    .set(bearer(token))
    .send({ name: 'all', scopes: KEY_SCOPES })
  credentials = { api_key: bearer(body.api_key), session: bearer(token), link: {}, internal: {} }
})
beforeEach(() => {
  for (const owner of Object.values(system.owners)) owner.received.length = 0
})

const pathOf = (path: string) => path.replace(/:\w+/g, '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90')
const received = () => Object.values(system.owners).flatMap(owner => owner.received)

const asked = operationList
  .filter(([, operation]) => !operation.credentials.includes('internal'))
  .flatMap(([, operation]) => placesOf(operation).map(place => ({ ...place, method: operation.method })))
  .flatMap(({ method, path, credentials }) =>
    (credentials.length === 0 ? (['link'] as const) : credentials).map(by => [method, path, by] as const),
  )

test.each(asked)('an unknown query parameter is refused, and no owner is asked: %s %s by %s', async (method, path, credential) => {
  const { body } = await request(system.url)
    [method](`${pathOf(path)}?surprise=1`)
    .set(credentials[credential])
    .expect(400)
  expect(body).toMatchObject({ code: 'invalid_request', errors: [{ path: 'surprise', message: 'is not a known field' }] })
  expect(received()).toEqual([])
})

test('known parameters pass', async () => {
  await request(system.url).get('/api/v1/orders?limit=3&status=paid').set(credentials.api_key).expect(200)
  expect(received().map(({ url }) => url)).toEqual(['/api/v1/orders?limit=3&status=paid'])
})

test('a caller without a credential is notified of that first', async () => {
  await request(system.url).get('/api/v1/orders?surprise=1').expect(401)
})

test('a bare question mark behind the path of a signature does not reach its owner', async () => {
  const listener = await startOwner('chain-listener', 'a-test-secret-of-at-least-32-characters')
  const gateway = await startGateway({ CHAIN_LISTENER_URL: listener.url, CHAIN_LISTENER_TOKEN_SECRET: listener.secret })
  try {
    gateway.owners.orders.answers((_req, res) => void res.json({ status: 'pending', due: '27.675277', payment: { chain_id: 137 } }))
    const path = '/api/v1/checkout/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90/authorization'
    const body = operations.authorizePayment.example
    for (const end of ['', '?']) {
      const headers = { 'Content-Type': 'application/json' }
      expect((await fetch(`${gateway.url}${path}${end}`, { method: 'POST', headers, body: JSON.stringify(body) })).status).toBe(201)
    }
    expect(listener.received).toMatchObject(
      Array(2).fill({ url: `${path}?status=pending&due=27.675277`, body: { ...body, chain_id: 137 } }),
    )
  } finally {
    await gateway.stop()
    await listener.stop()
  }
})
