import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { factorToProve, faultOf, type IdentityClient, identityClient, LoginFailed, type LoginFault } from './identity'

// Answers of Supabase Auth as its source gives them (supabase/auth, August 2026), without the version header that browsers of ours do not send.

const USER = {
  ...{ id: '3fd6a0f1-1c4b-4e39-9f0e-7cf3c7d1f111', aud: 'authenticated', role: 'authenticated', email: 'ana@padaria.example', phone: '' },
  ...{ confirmation_sent_at: '2026-11-20T12:00:00.000Z', created_at: '2026-11-20T12:00:00.000Z', updated_at: '2026-11-20T12:00:00.000Z' },
  ...{ app_metadata: { provider: 'email', providers: ['email'] }, user_metadata: {}, identities: [], is_anonymous: false },
}
const FACTOR = {
  ...{ id: '0b8a9c1e-52a7-4d0e-8a55-3a6c1f9d2222', created_at: '2026-11-01T10:00:00Z', updated_at: '2026-11-01T10:00:00Z' },
  ...{ status: 'verified', friendly_name: 'Phone', factor_type: 'totp', phone: '', last_challenged_at: null },
}
const GRANT = {
  ...{ access_token: 'access', token_type: 'bearer', expires_in: 3600, expires_at: 1_795_000_000, refresh_token: 'refresh' },
  user: { ...USER, email_confirmed_at: '2026-11-20T12:01:00.000Z', last_sign_in_at: '2026-11-20T12:01:00.000Z' },
}
const refusal = (code: number, error_code: string, msg: string, more: object = {}) => ({
  status: code,
  body: { code, error_code, msg, ...more },
})

let answers: { status: number; body: unknown }[] = []
let asked: { method: string | undefined; path: string | undefined; headers: IncomingMessage['headers']; body: unknown }[] = []
const server = createServer(async (req, res) => {
  const body = await text(req)
  asked.push({ method: req.method, path: req.url, headers: req.headers, body: body === '' ? null : JSON.parse(body) })
  const answer = answers.shift() ?? { status: 500, body: 'not recorded' }
  res.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.status === 204 ? undefined : JSON.stringify(answer.body))
})
let client: IdentityClient
beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  client = identityClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'pk_public' })
})
afterAll(() => new Promise(resolve => server.close(resolve)))
beforeEach(() => {
  answers = []
  asked = []
})

const credentials = { email: 'ana@padaria.example', password: 'a-password' }
const PAGE = 'https://pay.ponte.dev/dashboard/link'
const faultOfCall = async (call: Promise<unknown>): Promise<LoginFault | null> =>
  call.then(
    () => null,
    error => (error instanceof LoginFailed ? error.fault : Promise.reject(error)),
  )

describe('a sign-up', () => {
  test('is a session at once where addresses are not confirmed', async () => {
    answers = [{ status: 200, body: GRANT }]
    expect(await client.signUp(credentials, PAGE)).toMatchObject({ access_token: 'access', refresh_token: 'refresh' })
    expect(asked).toMatchObject([
      {
        method: 'POST',
        path: `/auth/v1/signup?redirect_to=${encodeURIComponent(PAGE)}`,
        headers: { apikey: 'pk_public' },
        body: credentials,
      },
    ])
  })

  test.each([
    ['of a new address, where it is confirmed', { status: 200, body: USER }],
    ['of an address that is taken, where it is confirmed', { status: 200, body: { ...USER, id: 'another' } }],
    ['of an address that is taken, where it is not confirmed', refusal(422, 'user_already_exists', 'User already registered')],
    ['twice in a minute', refusal(429, 'over_email_send_rate_limit', 'For security purposes, you can only request this after 52 seconds.')],
  ])('%s reads alike: a mail is to be opened', async (_name, answer) => {
    answers = [answer]
    expect(await client.signUp(credentials, PAGE)).toBeNull()
  })

  test.each([
    [
      refusal(422, 'weak_password', 'Password should be at least 8 characters.', { weak_password: { reasons: ['length'] } }),
      'weak_password',
    ],
    [refusal(422, 'signup_disabled', 'Signups not allowed for this instance'), 'no_sign_up'],
    [refusal(400, 'email_provider_disabled', 'Email signups are disabled'), 'no_sign_up'],
    [refusal(400, 'email_address_invalid', 'Email address "ana@example.com" is invalid'), 'bad_email'],
    [refusal(429, 'over_request_rate_limit', 'Request rate limit reached'), 'too_many'],
    [refusal(500, 'unexpected_failure', 'Database error saving new user'), 'unreachable'],
  ] as const)('that is refused by %j', async (answer, fault) => {
    answers = [answer]
    expect(await faultOfCall(client.signUp(credentials, PAGE))).toBe(fault)
  })
})

