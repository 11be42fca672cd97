import { createPublicKey } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import jwt from 'jsonwebtoken'
import request from 'supertest'
import { createIdentityProvider, type IdentityProvider, type Mail } from '../src/identity'

const login = { email: 'demo@ponte.example', password: 'correct horse' }
const options = { host: '127.0.0.1', port: 0, publicClientKey: 'public-1', issuer: 'http://issuer/auth/v1', audience: 'authenticated' }
let stateFolder: string
let provider: IdentityProvider
const mails: Mail[] = []

const open = async () => {
  provider = createIdentityProvider({ ...options, stateFolder, mail: mail => void mails.push(mail) })
  await provider.start?.()
  await provider.ensureUser(login.email, login.password)
}
const ask = (path: string, body: object) => request(provider.server).post(path).set('apikey', 'public-1').send(body)

beforeAll(async () => {
  stateFolder = mkdtempSync(join(tmpdir(), 'ponte-identity-'))
  await open()
})
afterAll(async () => {
  await provider.stop?.()
  rmSync(stateFolder, { recursive: true })
})

test('specification, Login: email and password with the apikey header give access_token and refresh_token', async () => {
  const { body } = await ask('/auth/v1/token?grant_type=password', login).expect(200)
  expect(body).toMatchObject({ token_type: 'bearer', expires_in: 3600, refresh_token: expect.any(String), user: { email: login.email } })

  const { body: jwks } = await request(provider.server).get('/auth/v1/.well-known/jwks.json').expect(200)
  expect(jwks.keys).toHaveLength(1)
  expect(jwks.keys[0]).not.toHaveProperty('d')
  const key = createPublicKey({ key: jwks.keys[0], format: 'jwk' })
  const claims = jwt.verify(body.access_token, key, {
    algorithms: ['ES256'],
    issuer: options.issuer,
    audience: options.audience,
    complete: true,
  })
  expect(claims.header.kid).toBe(jwks.keys[0].kid)
  expect(claims.payload).toMatchObject({ sub: body.user.id, role: 'authenticated', email: login.email })
})

test.each([
  [{ email: login.email, password: 'wrong' }, 'invalid_credentials'],
  [{ email: 'nobody@ponte.example', password: 'wrong' }, 'invalid_credentials'],
  [{ email: login.email }, 'validation_failed'],
  [{}, 'validation_failed'],
])('a login with %j is refused: %s', async (body, code) => {
  const { body: answer } = await ask('/auth/v1/token?grant_type=password', body).expect(400)
  expect(answer.error_code).toBe(code)
})

test('without the public client key, or with another, nothing is answered', async () => {
  await request(provider.server).post('/auth/v1/token?grant_type=password').send(login).expect(401)
  await request(provider.server).post('/auth/v1/token?grant_type=password').set('apikey', 'other').send(login).expect(401)
  await request(provider.server).post('/auth/v1/signup').send(login).expect(401)
})

test('a refresh token gives a new session and is used up but for two refreshes at once', async () => {
  const { body: first } = await ask('/auth/v1/token?grant_type=password', login)
  const refresh = () => ask('/auth/v1/token?grant_type=refresh_token', { refresh_token: first.refresh_token })
  const [{ body: second }] = await Promise.all([refresh().expect(200), refresh().expect(200)])
  expect(second.refresh_token).not.toBe(first.refresh_token)
  expect(second.user.id).toBe(first.user.id)
  jest.spyOn(Date, 'now').mockReturnValueOnce(Date.now() + 11_000)
  await refresh().expect(400)
  await ask('/auth/v1/token?grant_type=refresh_token', { refresh_token: 'made up' }).expect(400)
  await ask('/auth/v1/token?grant_type=magic', {}).expect(400)
})

const refreshWith = (refresh_token: string) => ask('/auth/v1/token?grant_type=refresh_token', { refresh_token })
const newUser = async (email: string) => (await ask('/auth/v1/signup', { email, password: 'long enough' }).expect(200)).body
const claimsOf = ({ access_token }: { access_token: string }) => jwt.decode(access_token) as jwt.JwtPayload

test('a spent refresh token that comes back ends its session, and no other', async () => {
  const first = await newUser('family@ponte.example')
  const { body: other } = await ask('/auth/v1/token?grant_type=password', { email: 'family@ponte.example', password: 'long enough' })
  const { body: second } = await refreshWith(first.refresh_token).expect(200)
  expect(claimsOf(second).session_id).toBe(claimsOf(first).session_id)
  expect(claimsOf(first).amr).toEqual([{ method: 'password', timestamp: claimsOf(first).iat }])
  expect(claimsOf(second).amr).toEqual(claimsOf(first).amr)
  jest.spyOn(Date, 'now').mockReturnValueOnce(Date.now() + 11_000)
  await refreshWith(first.refresh_token).expect(400)
  await refreshWith(second.refresh_token).expect(400)
  await refreshWith(other.refresh_token).expect(200)
})

describe('a log-out', () => {
  const logOut = (token: string, scope = '') =>
    request(provider.server).post(`/auth/v1/logout${scope}`).set('apikey', 'public-1').set('Authorization', `Bearer ${token}`)

  test('of one session leaves the others, and one of all ends all', async () => {
    const first = await newUser('leaving@ponte.example')
    const logIn = async () =>
      (await ask('/auth/v1/token?grant_type=password', { email: 'leaving@ponte.example', password: 'long enough' })).body
    const [second, third] = [await logIn(), await logIn()]
    await logOut(first.access_token, '?scope=local').expect(204)
    await refreshWith(first.refresh_token).expect(400)
    const { body: renewed } = await refreshWith(second.refresh_token).expect(200)
    await logOut(renewed.access_token).expect(204)
    await refreshWith(renewed.refresh_token).expect(400)
    await refreshWith(third.refresh_token).expect(400)
  })

  test('needs a token of ours', async () => {
    await logOut('made-up').expect(401)
    await logOut(jwt.sign({ sub: 'x', session_id: 'y' }, 'secret')).expect(401)
  })
})

