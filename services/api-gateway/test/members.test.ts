import { PERMISSIONS, ROLE_PERMISSIONS } from '@ponte/contracts'
import request from 'supertest'
import { bearer, claimsOf, newMerchant, OWNER_DAYS_MS, runGateway, settleAccounts, system } from './world'
import { joins, newUser as someone } from './world/people'

const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }

runGateway({}, { now: () => new Date(at.ms), replicas: 2 })

const ME = '/api/v1/merchants/me'
const urlOf = (replica: number) => `http://127.0.0.1:${system.replicas[replica]?.http.port()}`
const ask = (token: string, method: 'get' | 'post' | 'patch' | 'delete', path = '', body?: object, replica = 0) => {
  const asked = request(urlOf(replica))
    [method](path.startsWith('/api/') ? path : `${ME}${path}`)
    .set(bearer(token))
  return body ? asked.send(body) : asked
}
const newUser = (claims: object = {}) => {
  const user = someone()
  return { ...user, token: system.identity.sign({ ...user, email_verified: true, ...claims }) }
}
const invite = async (token: string, email: string, role: string) =>
  (await ask(token, 'post', '/invitations', { email, role }).expect(201)).body
const accept = (user: string, token: string, replica = 0) => ask(user, 'post', '/api/v1/invitations/accept', { token }, replica)
async function colleague(owner: string, role: string) {
  const user = newUser()
  const id = await joins(system, owner, user, role)
  if (role === 'owner') await ownersSettle()
  return { ...user, token: again(user.token), id }
}
const ownersSettle = async () => {
  at.ms += OWNER_DAYS_MS.delay
  await settleAccounts(system, () => new Date(at.ms))
}
/** The same user, logged in now. */
const again = (token: string) => {
  const { sub, email, email_verified } = claimsOf(token)
  return system.identity.sign({ sub, email, email_verified })
}

test('a colleague is invited, works with what their role allows, and is out on the next request after their removal', async () => {
  const { token, merchant } = await newMerchant(system)
  const finance = await colleague(token, 'finance')
  const { body: seen } = await ask(finance.token, 'get').expect(200)
  expect(seen).toMatchObject({ id: merchant.id, webhook_secret: null, pending_webhook_secret: null })
  system.owners.orders.received.length = 0
  await ask(finance.token, 'get', '/orders').expect(200)
  expect(system.owners.orders.received[0]?.caller).toMatchObject({ terms: { merchant_id: merchant.id } })
  const refused = await ask(finance.token, 'post', '/rotate-key').expect(403)
  expect(refused.body).toMatchObject({ code: 'forbidden', detail: 'A member with the role finance may not do this; it needs keys:write.' })
  await ask(finance.token, 'delete', `/members/${finance.id}`).expect(403)
  expect((await ask(token, 'delete', `/members/${finance.id}`).expect(200)).body).toEqual({
    object: 'member',
    id: finance.id,
    deleted: true,
    revoked_api_keys: [],
  })
  await ask(finance.token, 'get', '/orders', undefined, 1).expect(404)
  const { rows } = await system.sql.query('SELECT action, changed, target FROM audit_log WHERE merchant_id = $1 ORDER BY id', [merchant.id])
  const { body: invitations } = await ask(token, 'get', '/invitations')
  expect(rows.slice(1)).toEqual([
    { action: 'invitation.create', changed: ['role:finance'], target: invitations.data[0].id },
    { action: 'member.join', changed: ['role:finance'], target: finance.id },
    { action: 'member.remove', changed: ['role:finance'], target: finance.id },
  ])
})

test('the role that a member has, and the topics that they chose, are no change when they are given again', async () => {
  const { token, merchant } = await newMerchant(system)
  const finance = await colleague(token, 'finance')
  const rows = async () => {
    const { rows } = await system.sql.query(
      `SELECT (SELECT count(*)::int FROM audit_log WHERE merchant_id = $1::uuid) AS entries,
         (SELECT count(*)::int FROM outbox WHERE merchant_id = $1::uuid) AS events`,
      [merchant.id],
    )
    return rows
  }
  const { body: chosen } = await ask(finance.token, 'patch', '/mail', { topics: ['payments'] }).expect(200)
  const before = await rows()
  expect((await ask(token, 'patch', `/members/${finance.id}`, { role: 'finance' }).expect(200)).body).toMatchObject({ role: 'finance' })
  expect((await ask(finance.token, 'patch', '/mail', { topics: chosen.topics }).expect(200)).body).toEqual(chosen)
  expect((await ask(finance.token, 'patch', '/mail', { language: 'en' }).expect(200)).body).toEqual({ ...chosen, language: 'en' })
  expect(await rows()).toEqual(before)
})

