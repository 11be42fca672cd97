import { until, uuidv7 } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import request from 'supertest'
import { bearer, newMerchant, OWNER_DAYS_MS, SEAL_KEY, settleAccounts, startGateway, type TestGateway } from '../world'
import { joins, logIn, newUser, type User } from '../world/people'
import { messageIdOf, startMailbox, textOf } from './mailbox'

const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }
const OLD = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const ME = '/api/v1/merchants/me'
let mailbox: Awaited<ReturnType<typeof startMailbox>>
let system: TestGateway

beforeAll(async () => {
  mailbox = await startMailbox()
  const env = {
    ...{ SMTP_URL: mailbox.url, MAIL_FROM: 'Ponte <no-reply@ponte.example>', PUBLIC_URL: 'http://127.0.0.1' },
    RATE_LIMIT_CHANGES_PER_MINUTE: '1000',
  }
  system = await startGateway(env, { now: () => new Date(at.ms), replicas: 2 })
})
afterAll(async () => {
  await system.stop()
  await mailbox.stop()
})
beforeEach(() => mailbox.refuse(null))

const tokenOf = (user: User) => logIn(system, user)
const ask = (token: string, method: 'get' | 'post' | 'patch' | 'delete', path = '', body?: object) => {
  const asked = request(system.url)
    [method](path.startsWith('/api/v1') ? path : `${ME}${path}`)
    .set(bearer(token))
  return body ? asked.send(body) : asked
}
/** A merchant whose owner is known by address, as after their first look at it. */
async function owned() {
  const user = newUser()
  const { merchant } = await newMerchant(system, { display_name: 'Padaria Estrela', payout_address: OLD }, user.sub)
  const token = tokenOf(user)
  await ask(token, 'get').expect(200)
  return { ...user, token, merchant }
}
async function colleague(owner: string, role: string) {
  const user = newUser()
  await joins(system, owner, user, role)
  return { ...user, token: tokenOf(user) }
}
const mailsTo = (email: string) => mailbox.received.filter(({ to }) => to === email)
/** Every replica has sent what is due. */
const settled = async () => {
  await until(async () => {
    for (const replica of system.replicas) await replica.idle()
    const { rows } = await system.sql.query('SELECT 1 FROM mails WHERE sent_at IS NULL AND abandoned_at IS NULL AND due_at <= $1', [
      new Date(at.ms),
    ])
    return rows.length === 0
  }, 'Mails that are due were not sent.')
}

test('a change of the payout address reaches all owners before it is in force, and no secret is in any mail', async () => {
  const founder = await owned()
  const made = await colleague(founder.token, 'owner')
  await settled()
  expect(mailsTo(founder.email).map(textOf).join()).toContain('Foi pedida uma troca dos donos')
  at.ms += OWNER_DAYS_MS.delay
  await settleAccounts(system, () => new Date(at.ms))
  at.ms += OWNER_DAYS_MS.hold
  const [owner, second] = [founder, made].map(user => ({ ...user, token: tokenOf(user) })) as [typeof founder, typeof made]
  const viewer = await colleague(owner.token, 'viewer')
  const next = Wallet.createRandom().address
  await ask(owner.token, 'patch', '', { payout_address: next }).expect(200)
  const { body: rotated } = await ask(owner.token, 'post', '/rotate-key').expect(200)
  const { body: named } = await ask(owner.token, 'post', '/api-keys', { name: 'ERP', scopes: ['orders:read'] }).expect(201)
  await settled()
  for (const { email } of [owner, second]) {
    const [mail] = mailsTo(email).filter(one => textOf(one).includes(next))
    if (!mail) throw new Error(`Nothing about the payout address reached ${email}.`)
    expect(textOf(mail)).toContain('Foi pedida uma troca do endereço de recebimento')
    expect(textOf(mail)).toContain(`Por: ${owner.email}`)
    expect(textOf(mail)).toContain('27 de novembro de 2026')
    expect(mail.raw).toMatch(/^Auto-Submitted: auto-generated/m)
  }
  expect(mailsTo(owner.email).map(mail => textOf(mail).split('\n')[0]?.trim())).toEqual(
    expect.arrayContaining(['A chave de API foi trocada.', 'Uma chave de API com nome foi criada.', 'Um colega entrou na equipe.']),
  )
  // A viewer gets the invitation alone.
  expect(mailsTo(viewer.email)).toHaveLength(1)
  const { body: merchant } = await ask(owner.token, 'get').expect(200)
  const texts = mailbox.received.map(textOf).join('\n')
  for (const secret of [rotated.api_key, named.api_key, merchant.webhook_secret]) expect(texts).not.toContain(secret.slice(8))
})

