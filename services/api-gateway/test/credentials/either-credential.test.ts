import { KEY_SCOPES, type Operation, operationList, placesOf } from '@ponte/contracts'
import request from 'supertest'
import { bearer, newMerchant, runGateway, system } from '../world'
import { joins, logIn, newUser } from '../world/people'

// docs/interface.md#authentication: an operation is the same by either credential, and by both of its paths.

let key: string
let token: string

runGateway({ RATE_LIMIT_UNCHANGED_PER_MINUTE: '1000' })
beforeAll(async () => {
  const merchant = await newMerchant(system)
  token = merchant.token
  const scopes = { name: 'all', scopes: KEY_SCOPES }
  key = (await request(system.url).post('/api/v1/merchants/me/api-keys').set(bearer(token)).send(scopes).expect(201)).body.api_key
})
beforeEach(() => {
  for (const { received } of Object.values(system.owners)) received.length = 0
})

const ID = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
const filled = (path: string) => path.replace(':period_index', '0').replace(/:\w+/g, ID)
const ask = ({ method }: Pick<Operation, 'method'>, path: string, credential: string) =>
  request(system.url)[method](filled(path)).set(bearer(credential))
const received = () => Object.values(system.owners).flatMap(owner => owner.received)
const withAlias = operationList.filter(([, { alias, owner }]) => alias !== undefined && owner !== 'api-gateway')

test.each(withAlias)('%s reaches its owner by one path, whoever asks by which', async (_id, operation) => {
  for (const { path, credentials } of placesOf(operation)) {
    for (const credential of credentials) await ask(operation, path, credential === 'api_key' ? key : token)
  }
  const asked = new Set(received().map(({ method, url }) => `${method} ${url}`))
  expect([...asked]).toEqual([`${operation.method.toUpperCase()} ${filled(operation.path)}`])
  expect(received().map(({ caller }) => 'user_id' in Object(caller))).toContain(true)
})

test.each(operationList.filter(([, { keyAlone }]) => keyAlone))(
  'specification, Merchant API: the path of %s needs an API key',
  async (_id, operation) => {
    const { body } = await ask(operation, operation.path, token).expect(401)
    expect([body.code, received()]).toEqual(['invalid_api_key', []])
  },
)

test('a session has the rights of its row, by whichever path', async () => {
  const user = newUser()
  await joins(system, token, user, 'viewer')
  const viewer = logIn(system, user)
  for (const path of ['/api/v1/webhook-endpoints', '/api/v1/merchants/me/webhook-endpoints']) {
    const { body } = await request(system.url).get(path).set(bearer(viewer)).expect(403)
    expect(body.detail).toContain('endpoints:read')
  }
  expect(received()).toEqual([])
})

test.each(['/api/v1/events', '/api/v1/merchants/me/events'])('what is neither a key nor a token is a wrong key: %s', async path => {
  expect((await request(system.url).get(path).set(bearer('nothing')).expect(401)).body.code).toBe('invalid_api_key')
  expect(
    (
      await request(system.url)
        .get(path)
        .set(bearer(`${token}x`))
        .expect(401)
    ).body.code,
  ).toBe('invalid_jwt')
})