test.each([
  ['payment_tolerance', '1.00'],
  ['refund_approval_above', '1.00'],
  ['chain_ids', [31_337]],
])('who may change the payout address may change %s, with a fresh login, and no other member', async (name, value) => {
  const { token } = await newMerchant(system)
  const network = { network: 'anvil', chain_id: 31_337, token_address: `0x${'3c'.repeat(20)}`, suspended: false }
  if (name === 'chain_ids') system.owners.orders.answers((_req, res) => void res.json({ object: 'list', data: [network] }))
  const choose = (by: string) => ask(by, 'patch', '', { [name]: value })
  for (const role of ['admin', 'developer']) {
    const member = await colleague(token, role)
    const { body } = await choose(member.token).expect(403)
    expect(body.detail).toBe(`A member with the role ${role} may not do this; it needs payout:write.`)
    await ask(member.token, 'patch', '', { [name]: null, display_name: 'Padaria' }).expect(200)
  }
  const stale = system.identity.sign({ sub: claimsOf(token).sub, amr: undefined, auth_time: at.ms / 1_000 - 3_600 })
  expect((await choose(stale).expect(403)).body.code).toBe('fresh_login_required')
  await choose(again(token)).expect(200)
  system.owners.orders.answers()
})

test('who may change the payout address may name one for a network, and no other member; all of them may withdraw it', async () => {
  const { token } = await newMerchant(system, { display_name: 'Padaria', payout_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })
  const admin = await colleague(token, 'admin')
  const name = (by: string, own: string | null) => ask(by, 'patch', '', { payout_addresses: { 137: own } })
  const { body } = await name(admin.token, '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC').expect(403)
  expect(body.detail).toBe('A member with the role admin may not do this; it needs payout:write.')
  await name(again(token), '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC').expect(200)
  expect((await name(admin.token, null).expect(200)).body.pending_payout_change).toBeNull()
})

test('support sells, accepts and counts money for an order, and returns nothing; finance does all of it', async () => {
  const { token } = await newMerchant(system)
  const [support, finance] = [await colleague(token, 'support'), await colleague(token, 'finance')]
  const id = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
  const sells = ['/orders', `/orders/${id}/accept`, `/orders/${id}/cancel`, `/attention/${id}/attach`, '/subscriptions']
  const returns = [
    ...[`/orders/${id}/refunds`, `/orders/${id}/refund-claims`, `/orders/${id}/recoveries`, `/refund-claims/${id}/cancel`],
    ...[`/refunds/${id}/signature`, `/refunds/${id}/cancel`, `/api/v1/refunds/${id}/approve`],
  ]
  for (const path of sells) for (const { token: by } of [support, finance]) await ask(by, 'post', path, {}).expect(201)
  for (const path of returns) {
    const { body } = await ask(support.token, 'post', path, {}).expect(403)
    expect(body.detail).toBe('A member with the role support may not do this; it needs refunds:write.')
    await ask(finance.token, 'post', path, {}).expect(201)
  }
  await ask(support.token, 'get', `/refund-claims/${id}`).expect(403)
  await ask(support.token, 'get', `/refunds/${id}`).expect(200)
  await ask(support.token, 'get', '/audit').expect(403)
})

test('the merchant without a header is the one that was joined or created first, and an old session of a member creates none', async () => {
  const { token: owner, merchant } = await newMerchant(system, { display_name: 'Joined' })
  const { sub, token } = await colleague(owner, 'finance')
  const create = (by: string) => ask(by, 'post', '/api/v1/merchants', { display_name: 'Created' })
  const stale = system.identity.sign({ sub, amr: [{ method: 'password', timestamp: at.ms / 1000 - 3600 }] })
  expect((await create(stale).expect(403)).body.code).toBe('fresh_login_required')
  at.ms += 1_000
  await create(again(token)).expect(201)
  expect((await ask(token, 'get').expect(200)).body).toMatchObject({ id: merchant.id, display_name: 'Joined' })
  const { body } = await ask(token, 'get', '/api/v1/merchants').expect(200)
  expect(body.data.map(({ display_name }: { display_name: string }) => display_name)).toEqual(['Joined', 'Created'])
  await create(system.identity.sign({ sub: newUser().sub, amr: [{ method: 'password', timestamp: at.ms / 1000 - 3600 }] })).expect(201)
})

