import request from 'supertest'
import { startGateway, type TestGateway } from '../world'

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
  expect(cookieOf(kept)).toBe('__Secure-ponte_refresh=first; Path=/dashboard/session; HttpOnly; Secure; SameSite=Strict')
  const first = await ask('post', `other=1; ${sent(cookieOf(kept))}`).expect(200)
  expect(first.body).toEqual({ access_token: 'access for first', expires_in: 3600 })
  expect(first.headers['cache-control']).toBe('no-store')
  const second = await ask('post', sent(cookieOf(first))).expect(200)
  expect(second.body.access_token).toBe('access for first; & next')
  const used = await ask('post', sent(cookieOf(first))).expect(204)
  expect(cookieOf(used)).toMatch(/^__Secure-ponte_refresh=; .*Expires=Thu, 01 Jan 1970/)
})

test('without a cookie there is no session', async () => {
  await ask('post').expect(204)
})

describe('a log-out', () => {
  const keep = async () => {
    const kept = await ask('put').send({ refresh_token: 'first; & next; & next' }).expect(204)
    return sent(cookieOf(kept))
  }
  const FORGOTTEN = /^__Secure-ponte_refresh=; Path=\/dashboard\/session; Expires=Thu, 01 Jan 1970/

  test('ends the session at the identity provider, and the browser forgets it', async () => {
    const answer = await ask('delete', await keep()).expect(204)
    expect(cookieOf(answer)).toMatch(FORGOTTEN)
    expect(system.identity.loggedOut).toEqual(['Bearer access for first; & next; & next'])
  })

  test('is forgotten by the browser when the provider is silent, knows no such session, or there is none', async () => {
    system.identity.setAnswering(false)
    expect(cookieOf(await ask('delete', '__Secure-ponte_refresh=x').expect(204))).toMatch(FORGOTTEN)
    system.identity.setAnswering(true)
    expect(cookieOf(await ask('delete', '__Secure-ponte_refresh=x').expect(204))).toMatch(FORGOTTEN)
    expect(cookieOf(await ask('delete').expect(204))).toMatch(FORGOTTEN)
    expect(system.identity.loggedOut).toHaveLength(1)
  })
})

test('a cookie of the same name without its prefix, which http could plant, is not taken', async () => {
  await ask('post', 'ponte_refresh=first').expect(204)
})

test('a silent identity provider ends no session', async () => {
  system.identity.setAnswering(false)
  const answer = await ask('post', '__Secure-ponte_refresh=first').expect(503)
  expect(answer.body.code).toBe('service_unavailable')
  expect(answer.headers['set-cookie']).toBeUndefined()
  system.identity.setAnswering(true)
})

test('a stale keep-alive connection to the provider ends no session', async () => {
  const kept = await ask('put').send({ refresh_token: 'first; & next; & next; & next' }).expect(204)
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

test('over plain http the token is kept for a browser on this machine only', async () => {
  const plain = await startGateway({ AUTH_URL: 'http://where.only.browsers.reach', PUBLIC_URL: 'http://127.0.0.1:8080' })
  try {
    const put = (host: string) =>
      request(plain.url).put(PATH).set('X-Ponte-Session', '1').set('Host', host).send({ refresh_token: 'first' })
    const kept = await put('localhost:8080').expect(204)
    expect(cookieOf(kept)).toBe('ponte_refresh=first; Path=/dashboard/session; HttpOnly; SameSite=Strict')
    for (const host of ['pay.ponte.dev', '192.168.1.5:8080', '127.0.0.1.ponte.dev']) {
      const refused = await put(host).expect(403)
      expect(refused.headers).not.toHaveProperty('set-cookie')
    }
  } finally {
    await plain.stop()
  }
})

test('guesses at refresh tokens from one address are bounded, so that they do not use up the limit that the provider has for the gateway', async () => {
  const guesses = await Promise.all(Array.from({ length: 40 }, (_, n) => ask('post', `__Secure-ponte_refresh=guess-${n}`)))
  const passed = guesses.filter(({ status }) => status === 204).length
  expect([passed <= 30, passed > 20]).toEqual([true, true])
  expect(guesses.find(({ status }) => status === 429)?.body.code).toBe('rate_limited')
  await ask('delete', '__Secure-ponte_refresh=guess').expect(204)
  await ask('post').expect(204)
})