describe('a login', () => {
  test.each([
    [refusal(400, 'invalid_credentials', 'Invalid login credentials'), 'invalid_credentials'],
    [{ status: 400, body: { error: 'invalid_grant', error_description: 'Invalid login credentials' } }, 'invalid_credentials'],
    [refusal(400, 'email_not_confirmed', 'Email not confirmed'), 'email_not_confirmed'],
    [{ status: 400, body: { error: 'invalid_grant', error_description: 'Email not confirmed' } }, 'email_not_confirmed'],
    [refusal(400, 'user_banned', 'User is banned'), 'banned'],
    [refusal(429, 'over_request_rate_limit', 'Request rate limit reached'), 'too_many'],
    [{ status: 429, body: 'a proxy before the provider' }, 'too_many'],
    [{ status: 401, body: { message: 'Invalid API key' } }, 'refused'],
    [{ status: 502, body: '<html>' }, 'unreachable'],
    [{ status: 200, body: {} }, 'refused'],
  ] as const)('that is answered with %j', async (answer, fault) => {
    answers = [answer]
    expect(await faultOfCall(client.logIn(credentials))).toBe(fault)
  })

  test('has a second factor to prove when one is verified, by the app', async () => {
    answers = [{ status: 200, body: { ...GRANT, user: { ...GRANT.user, factors: [{ ...FACTOR, status: 'unverified' }, FACTOR] } } }]
    expect(factorToProve((await client.logIn(credentials)).user)).toMatchObject({ id: FACTOR.id })
    expect(factorToProve({ ...USER, factors: [{ ...FACTOR, status: 'unverified' }] })).toBeNull()
    expect(factorToProve(USER)).toBeNull()
    expect(() => factorToProve({ factors: [{ ...FACTOR, factor_type: 'webauthn' }] })).toThrow(LoginFailed)
    answers = [
      { status: 200, body: { id: 'challenge-1', type: 'totp', expires_at: 1_795_000_300 } },
      { status: 200, body: { ...GRANT, access_token: 'aal2' } },
    ]
    expect((await client.proveFactor('access', FACTOR.id, '123456')).access_token).toBe('aal2')
    expect(asked.slice(1).map(({ path, body }) => [path, body])).toEqual([
      [`/auth/v1/factors/${FACTOR.id}/challenge`, {}],
      [`/auth/v1/factors/${FACTOR.id}/verify`, { challenge_id: 'challenge-1', code: '123456' }],
    ])
    expect(asked[2]?.headers.authorization).toBe('Bearer access')
  })

  test.each([
    [refusal(422, 'mfa_verification_failed', 'Invalid TOTP code entered'), 'wrong_code'],
    [
      refusal(422, 'mfa_challenge_expired', 'MFA challenge 1 has expired, verify against another challenge or create a new challenge.'),
      'wrong_code',
    ],
    [refusal(429, 'over_request_rate_limit', 'Request rate limit reached'), 'too_many'],
    [refusal(403, 'session_not_found', 'Session from session_id claim in JWT does not exist'), 'login_again'],
  ] as const)('whose code is answered with %j', async (answer, fault) => {
    answers = [{ status: 200, body: { id: 'challenge-1', type: 'totp' } }, answer]
    expect(await faultOfCall(client.proveFactor('access', FACTOR.id, '123456'))).toBe(fault)
  })
})

describe('a forgotten password', () => {
  test.each([
    ['of a user', { status: 200, body: {} }],
    [
      'of a user who asked a moment ago, which no stranger is to learn',
      refusal(429, 'over_email_send_rate_limit', 'For security purposes, you can only request this after 30 seconds.'),
    ],
  ])('%s is asked for', async (_name, answer) => {
    answers = [answer]
    expect(await faultOfCall(client.sendLink('recovery', credentials.email, PAGE))).toBeNull()
    expect(asked[0]).toMatchObject({ path: `/auth/v1/recover?redirect_to=${encodeURIComponent(PAGE)}`, body: { email: credentials.email } })
  })

  test('the mail of a sign-up is sent again', async () => {
    answers = [{ status: 200, body: {} }]
    await client.sendLink('signup', credentials.email, PAGE)
    expect(asked[0]).toMatchObject({ body: { type: 'signup', email: credentials.email } })
  })

  test('its link begins a session once, which sets the password and ends the others', async () => {
    answers = [
      { status: 200, body: GRANT },
      { status: 200, body: GRANT.user },
      { status: 204, body: null },
      refusal(403, 'otp_expired', 'Email link is invalid or has expired'),
    ]
    const { access_token } = await client.proveLink('recovery', 'hash')
    await client.setPassword(access_token, 'another-password')
    await client.endOthers(access_token)
    expect(await faultOfCall(client.proveLink('recovery', 'hash'))).toBe('link_over')
    expect(asked.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/auth/v1/verify', { type: 'recovery', token_hash: 'hash' }],
      ['PUT', '/auth/v1/user', { password: 'another-password' }],
      ['POST', '/auth/v1/logout?scope=others', null],
      ['POST', '/auth/v1/verify', { type: 'recovery', token_hash: 'hash' }],
    ])
  })
})

test.each([
  [422, 'same_password', 'same_password'],
  [400, 'current_password_invalid', 'wrong_password'],
  [400, 'current_password_required', 'wrong_password'],
  [400, 'reauthentication_needed', 'login_again'],
  [401, 'insufficient_aal', 'code_needed'],
  [422, 'mfa_totp_enroll_not_enabled', 'no_factors'],
  [422, 'too_many_enrolled_mfa_factors', 'too_many_factors'],
  [403, 'bad_jwt', 'login_again'],
  [400, 'toString', 'refused'],
  [504, 'request_timeout', 'unreachable'],
] as const)('a change that is refused with %d %s is %s', (status, code, fault) => {
  expect(faultOf({ status, code, text: '' })).toBe(fault)
})

test('a provider that does not answer is named as such', async () => {
  expect(await faultOfCall(identityClient({ url: 'http://127.0.0.1:9', key: '' }).logIn(credentials))).toBe('unreachable')
})
