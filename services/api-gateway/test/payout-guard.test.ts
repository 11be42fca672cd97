import { Wallet } from 'ethers'
import request from 'supertest'
import { bearer, claimsOf, newMerchant, settleAccounts, startGateway, type TestGateway } from './world'
import { joins, logIn, newUser } from './world/people'

// A stolen session, key or old signature must not receive the payers' money.

const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }
const HOUR = 3_600_000
const OLD = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
let system: TestGateway

beforeAll(async () => {
  system = await startGateway({}, { now: () => new Date(at.ms), replicas: 2 })
})
afterAll(() => system.stop())

const urlOf = (replica: number) => `http://127.0.0.1:${system.replicas[replica]?.http.port()}`
const me = (token: string, replica = 0) => request(urlOf(replica)).get('/api/v1/merchants/me').set(bearer(token)).expect(200)
const patch = (token: string, payout_address: string | null) =>
  request(system.url).patch('/api/v1/merchants/me').set(bearer(token)).send({ payout_address })
const decide = (token: string, id: string, what: 'sign' | 'cancel' | 'approve', body: object = {}, replica = 0) =>
  request(urlOf(replica)).post(`/api/v1/merchants/me/payout-changes/${id}/${what}`).set(bearer(token)).send(body)
/** A session of the same user as it is after refreshes: issued now, logged in an hour ago. */
const stolen = (token: string, claims: object = { amr: [{ method: 'password', timestamp: at.ms / 1000 - 3600 }] }) =>
  system.identity.sign({ sub: claimsOf(token).sub, ...claims })
const fresh = (token: string) => system.identity.sign({ sub: claimsOf(token).sub })
const paid = (payout_address: string | null = OLD) => newMerchant(system, { display_name: 'Padaria', payout_address })
const activate = () => settleAccounts(system, () => new Date(at.ms))
const published = async (merchantId: string) => {
  const { rows } = await system.sql.query(
    "SELECT body FROM outbox WHERE type = 'merchant.updated' AND body LIKE $1 ORDER BY created_at, id",
    [`%${merchantId}%`],
  )
  return rows.map(row => JSON.parse(row.body).data.payout_address)
}

test.each([
  ['is another one', "UPDATE history SET name = 'the one before'"],
  ['was put aside for a while', "UPDATE history SET seen_at = now() - interval '25 hours'"],
])('what waits in a database that %s waits its whole time again, and is mailed: it may have been cancelled since', async (_, restored) => {
  const { token, merchant } = await paid()
  const { body: asked } = await patch(token, Wallet.createRandom().address).expect(200)
  await activate()
  at.ms = Date.parse(asked.pending_payout_change.activates_at)
  await system.sql.query(restored)
  await activate()
  const waits = (await me(fresh(token))).body
  expect(waits.payout_address).toBe(OLD)
  const activatesAt = Date.parse(waits.pending_payout_change.activates_at)
  expect(activatesAt).toBeGreaterThan(at.ms + 24 * HOUR)
  const { rows } = await system.sql.query('SELECT action, changed FROM audit_log WHERE merchant_id = $1 AND user_id = $2', [
    merchant.id,
    'ponte',
  ])
  expect(rows.at(-1)).toEqual({ action: 'merchant.update', changed: ['pending_payout_change'] })
  await activate()
  expect((await me(fresh(token))).body.pending_payout_change).toEqual(waits.pending_payout_change)
  at.ms = activatesAt
  await activate()
  expect((await me(fresh(token))).body.payout_address).toBe(asked.pending_payout_change.payout_address)
})