test('another limit of refunds is mailed to the owners, whatever else is changed with it, and so is an approval', async () => {
  const owner = await owned()
  await ask(owner.token, 'patch', '', { refund_approval_above: '500', display_name: 'Outra', webhook_url: 'https://example.com/x' }).expect(
    200,
  )
  await ask(owner.token, 'post', '/api/v1/refunds/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90/approve').expect(201)
  await settled()
  const texts = mailsTo(owner.email).map(textOf)
  const about = texts.find(text => text.startsWith('Mudou o valor acima do qual reembolsos pedem duas pessoas.'))
  expect(about).toContain(`Por: ${owner.email}`)
  for (const name of ['refund_approval_above', 'webhook_url', 'display_name']) expect(about).toContain(name)
  expect(texts.some(text => text.startsWith('Um reembolso foi aprovado por outro membro.'))).toBe(true)
})

test('another tolerance or other networks are mailed to the owners, and another address for mails to the one of before', async () => {
  const owner = await owned()
  await ask(owner.token, 'patch', '', { payment_tolerance: '5' }).expect(200)
  await ask(tokenOf({ ...owner, email: 'thief@ponte.example' }), 'patch', '/mail', { language: 'en' }).expect(200)
  await settled()
  const texts = mailsTo(owner.email).map(textOf)
  expect(texts.some(text => text.startsWith('Mudaram as redes das suas cobranças, ou quanto pode faltar numa delas.'))).toBe(true)
  expect(texts.filter(text => text.includes('mail_address'))).toHaveLength(1)
  expect(mailsTo('thief@ponte.example')).toEqual([])
})

test('a stranger receives ten invitations an hour, however many merchants invite them', async () => {
  const { email } = newUser()
  const owners = await Promise.all(Array.from({ length: 4 }, owned))
  const inviteAll = async (times: number) => {
    for (const owner of owners)
      for (let n = 0; n < times; n++) await ask(tokenOf(owner), 'post', '/invitations', { email, role: 'viewer' }).expect(201)
  }
  await inviteAll(4)
  await settled()
  expect(mailsTo(email)).toHaveLength(10)
  at.ms += 3_600_000
  await inviteAll(1)
  await settled()
  expect(mailsTo(email)).toHaveLength(14)
})

test('an invitation comes by mail, works by its link, and its token stands nowhere once it is sent', async () => {
  const owner = await owned()
  const user = newUser()
  const { body } = await ask(owner.token, 'post', '/invitations', { email: user.email, role: 'finance' }).expect(201)
  const { rows: before } = await system.sql.query('SELECT facts::text FROM mails WHERE id = $1', [body.id])
  expect(JSON.stringify(before)).not.toContain(body.token.slice(4))
  await settled()
  const [mail] = mailsTo(user.email)
  if (!mail) throw new Error('No invitation came.')
  const token = /dashboard\/join#(inv_[0-9a-f]{64})/.exec(textOf(mail))?.[1]
  expect(token).toBe(body.token)
  const { rows } = await system.sql.query('SELECT facts FROM mails WHERE id = $1', [body.id])
  expect(rows).toEqual([{ facts: {} }])
  await ask(tokenOf(user), 'post', '/api/v1/invitations/accept', { token }).expect(200)
})

