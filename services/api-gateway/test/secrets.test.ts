import { inspect } from 'node:util'
import type { Logger } from '@ponte/service-kit'
import request from 'supertest'
import { bearer, newMerchant, runGateway, SEAL_KEY, system } from './world'
import { makeKey } from './world/identity'

// Invariant 8: a secret, key or token appears in no log, no error and no event in the clear. The log is taken before it is redacted.

const lines: string[] = []
const keep = (message: string, fields?: Record<string, unknown>) =>
  void lines.push(inspect([message, fields], { depth: 12, showHidden: true }))
const logger: Logger = { error: keep, warn: keep, info: keep, debug: keep, child: () => logger }

const secrets: string[] = []
const answers: string[] = []

runGateway({ OWNER_TIMEOUT_MS: '1000' }, { logger })

const leaks = (texts: string[]) => texts.flatMap(text => secrets.filter(secret => text.includes(secret)).map(() => text.slice(0, 300)))

test('nothing that is asked, refused or broken writes a secret into the log, an error or the bus', async () => {
  const { token, apiKey, merchant } = await newMerchant(system, {
    display_name: 'Quiet',
    webhook_url: 'https://example.com/hook?token=of-the-merchant',
  })
  const call = (path: string, credential: string) => request(system.url).post(`/api/v1/merchants/me${path}`).set(bearer(credential))
  const { body: rotated } = await call('/rotate-webhook-secret', token)
  const { body: keyed } = await call('/rotate-key', token)
  secrets.push(apiKey, keyed.api_key, merchant.webhook_secret, rotated.pending_webhook_secret, token, SEAL_KEY)
  secrets.push(...Object.values(system.owners).map(owner => owner.secret))

  const refused = system.identity.sign({ sub: 'somebody' }, {}, makeKey('ES256'))
  secrets.push(refused)
  const ask = async (path: string, credential: string) => {
    answers.push((await request(system.url).get(path).set(bearer(credential))).text)
  }
  for (const credential of [apiKey, keyed.api_key, token, refused, `${apiKey}x`]) {
    for (const path of ['/api/v1/orders', '/api/v1/merchants/me/orders', `/api/v1/orders/${credential}`]) await ask(path, credential)
  }
  system.owners.orders.answers((_req, res) => void res.destroy())
  await ask('/api/v1/orders', keyed.api_key)
  await system.owners.orders.stop()
  await ask('/api/v1/orders', keyed.api_key)
  await system.sql.query('ALTER TABLE api_keys RENAME TO lost')
  await ask('/api/v1/orders', keyed.api_key)
  await call('/rotate-key', token)
  await system.sql.query('ALTER TABLE lost RENAME TO api_keys')
  await system.gateway.idle()

  expect(lines.length).toBeGreaterThan(3)
  expect(leaks(lines)).toEqual([])
  expect(leaks(answers)).toEqual([])
  expect(leaks(system.published.map(message => message.body))).toEqual([])
})

test('a fault of ours is 500 with a request id and nothing of what failed', async () => {
  const { apiKey } = await newMerchant(system)
  await system.sql.query('ALTER TABLE api_keys RENAME TO lost')
  const { body, text } = await request(system.url).get('/api/v1/orders').set(bearer(apiKey)).expect(500)
  await system.sql.query('ALTER TABLE lost RENAME TO api_keys')
  expect(body).toMatchObject({ code: 'internal_error', request_id: expect.any(String) })
  expect(text).not.toMatch(/api_keys|relation|select|\.ts|\.js|postgres/i)
  expect(lines.some(line => line.includes(body.request_id))).toBe(true)
})