test('a stolen session can neither change nor clear the payout address, however its token was refreshed', async () => {
  const { token } = await paid()
  const minute = at.ms / 1000 - 60
  const tokens = [
    stolen(token),
    stolen(token, { amr: undefined }),
    stolen(token, { amr: undefined, auth_time: at.ms / 1000 - 301 }),
    stolen(token, { amr: [{ method: 'token_refresh', timestamp: minute }] }),
    // What a session of any age can have done again, and what is not known.
    ...['totp', 'mfa/webauthn', 'email_change', 'anonymous', 'oauth_provider/authorization_code', 'what comes later'].map(method =>
      stolen(token, { amr: [{ method, timestamp: minute }] }),
    ),
    stolen(token, { amr: 'password', auth_time: 'now' }),
    stolen(token, { amr: ['password'] }),
  ]
  for (const thief of tokens) {
    for (const address of [Wallet.createRandom().address, null]) {
      expect((await patch(thief, address).expect(403)).body.code).toBe('fresh_login_required')
    }
  }
  expect((await me(token)).body).toMatchObject({ payout_address: OLD, pending_payout_change: null })
  await patch(stolen(token, { amr: undefined, auth_time: minute }), null).expect(200)
})

test('a session stolen right after the login changes nothing for two days, in which it is shown and can be cancelled', async () => {
  const { token, merchant, apiKey } = await paid()
  const thief = Wallet.createRandom()
  const { body } = await patch(token, thief.address).expect(200)
  expect(body).toMatchObject({
    payout_address: OLD,
    pending_payout_change: { payout_address: thief.address, is_signed: false, activates_at: new Date(at.ms + 48 * HOUR).toISOString() },
  })
  const { rows } = await system.sql.query("SELECT body FROM outbox WHERE type = 'account.changed' AND body LIKE $1", [`%${merchant.id}%`])
  expect(rows.map(row => JSON.parse(row.body).data)).toMatchObject([
    {
      merchant_version: 2,
      account: {
        ...{ action: 'merchant.update', changed: ['pending_payout_change'], user_id: claimsOf(token).sub },
        payout_change: { id: body.pending_payout_change.id, payout_address: thief.address },
      },
    },
  ])
  at.ms += 47 * HOUR
  await activate()
  system.owners.orders.received.length = 0
  await request(system.url).get('/api/v1/orders').set(bearer(apiKey)).expect(200)
  expect(system.owners.orders.received[0]?.caller).toMatchObject({ terms: { payout_address: OLD } })
  const { body: after } = await decide(stolen(token), body.pending_payout_change.id, 'cancel').expect(200)
  expect(after).toMatchObject({ payout_address: OLD, pending_payout_change: null })
  at.ms += 2 * HOUR
  await activate()
  expect((await me(fresh(token))).body.payout_address).toBe(OLD)
  expect(new Set(await published(merchant.id))).toEqual(new Set([OLD]))
})

test('what waited its time is in force once, with its event, whichever replica sees it first', async () => {
  const { token, merchant } = await paid()
  const next = Wallet.createRandom()
  const { id } = (await patch(token, next.address).expect(200)).body.pending_payout_change
  at.ms += 48 * HOUR
  await activate()
  expect((await me(fresh(token), 1)).body).toMatchObject({ payout_address: next.address, pending_payout_change: null })
  expect(await published(merchant.id)).toEqual([OLD, OLD, next.address])
  const { rows } = await system.sql.query('SELECT user_id, action, changed, target FROM audit_log WHERE merchant_id = $1 ORDER BY id', [
    merchant.id,
  ])
  expect(rows.slice(1)).toEqual([
    { user_id: claimsOf(token).sub, action: 'merchant.update', changed: ['pending_payout_change'], target: null },
    { user_id: 'ponte', action: 'payout_change.activate', changed: ['payout_address'], target: id },
    // A fresh login that reads the merchant is shown the secret, which is recorded.
    { user_id: claimsOf(token).sub, action: 'webhook_secret.show_again', changed: ['webhook_secret'], target: null },
  ])
})