test('a role that is given again does not begin anew', async () => {
  const { token } = await newMerchant(system)
  const { id } = await colleague(token, 'owner')
  const since = async () => (await system.sql.query('SELECT role_since FROM members WHERE id = $1', [id])).rows[0]?.role_since
  const before = await since()
  at.ms += 1_000
  await ask(again(token), 'patch', `/members/${id}`, { role: 'owner' }).expect(200)
  expect([before, await since()]).toEqual([expect.any(Date), before])
})

test('who may change the merchant may not change where it is paid', async () => {
  const { token } = await newMerchant(system, { display_name: 'Padaria', payout_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })
  const admin = await colleague(token, 'admin')
  await ask(admin.token, 'patch', '', { display_name: 'Nova' }).expect(200)
  for (const payout_address of ['0x90F79bf6EB2c4f870365E785982E1f101E93b906', null]) {
    expect((await ask(admin.token, 'patch', '', { payout_address }).expect(403)).body.detail).toContain('payout:write')
  }
  const { body } = await ask(token, 'patch', '', { payout_address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' }).expect(200)
  await ask(admin.token, 'post', `/payout-changes/${body.pending_payout_change.id}/cancel`).expect(200)
})

test('an invitation works once, for its verified address, for seven days, and not when it was revoked', async () => {
  const { token } = await newMerchant(system)
  const user = newUser()
  const { token: invitation, ...shown } = await invite(token, user.email, 'viewer')
  expect((await ask(token, 'get', `/invitations/${shown.id}`).expect(200)).body).toEqual(shown)
  for (const claims of [
    { email_verified: false },
    { email_verified: undefined, user_metadata: { email_verified: true } },
    { email: 'x@ponte.example' },
  ]) {
    const other = system.identity.sign({ sub: user.sub, email: user.email, email_verified: true, ...claims })
    expect((await accept(other, invitation).expect(403)).body.code).toBe('forbidden')
  }
  await accept(user.token, `inv_${'0'.repeat(64)}`).expect(404)
  const [first, second] = await Promise.all([accept(user.token, invitation), accept(user.token, invitation, 1)])
  expect([first.status, second.status].sort()).toEqual([200, 409])
  const { rows } = await system.sql.query('SELECT token_hash::text AS hash FROM invitations WHERE id = $1', [shown.id])
  expect(rows[0]?.hash).not.toContain(invitation.slice(4))

  const late = newUser()
  const expiring = await invite(token, late.email, 'viewer')
  const revoked = await invite(token, late.email, 'viewer')
  expect((await ask(token, 'delete', `/invitations/${revoked.id}`).expect(200)).body.revoked_at).not.toBeNull()
  await accept(late.token, revoked.token).expect(409)
  at.ms += 7 * 86_400_000
  const again = system.identity.sign({ sub: late.sub, email: late.email, email_verified: true })
  await accept(again, expiring.token).expect(409)
})

test('an invitation that is good is listed, however many came after it, and there are fifty at most', async () => {
  const { token, merchant } = await newMerchant(system)
  const hidden = await invite(token, newUser().email, 'admin')
  await system.sql.query(
    `INSERT INTO invitations (id, merchant_id, token_hash, email, role, invited_by, created_at, expires_at, revoked_at)
     SELECT uuidv7(), merchant_id, sha256(n::text::bytea || id::text::bytea), email, role, invited_by, created_at, expires_at, created_at
     FROM invitations, generate_series(1, 120) AS n WHERE id = $1`,
    [hidden.id],
  )
  const listed = async () => (await ask(token, 'get', '/invitations').expect(200)).body.data.map(({ id }: { id: string }) => id)
  expect(await listed()).toContain(hidden.id)
  expect(await listed()).toHaveLength(100)
  for (let count = 1; count < 50; count++) await invite(token, newUser().email, 'viewer')
  const { body } = await ask(token, 'post', '/invitations', { email: newUser().email, role: 'viewer' }).expect(409)
  expect([body.code, merchant.id]).toEqual(['invalid_state', expect.any(String)])
  await ask(token, 'delete', `/invitations/${hidden.id}`).expect(200)
  await invite(token, newUser().email, 'viewer')
})

test('an owner who is removed leaves no way back in: the invitations that they sent are good for nothing', async () => {
  const { token } = await newMerchant(system)
  const leaving = await colleague(token, 'owner')
  const accomplice = newUser()
  const wayBack = await invite(leaving.token, accomplice.email, 'owner')
  const sent = await invite(again(token), accomplice.email, 'viewer')
  await ask(again(token), 'delete', `/members/${leaving.id}`).expect(202)
  await ownersSettle()
  expect((await accept(again(accomplice.token), wayBack.token).expect(409)).body.code).toBe('invalid_state')
  expect((await accept(again(accomplice.token), sent.token).expect(200)).body.role).toBe('viewer')
})

const makeKey = (token: string, name: string, replica = 0) => ask(token, 'post', '/api-keys', { name, scopes: ['orders:read'] }, replica)
const usable = async (key: string) => (await request(system.url).get('/api/v1/orders').set(bearer(key))).status === 200

test('an invitation is revoked once, however often that is asked for and at the same moment', async () => {
  const { token } = await newMerchant(system)
  const { id } = await invite(token, newUser().email, 'viewer')
  const revoke = (replica: number) => ask(token, 'delete', `/invitations/${id}`, undefined, replica)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => revoke(n % 2)))
  answers.push(await revoke(0))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await ask(token, 'get', '/audit?action=invitation.revoke').expect(200)).body.data).toHaveLength(1)
})