describe('guesses', () => {
  test('are refused after ten for a user, also at one moment, and also when the next one is right', async () => {
    await newUser('guessed@ponte.example')
    const guess = (password: string) => ask('/auth/v1/token?grant_type=password', { email: 'guessed@ponte.example', password })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => guess(`wrong ${n}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(400), 429, 429])
    const { body } = await guess('long enough').expect(429)
    expect(body.error_code).toBe('over_request_rate_limit')
    await ask('/auth/v1/token?grant_type=password', login).expect(200)
  })

  test('that are right cost nothing', async () => {
    for (let n = 0; n < 15; n++) await ask('/auth/v1/token?grant_type=password', login).expect(200)
  })
})

describe('a password reset', () => {
  const linkIn = (mail: Mail | undefined) => new URL(/https?:\/\/\S+/.exec(mail?.text ?? '')?.[0] ?? '')
  const open = (link: URL) => request(provider.server).get(`${link.pathname}${link.search}`)
  const submit = (link: URL, password: string) =>
    request(provider.server)
      .post(link.pathname)
      .type('form')
      .send({ token: link.searchParams.get('token'), password })

  test('by a link in a mail sets a new password once, ends all sessions and proves the address', async () => {
    const before = await newUser('forgetful@ponte.example')
    expect(claimsOf(before)).toMatchObject({ email_verified: false, user_metadata: { email_verified: false } })
    mails.length = 0
    await ask('/auth/v1/recover', { email: 'Forgetful@ponte.example' }).expect(200)
    expect(mails.map(({ to }) => to)).toEqual(['forgetful@ponte.example'])
    const link = linkIn(mails[0])
    expect((await open(link).expect(200)).text).toContain('New password')
    await submit(link, 'short').expect(422)
    await submit(link, 'another long one').expect(200)
    await submit(link, 'a third long one').expect(400)
    await open(link).expect(400)
    await refreshWith(before.refresh_token).expect(400)
    const logIn = (password: string) => ask('/auth/v1/token?grant_type=password', { email: 'forgetful@ponte.example', password })
    await logIn('long enough').expect(400)
    const { body: after } = await logIn('another long one').expect(200)
    expect(claimsOf(after)).toMatchObject({ email_verified: true, user_metadata: { email_verified: true } })
  })

  test('does not reveal whether there is such a user, sends few mails, and takes no made-up link', async () => {
    mails.length = 0
    await ask('/auth/v1/recover', { email: 'unknown@ponte.example' }).expect(200)
    expect(mails).toEqual([])
    await newUser('mailed@ponte.example')
    const answers = await Promise.all(Array.from({ length: 7 }, () => ask('/auth/v1/recover', { email: 'mailed@ponte.example' })))
    expect([mails.length, answers.filter(({ status }) => status === 429).length]).toEqual([5, 2])
    await open(new URL('http://x/auth/v1/verify?type=recovery&token=%3Cscript%3E')).expect(400)
    await submit(new URL('http://x/auth/v1/verify?token=made-up'), 'long enough').expect(400)
    await request(provider.server)
      .post('/auth/v1/verify')
      .type('form')
      .send({ token: ['a'] })
      .expect(422)
  })
})

test('sign-up makes a user who can log in; a taken address and a weak password are refused', async () => {
  const fresh = { email: 'New@ponte.example', password: 'long enough' }
  const { body } = await ask('/auth/v1/signup', fresh).expect(200)
  expect(body.access_token).toEqual(expect.any(String))
  await ask('/auth/v1/token?grant_type=password', { ...fresh, email: 'new@PONTE.example' }).expect(200)
  await ask('/auth/v1/signup', fresh).expect(422)
  await ask('/auth/v1/signup', { email: 'other@ponte.example', password: 'short' }).expect(422)
})

test('malformed and oversized bodies are refused, not failed', async () => {
  await ask('/auth/v1/signup', {}).set('Content-Type', 'application/json').send('{').expect(400)
  await ask('/auth/v1/signup', { email: 'a'.repeat(20_000) }).expect(400)
})

test('a browser of another origin may ask', async () => {
  const { headers } = await request(provider.server).options('/auth/v1/token').set('Origin', 'http://127.0.0.1:8080').expect(204)
  expect(headers['access-control-allow-origin']).toBe('*')
  expect(headers['access-control-allow-headers']).toContain('apikey')
})

test('users, keys and sessions survive a restart; passwords are kept as scrypt hashes in a private file', async () => {
  const { body: before } = await ask('/auth/v1/token?grant_type=password', login)
  const { body: keysBefore } = await request(provider.server).get('/auth/v1/.well-known/jwks.json')
  await provider.stop?.()
  await open()
  const { body: keysAfter } = await request(provider.server).get('/auth/v1/.well-known/jwks.json')
  expect(keysAfter).toEqual(keysBefore)
  const { body: after } = await ask('/auth/v1/token?grant_type=refresh_token', { refresh_token: before.refresh_token }).expect(200)
  expect(after.user.id).toBe(before.user.id)

  const file = join(stateFolder, 'identity-provider.json')
  expect(statSync(file).mode & 0o077).toBe(0)
  const kept = readFileSync(file, 'utf8')
  for (const secret of [login.password, before.refresh_token, after.refresh_token]) expect(kept).not.toContain(secret)
})
