import { randomUUID } from 'node:crypto'
import { type Operation, type OperationId, operationList, operations, pathWith, placesOf, WAITS } from '@ponte/contracts'
import { Wallet } from 'ethers'
import request from 'supertest'
import { bearer, newMerchant, OWNER_DAYS_MS, settleAccounts, startGateway, type TestGateway } from './world'
import { joins, logIn, newUser, type User } from './world/people'
import { ANY_ID, recipes, type Scene } from './world/recipes'

// The table of operations names what a session needs for each, and who is informed. Here every operation of a session is asked, by every kind of session.

const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }
const now = () => new Date(at.ms)
const OLD = Wallet.createRandom()
let system: TestGateway

beforeAll(async () => {
  // Mails are written, and sent nowhere.
  const mail = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Ponte <no-reply@ponte.example>', PUBLIC_URL: 'http://127.0.0.1' }
  system = await startGateway({ ...mail, RATE_LIMIT_CHANGES_PER_MINUTE: '100000' }, { now })
})
afterAll(() => system.stop())

const fresh = (user: User) => logIn(system, user)
const stale = (user: User) =>
  system.identity.sign({ ...user, email_verified: true, amr: [{ method: 'password', timestamp: at.ms / 1000 - 3600 }] })

// The sandbox's change nothing of an account, and are not there where money is real.
const ofSession = operationList.filter(([, { credentials, owner }]) => owner !== 'sandbox' && credentials.includes('session'))
const pathOf = (operation: Operation) => placesOf(operation).find(({ credentials }) => credentials.includes('session'))?.path ?? ''
const send = (operation: Operation, token: string, params: Record<string, string | number> = {}, body?: object) => {
  const names = { id: ANY_ID, period_index: 0, ...params }
  const asked = request(system.url)
    [operation.method](pathWith(pathOf(operation), names))
    .set(bearer(token))
  return body ? asked.send(body) : asked
}

async function team() {
  const owner = newUser()
  const { merchant } = await newMerchant(system, { display_name: 'Padaria', payout_address: OLD.address }, owner.sub)
  await request(system.url)
    .get('/api/v1/merchants/me')
    .set(bearer(fresh(owner)))
    .expect(200)
  return { owner, merchantId: String(merchant.id) }
}
async function join(owner: User, role: string): Promise<User & { memberId: string }> {
  const user = newUser()
  return { ...user, memberId: await joins(system, fresh(owner), user, role) }
}
const settle = async () => {
  at.ms += OWNER_DAYS_MS.delay
  // One change of owners at a time.
  for (let n = 0; n < 3; n++) await settleAccounts(system, now)
}
async function owners(count: number) {
  const first = await team()
  const others = []
  for (let n = 1; n < count; n++) others.push(await join(first.owner, 'owner'))
  await settle()
  return { ...first, others }
}