test('a signature of the new address halves the wait; a replayed, foreign or mistaken one is refused', async () => {
  const [one, two] = [await paid(), await paid()]
  const next = Wallet.createRandom()
  const change = (await patch(one.token, next.address).expect(200)).body.pending_payout_change
  const foreign = (await patch(two.token, next.address).expect(200)).body.pending_payout_change
  expect(change.message).toContain(one.merchant.id)
  const signature = await next.signMessage(change.message)
  const wrong = [
    [two.token, foreign.id, signature],
    [one.token, change.id, await next.signMessage(foreign.message)],
    [one.token, change.id, await Wallet.createRandom().signMessage(change.message)],
    [one.token, change.id, `0x${'00'.repeat(65)}`],
    [one.token, change.id, `0x${'ff'.repeat(65)}`],
  ] as const
  for (const [token, id, given] of wrong) {
    const { body } = await decide(token, id, 'sign', { signature: given }).expect(400)
    expect(body.errors).toEqual([expect.objectContaining({ path: 'signature' })])
  }
  await decide(two.token, change.id, 'sign', { signature }).expect(404)
  const { body } = await decide(one.token, change.id, 'sign', { signature }).expect(200)
  expect(body).toMatchObject({
    payout_address: OLD,
    pending_payout_change: { is_signed: true, activates_at: new Date(at.ms + 24 * HOUR).toISOString() },
  })
  // The same address again is another change, for which the old signature is not good.
  await decide(one.token, change.id, 'cancel').expect(200)
  const again = (await patch(one.token, next.address).expect(200)).body.pending_payout_change
  await decide(one.token, again.id, 'sign', { signature }).expect(400)
  await decide(one.token, change.id, 'sign', { signature }).expect(404)
})