test('an invitation that was accepted is not revoked: its member stays until they are removed', async () => {
  const { token } = await newMerchant(system)
  const user = newUser()
  const { id, token: invitation } = await invite(token, user.email, 'viewer')
  const [joined, revoked] = await Promise.all([accept(user.token, invitation), ask(token, 'delete', `/invitations/${id}`, undefined, 1)])
  expect([joined.status, revoked.status].sort()).toEqual([200, 409])
  const { body } = await ask(token, 'get', '/members').expect(200)
  expect(body.data.some(({ user_id }: { user_id: string }) => user_id === user.sub)).toBe(joined.status === 200)

  const other = newUser()
  const used = await invite(again(token), other.email, 'viewer')
  await accept(other.token, used.token).expect(200)
  expect((await ask(token, 'delete', `/invitations/${used.id}`).expect(409)).body.code).toBe('invalid_state')
  expect((await ask(token, 'get', `/invitations/${used.id}`).expect(200)).body.revoked_at).toBeNull()
})

test('the keys that a removed member made are revoked with them, unless they are to stay', async () => {
  const { token, merchant } = await newMerchant(system)
  const [own, leaving, staying] = [await makeKey(token, 'own'), await colleague(token, 'developer'), await colleague(token, 'developer')]
  const [lost, kept] = [await makeKey(leaving.token, 'lost').expect(201), await makeKey(staying.token, 'kept').expect(201)]
  expect((await ask(token, 'delete', `/members/${leaving.id}`).expect(200)).body.revoked_api_keys).toEqual([lost.body.id])
  expect((await ask(token, 'delete', `/members/${staying.id}?keep_api_keys=true`).expect(200)).body.revoked_api_keys).toEqual([])
  const { body } = await ask(token, 'get', '/api-keys').expect(200)
  expect(body.data.map(({ name, created_by }: { name: string; created_by: string }) => [name, created_by]).sort()).toEqual([
    ['kept', staying.sub],
    ['own', expect.any(String)],
  ])
  expect(await Promise.all([lost, kept, own].map(({ body }) => usable(body.api_key)))).toEqual([false, true, true])
  const { rows } = await system.sql.query("SELECT changed FROM audit_log WHERE merchant_id = $1 AND action = 'member.remove' ORDER BY id", [
    merchant.id,
  ])
  expect(rows).toEqual([{ changed: ['role:developer', 'api_key'] }, { changed: ['role:developer'] }])
  await ask(token, 'delete', `/members/${leaving.id}?keep_api_keys=yes`).expect(400)
})

