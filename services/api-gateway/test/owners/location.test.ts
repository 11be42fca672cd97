import request from 'supertest'
import { bearer, newMerchant, runGateway, system } from '../world'

let merchant: Awaited<ReturnType<typeof newMerchant>>

runGateway()
beforeAll(async () => {
  merchant = await newMerchant(system)
})

const ID = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
const NEW = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c91'

test.each([
  ['orders', '/api/v1/orders', '/api/v1/orders'],
  ['subscriptions', '/api/v1/subscriptions', '/api/v1/subscriptions'],
  ['subscriptions', `/api/v1/subscriptions/${ID}/charge`, '/api/v1/orders'],
  ['orders', '/api/v1/merchants/me/orders', '/api/v1/merchants/me/orders'],
  ['subscriptions', '/api/v1/merchants/me/subscriptions', '/api/v1/merchants/me/subscriptions'],
  ['subscriptions', `/api/v1/merchants/me/subscriptions/${ID}/charge`, '/api/v1/merchants/me/orders'],
  ['webhooks', `/api/v1/merchants/me/deliveries/${ID}/replay`, '/api/v1/merchants/me/deliveries'],
] as const)('%s: a 201 of POST %s has a Location under %s', async (owner, path, collection) => {
  system.owners[owner].answers((_req, res) => void res.status(201).json({ id: NEW }))
  const credential = path.includes('/merchants/') ? merchant.token : merchant.apiKey
  const { headers } = await request(system.url).post(path).set(bearer(credential)).send({}).expect(201)
  expect(headers.location).toBe(`${collection}/${NEW}`)
})

test('a 200 of the same route has none', async () => {
  system.owners.subscriptions.answers((_req, res) => void res.status(200).json({ id: NEW }))
  const { headers } = await request(system.url).post(`/api/v1/subscriptions/${ID}/charge`).set(bearer(merchant.apiKey)).expect(200)
  expect(headers).not.toHaveProperty('location')
})

test('a new merchant is at /api/v1/merchants/me', async () => {
  const { headers } = await request(system.url)
    .post('/api/v1/merchants')
    .set(bearer(system.identity.sign()))
    .send({ display_name: 'Padaria' })
    .expect(201)
  expect(headers.location).toBe('/api/v1/merchants/me')
})
