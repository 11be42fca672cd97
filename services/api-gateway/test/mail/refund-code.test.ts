import type { RefundClaimCodeIssued } from '@ponte/contracts'
import { type Logger, until, uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { mailStore } from '../../src/store/mails'
import { bearer, newMerchant, startGateway, type TestGateway } from '../world'
import { startMailbox, textOf } from './mailbox'

// The code that a payer needs to name an address: orders makes it, and the gateway mails it.

const at = { ms: Date.parse('2026-11-28T12:00:00.000Z') }
const MINUTE_MS = 60_000
const logged: string[] = []
const note = (...words: unknown[]) => void logged.push(JSON.stringify(words))
const logger: Logger = { debug: note, info: note, warn: note, error: note, child: () => logger }
let mailbox: Awaited<ReturnType<typeof startMailbox>>
let system: TestGateway

beforeAll(async () => {
  mailbox = await startMailbox()
  const env = { SMTP_URL: mailbox.url, MAIL_FROM: 'Ponte <no-reply@ponte.example>', PUBLIC_URL: 'http://127.0.0.1' }
  system = await startGateway(env, { now: () => new Date(at.ms), replicas: 2, logger })
})
afterAll(async () => {
  await system.stop()
  await mailbox.stop()
})
beforeEach(() => mailbox.refuse(null))

let payers = 0
function issued(more: Partial<RefundClaimCodeIssued> = {}) {
  payers += 1
  const data: RefundClaimCodeIssued = {
    ...{ merchant_id: uuidv7(), order_id: uuidv7(), claim_id: uuidv7(), merchant_name: 'Padaria Estrela', amount: '5.000000' },
    ...{ email: `payer-${payers}@shop.example`, language: 'pt', code: '048213' },
    expires_at: new Date(at.ms + 15 * MINUTE_MS).toISOString(),
    ...more,
  }
  const event = { id: uuidv7(), type: 'refund_claim.code_issued', occurred_at: new Date(at.ms).toISOString(), data, trace: null }
  return { data, message: { id: event.id, type: event.type, body: JSON.stringify(event) } }
}
const mailsTo = (email: string) => mailbox.received.filter(({ to }) => to === email)
const rowsOf = async (email: string) => (await system.sql.query('SELECT * FROM mails WHERE address = $1', [email])).rows
const settled = () =>
  until(async () => {
    for (const replica of system.replicas) await replica.idle()
    const { rows } = await system.sql.query('SELECT 1 FROM mails WHERE sent_at IS NULL AND abandoned_at IS NULL AND due_at <= $1', [
      new Date(at.ms),
    ])
    return rows.length === 0
  }, 'Mails that are due were not sent.')

test.each([
  ['pt', 'Seu código para receber uma devolução', 'Se você não pediu este código'],
  ['en', 'Your code for a refund', 'If you did not ask for this code'],
])('it is one mail to the payer, in the language of the page (%s), however often its event comes', async (language, subject, ignore) => {
  const { data, message } = issued({ language })
  await Promise.all([system.bus.publish(message), system.bus.publish(message)])
  await system.bus.publish(message)
  await settled()
  const [mail, ...more] = mailsTo(data.email)
  if (!mail) throw new Error('No mail came.')
  expect(more).toEqual([])
  for (const part of [subject, 'Padaria Estrela', '5.000000', '048213', ignore]) expect(textOf(mail)).toContain(part)
  // Neither a link, nor what is for members.
  expect(textOf(mail)).not.toMatch(/https?:|dashboard|painel|membro|member/)
  expect(mail.raw.split('\r\n\r\n')[0]).not.toContain('048213')
})

test('the code stands nowhere in the database but sealed, nowhere once it is sent, and in no log', async () => {
  mailbox.refuse(450)
  const { data, message } = issued({ code: '739154' })
  await system.bus.publish(message)
  await settled()
  expect(JSON.stringify(await rowsOf(data.email))).not.toContain('739154')
  expect(await rowsOf(data.email)).toMatchObject([{ kind: 'refund_claim.code', facts: { sealed_code: expect.stringMatching(/^v/) } }])
  mailbox.refuse(null)
  at.ms += 61_000
  await until(async () => (await rowsOf(data.email))[0]?.sent_at !== null, 'It was not sent.')
  expect(textOf(mailsTo(data.email)[0] ?? { to: '', raw: '' })).toContain('739154')
  expect(await rowsOf(data.email)).toMatchObject([{ facts: {} }])
  for (const secret of ['739154', data.email]) expect(logged.join('\n')).not.toContain(secret)
})

test('it is not mailed once it has expired: neither its event, nor a mail that waited for the server', async () => {
  const late = issued({ expires_at: new Date(at.ms).toISOString() })
  await system.bus.publish(late.message)
  mailbox.refuse(450)
  const waiting = issued()
  await system.bus.publish(waiting.message)
  await settled()
  expect(await rowsOf(late.data.email)).toEqual([])
  mailbox.refuse(null)
  at.ms += 16 * MINUTE_MS
  await until(async () => (await rowsOf(waiting.data.email))[0]?.abandoned_at !== null, 'It was not given up.')
  expect(await rowsOf(waiting.data.email)).toMatchObject([{ facts: {}, sent_at: null }])
  expect([...mailsTo(late.data.email), ...mailsTo(waiting.data.email)]).toEqual([])
})

test('a merchant floods no address and no hundred of them, and the address is gone after a day', async () => {
  const merchant_id = uuidv7()
  const email = 'stranger@example.com'
  for (let n = 0; n < 15; n++) await system.bus.publish(issued({ merchant_id, email }).message)
  for (let n = 0; n < 60; n++) await system.bus.publish(issued({ merchant_id }).message)
  await settled()
  expect(await rowsOf(email)).toHaveLength(10)
  const { rows } = await system.sql.query('SELECT 1 FROM mails WHERE merchant_id = $1', [merchant_id])
  expect(rows).toHaveLength(60)
  const other = issued({ email })
  await system.bus.publish(other.message)
  await settled()
  expect(await rowsOf(email)).toHaveLength(11)

  const { forget } = mailStore(system.sql, { now: () => new Date(at.ms + 23 * 60 * MINUTE_MS) })
  await forget()
  expect(await rowsOf(email)).toHaveLength(11)
  await mailStore(system.sql, { now: () => new Date(at.ms + 25 * 60 * MINUTE_MS) }).forget()
  expect(await rowsOf(email)).toEqual([])
})

const CLAIMS = `/api/v1/orders/${uuidv7()}/refund-claims`
const code = `/api/v1/payer/refunds/${uuidv7()}/code`

test('a link with a mail address is made, and its record names the field and not the address', async () => {
  const { apiKey, token } = await newMerchant(system)
  await request(system.url).post(CLAIMS).set(bearer(apiKey)).send({ reason: 'x', email: 'cliente@example.com' }).expect(201)
  await request(system.url).post(code).send({}).expect(201)
  const { body } = await request(system.url).get('/api/v1/merchants/me/audit').set(bearer(token)).expect(200)
  expect(body.data).toContainEqual(expect.objectContaining({ action: 'refund_claim.create', changed: ['reason', 'email'] }))
  expect(JSON.stringify(body)).not.toContain('cliente@example.com')
})

test('without a server for mail a link with a mail address is refused before anything is made, and one without is not', async () => {
  const silent = await startGateway()
  try {
    const { apiKey, token } = await newMerchant(silent)
    const { body } = await request(silent.url).post(CLAIMS).set(bearer(apiKey)).send({ reason: 'x', email: 'c@example.com' }).expect(400)
    expect(body).toMatchObject({ code: 'invalid_request', errors: [{ path: 'email', message: expect.stringContaining('sends no mail') }] })
    expect((await request(silent.url).post(code).send({}).expect(409)).body).toMatchObject({ code: 'invalid_state' })
    expect(silent.owners.orders.received).toEqual([])
    expect((await request(silent.url).get('/api/v1/merchants/me/audit').set(bearer(token))).body.data).toHaveLength(1)
    await request(silent.url).post(CLAIMS).set(bearer(apiKey)).send({ reason: 'x' }).expect(201)
    await silent.bus.publish(issued().message)
    await silent.gateway.idle()
    expect((await silent.sql.query('SELECT 1 FROM mails')).rows).toEqual([])
  } finally {
    await silent.stop()
  }
})
