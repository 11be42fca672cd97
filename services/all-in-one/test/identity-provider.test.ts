import { createPublicKey } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import jwt from 'jsonwebtoken'
import request from 'supertest'
import type { Mail } from '../src/identity/links'
import { createIdentityProvider, type IdentityProvider } from '../src/identity/provider'
import { totpCode } from '../src/identity/totp'

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

  test('of all others leaves this one', async () => {
    const other = await newUser('others@ponte.example')
    const { body: mine } = await ask('/auth/v1/token?grant_type=password', { email: 'others@ponte.example', password: 'long enough' })
    await logOut(mine.access_token, '?scope=others').expect(204)
    await refreshWith(other.refresh_token).expect(400)
    await refreshWith(mine.refresh_token).expect(200)
  })

  test('needs a token of ours', async () => {
    await logOut('made-up').expect(403)
    await logOut(jwt.sign({ sub: 'x', session_id: 'y' }, 'secret')).expect(403)
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

const withToken = (method: 'get' | 'put' | 'post' | 'delete', path: string, token: string, body: object = {}) =>
  request(provider.server)[method](`/auth/v1${path}`).set('apikey', 'public-1').set('Authorization', `Bearer ${token}`).send(body)
const logIn = (email: string, password: string) => ask('/auth/v1/token?grant_type=password', { email, password })

describe('a link by mail', () => {
  const PAGE = 'http://127.0.0.1:8080/dashboard/link'
  const linkIn = (mail: Mail | undefined) => new URL(/https?:\/\/\S+/.exec(mail?.text ?? '')?.[0] ?? '')
  const proofIn = (mail: Mail | undefined) => Object.fromEntries(new URLSearchParams(linkIn(mail).hash.slice(1)))
  const recover = (email: string, page = PAGE) => ask(`/auth/v1/recover?redirect_to=${encodeURIComponent(page)}`, { email })
  beforeEach(() => {
    mails.length = 0
  })

  test('begins a session once, which sets a password without the old one, ends all others and proves the address', async () => {
    const before = await newUser('forgetful@ponte.example')
    await recover('Forgetful@ponte.example').expect(200)
    expect(mails.map(({ to }) => to)).toEqual(['forgetful@ponte.example'])
    const link = linkIn(mails[0])
    expect([link.origin + link.pathname, link.search]).toEqual([PAGE, ''])
    const { body: session } = await ask('/auth/v1/verify', proofIn(mails[0])).expect(200)
    expect(claimsOf(session)).toMatchObject({ aal: 'aal1', amr: [{ method: 'otp' }] })
    expect(claimsOf(session)).not.toHaveProperty('email_verified')
    expect((await ask('/auth/v1/verify', proofIn(mails[0])).expect(403)).body.error_code).toBe('otp_expired')
    const { body: weak } = await withToken('put', '/user', session.access_token, { password: 'short' }).expect(422)
    expect(weak).toMatchObject({ error_code: 'weak_password', weak_password: { reasons: ['length'] } })
    const { body: user } = await withToken('put', '/user', session.access_token, { password: 'another long one' }).expect(200)
    expect(user).toMatchObject({ email: 'forgetful@ponte.example', email_confirmed_at: expect.any(String) })
    await refreshWith(before.refresh_token).expect(400)
    expect((await withToken('get', '/user', before.access_token).expect(403)).body.error_code).toBe('session_not_found')
    await refreshWith(session.refresh_token).expect(200)
    await logIn('forgetful@ponte.example', 'long enough').expect(400)
    await logIn('forgetful@ponte.example', 'another long one').expect(200)
  })

  test('is void once another was sent, or the password was changed', async () => {
    const { access_token } = await newUser('void@ponte.example')
    for (let n = 0; n < 3; n++) await recover('void@ponte.example').expect(200)
    await ask('/auth/v1/verify', proofIn(mails[0])).expect(403)
    await ask('/auth/v1/verify', { ...proofIn(mails[2]), type: 'signup' }).expect(403)
    await withToken('put', '/user', access_token, { password: 'another long one', current_password: 'long enough' }).expect(200)
    await ask('/auth/v1/verify', proofIn(mails[2])).expect(403)
  })

  test('leads to a page of this machine, and to no other', async () => {
    await newUser('redirected@ponte.example')
    for (const page of ['https://evil.example/dashboard', 'javascript:alert(1)', 'http://127.0.0.1.evil.example/']) {
      await recover('redirected@ponte.example', page).expect(200)
      expect(linkIn(mails.pop()).origin).toBe('http://127.0.0.1:8080')
    }
  })

  test('does not reveal whether there is such a user, and few are sent', async () => {
    await newUser('mailed@ponte.example')
    for (const email of ['mailed@ponte.example', 'unknown@ponte.example']) {
      const answers = await Promise.all(Array.from({ length: 7 }, () => recover(email)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429, 429])
    }
    expect(mails.map(({ to }) => to)).toEqual(Array(5).fill('mailed@ponte.example'))
    await ask('/auth/v1/verify', { type: 'recovery', token_hash: 'made up' }).expect(403)
    await ask('/auth/v1/verify', { type: 'recovery', token_hash: ['a'] }).expect(400)
  })

  test('confirms a sign-up where that is wanted, and an address that is taken is answered alike', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ponte-identity-'))
    const own: Mail[] = []
    const confirming = createIdentityProvider({ ...options, stateFolder: folder, confirmsMail: true, mail: mail => void own.push(mail) })
    await confirming.start?.()
    const to = (path: string, body: object) => request(confirming.server).post(`/auth/v1${path}`).set('apikey', 'public-1').send(body)
    try {
      const fresh = { email: 'new@ponte.example', password: 'long enough' }
      const { body: first } = await to('/signup', fresh).expect(200)
      expect(first).toMatchObject({ id: expect.any(String), email: fresh.email, confirmation_sent_at: expect.any(String) })
      expect(first).not.toHaveProperty('access_token')
      expect((await to('/token?grant_type=password', fresh).expect(400)).body.error_code).toBe('email_not_confirmed')
      await to('/token?grant_type=password', { ...fresh, password: 'wrong' }).expect(400, {
        code: 400,
        error_code: 'invalid_credentials',
        msg: 'Invalid login credentials',
      })
      await to('/resend', { type: 'signup', email: fresh.email }).expect(200)
      expect(own).toHaveLength(2)
      const { body: session } = await to('/verify', proofIn(own[1])).expect(200)
      expect(session.user.email_confirmed_at).toEqual(expect.any(String))
      const { body: second } = await to('/signup', { ...fresh, password: 'of a stranger' }).expect(200)
      expect(Object.keys(second).sort()).toEqual(Object.keys(first).sort())
      expect(second.id).not.toBe(session.user.id)
      await to('/resend', { type: 'signup', email: fresh.email }).expect(200)
      expect(own).toHaveLength(2)
      await to('/token?grant_type=password', fresh).expect(200)
    } finally {
      await confirming.stop?.()
      rmSync(folder, { recursive: true })
    }
  })
})

describe('a change of the password', () => {
  test('wants the old one, and ends the other sessions', async () => {
    const email = 'changing@ponte.example'
    const other = await newUser(email)
    const { body: mine } = await logIn(email, 'long enough')
    const change = (body: object) => withToken('put', '/user', mine.access_token, body)
    expect((await change({ password: 'another long one' }).expect(400)).body.error_code).toBe('current_password_required')
    const wrong = await change({ password: 'another long one', current_password: 'wrong' }).expect(400)
    expect(wrong.body.error_code).toBe('current_password_invalid')
    expect((await change({ password: 'long enough', current_password: 'long enough' }).expect(422)).body.error_code).toBe('same_password')
    await change({ password: 'another long one', current_password: 'long enough' }).expect(200)
    await refreshWith(other.refresh_token).expect(400)
    await refreshWith(mine.refresh_token).expect(200)
  })

  test('is no way to guess it', async () => {
    const { access_token } = await newUser('guessing@ponte.example')
    const guess = (n: number) => withToken('put', '/user', access_token, { password: 'another long one', current_password: `wrong ${n}` })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => guess(n)))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(400), 429, 429])
  })
})