describe('the table', () => {
  /** What any login may do, however old, and why. */
  const ENDS_WORSE = 'ends what is worse, so that its user may be in a hurry'
  const SELLS = 'daily work that takes no money away: what came stays, and what it makes can be cancelled'
  const MARKS = 'a mark on a list, which comes back with anything new'
  const SENDS = "sends the merchant's events to the merchant's endpoints"
  const AT_ANY_LOGIN: Partial<Record<OperationId, string>> = {
    ...{ signPayoutChange: 'proves the key of an address that a fresh login requested' },
    ...{ cancelPayoutChange: ENDS_WORSE, cancelWaitingChange: ENDS_WORSE, revokeInvitation: ENDS_WORSE },
    ...{ endSession: 'an older login ends no newer one', endOtherSessions: 'an older login ends no newer one' },
    ...{ acceptInvitation: 'gives a user more, and nothing of a merchant that they belong to changes' },
    ...{ updateMailPreferences: 'concerns the caller alone, and owners always receive what an attack would hide' },
    ...{ createOrder: SELLS, cancelOrder: SELLS, createSubscription: SELLS, chargeSubscription: SELLS, cancelSubscription: SELLS },
    ...{ createLink: SELLS, endLink: SELLS },
    ...{ updateOrder: 'books beside the money, which no payer sees and no sum has; who did it stands in the log' },
    ...{ cancelRefund: 'keeps money where it is', cancelRefundClaim: 'keeps money where it is' },
    ...{ handleAttention: MARKS, reopenAttention: MARKS },
    ...{ replayDelivery: SENDS, replayDeliveries: SENDS, testWebhookEndpoint: SENDS },
  }
  /** No mail and no `account.changed` about these, which leave an audit row all the same: they are no change of the account, or its beginning. */
  const QUIET: readonly OperationId[] = [
    ...(['createOrder', 'cancelOrder', 'createSubscription', 'updateSubscription', 'chargeSubscription', 'cancelSubscription'] as const),
    ...(['updateOrder', 'eraseCustomers', 'createLink', 'endLink'] as const),
    ...(['signRefund', 'cancelRefund', 'cancelRefundClaim', 'createRecovery'] as const),
    ...([
      'handleAttention',
      'attachAttention',
      'reopenAttention',
      'replayDelivery',
      'replayDeliveries',
      'testWebhookEndpoint',
      'createMerchant',
    ] as const),
  ]
  const changing = ofSession.filter(([, { method, permission }]) => method !== 'get' && !permission?.endsWith(':read'))

  test.each(changing)('%s names its login, its audit row and who is informed', (id, { login, informs, audit }) => {
    const expected = id === 'createMerchant' ? 'fresh_of_member' : 'fresh'
    expect([id, login ?? 'any']).toEqual([id, AT_ANY_LOGIN[id] ? 'any' : expected])
    expect([id, informs, audit !== undefined]).toEqual([id, QUIET.includes(id) ? undefined : 'account', true])
  })

  test('is served with every operation of a session', async () => {
    const { body } = await request(system.url).get('/openapi.json').expect(200)
    for (const [id, operation] of ofSession) {
      const shown = body.paths[pathOf(operation).replace(/:(\w+)/g, '{$1}')][operation.method]['x-ponte-guard']
      const { permission, login, waits, informs } = operation
      const wait = waits ? WAITS[waits] : { defaultDelayS: 0, undo: null, undoneBy: [] }
      expect({ id, ...shown }).toEqual({
        ...{ id, permission, login: login ?? 'any', waits: waits ?? null },
        ...{ default_delay_s: wait.defaultDelayS, undo: wait.undo, undone_by: wait.undoneBy },
        ...{ informs: informs ? ['owners', 'members_who_chose', 'endpoints'] : [], while_frozen: operation.whileFrozen ?? 'allowed' },
      })
      const undo = operationList.find(([other]) => other === wait.undo)?.[1]
      if (waits) expect(undo).toMatchObject({ permission: null, credentials: ['session'] })
      expect(undo?.login).toBeUndefined()
    }
  })
})

test('every operation of a session: an old login is refused where a fresh one is named, and nowhere else', async () => {
  const { owner } = await team()
  const secretsShown = async () =>
    (await system.sql.query("SELECT id FROM audit_log WHERE user_id = $1 AND action LIKE '%show_again'", [owner.sub])).rows
  const before = await secretsShown()
  const wrong: string[] = []
  for (const [id, operation] of ofSession) {
    const asked = await send(operation, stale(owner), {}, operation.example)
    // The owner belongs to a merchant.
    if ((asked.body.code === 'fresh_login_required') !== (operation.login !== undefined))
      wrong.push(`${id} by an old login: ${asked.status}`)
  }
  expect([wrong, await secretsShown()]).toEqual([[], before])
})