test('who is removed receives it, and nothing that comes later', async () => {
  const owner = await owned()
  const admin = await colleague(owner.token, 'admin')
  const { body } = await ask(owner.token, 'get', '/members')
  const { id } = body.data.find(({ user_id }: { user_id: string }) => user_id === admin.sub)
  await ask(owner.token, 'delete', `/members/${id}`).expect(200)
  await ask(owner.token, 'post', '/rotate-key').expect(200)
  await settled()
  const subjects = mailsTo(admin.email).map(mail => textOf(mail).split('\n')[0]?.trim())
  expect(subjects).toContain('Um membro foi removido.')
  expect(subjects).not.toContain('A chave de API foi trocada.')
})

test('a member chooses topics and language; an owner always receives what changes the account', async () => {
  const owner = await owned()
  const developer = await colleague(owner.token, 'developer')
  expect((await ask(developer.token, 'get', '/mail').expect(200)).body).toEqual({
    ...{ object: 'mail_preferences', email: developer.email, is_sending: true, language: 'pt' },
    ...{ topics: ['account', 'webhooks'], possible_topics: ['account', 'webhooks', 'payments'], fixed_topics: [] },
  })
  await ask(developer.token, 'patch', '/mail', { topics: [] }).expect(200)
  const { body } = await ask(owner.token, 'patch', '/mail', { topics: [], language: 'en' }).expect(200)
  expect(body).toMatchObject({ language: 'en', topics: ['account'], fixed_topics: ['account'] })
  for (const bad of [{ topics: ['account', 'account'] }, { topics: ['gossip'] }, { language: 'fr' }, { email: 'x@ponte.example' }])
    await ask(owner.token, 'patch', '/mail', bad).expect(400)
  await ask(owner.token, 'post', '/rotate-key').expect(200)
  await settled()
  expect(mailsTo(owner.email).map(mail => textOf(mail).split('\n')[0]?.trim())).toContain('The API key was replaced.')
  expect(mailsTo(developer.email).map(textOf).join()).not.toContain('A chave de API foi trocada')
})

test('a server that is away or answers for a while is asked again under the same Message-ID; a refusal for good ends it', async () => {
  const owner = await owned()
  await settled()
  mailbox.received.length = 0
  mailbox.refuse(450)
  await ask(owner.token, 'post', '/rotate-key').expect(200)
  await settled()
  const waiting = async () =>
    (
      await system.sql.query(
        'SELECT id, attempts, abandoned_at IS NOT NULL AS abandoned FROM mails WHERE address = $1 AND sent_at IS NULL',
        [owner.email],
      )
    ).rows
  const [mail] = await waiting()
  if (!mail) throw new Error('No mail waits.')
  expect(mail).toMatchObject({ attempts: 1, abandoned: false })
  mailbox.refuse(null)
  at.ms += 61_000
  await until(async () => (await waiting()).length === 0, 'The mail was not tried again.')
  expect(mailsTo(owner.email).map(messageIdOf)).toEqual([`<${mail.id}@ponte.example>`])
  mailbox.refuse(550)
  await ask(owner.token, 'post', '/rotate-key').expect(200)
  await settled()
  expect(await waiting()).toMatchObject([{ attempts: 1, abandoned: true }])
})

test('a flood of changes is no flood of mails, and hides no change of the payout address', async () => {
  const owner = await owned()
  for (let n = 0; n < 70; n++) await ask(owner.token, 'post', '/rotate-key').expect(200)
  const { rows } = await system.sql.query("SELECT count(*)::int AS mails FROM mails WHERE address = $1 AND kind = 'key.rotated'", [
    owner.email,
  ])
  expect(rows).toEqual([{ mails: 60 }])
  await ask(owner.token, 'patch', '', { payout_address: Wallet.createRandom().address }).expect(200)
  const { rows: waiting } = await system.sql.query(
    "SELECT kind FROM mails WHERE address = $1 AND kind NOT IN ('key.rotated', 'secret.shown_again')",
    [owner.email],
  )
  expect(waiting).toEqual([{ kind: 'payout.waiting' }])
})

