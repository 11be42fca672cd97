import { randomUUID } from 'node:crypto'
import request from 'supertest'
import { noteUse } from '../src/account/session-use'
import { openStore } from '../src/store'
import type { SeenSession } from '../src/store/sessions'
import { bearer, newMerchant, startGateway, type TestGateway } from './world'

const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }
const DAY = 86_400_000
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
let system: TestGateway

beforeAll(async () => {
  const auth = { AUTH_URL: 'http://where.only.browsers.reach', PUBLIC_CLIENT_KEY: 'pk_public', PUBLIC_URL: 'https://pay.ponte.dev' }
  system = await startGateway({ ...auth, TRUSTED_PROXIES: '1' }, { now: () => new Date(at.ms), replicas: 2 })
})
afterAll(() => system.stop())

/** A login of a user: tokens of one session, however often it is renewed. */
const login = (sub: string, claims: object = {}) => {
  const session = { sub, session_id: randomUUID(), amr: [{ method: 'password', timestamp: at.ms / 1000 }], ...claims }
  return { id: session.session_id, token: () => system.identity.sign(session) }
}
const urlOf = (replica: number) => `http://127.0.0.1:${system.replicas[replica]?.http.port()}`
const list = (token: string, address = '203.0.113.7', replica = 0) =>
  request(urlOf(replica)).get('/api/v1/sessions').set(bearer(token)).set('X-Forwarded-For', address).set('User-Agent', CHROME)
const end = (token: string, id: string) => request(system.url).delete(`/api/v1/sessions/${id}`).set(bearer(token))
const endOthers = (token: string) => request(system.url).post('/api/v1/sessions/end-others').set(bearer(token))

test('a user sees their own sessions: the one that asks, when each was used, by what and from where', async () => {
  const [sub, stranger] = [randomUUID(), randomUUID()]
  const [first, second] = [login(sub), login(sub)]
  await list(login(stranger).token()).expect(200)
  await list(first.token()).expect(200)
  at.ms += 90_000
  const { body } = await list(second.token(), '198.51.100.9').expect(200)
  expect(body.data).toMatchObject([
    { is_current: true, last_seen_at: new Date(at.ms).toISOString(), user_agent: CHROME, network: '198.51.100.0/24' },
    { is_current: false, started_at: new Date(at.ms - 90_000).toISOString(), network: '203.0.113.0/24' },
  ])
  expect(JSON.stringify(body)).not.toContain(first.id)
})

test('an ended session is refused by every replica at once, and no one ends that of another', async () => {
  const sub = randomUUID()
  const [mine, other, stranger] = [login(sub), login(sub), login(randomUUID())]
  await list(other.token()).expect(200)
  const { body } = await list(mine.token()).expect(200)
  const { id } = body.data.find(({ is_current }: { is_current: boolean }) => !is_current)
  expect((await end(stranger.token(), id).expect(404)).body.code).toBe('not_found')
  await list(other.token()).expect(200)
  await end(mine.token(), id).expect(200, { object: 'session', id, ended: true })
  for (const replica of [0, 1]) expect((await list(other.token(), '203.0.113.7', replica).expect(401)).body.code).toBe('invalid_jwt')
  expect((await list(mine.token()).expect(200)).body.data).toHaveLength(1)
  await end(mine.token(), id).expect(404)
})

test('ending all others ends those that were never seen too; a login after that is good', async () => {
  const sub = randomUUID()
  const [seen, unseen, mine] = [login(sub), login(sub), login(sub)]
  await list(seen.token()).expect(200)
  at.ms += 1_000
  await endOthers(mine.token()).expect(200, { object: 'ended_sessions', count: 1 })
  await list(seen.token()).expect(401)
  await list(unseen.token()).expect(401)
  await list(mine.token()).expect(200)
  at.ms += 1_000
  await list(login(sub).token()).expect(200)
})