test('a key with orders:write accepts an order at any time, and the owners are informed of that too', async () => {
  const owner = newUser()
  const { apiKey, merchant } = await newMerchant(system, { display_name: 'Padaria' }, owner.sub)
  await request(system.url)
    .get('/api/v1/merchants/me')
    .set(bearer(fresh(owner)))
    .expect(200)
  const { example = {} } = operations.acceptOrder
  await request(system.url).post(`/api/v1/orders/${ANY_ID}/accept`).set(bearer(apiKey)).send(example).expect(201)
  const { rows } = await system.sql.query("SELECT address, facts FROM mails WHERE merchant_id = $1 AND kind = 'accepted.order'", [
    merchant.id,
  ])
  expect(rows).toMatchObject([{ address: owner.email, facts: { user_id: 'api_key', reference: ANY_ID, page: `/orders/${ANY_ID}` } }])
})

test('every operation of a session: who joined as an owner a moment ago may do what a viewer may, and undoes nothing', async () => {
  const { owner } = await team()
  const joined = await join(owner, 'owner')
  const wrong: string[] = []
  for (const [id, operation] of ofSession) {
    if (operation.permission === null) continue
    const { status, body } = await send(operation, fresh(joined), {}, operation.example)
    const isRead = operation.permission.endsWith(':read') && !['endpoints:read', 'audit:read'].includes(operation.permission)
    if ((status === 403 && body.code === 'forbidden') === isRead) wrong.push(`${id} by a new owner: ${status} ${body.code}`)
  }
  expect(wrong).toEqual([])
  const { body } = await request(system.url)
    .get('/api/v1/waiting-changes')
    .set(bearer(fresh(owner)))
    .expect(200)
  const cancel = `/api/v1/waiting-changes/${body.data[0].id}/cancel`
  await request(system.url)
    .post(cancel)
    .set(bearer(fresh(joined)))
    .expect(404)
  await request(system.url)
    .post(cancel)
    .set(bearer(stale(owner)))
    .expect(200)
})

test('who became an owner later sees what waits, and neither cancels, confirms nor approves it', async () => {
  const { owner, others } = await owners(3)
  const [bad] = others
  const joined = await join(owner, 'owner')
  at.ms += OWNER_DAYS_MS.delay / 2
  const ask = (user: User, path: string, body: object = {}) =>
    request(system.url)
      .post(`/api/v1${path}`)
      .set(bearer(fresh(user)))
      .send(body)
  const { body: removal } = await request(system.url)
    .delete(`/api/v1/merchants/me/members/${bad?.memberId}`)
    .set(bearer(fresh(owner)))
    .expect(202)
  at.ms += OWNER_DAYS_MS.delay / 2
  await settleAccounts(system, now)
  const { body: seen } = await request(system.url)
    .get('/api/v1/waiting-changes')
    .set(bearer(fresh(joined)))
    .expect(200)
  expect(seen.data).toMatchObject([{ id: removal.id, may_cancel: false, may_confirm: false }])
  for (const what of ['cancel', 'confirm']) await ask(joined, `/waiting-changes/${removal.id}/${what}`).expect(403)
})

test('an owner who turned bad objects to their removal, and is out once a third owner has confirmed it', async () => {
  const { owner, others } = await owners(3)
  const [bad, third] = others as [User & { memberId: string }, User & { memberId: string }]
  const ask = (token: string, path: string) => request(system.url).post(`/api/v1/waiting-changes/${path}`).set(bearer(token))
  const remove = () =>
    request(system.url)
      .delete(`/api/v1/merchants/me/members/${bad.memberId}`)
      .set(bearer(fresh(owner)))
  const { body: removal } = await remove().expect(202)
  const objected = await ask(stale(bad), `${removal.id}/cancel`).expect(200)
  expect(objected.body).toMatchObject({ objected_at: now().toISOString(), may_cancel: false, may_confirm: false })
  await ask(fresh(owner), `${removal.id}/confirm`).expect(403)
  expect((await ask(stale(third), `${removal.id}/confirm`).expect(403)).body.code).toBe('fresh_login_required')
  at.ms += 3_600_000
  const confirmed = await ask(fresh(third), `${removal.id}/confirm`).expect(200)
  const activates_at = new Date(at.ms + OWNER_DAYS_MS.delay).toISOString()
  expect(confirmed.body).toMatchObject({ confirmed_by: third.sub, activates_at, may_cancel: true, may_confirm: false })
  await ask(fresh(bad), `${removal.id}/cancel`).expect(403)
  await settle()
  await request(system.url)
    .get('/api/v1/merchants/me/members')
    .set(bearer(fresh(bad)))
    .expect(404)
})