describe('a second factor', () => {
  const enrol = (token: string, friendly_name = 'phone') => withToken('post', '/factors', token, { factor_type: 'totp', friendly_name })
  const prove = async (token: string, id: string, code: string) => {
    const { body: challenge } = await withToken('post', `/factors/${id}/challenge`, token).expect(200)
    return withToken('post', `/factors/${id}/verify`, token, { challenge_id: challenge.id, code })
  }
  const enrolled = async (email: string) => {
    const { access_token } = await newUser(email)
    const { body: factor } = await enrol(access_token).expect(200)
    const { body: session } = await prove(access_token, factor.id, totpCode(factor.totp.secret, new Date()))
    return { factor, session }
  }

  test('counts once it was proven; then its session is aal2, and sessions without it end', async () => {
    const email = 'careful@ponte.example'
    const first = await newUser(email)
    const { body: other } = await logIn(email, 'long enough')
    const { body: factor } = await enrol(first.access_token).expect(200)
    expect(factor.totp.uri).toBe(`otpauth://totp/Ponte%3A${encodeURIComponent(email)}?secret=${factor.totp.secret}&issuer=Ponte`)
    expect((await enrol(first.access_token).expect(422)).body.error_code).toBe('mfa_factor_name_conflict')
    const { body: before } = await logIn(email, 'long enough')
    expect(before.user.factors).toMatchObject([{ status: 'unverified' }])
    const wrong = await prove(first.access_token, factor.id, '000000')
    expect([wrong.status, wrong.body.error_code]).toEqual([422, 'mfa_verification_failed'])
    const { body: session } = await prove(first.access_token, factor.id, totpCode(factor.totp.secret, new Date()))
    expect(claimsOf(session)).toMatchObject({ aal: 'aal2', session_id: claimsOf(first).session_id })
    expect(claimsOf(session).amr.map(({ method }: { method: string }) => method)).toEqual(['totp', 'password'])
    await refreshWith(other.refresh_token).expect(400)
    const { body: renewed } = await refreshWith(session.refresh_token).expect(200)
    expect(claimsOf(renewed).aal).toBe('aal2')
  })

  test('guards the password and itself against a session that has not proven it', async () => {
    const email = 'guarded@ponte.example'
    const { factor, session } = await enrolled(email)
    const { body: thief } = await logIn(email, 'long enough')
    expect(thief.user.factors).toMatchObject([{ id: factor.id, status: 'verified', factor_type: 'totp' }])
    const change = { password: 'another long one', current_password: 'long enough' }
    expect((await withToken('put', '/user', thief.access_token, change).expect(401)).body.error_code).toBe('insufficient_aal')
    expect((await enrol(thief.access_token, 'of a thief').expect(403)).body.error_code).toBe('insufficient_aal')
    await withToken('delete', `/factors/${factor.id}`, thief.access_token).expect(422)
    const { body: stranger } = await logIn(login.email, login.password)
    await withToken('delete', `/factors/${factor.id}`, stranger.access_token).expect(404)
    await withToken('delete', `/factors/${factor.id}`, session.access_token).expect(200)
    const { body: renewed } = await refreshWith(session.refresh_token).expect(200)
    expect(claimsOf(renewed).aal).toBe('aal1')
  })

  test('is not guessed: ten codes, also at one moment, and a challenge is good once', async () => {
    const { factor } = await enrolled('totp@ponte.example')
    const { body: thief } = await logIn('totp@ponte.example', 'long enough')
    const answers = await Promise.all(Array.from({ length: 12 }, () => prove(thief.access_token, factor.id, '123456')))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(422), 429, 429])
    expect((await prove(thief.access_token, factor.id, totpCode(factor.totp.secret, new Date()))).status).toBe(429)
  })

  test('codes are those of RFC 6238', () => {
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
    const codes = [59, 1_111_111_109, 1_234_567_890, 2_000_000_000].map(seconds => totpCode(secret, new Date(seconds * 1000)))
    expect(codes).toEqual(['287082', '081804', '005924', '279037'])
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