test('who may not make keys any more loses those that they made; a role that may keeps them', async () => {
  const { token } = await newMerchant(system)
  const [first, second] = [await colleague(token, 'admin'), await colleague(token, 'admin')]
  const [lost, kept] = [await makeKey(first.token, 'lost').expect(201), await makeKey(second.token, 'kept').expect(201)]
  const give = async (id: string, role: string, query = '') =>
    (await ask(token, 'patch', `/members/${id}${query}`, { role }).expect(200)).body.revoked_api_keys
  const beyond = await ask(first.token, 'post', '/api-keys', { name: 'beyond', scopes: ['orders:write'] }).expect(201)
  expect(await give(first.id, 'developer')).toEqual([beyond.body.id])
  expect(await give(first.id, 'viewer')).toEqual([lost.body.id])
  expect(await give(second.id, 'finance', '?keep_api_keys=true')).toEqual([])
  expect(await give(second.id, 'viewer')).toEqual([])
  expect(await Promise.all([lost, kept].map(({ body }) => usable(body.api_key)))).toEqual([false, true])
})

test('every version of a merchant is published, so that what is decided under it waits for none that never comes', async () => {
  const { token, merchant } = await newMerchant(system)
  const developer = await colleague(token, 'viewer')
  await ask(token, 'patch', `/members/${developer.id}`, { role: 'developer' }).expect(200)
  await makeKey(developer.token, 'ERP').expect(201)
  await ask(token, 'delete', `/members/${developer.id}`).expect(200)
  const { rows } = await system.sql.query(
    `SELECT version, ARRAY(SELECT (body::json -> 'data' ->> 'version')::int FROM outbox
       WHERE type = 'merchant.updated' AND body::json -> 'data' ->> 'merchant_id' = merchants.id::text ORDER BY 1) AS published
     FROM merchants WHERE id = $1`,
    [merchant.id],
  )
  expect(rows).toEqual([{ version: 6, published: [1, 2, 3, 4, 5, 6] }])
})

test('keys that are made at the moment of a removal do not outlive it', async () => {
  for (let round = 0; round < 5; round++) {
    const { token } = await newMerchant(system)
    const leaving = await colleague(token, 'developer')
    const [removed, ...made] = await Promise.all([
      ask(token, 'delete', `/members/${leaving.id}`),
      ...[0, 1, 0, 1].map(replica => makeKey(leaving.token, 'race', replica)),
    ])
    expect(removed.status).toBe(200)
    expect(made.every(({ status }) => [201, 403, 404].includes(status))).toBe(true)
    expect((await ask(token, 'get', '/api-keys').expect(200)).body.data).toEqual([])
  }
})