describe('the signature of a payout address is kept with it', () => {
  const prove = (token: string, signature: string, replica = 0) =>
    request(urlOf(replica)).post('/api/v1/merchants/me/payout-address/sign').set(bearer(token)).send({ signature })
  const events = async (merchantId: string) => {
    const { rows } = await system.sql.query(
      "SELECT body FROM outbox WHERE type = 'merchant.updated' AND body LIKE $1 ORDER BY created_at, id",
      [`%${merchantId}%`],
    )
    return rows.map(row => JSON.parse(row.body).data)
  }

  test('from the change that was signed to the event that puts it in force', async () => {
    const { token, merchant } = await paid()
    const next = Wallet.createRandom()
    const change = (await patch(token, next.address).expect(200)).body.pending_payout_change
    const signature = await next.signMessage(change.message)
    const signedAt = new Date(at.ms).toISOString()
    const waits = (await decide(token, change.id, 'sign', { signature }).expect(200)).body
    expect(waits.payout_proof).toMatchObject({ signature: null, message: expect.stringContaining(OLD) })
    at.ms += 24 * HOUR
    await activate()
    const proof = { message: change.message, signature, signed_at: signedAt }
    expect((await me(fresh(token), 1)).body).toMatchObject({ payout_address: next.address, payout_proof: proof })
    expect((await events(merchant.id)).map(({ payout_proof }) => payout_proof)).toEqual([null, null, null, proof])
  })

  test('and an address in force can be signed afterwards, once', async () => {
    const wallet = Wallet.createRandom()
    const { token, merchant, apiKey } = await paid(wallet.address)
    const { payout_proof } = (await me(token)).body
    expect(payout_proof).toEqual({ message: expect.stringContaining(merchant.id), signature: null, signed_at: null })
    const signature = await wallet.signMessage(payout_proof.message)
    expect((await prove(stolen(token), signature).expect(403)).body.code).toBe('fresh_login_required')
    await prove(apiKey, signature).expect(401)
    // Some wallets count their recovery bit from zero.
    const answer = await prove(token, `${signature.slice(0, -2)}${signature.endsWith('1b') ? '00' : '01'}`).expect(200)
    const signed = { message: payout_proof.message, signature, signed_at: new Date(at.ms).toISOString() }
    expect(answer.body.payout_proof).toEqual(signed)
    at.ms += HOUR
    expect((await prove(fresh(token), signature, 1).expect(200)).body.payout_proof).toEqual(signed)
    expect((await events(merchant.id)).map(({ version, payout_proof: proof }) => [version, proof])).toEqual([
      [1, null],
      [2, signed],
    ])
    const { rows } = await system.sql.query(
      "SELECT user_id, changed FROM audit_log WHERE merchant_id = $1 AND action = 'payout_address.sign'",
      [merchant.id],
    )
    expect(rows).toEqual([{ user_id: claimsOf(token).sub, changed: ['payout_proof'] }])
  })

  test('but not one of another key, merchant, address or change, nor where there is no address', async () => {
    const wallet = Wallet.createRandom()
    const [one, two] = [await paid(wallet.address), await paid(wallet.address)]
    const next = Wallet.createRandom()
    const { message } = (await me(one.token)).body.payout_proof
    const foreign = (await me(two.token)).body.payout_proof.message
    const change = (await patch(one.token, next.address).expect(200)).body.pending_payout_change
    const wrong = [
      await wallet.signMessage(foreign),
      await next.signMessage(message),
      await next.signMessage(change.message),
      await wallet.signMessage(message.replace(wallet.address, next.address)),
      await wallet.signMessage(change.message),
      `0x${'00'.repeat(65)}`,
    ]
    for (const signature of wrong) {
      const { body } = await prove(one.token, signature).expect(400)
      expect(body.errors).toEqual([expect.objectContaining({ path: 'signature' })])
    }
    // A proof of the address shortens no wait.
    await decide(one.token, change.id, 'sign', { signature: await next.signMessage(message.replace(wallet.address, next.address)) }).expect(
      400,
    )
    expect((await me(one.token)).body.payout_proof.signature).toBeNull()
    await patch(one.token, null).expect(200)
    expect((await me(one.token)).body.payout_proof).toBeNull()
    expect((await prove(one.token, await wallet.signMessage(message)).expect(409)).body.code).toBe('invalid_state')
  })

  test('a proof that a replica of the release before left behind is of no other address', async () => {
    const wallet = Wallet.createRandom()
    const { token, merchant } = await paid(wallet.address)
    await prove(token, await wallet.signMessage((await me(token)).body.payout_proof.message)).expect(200)
    await system.sql.query('UPDATE merchants SET payout_address = $2 WHERE id = $1', [merchant.id, OLD])
    expect((await me(fresh(token))).body.payout_proof).toMatchObject({ signature: null, message: expect.stringContaining(OLD) })
  })

  test('and a signature that a database lost by going back is taken and published again', async () => {
    const wallet = Wallet.createRandom()
    const { token, merchant } = await paid(wallet.address)
    const signature = await wallet.signMessage((await me(token)).body.payout_proof.message)
    await prove(token, signature).expect(200)
    await system.sql.query('UPDATE merchants SET payout_proof = NULL, version = 1 WHERE id = $1', [merchant.id])
    await prove(fresh(token), signature).expect(200)
    expect((await events(merchant.id)).map(({ payout_proof: proof }) => proof?.signature ?? null)).toEqual([null, signature, signature])
  })
})

test('clearing is at once; afterwards only the address that was cleared comes back at once', async () => {
  const { token } = await paid()
  expect((await patch(token, null).expect(200)).body.payout_address).toBeNull()
  expect((await patch(stolen(token), OLD).expect(403)).body.code).toBe('fresh_login_required')
  const other = await patch(token, Wallet.createRandom().address).expect(200)
  expect(other.body).toMatchObject({ payout_address: null, pending_payout_change: expect.anything() })
  expect((await patch(token, OLD).expect(200)).body).toMatchObject({ payout_address: OLD, pending_payout_change: null })
})

