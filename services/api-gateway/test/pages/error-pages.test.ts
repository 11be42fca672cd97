import request from 'supertest'
import { runGateway, system } from '../world'

runGateway({ RATE_LIMIT_ADDRESS_PER_MINUTE: '40', TRUSTED_PROXIES: '1', PUBLIC_URL: 'https://pay.ponte.dev' })

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const visit = (path: string, from = '203.0.113.1') => request(system.url).get(path).set('Accept', BROWSER).set('X-Forwarded-For', from)

test('a browser that opens a page which does not exist gets a page', async () => {
  const { text, headers } = await visit('/nowhere').set('Accept-Language', 'en-US,en').expect(404)
  expect(headers['content-type']).toBe('text/html; charset=utf-8')
  expect(text).toContain('<h1>Page not found</h1>')
  expect(text).toContain(headers['x-request-id'])
  expect(text).not.toMatch(/<script|style="/)
})

test('in its language, which is Portuguese when it names none', async () => {
  expect((await visit('/nowhere').expect(404)).text).toContain('<html lang="pt-BR">')
  expect((await visit('/nowhere').set('Accept-Language', 'pt-BR,pt;q=0.9,en;q=0.8')).text).toContain('Página não encontrada')
})

test('a browser over its limit gets a page too, with Retry-After', async () => {
  const answers = await Promise.all(Array.from({ length: 45 }, () => visit('/docs', '203.0.113.2')))
  const refused = answers.find(({ status }) => status === 429)
  expect(refused?.headers['content-type']).toContain('text/html')
  expect(refused?.text).toContain('Muitas tentativas')
  expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0)
})

test.each(['/api/v1/orders', '/api/v1/nowhere', '/nowhere.json', '/assets/none.js'])(
  'what is no page is answered with a problem, to a browser too: %s',
  async path => {
    const { headers, status } = await visit(path, '203.0.113.3')
    expect([status >= 400, headers['content-type']]).toEqual([true, expect.stringContaining('application/problem+json')])
  },
)

test.each(['*/*', 'application/json', undefined])('a client that accepts %s gets a problem', async accept => {
  const asked = request(system.url).get('/nowhere').set('X-Forwarded-For', '203.0.113.4')
  const { headers } = await (accept ? asked.set('Accept', accept) : asked).expect(404)
  expect(headers['content-type']).toContain('application/problem+json')
})