test('a change of the payout address is withdrawn with the owner who requested it, removed or given another role', async () => {
  const PAID = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const { token, merchant } = await newMerchant(system, { display_name: 'Padaria', payout_address: PAID })
  for (const leave of ['delete', 'patch'] as const) {
    const thief = await colleague(again(token), 'owner')
    await ask(thief.token, 'patch', '', { payout_address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' }).expect(200)
    await ask(again(token), leave, `/members/${thief.id}`, leave === 'patch' ? { role: 'admin' } : undefined).expect(202)
    await ownersSettle()
    expect((await ask(again(token), 'get').expect(200)).body).toMatchObject({ payout_address: PAID, pending_payout_change: null })
    const { rows } = await system.sql.query(
      "SELECT action, changed FROM audit_log WHERE merchant_id = $1 AND action LIKE 'owner_change.%' ORDER BY id DESC LIMIT 1",
      [merchant.id],
    )
    expect(rows[0]).toMatchObject({ action: 'owner_change.activate', changed: expect.arrayContaining(['pending_payout_change']) })
  }
})

test('two owners who remove each other at one moment leave one owner, whichever replicas they ask', async () => {
  for (let round = 0; round < 5; round++) {
    const { token, merchant } = await newMerchant(system)
    const other = await colleague(token, 'owner')
    const { body } = await ask(again(token), 'get', '/members')
    const mine = body.data.find(({ id }: { id: string }) => id !== other.id)
    const statuses = await Promise.all([
      ask(again(token), 'delete', `/members/${other.id}`),
      ask(other.token, 'delete', `/members/${mine.id}`, undefined, 1),
    ])
    expect(statuses.filter(({ status }) => status === 202)).toHaveLength(1)
    await ownersSettle()
    const { rows } = await system.sql.query('SELECT role FROM members WHERE merchant_id = $1', [merchant.id])
    expect(rows).toEqual([{ role: 'owner' }])
  }
})

test('the last owner neither leaves nor steps down; another owner may remove who created the merchant', async () => {
  const { token } = await newMerchant(system)
  const { body } = await ask(token, 'get', '/members')
  const [founder] = body.data
  await ask(token, 'delete', `/members/${founder.id}`).expect(409)
  await ask(token, 'patch', `/members/${founder.id}`, { role: 'viewer' }).expect(409)
  const other = await colleague(token, 'viewer')
  expect((await ask(token, 'patch', `/members/${other.id}`, { role: 'owner' }).expect(202)).body).toMatchObject({
    ...{ object: 'waiting_change', type: 'member', member_id: other.id, email: other.email, role: 'owner', may_cancel: true },
    activates_at: new Date(at.ms + OWNER_DAYS_MS.delay).toISOString(),
  })
  await ask(other.token, 'delete', `/members/${founder.id}`).expect(403)
  await ownersSettle()
  await ask(again(other.token), 'delete', `/members/${founder.id}`).expect(202)
  await ask(again(token), 'get').expect(200)
  await ownersSettle()
  await ask(again(token), 'get').expect(404)
  await request(system.url)
    .post('/api/v1/merchants')
    .set(bearer(again(token)))
    .send({ display_name: 'Another' })
    .expect(201)
})

const waitingFor = async (token: string) => (await ask(again(token), 'get', '/api/v1/waiting-changes').expect(200)).body.data
const undo = (token: string, id: string, replica = 0) => ask(token, 'post', `/api/v1/waiting-changes/${id}/cancel`, {}, replica)

test('who was an owner when a change was requested sees and cancels it, also after they are none any more', async () => {
  const PAID = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const THIEF = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
  const { token, merchant } = await newMerchant(system, { display_name: 'Padaria', payout_address: PAID })
  const other = await colleague(token, 'owner')
  const { body: members } = await ask(again(token), 'get', '/members')
  const founder = members.data.find(({ id }: { id: string }) => id !== other.id)
  // The session of the other is stolen: the founder is to go, and money elsewhere.
  const { body: removal } = await ask(other.token, 'delete', `/members/${founder.id}`).expect(202)
  const { body: changed } = await ask(other.token, 'patch', '', { payout_address: THIEF }).expect(200)
  expect(changed.pending_payout_change.activates_at).toBe(new Date(at.ms + OWNER_DAYS_MS.delay + OWNER_DAYS_MS.hold).toISOString())
  expect((await waitingFor(token)).map(({ id, may_cancel }: { id: string; may_cancel: boolean }) => [id, may_cancel])).toEqual([
    [removal.id, true],
    [changed.pending_payout_change.id, true],
  ])
  await ownersSettle()
  await ask(again(token), 'get').expect(404)
  // Two days later they are out, and still see where money is to go, and that alone.
  const [left] = await waitingFor(token)
  expect(left).toMatchObject({ type: 'payout_address', payout_address: THIEF, merchant_id: merchant.id, may_cancel: true })
  const stranger = await newMerchant(system)
  expect(await waitingFor(stranger.token)).toEqual([])
  await undo(again(stranger.token), left.id).expect(404)
  await undo(again(token), left.id, 1).expect(200)
  await undo(again(token), left.id).expect(404)
  at.ms += 10 * 86_400_000
  await settleAccounts(system, () => new Date(at.ms))
  expect((await ask(again(other.token), 'get').expect(200)).body).toMatchObject({ payout_address: PAID, pending_payout_change: null })
})

test('who became an owner after a change was requested does not cancel it, and sees it', async () => {
  const { token } = await newMerchant(system)
  const [second, third] = [await colleague(token, 'viewer'), await colleague(token, 'viewer')]
  await ask(token, 'patch', `/members/${second.id}`, { role: 'owner' }).expect(202)
  at.ms += OWNER_DAYS_MS.delay / 2
  const { body: later } = await ask(again(token), 'patch', `/members/${third.id}`, { role: 'owner' }).expect(202)
  at.ms += OWNER_DAYS_MS.delay / 2
  await settleAccounts(system, () => new Date(at.ms))
  expect(await waitingFor(second.token)).toMatchObject([{ id: later.id, may_cancel: false }])
  await undo(again(second.token), later.id).expect(403)
  expect(await waitingFor(third.token)).toEqual([])
  // Not even with an old session does who was an owner then need a new login to stop it.
  await undo(
    system.identity.sign({ sub: claimsOf(token).sub, amr: [{ method: 'password', timestamp: at.ms / 1000 - 9_000 }] }),
    later.id,
  ).expect(200)
  at.ms += OWNER_DAYS_MS.delay
  await settleAccounts(system, () => new Date(at.ms))
  expect((await ask(again(token), 'get', '/members')).body.data.map(({ role }: { role: string }) => role).sort()).toEqual([
    'owner',
    'owner',
    'viewer',
  ])
})

test('a user of several merchants names one by a header; without it the one that they created first', async () => {
  const [mine, theirs] = [newUser(), await newMerchant(system)]
  const own = await newMerchant(system, { display_name: 'Mine' }, mine.sub)
  const { token } = await invite(theirs.token, mine.email, 'viewer')
  at.ms += 1_000
  await accept(mine.token, token).expect(200)
  const see = (header?: string) => {
    const asked = ask(mine.token, 'get')
    return header === undefined ? asked : asked.set('Ponte-Merchant', header)
  }
  expect((await see().expect(200)).body.id).toBe(own.merchant.id)
  expect((await see(theirs.merchant.id.toUpperCase()).expect(200)).body.id).toBe(theirs.merchant.id)
  const { body } = await ask(mine.token, 'get', '/api/v1/merchants').expect(200)
  expect(body.data).toEqual([
    { object: 'membership', merchant_id: own.merchant.id, display_name: 'Mine', role: 'owner', permissions: [...PERMISSIONS] },
    {
      object: 'membership',
      merchant_id: theirs.merchant.id,
      display_name: 'Padaria Estrela',
      role: 'viewer',
      permissions: [...ROLE_PERMISSIONS.viewer],
    },
  ])
  const stranger = await newMerchant(system)
  expect((await see(stranger.merchant.id).expect(403)).body.code).toBe('forbidden')
  await see('not-an-id').expect(400)
  const wrong = await ask(mine.token, 'patch', '', { display_name: 'x' }).set('Ponte-Merchant', theirs.merchant.id).expect(403)
  expect(wrong.body.detail).toContain('merchant:write')
  expect(
    (await request(system.url).post('/api/v1/merchants').set(bearer(mine.token)).send({ display_name: 'x' }).expect(409)).body.code,
  ).toBe('merchant_exists')
})

test('a session stolen after the login invites no one and changes no role', async () => {
  const { token } = await newMerchant(system)
  const viewer = await colleague(token, 'viewer')
  const { sub } = claimsOf(token)
  const stolen = system.identity.sign({ sub, amr: [{ method: 'password', timestamp: at.ms / 1000 - 301 }] })
  const attempts = [
    ask(stolen, 'post', '/invitations', { email: 'thief@ponte.example', role: 'owner' }),
    ask(stolen, 'patch', `/members/${viewer.id}`, { role: 'owner' }),
    ask(stolen, 'delete', `/members/${viewer.id}`),
  ]
  for (const { status, body } of await Promise.all(attempts)) expect([status, body.code]).toEqual([403, 'fresh_login_required'])
})

test('a merchant that a replica of the release before creates has an owner, and an unknown role may do nothing', async () => {
  const { token, merchant } = await newMerchant(system)
  const { rows } = await system.sql.query('SELECT role FROM members WHERE merchant_id = $1', [merchant.id])
  expect(rows).toEqual([{ role: 'owner' }])
  const viewer = await colleague(token, 'viewer')
  await system.sql.query("UPDATE members SET role = 'superuser' WHERE id = $1", [viewer.id])
  await ask(viewer.token, 'get').expect(403)
})