test('an objection that no one confirms ends the change without effect, and of two owners either keeps the other', async () => {
  const three = await owners(3)
  const bad = three.others[0]
  const remove = (owner: User, memberId = '') =>
    request(system.url)
      .delete(`/api/v1/merchants/me/members/${memberId}`)
      .set(bearer(fresh(owner)))
  const cancel = (user: User, id: string) =>
    request(system.url)
      .post(`/api/v1/waiting-changes/${id}/cancel`)
      .set(bearer(stale(user)))
  const { body: contested } = await remove(three.owner, bad?.memberId).expect(202)
  await cancel(bad ?? three.owner, contested.id).expect(200)
  await settle()
  await request(system.url)
    .get('/api/v1/merchants/me/members')
    .set(bearer(fresh(bad ?? three.owner)))
    .expect(200)
  const waiting = await request(system.url)
    .get('/api/v1/waiting-changes')
    .set(bearer(fresh(three.owner)))
    .expect(200)
  expect(waiting.body.data).toEqual([])

  const two = await owners(2)
  const other = two.others[0]
  const { body: removal } = await remove(two.owner, other?.memberId).expect(202)
  await cancel(other ?? two.owner, removal.id).expect(200)
  await cancel(other ?? two.owner, removal.id).expect(404)
})

describe('every change of endpoints, keys, secrets and members is account.changed and mail', () => {
  const informing = ofSession.filter(
    ([, { informs, method, secret }]) => informs !== undefined && (method !== 'get' || secret === undefined),
  )

  test.each(informing)('%s', async (id, operation) => {
    const { owner, merchantId, others } = await owners(3)
    const [first = owner, second = owner] = others
    const invited = newUser()
    // Who approves has been an owner for long enough.
    if (id === 'approvePayoutChange') at.ms += OWNER_DAYS_MS.delay
    const by = { approvePayoutChange: first, confirmWaitingChange: second, acceptInvitation: invited }[String(id)] ?? owner
    const session = system.identity.sign({ ...owner, email_verified: true, session_id: randomUUID() })
    const ask: Scene['ask'] = async (method, path, body = {}) => {
      const asked = request(system.url)[method](path).set(bearer(session))
      return (await asked.send(body)).body
    }
    const scene: Scene = {
      ask,
      ...{ wallet: Wallet.createRandom(), payoutWallet: OLD, memberId: async () => others[0]?.memberId ?? '', invitee: invited.email },
    }
    const recipe = recipes[id]
    const { params, body } = recipe ? await recipe(scene) : {}
    const mailsOf = async () =>
      (await system.sql.query('SELECT kind FROM mails WHERE merchant_id = $1 AND address = $2', [merchantId, owner.email])).rows
    const before = (await mailsOf()).length
    const { status } = await send(operation, by === owner ? session : fresh(by), params, body ?? operation.example)
    expect([id, status < 300]).toEqual([id, true])
    const { rows: events } = await system.sql.query(
      "SELECT body::jsonb->'data'->'account' AS account FROM outbox WHERE type = 'account.changed' AND body LIKE $1 ORDER BY created_at, id",
      [`%${merchantId}%`],
    )
    const entries = events.map(({ account }) => account).filter(({ action }) => action === operation.audit)
    expect(entries.at(-1)).toMatchObject({ user_id: by.sub })
    expect((await mailsOf()).length).toBeGreaterThan(before)
  })
})