test('the first address of a new merchant is in force at once; of one that a thief finds without, it waits as any other', async () => {
  const [{ token }, { token: late }] = [await newMerchant(system), await newMerchant(system)]
  expect((await patch(stolen(token), OLD).expect(403)).body.code).toBe('fresh_login_required')
  expect((await patch(token, OLD).expect(200)).body).toMatchObject({ payout_address: OLD, pending_payout_change: null })
  at.ms += 24 * HOUR
  expect((await patch(fresh(late), OLD).expect(200)).body).toMatchObject({
    payout_address: null,
    pending_payout_change: { payout_address: OLD },
  })
})

test('an API key, which is stolen more easily than a session, reaches none of it', async () => {
  const { apiKey, token } = await paid()
  const { pending_payout_change } = (await patch(token, Wallet.createRandom().address).expect(200)).body
  await patch(apiKey, Wallet.createRandom().address).expect(401)
  await decide(apiKey, pending_payout_change.id, 'cancel').expect(401)
  await decide(apiKey, pending_payout_change.id, 'sign', { signature: `0x${'00'.repeat(65)}` }).expect(401)
})

test('requests for two addresses and a cancellation at one moment leave one outcome that all replicas show', async () => {
  const { token, merchant } = await paid()
  const first = (await patch(token, Wallet.createRandom().address).expect(200)).body.pending_payout_change
  const [a, b] = [Wallet.createRandom().address, Wallet.createRandom().address]
  await Promise.all([patch(token, a), patch(token, b), decide(token, first.id, 'cancel', {}, 1), patch(token, a), patch(token, b)])
  const shown = await Promise.all([0, 1].map(async replica => (await me(token, replica)).body))
  expect(shown[0]).toEqual(shown[1])
  expect(shown[0].payout_address).toBe(OLD)
  expect([a, b]).toContain(shown[0].pending_payout_change.payout_address)
  expect(new Set(await published(merchant.id))).toEqual(new Set([OLD]))
})

