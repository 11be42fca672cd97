import request from 'supertest'
import { bearer, newMerchant, startGateway, type TestGateway } from '../world'

describe('a deployment for tests', () => {
  let system: TestGateway
  beforeAll(async () => {
    system = await startGateway({ PONTE_MODE: 'test' })
  })
  afterAll(() => system.stop())

  test('gives keys that say so, at creation and at rotation, and merchants that are not live', async () => {
    const merchant = await newMerchant(system)
    expect(merchant.apiKey).toMatch(/^sk_test_[0-9a-f]{64}$/)
    const { body } = await request(system.url).get('/api/v1/merchants/me').set(bearer(merchant.token)).expect(200)
    expect(body.livemode).toBe(false)
    const rotated = await request(system.url).post('/api/v1/merchants/me/rotate-key').set(bearer(merchant.token)).expect(200)
    expect(rotated.body.api_key).toMatch(/^sk_test_[0-9a-f]{64}$/)
  })

  test('refuses a live key and names the mistake', async () => {
    const { body } = await request(system.url)
      .get('/api/v1/orders')
      .set(bearer(`sk_live_${'a'.repeat(64)}`))
      .expect(401)
    expect(body).toMatchObject({ code: 'invalid_api_key', detail: expect.stringMatching(/live deployment.*for tests/) })
  })

  test('has a banner on its pages', async () => {
    for (const path of ['/dashboard', '/pay/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90']) {
      const { text } = await request(system.url).get(path).expect(200)
      expect(text).toContain('class="test-banner"')
    }
    await request(system.url).get('/test-banner.css').expect('Content-Type', /css/).expect(200)
  })
})

describe('a live one', () => {
  let system: TestGateway
  beforeAll(async () => {
    system = await startGateway()
  })
  afterAll(() => system.stop())

  test('refuses a key of a test deployment and names the mistake, without a look into its database', async () => {
    const { body } = await request(system.url)
      .get('/api/v1/orders')
      .set(bearer(`sk_test_${'a'.repeat(64)}`))
      .expect(401)
    expect(body).toMatchObject({ code: 'invalid_api_key', detail: expect.stringMatching(/test deployment.*not for tests/) })
  })

  test('has no banner', async () => {
    const { text } = await request(system.url).get('/dashboard').expect(200)
    expect(text).not.toContain('test-banner')
    await request(system.url).get('/test-banner.css').expect(404)
  })

  test('has none of the paths for tests, with any credential', async () => {
    const { apiKey, token } = await newMerchant(system)
    for (const credential of [apiKey, token]) {
      await request(system.url).get('/api/v1/test/clock').set(bearer(credential)).expect(404)
      await request(system.url).post('/api/v1/test/faucet').set(bearer(credential)).send({}).expect(404)
    }
  })

  test('gives merchants that are live', async () => {
    const merchant = await newMerchant(system)
    expect(merchant.apiKey).toMatch(/^sk_live_/)
    const { body } = await request(system.url).get('/api/v1/merchants/me').set(bearer(merchant.token)).expect(200)
    expect(body.livemode).toBe(true)
  })
})