const surplus = (merchantId: string) => {
  const id = uuidv7()
  const order = {
    ...{ id, subscription_id: null, external_ref: 'PED-9', brl_amount: '150.00', usdc_amount: '27.675277', expected: '27.398525' },
    ...{ received: '54.797050', tx_hash: `0x${'5b'.repeat(32)}`, memo: 'a3'.repeat(32), paid_at: new Date(at.ms).toISOString() },
  }
  const data = { merchant_id: merchantId, merchant_version: 1, order }
  const event = { id: uuidv7(), type: 'order.overpaid', occurred_at: new Date(at.ms).toISOString(), data, trace: null }
  return { id: event.id, type: event.type, body: JSON.stringify(event) }
}

test('money that needs attention is a mail to who may settle it, once, however often its event comes', async () => {
  const owner = await owned()
  const finance = await colleague(owner.token, 'finance')
  const developer = await colleague(owner.token, 'developer')
  const message = surplus(owner.merchant.id)
  await Promise.all([system.bus.publish(message), system.bus.publish(message)])
  await system.bus.publish(message)
  await settled()
  for (const { email } of [owner, finance]) {
    const mails = mailsTo(email)
      .map(textOf)
      .filter(text => text.includes('PED-9'))
    expect(mails).toHaveLength(1)
    expect(mails[0]).toContain('Uma cobrança recebeu mais do que pedia')
    expect(mails[0]).toContain('Recebido: 54.797050 USDC')
    expect(mails[0]).toContain('/dashboard/orders/')
  }
  expect(mailsTo(developer.email).map(textOf).join()).not.toContain('PED-9')
})

test('a payment is a mail to who chose it, once, and to no one by default', async () => {
  const owner = await owned()
  const viewer = await colleague(owner.token, 'viewer')
  expect((await ask(viewer.token, 'get', '/mail').expect(200)).body).toMatchObject({ topics: [], possible_topics: ['payments'] })
  await ask(viewer.token, 'patch', '/mail', { topics: ['payments'], language: 'en' }).expect(200)
  const { data } = JSON.parse(surplus(owner.merchant.id).body)
  for (const [type, subscription_id] of [
    ['order.paid', null],
    ['order.paid', uuidv7()],
    ['subscription.charged', uuidv7()],
  ] as const) {
    const order = { ...data.order, id: uuidv7(), subscription_id, external_ref: 'PED-10' }
    const event = { id: uuidv7(), type, occurred_at: new Date(at.ms).toISOString(), trace: null }
    const more = subscription_id === null ? {} : { subscription_id, charges_done: 1 }
    const message = { id: event.id, type, body: JSON.stringify({ ...event, data: { ...data, ...more, order } }) }
    await Promise.all([system.bus.publish(message), system.bus.publish(message)])
  }
  await settled()
  // Neither event names the received amount.
  expect(mailsTo(viewer.email).map(textOf).join()).not.toContain('Received')
  const reported = mailsTo(viewer.email).flatMap(mail => /(An order|A subscription) was paid\./.exec(textOf(mail))?.[0] ?? [])
  expect(reported.sort()).toEqual(['A subscription was paid.', 'An order was paid.'])
  expect(mailsTo(owner.email).map(textOf).join()).not.toContain('PED-10')
})

test('without a server for mail nothing is written, and events are taken all the same', async () => {
  const silent = await startGateway({ SEAL_KEY })
  try {
    await silent.bus.publish(surplus(uuidv7()))
    const { token } = await newMerchant(silent)
    await request(silent.url).post(`${ME}/rotate-key`).set(bearer(token)).expect(200)
    await silent.gateway.idle()
    expect((await silent.sql.query('SELECT 1 FROM mails')).rows).toEqual([])
    expect((await request(silent.url).get(`${ME}/mail`).set(bearer(token)).expect(200)).body.is_sending).toBe(false)
  } finally {
    await silent.stop()
  }
})