describe('with two owners', () => {
  /** A merchant whose two owners have been owners for two days, and a change of the first that its address has signed. */
  async function requested(ownerHours = 72) {
    const { token, merchant } = await paid()
    const user = newUser()
    await joins(system, fresh(token), user, 'owner')
    const partner = () => logIn(system, user)
    at.ms += 48 * HOUR
    await activate()
    at.ms += ownerHours * HOUR
    const next = Wallet.createRandom()
    const change = (await patch(fresh(token), next.address).expect(200)).body.pending_payout_change
    await decide(fresh(token), change.id, 'sign', { signature: await next.signMessage(change.message) }).expect(200)
    return { token, merchant, partner, next, change }
  }
  const approve = (token: string, id: string, replica = 0) => decide(token, id, 'approve', {}, replica)

  test('an owner who turned bad, with a stolen session of the other, waits a day, in which the other sees and cancels it', async () => {
    const { token, partner, change } = await requested()
    const { body } = await approve(partner(), change.id, 1).expect(200)
    expect(body).toMatchObject({
      payout_address: OLD,
      pending_payout_change: { is_signed: true, is_approved: true, activates_at: new Date(at.ms + 24 * HOUR).toISOString() },
    })
    at.ms += 24 * HOUR - 1
    await activate()
    expect((await me(stolen(token))).body.payout_address).toBe(OLD)
    await decide(stolen(token), change.id, 'cancel').expect(200)
    at.ms += 48 * HOUR
    await activate()
    expect((await me(stolen(token))).body).toMatchObject({ payout_address: OLD, pending_payout_change: null })
  })

  test('the approval of the other stands for a signature that a contract cannot give; that of who asked for it, or of a session that is not fresh, does not', async () => {
    const { token, merchant, partner } = await requested()
    const next = Wallet.createRandom()
    const change = (await patch(fresh(token), next.address).expect(200)).body.pending_payout_change
    expect(change.activates_at).toBe(new Date(at.ms + 48 * HOUR).toISOString())
    expect((await approve(fresh(token), change.id).expect(409)).body.code).toBe('invalid_state')
    const old = system.identity.sign({ sub: claimsOf(partner()).sub, amr: [{ method: 'password', timestamp: at.ms / 1000 - 3600 }] })
    expect((await approve(old, change.id).expect(403)).body.code).toBe('fresh_login_required')
    const { body } = await approve(partner(), change.id, 1).expect(200)
    expect(body).toMatchObject({
      payout_address: OLD,
      pending_payout_change: { is_signed: false, is_approved: true, activates_at: new Date(at.ms + 24 * HOUR).toISOString() },
    })
    at.ms += 24 * HOUR
    await activate()
    expect((await me(fresh(token))).body).toMatchObject({ payout_address: next.address, pending_payout_change: null })
    expect(new Set(await published(merchant.id))).toEqual(new Set([OLD, next.address]))
    await approve(partner(), change.id).expect(404)
  })

  test('a stolen fresh session cannot make the owner who approves: what makes one waits, and so does money after it', async () => {
    const { partner, change, next } = await requested(25)
    const { body } = await approve(partner(), change.id).expect(200)
    expect(body).toMatchObject({ payout_address: OLD, pending_payout_change: { is_signed: true, is_approved: true } })
    at.ms += 46 * HOUR
    await activate()
    expect((await me(partner())).body.payout_address).toBe(OLD)
    at.ms += HOUR
    await activate()
    expect((await me(partner())).body.payout_address).toBe(next.address)
  })

  test('who has been an owner for less time than a change waits does not approve', async () => {
    const { partner, change } = await requested(23)
    expect((await approve(partner(), change.id).expect(409)).body.code).toBe('invalid_state')
  })

  test('approval, cancellation and the removal of who approves at one moment leave one outcome that all replicas show', async () => {
    const { token, merchant, partner, change } = await requested()
    const { body } = await request(system.url)
      .get('/api/v1/merchants/me/members')
      .set(bearer(fresh(token)))
    const { id } = body.data.find(({ user_id }: { user_id: string }) => user_id === claimsOf(partner()).sub)
    const remove = request(urlOf(1))
      .delete(`/api/v1/merchants/me/members/${id}`)
      .set(bearer(fresh(token)))
    const answers = await Promise.all([approve(partner(), change.id), decide(fresh(token), change.id, 'cancel', {}, 1), remove])
    for (const { status } of answers) expect([200, 202, 403, 404]).toContain(status)
    const shown = await Promise.all([0, 1].map(async replica => (await me(fresh(token), replica)).body))
    expect(shown[0]).toEqual(shown[1])
    expect(shown[0]).toMatchObject({ pending_payout_change: null, payout_address: OLD })
    expect(new Set(await published(merchant.id))).toEqual(new Set([OLD]))
  })
})

test('without delays and freshness, as a deployment may choose, a change is in force at once', async () => {
  const open = await startGateway({
    FRESH_LOGIN_S: '0',
    PAYOUT_DELAY_S: '0',
    PAYOUT_UNSIGNED_DELAY_S: '0',
    OWNER_DELAY_S: '0',
    PAYOUT_HOLD_S: '0',
  })
  try {
    const { token } = await newMerchant(open, { display_name: 'Padaria', payout_address: OLD })
    const next = Wallet.createRandom().address
    const old = open.identity.sign({ sub: claimsOf(token).sub, amr: undefined })
    const { body } = await request(open.url).patch('/api/v1/merchants/me').set(bearer(old)).send({ payout_address: next }).expect(200)
    expect(body).toMatchObject({ payout_address: next, pending_payout_change: null })
    // Judged all the same.
    const name = (own: string) =>
      request(open.url)
        .patch('/api/v1/merchants/me')
        .set(bearer(old))
        .send({ payout_addresses: { 137: own } })
    expect((await name(OLD).expect(200)).body).toMatchObject({ payout_addresses: { 137: OLD }, pending_payout_change: null })
    open.owners.orders.answers((_req, res) => void res.status(422).json({ code: 'payout_address_refused', detail: 'No code there.' }))
    await name(Wallet.createRandom().address).expect(422)
    expect((await request(open.url).get('/api/v1/merchants/me').set(bearer(old))).body.payout_addresses).toEqual({ 137: OLD })
  } finally {
    await open.stop()
  }
})

