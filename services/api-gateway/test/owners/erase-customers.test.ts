import request from 'supertest'
import { bearer, newMerchant, runGateway, system } from '../world'

runGateway()
beforeEach(() => {
  for (const owner of Object.values(system.owners)) {
    owner.answers()
    owner.received.length = 0
  }
})

const SUBJECT = { tax_id: '123.456.789-09' }
const erase = (credential: string, body: object = SUBJECT) =>
  request(system.url).post('/api/v1/customers/erase').set(bearer(credential)).send(body)
const newest = async (token: string) => (await request(system.url).get('/api/v1/audit').set(bearer(token)).expect(200)).body.data[0]

test('both owners erase, subscriptions first, and what they erased is counted', async () => {
  const { apiKey, token } = await newMerchant(system)
  const asked: string[] = []
  const counting = (name: 'orders' | 'subscriptions', erased: number) =>
    system.owners[name].answers((_req, res) => {
      asked.push(name)
      res.json({ erased, ...(name === 'orders' ? { erased_links: 2 } : {}) })
    })
  counting('orders', 3)
  counting('subscriptions', 1)
  const { body } = await erase(apiKey).expect(200)
  expect([body, asked]).toEqual([{ object: 'customer_erasure', orders: 3, links: 2, subscriptions: 1 }, ['subscriptions', 'orders']])
  expect(system.owners.orders.received[0]).toMatchObject({ url: '/api/v1/order-customers/erase', body: { tax_id: '12345678909' } })
  const entry = await newest(token)
  expect(entry).toMatchObject({ action: 'customer.erase', changed: ['tax_id'], outcome: 'done', target: null })
  expect(JSON.stringify(entry)).not.toContain('12345678909')
})

test('while an owner is away it is an error to send again, and then both have erased', async () => {
  const { apiKey, token } = await newMerchant(system)
  system.owners.subscriptions.answers((_req, res) => void res.json({ erased: 1 }))
  system.owners.orders.answers((_req, res) => void res.status(503).json({ code: 'service_unavailable', detail: 'Later.', status: 503 }))
  const away = await erase(apiKey)
  expect([away.status, away.body.code]).toEqual([503, 'service_unavailable'])
  expect(await newest(token)).toMatchObject({ action: 'customer.erase', outcome: 'unknown' })
  system.owners.subscriptions.answers((_req, res) => void res.json({ erased: 0 }))
  system.owners.orders.answers((_req, res) => void res.json({ erased: 3 }))
  expect((await erase(apiKey).expect(200)).body).toMatchObject({ orders: 3, subscriptions: 0 })
})

test('needs a subject, and the right to write both', async () => {
  const { apiKey, token } = await newMerchant(system)
  expect((await erase(apiKey, {})).body).toMatchObject({
    detail: 'The body is not valid: tax_id or email must be sent.',
    errors: [{ path: 'tax_id', message: 'or email must be sent' }],
  })
  expect((await erase(apiKey, { tax_id: '12345678900' })).status).toBe(400)
  const { body: key } = await request(system.url)
    .post('/api/v1/merchants/me/api-keys')
    .set(bearer(token))
    .send({ name: 'ERP', scopes: ['orders:write'] })
    .expect(201)
  expect((await erase(key.api_key)).status).toBe(403)
  expect(system.owners.orders.received).toEqual([])
})
