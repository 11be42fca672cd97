import { randomUUID } from 'node:crypto'
import { until } from '@ponte/service-kit'
import request from 'supertest'
import { bearer, newMerchant, startGateway, type TestGateway } from '../world'

// Tokens and answers as Supabase Auth gives them: `aal` and `amr` in the token, the user's factors and whether the address is confirmed at GET /user alone.

const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }
const NEW = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
let system: TestGateway

beforeAll(async () => {
  const auth = { AUTH_URL: 'http://where.only.browsers.reach', PUBLIC_CLIENT_KEY: 'pk_public', PUBLIC_URL: 'https://pay.ponte.dev' }
  system = await startGateway(auth, { now: () => new Date(at.ms) })
})
afterAll(() => system.stop())
beforeEach(() => {
  system.identity.setAnswering(true)
  system.identity.setUser({ id: randomUUID(), aud: 'authenticated', role: 'authenticated', email: '', factors: [] })
})

const before = (seconds: number) => at.ms / 1000 - seconds
const withPassword = (sub: string) => system.identity.sign({ sub, aal: 'aal1', amr: [{ method: 'password', timestamp: before(30) }] })
const withBoth = (sub: string) => {
  const amr = [
    { method: 'totp', timestamp: before(20) },
    { method: 'password', timestamp: before(30) },
  ]
  return system.identity.sign({ sub, aal: 'aal2', amr })
}
const patch = (token: string, payout_address: string | null) =>
  request(system.url).patch('/api/v1/merchants/me').set(bearer(token)).send({ payout_address })
const factor = (status: 'verified' | 'unverified') => ({
  ...{ id: randomUUID(), status, friendly_name: 'Phone', factor_type: 'totp', last_challenged_at: null, phone: '' },
  ...{ created_at: '2026-11-01T10:00:00Z', updated_at: '2026-11-01T10:00:00Z' },
})
const enrolled = (status: 'verified' | 'unverified') => ({ email: 'ana@padaria.example', factors: [factor(status)] })

test('a stolen session does not become fresh by a second factor that it enrols and proves itself', async () => {
  const sub = randomUUID()
  await newMerchant(system, { display_name: 'Padaria', payout_address: NEW }, sub)
  for (const method of ['totp', 'mfa/phone', 'mfa/webauthn', 'token_refresh', 'anonymous']) {
    const amr = [
      { method, timestamp: before(5) },
      { method: 'password', timestamp: before(3_600) },
    ]
    const { body } = await patch(system.identity.sign({ sub, aal: 'aal2', amr }), null).expect(403)
    expect(body.code).toBe('fresh_login_required')
  }
})

test('who has a second factor must have proven it: the password alone changes no payout address and is shown no secret', async () => {
  const sub = randomUUID()
  await newMerchant(system, { display_name: 'Padaria', payout_address: NEW }, sub)
  system.identity.setUser(enrolled('verified'))
  const { body: refused } = await patch(withPassword(sub), null).expect(403)
  expect(refused.code).toBe('second_factor_required')
  const secretOf = async (token: string) =>
    (await request(system.url).get('/api/v1/merchants/me').set(bearer(token)).expect(200)).body.webhook_secret
  expect(await secretOf(withPassword(sub))).toBeNull()
  expect(await secretOf(withBoth(sub))).toMatch(/^whsec_/)
  const { body: changed } = await patch(withBoth(sub), null).expect(200)
  expect(changed.payout_address).toBeNull()
})

test('a factor that was enrolled and never proven is none', async () => {
  const sub = randomUUID()
  await newMerchant(system, { display_name: 'Padaria', payout_address: NEW }, sub)
  system.identity.setUser(enrolled('unverified'))
  await patch(withPassword(sub), null).expect(200)
})

test('what waits is cancelled with the password alone', async () => {
  const sub = randomUUID()
  await newMerchant(system, { display_name: 'Padaria', payout_address: NEW }, sub)
  const { body } = await patch(withBoth(sub), '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC').expect(200)
  system.identity.setUser(enrolled('verified'))
  const path = `/api/v1/merchants/me/payout-changes/${body.pending_payout_change.id}/cancel`
  await request(system.url)
    .post(path)
    .set(bearer(withPassword(sub)))
    .expect(200)
})

test('while the provider is silent no one is judged, and a session that it has ended changes nothing', async () => {
  const sub = randomUUID()
  await newMerchant(system, { display_name: 'Padaria', payout_address: NEW }, sub)
  system.identity.setAnswering(false)
  expect((await patch(withPassword(sub), null).expect(503)).body.code).toBe('service_unavailable')
  const { body: shown } = await request(system.url)
    .get('/api/v1/merchants/me')
    .set(bearer(withPassword(sub)))
    .expect(200)
  expect(shown.webhook_secret).toBeNull()
  system.identity.setAnswering(true)
  for (const body of [[], { factors: 'many' }, 'user']) {
    system.identity.setUser(body as object, 500)
    expect((await patch(withPassword(sub), null).expect(503)).body.code).toBe('service_unavailable')
  }
  system.identity.setUser({ code: 403, error_code: 'session_not_found', msg: 'Session from session_id claim in JWT does not exist' }, 403)
  expect((await patch(withPassword(sub), null).expect(401)).body.code).toBe('invalid_jwt')
})

test.each([
  ['removed', 'DELETE FROM members WHERE user_id = $1'],
  ['given another role', "UPDATE members SET role = 'viewer' WHERE user_id = $1"],
])('a member who is %s while the provider is asked does not act any more', async (_what, change) => {
  const sub = randomUUID()
  const { merchant } = await newMerchant(system, { display_name: 'Padaria' }, sub)
  let release: (value: unknown) => void = () => undefined
  system.identity.holdUsersUntil(new Promise(resolve => (release = resolve)))
  const asked = system.identity.asked()
  const rotating = request(system.url)
    .post('/api/v1/merchants/me/rotate-key')
    .set(bearer(withPassword(sub)))
    .then(answer => answer)
  await until(() => system.identity.asked() > asked, 'the provider was not asked')
  await system.sql.query(change, [sub])
  release(undefined)
  expect((await rotating).body).toMatchObject({ code: 'forbidden' })
  const { rows } = await system.sql.query('SELECT 1 FROM api_keys WHERE merchant_id = $1', [merchant.id])
  expect(rows).toHaveLength(1)
})

test('an address that the provider confirmed counts although its token does not report it; one that it did not confirm is none', async () => {
  const { token } = await newMerchant(system)
  const email = 'ana@padaria.example'
  const invite = async () => {
    const { body } = await request(system.url)
      .post('/api/v1/merchants/me/invitations')
      .set(bearer(token))
      .send({ email, role: 'finance' })
      .expect(201)
    return String(body.token)
  }
  const accept = (invitation: string, session: string) =>
    request(system.url).post('/api/v1/invitations/accept').set(bearer(session)).send({ token: invitation })
  const invitation = await invite()
  const theirs = system.identity.sign({ sub: randomUUID(), email, user_metadata: { email_verified: true } })
  system.identity.setUser({ email, email_confirmed_at: null, user_metadata: { email_verified: true } })
  await accept(invitation, theirs).expect(403)
  system.identity.setUser({ email: 'other@padaria.example', email_confirmed_at: '2026-11-01T10:00:00Z' })
  await accept(invitation, theirs).expect(403)
  system.identity.setUser({ email, email_confirmed_at: '2026-11-01T10:00:00Z' })
  await accept(invitation, theirs).expect(200)
  const { body } = await request(system.url).get('/api/v1/merchants/me/mail').set(bearer(theirs)).expect(200)
  expect(body.email).toBe(email)
})