test('setting the address in force again withdraws the change that waits, with its row in the audit log', async () => {
  const { token, merchant } = await paid()
  await patch(token, Wallet.createRandom().address).expect(200)
  const { body } = await patch(fresh(token), OLD).expect(200)
  expect(body).toMatchObject({ payout_address: OLD, pending_payout_change: null })
  const { rows } = await system.sql.query('SELECT action, changed FROM audit_log WHERE merchant_id = $1 ORDER BY id DESC LIMIT 1', [
    merchant.id,
  ])
  expect(rows).toEqual([{ action: 'merchant.update', changed: ['pending_payout_change'] }])
  at.ms += 49 * HOUR
  await activate()
  expect((await me(fresh(token))).body.payout_address).toBe(OLD)
})

describe('an address for one network', () => {
  const name = (token: string, own: object, more: object = {}) =>
    request(system.url)
      .patch('/api/v1/merchants/me')
      .set(bearer(token))
      .send({ payout_addresses: own, ...more })
  const events = async (merchantId: string) => {
    const { rows } = await system.sql.query(
      "SELECT body FROM outbox WHERE type = 'merchant.updated' AND body LIKE $1 ORDER BY created_at, id",
      [`%${merchantId}%`],
    )
    return rows.map(row => JSON.parse(row.body).data).map(({ payout_address, payout_addresses }) => [payout_address, payout_addresses])
  }
  const asked = () => system.owners.orders.received.map(({ url }) => url)
  const termsSent = async (key: string) => {
    system.owners.orders.received.length = 0
    await request(system.url).get('/api/v1/orders').set(bearer(key)).expect(200)
    return system.owners.orders.received[0]?.caller
  }

  it('waits like any other, and nothing but new orders there follows it', async () => {
    const { token, merchant, apiKey } = await paid()
    const safe = Wallet.createRandom().address
    expect((await name(stolen(token), { 137: safe }).expect(403)).body.code).toBe('fresh_login_required')
    system.owners.orders.received.length = 0
    const { body } = await name(token, { 137: safe.toLowerCase() }).expect(200)
    expect(asked()).toEqual([`/api/v1/payout-addresses/${safe}?chain_id=137`])
    const waits = { chain_id: 137, payout_address: safe, activates_at: new Date(at.ms + 48 * HOUR).toISOString() }
    expect([body.payout_address, body.payout_addresses, body.pending_payout_change]).toMatchObject([OLD, undefined, waits])
    // The release before would put this in force for all networks.
    const { rows } = await system.sql.query('SELECT pending_payout, pending_payout_activates_at FROM merchants WHERE id = $1', [
      merchant.id,
    ])
    expect(rows).toEqual([{ pending_payout: null, pending_payout_activates_at: null }])
    const { body: waiting } = await request(system.url).get('/api/v1/waiting-changes').set(bearer(token)).expect(200)
    expect(waiting.data).toMatchObject([{ type: 'payout_address', chain_id: 137, payout_address: safe, may_cancel: true }])
    expect(await termsSent(apiKey)).not.toHaveProperty('terms.payout_addresses')
    at.ms += 48 * HOUR
    await activate()
    expect((await me(fresh(token), 1)).body).toMatchObject({
      ...{ payout_address: OLD, payout_addresses: { 137: safe }, pending_payout_change: null },
    })
    expect(await events(merchant.id)).toEqual([
      [OLD, undefined],
      [OLD, undefined],
      [OLD, { 137: safe }],
    ])
    expect(await termsSent(apiKey)).toMatchObject({ terms: { payout_address: OLD, payout_addresses: { 137: safe } } })
    const { rows: audit } = await system.sql.query('SELECT action, changed FROM audit_log WHERE merchant_id = $1 ORDER BY id OFFSET 1', [
      merchant.id,
    ])
    expect(audit.slice(0, 2)).toEqual([
      { action: 'merchant.update', changed: ['pending_payout_change'] },
      { action: 'payout_change.activate', changed: ['payout_addresses'] },
    ])
  })

  it('is taken away by null, after the same wait, and then that of all networks is sent', async () => {
    const { token, merchant, apiKey } = await paid()
    const safe = Wallet.createRandom()
    const { body } = await name(token, { 137: safe.address }).expect(200)
    const { id, message } = body.pending_payout_change
    at.ms += 24 * HOUR
    await decide(fresh(token), id, 'sign', { signature: await safe.signMessage(message) }).expect(200)
    expect((await me(fresh(token))).body.payout_addresses).toEqual({ 137: safe.address })
    system.owners.orders.received.length = 0
    const { body: ending } = await name(fresh(token), { 137: null }).expect(200)
    expect(asked()).toEqual([])
    expect(ending).toMatchObject({ payout_addresses: { 137: safe.address }, pending_payout_change: { chain_id: 137, payout_address: OLD } })
    expect((await decide(fresh(token), ending.pending_payout_change.id, 'cancel').expect(200)).body.pending_payout_change).toBeNull()
    await name(fresh(token), { 137: null }).expect(200)
    at.ms += 48 * HOUR
    await activate()
    expect((await me(fresh(token))).body.payout_addresses).toEqual({})
    expect((await events(merchant.id)).at(-1)).toEqual([OLD, {}])
    expect(await termsSent(apiKey)).toMatchObject({ terms: { payout_addresses: {} } })
  })

  it('is one at a time, well-formed, and on a network that orders follow', async () => {
    const { token } = await paid()
    const [one, other] = [Wallet.createRandom().address, Wallet.createRandom().address]
    for (const [own, more] of [
      [{ 137: one, 10: other }, {}],
      [{}, {}],
      [{ 137: one }, { payout_address: other }],
      [{ polygon: one }, {}],
      [{ 137: '0x12' }, {}],
      [{ 137: `${one.slice(0, -1)}${one.endsWith('a') ? 'B' : 'a'}`.replace(/[a-f]/, letter => letter.toUpperCase()) }, {}],
      [{ 137: `0x${'0'.repeat(40)}` }, {}],
    ] as const)
      expect((await name(token, own, more).expect(400)).body.code).toBe('invalid_request')
    system.owners.orders.answers((_req, res) => {
      res.status(400).json({
        code: 'invalid_request',
        detail: 'x',
        errors: [{ path: 'chain_id', message: 'must be of the networks beside the first: 10' }],
      })
    })
    expect((await name(token, { 137: one }).expect(400)).body.errors).toEqual([
      { path: 'payout_addresses', message: 'must be of the networks beside the first: 10' },
    ])
    system.owners.orders.answers((_req, res) => void res.status(422).json({ code: 'payout_address_refused', detail: 'No code there.' }))
    expect((await name(token, { 137: one }).expect(422)).body).toMatchObject({ code: 'payout_address_refused', detail: 'No code there.' })
    system.owners.orders.answers()
    await name(token, { 137: one }).expect(200)
    expect((await name(token, { 10: other }).expect(409)).body.code).toBe('invalid_state')
    expect((await patch(token, other).expect(409)).body.code).toBe('invalid_state')
    expect((await me(token)).body).toMatchObject({ payout_address: OLD, pending_payout_change: { chain_id: 137, payout_address: one } })
    const without = await paid(null)
    expect((await name(without.token, { 137: one }).expect(422)).body.code).toBe('payout_address_required')
  })
})