test('an old session ends no newer one; a fresh login ends the old one, and both leave a row', async () => {
  const sub = randomUUID()
  const { merchant } = await newMerchant(system, { display_name: 'Padaria' }, sub)
  const [older, stolen, unseen] = [login(sub), login(sub), login(sub)]
  await list(older.token()).expect(200)
  at.ms += 3_600_000
  const [mine, later] = [login(sub), login(sub)]
  const { body } = await list(mine.token()).expect(200)
  const { id } = body.data.find(({ is_current }: { is_current: boolean }) => is_current)
  await list(stolen.token()).expect(200)
  expect((await end(stolen.token(), id).expect(403)).body.code).toBe('fresh_login_required')
  expect((await end(login(sub, { amr: undefined }).token(), id).expect(403)).body.code).toBe('fresh_login_required')
  await endOthers(stolen.token()).expect(200, { object: 'ended_sessions', count: 1 })
  for (const ended of [older, unseen]) await list(ended.token()).expect(401)
  for (const alive of [mine, later]) await list(alive.token()).expect(200)

  await endOthers(mine.token()).expect(200)
  for (const ended of [stolen, later]) await list(ended.token()).expect(401)
  const rows = async (table: string, columns: string, order: string) =>
    (await system.sql.query(`SELECT ${columns} FROM ${table} WHERE merchant_id = $1 ORDER BY ${order}`, [merchant.id])).rows
  expect((await rows('audit_log', 'action', 'id')).slice(1)).toEqual([{ action: 'session.end_others' }, { action: 'session.end_others' }])
})

test('a session that comes while all others are ended is ended too', async () => {
  const sub = randomUUID()
  const [mine, coming] = [login(sub), login(sub)]
  await list(mine.token()).expect(200)
  const { sessions } = openStore(system.sql, { now: () => new Date(at.ms), committed: () => undefined })
  const racing = {
    ...sessions,
    // Between the look at what was ended and the row.
    async see(session: SeenSession) {
      await sessions.endOthers(sub, mine.id, new Date(at.ms))
      await sessions.see(session)
    },
  }
  const user = { id: sub, sessionId: coming.id, loggedInAt: new Date(at.ms), hasSecondFactor: false, verifiedEmail: null }
  const use = noteUse(racing, user, { userAgent: CHROME, network: '203.0.113.0/24' }, new Date(at.ms))
  await expect(use).rejects.toMatchObject({ code: 'invalid_jwt' })
  await list(coming.token()).expect(401)
  await list(mine.token()).expect(200)
})

test('a renewal of an ended session is refused to its browser, and ends it at the provider', async () => {
  const sub = randomUUID()
  const [mine, other] = [login(sub), login(sub)]
  await list(other.token()).expect(200)
  await list(mine.token()).expect(200)
  const renew = () =>
    request(system.url).post('/dashboard/session').set('X-Ponte-Session', '1').set('Cookie', '__Secure-ponte_refresh=first')
  const renewed = other.token()
  system.identity.renewWith(renewed)
  await endOthers(mine.token()).expect(200)
  const { headers } = await renew().expect(204)
  expect(String(headers['set-cookie'])).toMatch(/^__Secure-ponte_refresh=; /)
  expect(system.identity.loggedOut).toEqual([`Bearer ${renewed}`])
})

test('a session that was not used for 90 days is over, and its row goes', async () => {
  const sub = randomUUID()
  const old = login(sub)
  await list(old.token()).expect(200)
  at.ms += 91 * DAY
  await openStore(system.sql, { now: () => new Date(at.ms), committed: () => undefined }).sessions.forget(new Date(at.ms))
  const { rows } = await system.sql.query('SELECT 1 FROM sessions WHERE user_id = $1', [sub])
  expect(rows).toEqual([])
  await list(old.token()).expect(401)
  await list(login(sub).token()).expect(200)
})

test('two first requests at one moment are one session; a token without a session has none', async () => {
  const sub = randomUUID()
  const session = login(sub)
  await Promise.all([0, 1, 0, 1].map(replica => list(session.token(), '203.0.113.7', replica).expect(200)))
  expect((await list(session.token()).expect(200)).body.data).toHaveLength(1)
  const without = system.identity.sign({ sub: randomUUID() })
  expect((await list(without).expect(200)).body.data).toEqual([])
  await endOthers(without).expect(200, { object: 'ended_sessions', count: 0 })
})

test('a stolen session cannot use up the limits by which its user ends it', async () => {
  const limited = await startGateway({ RATE_LIMIT_CHANGES_PER_MINUTE: '3', RATE_LIMIT_CALLER_PER_MINUTE: '20' })
  try {
    const sub = randomUUID()
    const session = () => {
      const claims = { sub, session_id: randomUUID() }
      return () => limited.identity.sign(claims)
    }
    const [stolen, mine] = [session(), session()]
    const others = (token: string) => request(limited.url).post('/api/v1/sessions/end-others').set(bearer(token))
    const flood = await Promise.all(Array.from({ length: 30 }, () => request(limited.url).get('/api/v1/sessions').set(bearer(stolen()))))
    expect(flood.some(({ status }) => status === 429)).toBe(true)
    await others(mine()).expect(200)
    await others(stolen()).expect(401)
  } finally {
    await limited.stop()
  }
})
