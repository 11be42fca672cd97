import request from 'supertest'
import { startGateway, type TestGateway } from './setup'

let system: TestGateway
beforeAll(async () => {
  system = await startGateway({
    AUTH_URL: 'http://where.only.browsers.reach',
    PUBLIC_CLIENT_KEY: 'pk_public',
    PUBLIC_URL: 'https://pay.ponte.dev',
  })
})
afterAll(() => system.stop())

const PATH = '/dashboard/session'
const ask = (method: 'put' | 'post' | 'delete', cookie = '') =>
  request(system.url)[method](PATH).set('X-Ponte-Session', '1').set('Cookie', cookie)
const cookieOf = ({ headers }: { headers: Record<string, unknown> }) => String(headers['set-cookie'])
const sent = (cookie: string) => cookie.split(';')[0] ?? ''

test('the refresh token stays in a cookie that no script reads, and each use replaces it', async () => {
  const kept = await ask('put').send({ refresh_token: 'first' }).expect(204)
  expect(cookieOf(kept)).toBe('ponte_refresh=first; Path=/dashboard/session; HttpOnly; Secure; SameSite=Strict')
  const first = await ask('post', `other=1; ${sent(cookieOf(kept))}`).expect(200)
  expect(first.body).toEqual({ access_token: 'access for first', expires_in: 3600 })
  expect(first.headers['cache-control']).toBe('no-store')
  const second = await ask('post', sent(cookieOf(first))).expect(200)
  expect(second.body.access_token).toBe('access for first; & next')
  const used = await ask('post', sent(cookieOf(first))).expect(204)
  expect(cookieOf(used)).toMatch(/^ponte_refresh=; .*Expires=Thu, 01 Jan 1970/)
})

test('nobody is nobody: without a cookie there is no session, and a log-out forgets it', async () => {
  await ask('post').expect(204)
  expect(cookieOf(await ask('delete', 'ponte_refresh=x').expect(204))).toMatch(
    /^ponte_refresh=; Path=\/dashboard\/session; Expires=Thu, 01 Jan 1970/,
  )
})

test('a silent identity provider ends no session', async () => {
  system.identity.setAnswering(false)
  const answer = await ask('post', 'ponte_refresh=first').expect(503)
  expect(answer.body.code).toBe('service_unavailable')
  expect(answer.headers['set-cookie']).toBeUndefined()
  system.identity.setAnswering(true)
})

test('a connection that the provider just closed costs nobody his session', async () => {
  const kept = await ask('put').send({ refresh_token: 'first; & next; & next' }).expect(204)
  system.identity.cutOff()
  await ask('post', sent(cookieOf(kept))).expect(200)
})

test('what another site could send is refused: there is no header of ours and no leave to send one', async () => {
  for (const method of ['put', 'post', 'delete'] as const) {
    const { body } = await request(system.url)
      [method](PATH)
      .set('Origin', 'https://evil.example')
      .set('Cookie', 'ponte_refresh=first')
      .expect(403)
    expect(body.code).toBe('forbidden')
  }
  const preflight = await request(system.url)
    .options(PATH)
    .set('Origin', 'https://evil.example')
    .set('Access-Control-Request-Method', 'POST')
  expect(preflight.headers['access-control-allow-origin']).toBeUndefined()
  await ask('put').send({ refresh_token: '' }).expect(400)
})
