import { randomUUID } from 'node:crypto'
import type { OrderBody, PayerRefundBody, RefundBody, RefundClaimBody, RefundClaimCodeIssued } from '@ponte/contracts'
import { type LocalChain, startLocalChain, testAccounts } from '@ponte/local-servers'
import { silentLogger } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import request from 'supertest'
import { createOrders } from '../src'
import { refundClaimStore } from '../src/store/refund-claims'
import { listener } from './listener'
import { asMerchant, asPayer, merchantId, startOrders } from './setup'

// A claim whose merchant gave a mail address: who names an address of a wallet has the code that was mailed there.

const wallet = new Wallet(testAccounts[2].privateKey)
const EMAIL = 'cliente@example.com'
const MINUTE_MS = 60_000
let local: LocalChain
let system: Awaited<ReturnType<typeof startOrders>>
let chain: ReturnType<typeof listener>
let second: ReturnType<typeof createOrders>
let ahead = 0
beforeAll(async () => {
  local = await startLocalChain()
  const place = { RPC_URLS: local.rpcUrl, TOKEN_ADDRESS: local.usdcAddress, ROUTER_ADDRESS: local.routerAddress }
  const now = () => new Date(Date.now() + ahead)
  system = await startOrders({ ...place, PLATFORM_FEE_BPS: String(local.feeBps) }, { now })
  second = createOrders(system.config, { bus: system.bus, logger: silentLogger, now })
  await second.start()
  chain = listener(system.bus)
})
beforeEach(() => {
  ahead = 0
})
afterAll(async () => {
  await second?.stop()
  await system?.stop()
  await local?.stop()
})

const me = () => asMerchant(merchantId, wallet.address, 'ana')
/** Of two replicas, in turn. */
let turn = 0
const url = () => (turn++ % 2 === 0 ? system.url : `http://127.0.0.1:${second.http.port()}`)
const post = (path: string, body: object = {}, as = me()) => request(url()).post(`/api/v1${path}`).set(as).send(body)
const get = async (path: string, as = me()) => (await request(system.url).get(`/api/v1${path}`).set(as)).body
const refundsOf = async ({ id }: Pick<OrderBody, 'id'>): Promise<RefundBody[]> => (await get(`/orders/${id}/refunds`)).data
const tokenOf = ({ url }: RefundClaimBody) => new URL(url ?? '').pathname.replace('/pay/refund/', '')
const rowOf = async ({ id }: RefundClaimBody) => (await system.sql.query('SELECT * FROM refund_claims WHERE id = $1', [id])).rows[0]

/** A paid order with a link whose payer has a mail address. */
async function asked(email: string | null = EMAIL) {
  const { body: order }: { body: OrderBody } = await post('/orders', { brl_amount: '542.00' })
  const payment = chain.payment(order)
  await chain.report('confirmed', payment)
  const { body: claim, status }: { body: RefundClaimBody; status: number } = await post(`/orders/${order.id}/refund-claims`, {
    reason: 'Paid from an exchange',
    ...(email === null ? {} : { email }),
  })
  expect(status).toBe(201)
  const proof = { tx_hash: payment.tx_hash, amount: payment.amount }
  const path = `/payer/refunds/${tokenOf(claim)}`
  return {
    ...{ order, claim, proof },
    view: (): Promise<PayerRefundBody> => get(path, asPayer()),
    name: (body: object) => post(path, { payee_address: Wallet.createRandom().address, ...proof, ...body }, asPayer()),
    askCode: (body: object = {}) => post(`${path}/code`, body, asPayer()),
    issued: async (): Promise<RefundClaimCodeIssued[]> =>
      (
        await system.sql.query("SELECT body FROM outbox WHERE type = 'refund_claim.code_issued' AND body LIKE $1 ORDER BY id", [
          `%${claim.id}%`,
        ])
      ).rows.map(({ body }) => JSON.parse(String(body)).data),
  }
}
async function mailed(of: Awaited<ReturnType<typeof asked>>) {
  expect((await of.askCode()).status).toBe(202)
  const code = (await of.issued()).at(-1)?.code
  if (!code) throw new Error('No code was issued.')
  return code
}
/** Another code than this one. */
const other = (code: string, by = 1) => String((Number(code) + by) % 1_000_000).padStart(6, '0')
const WRONG = { status: 400, body: { code: 'invalid_request', errors: [{ path: 'code' }] } }

it('takes the address of who has the code, once, and forgets the mail address', async () => {
  const of = await asked()
  expect(of.claim).toMatchObject({ status: 'open', email: EMAIL })
  expect((await get(`/orders/${of.order.id}/refunds`)).claims).toMatchObject([{ email: null, url: null }])
  expect(await of.view()).toMatchObject({ email_hint: 'c…@example.com' })
  expect(JSON.stringify(await of.view())).not.toContain(EMAIL)

  const { body, status } = await of.askCode({ language: 'en' })
  expect([status, body]).toEqual([202, expect.objectContaining({ object: 'payer_refund', email_hint: 'c…@example.com' })])
  expect(Date.parse(body.code_available_at) - Date.now()).toBeGreaterThan(55_000)
  const [event] = await of.issued()
  expect(event).toMatchObject({ claim_id: of.claim.id, merchant_id: merchantId, email: EMAIL, language: 'en', amount: of.claim.amount })
  expect(event?.code).toMatch(/^\d{6}$/)
  expect(JSON.stringify(body)).not.toContain(event?.code)

  expect(await of.name({ code: event?.code })).toMatchObject({ status: 200, body: { status: 'claimed', email_hint: null } })
  expect(await refundsOf(of.order)).toMatchObject([{ status: 'awaiting_signature' }])
  expect(await rowOf(of.claim)).toMatchObject({ email: null, code_hash: null, wants_code: true })
  expect(await of.name({ code: event?.code })).toMatchObject({ body: { code: 'invalid_state' } })
  expect((await of.askCode()).body).toMatchObject({ code: 'invalid_state' })
  expect((await get(`/refund-claims/${of.claim.id}`)).email).toBeNull()
})

it('is of no use to who has the link and knows the payment, and answers the same whatever else is wrong', async () => {
  const of = await asked()
  expect(await of.name({})).toMatchObject(WRONG)
  expect(await of.name({ code: '000000' })).toMatchObject(WRONG)
  const code = await mailed(of)
  const answers = [
    await of.name({}),
    await of.name({ code: other(code) }),
    await of.name({ code: other(code), amount: '1' }),
    await of.name({ code: other(code), payee_address: wallet.address }),
  ]
  const text = ({ body: { request_id, ...body } }: (typeof answers)[number]) => JSON.stringify(body)
  expect(new Set(answers.map(text)).size).toBe(1)
  expect(answers[0]).toMatchObject(WRONG)
  expect(await refundsOf(of.order)).toEqual([])
  // The code itself is still good, and no mail address takes less than code and payment.
  expect(await of.name({ code, amount: '1' })).toMatchObject({ body: { errors: [{ path: 'tx_hash' }] } })
  expect((await of.name({ code })).status).toBe(200)
})

it('of twenty wrong codes at once counts each, and no more than five are compared', async () => {
  const of = await asked()
  const code = await mailed(of)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => of.name({ code: other(code, n + 1) })))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(400))
  expect(await rowOf(of.claim)).toMatchObject({ code_tries: 5 })
  expect(await of.name({ code })).toMatchObject(WRONG)
  expect(await refundsOf(of.order)).toEqual([])
})

it('takes one address of twenty with the right code at once', async () => {
  const of = await asked()
  const code = await mailed(of)
  const answers = await Promise.all(Array.from({ length: 20 }, () => of.name({ code })))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(await refundsOf(of.order)).toHaveLength(1)
})

it('leaves no more than 25 guesses at a claim', async () => {
  const of = await asked()
  let compared = 0
  for (let minute = 0; minute < 7; minute++) {
    ahead = minute * MINUTE_MS
    const { status } = await of.askCode()
    expect(status).toBe(minute < 5 ? 202 : 409)
    const code = (await of.issued()).at(-1)?.code ?? ''
    for (let n = 1; n <= 7; n++) {
      const before = (await rowOf(of.claim))?.code_tries
      expect(await of.name({ code: other(code, n) })).toMatchObject(WRONG)
      compared += Number((await rowOf(of.claim))?.code_tries) - Number(before)
    }
  }
  expect(compared).toBe(25)
  expect(await of.view()).toMatchObject({ status: 'open', code_available_at: null })
  expect(await of.issued()).toHaveLength(5)
})

it('mails one code a minute, however often and by however many it is asked for; the last one is good for a quarter of an hour', async () => {
  const of = await asked()
  const answers = await Promise.all(Array.from({ length: 12 }, () => of.askCode()))
  expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(202))
  const [first, ...more] = await of.issued()
  expect(more).toEqual([])
  ahead = 61_000
  const second = await mailed(of)
  if (second !== first?.code) expect(await of.name({ code: first?.code })).toMatchObject(WRONG)
  ahead = 61_000 + 15 * MINUTE_MS
  expect(await of.name({ code: second })).toMatchObject(WRONG)
  expect((await of.name({ code: await mailed(of) })).status).toBe(200)
})

it('counts a try whose process dies before the address is taken', async () => {
  const of = await asked()
  const code = await mailed(of)
  await system.sql.query(
    'CREATE FUNCTION dies() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION $x$it dies$x$; END $$; CREATE TRIGGER dies BEFORE INSERT ON refunds EXECUTE FUNCTION dies()',
  )
  expect((await of.name({ code })).status).toBeGreaterThanOrEqual(500)
  await system.sql.query('DROP TRIGGER dies ON refunds; DROP FUNCTION dies()')
  expect(await rowOf(of.claim)).toMatchObject({ refund_id: null, email: EMAIL })
  expect(Number((await rowOf(of.claim))?.code_tries)).toBeGreaterThanOrEqual(1)
  expect((await of.name({ code })).status).toBe(200)
})

it('asks for a code although the mail address is gone, and a release before names no address', async () => {
  const of = await asked()
  const code = await mailed(of)
  await system.sql.query('UPDATE refund_claims SET email = NULL WHERE id = $1', [of.claim.id])
  expect(await of.name({})).toMatchObject(WRONG)
  expect(await of.view()).toMatchObject({ email_hint: null, code_available_at: null })
  expect((await of.name({ code })).status).toBe(200)

  const before = await asked()
  const taken = `UPDATE refund_claims SET claimed_at = now(), tx_hash = 'x', refund_id = gen_random_uuid() WHERE id = '${before.claim.id}'`
  await expect(system.sql.query(taken)).rejects.toMatchObject({ code: '23514' })
})

it('forgets the mail address of a claim that was ended or has expired', async () => {
  const ended = await asked()
  await mailed(ended)
  expect((await post(`/refund-claims/${ended.claim.id}/cancel`)).body).toMatchObject({ status: 'cancelled', email: null })
  expect(await rowOf(ended.claim)).toMatchObject({ email: null, code_hash: null })
  expect((await ended.askCode()).body).toMatchObject({ code: 'invalid_state' })
  const [expired, open] = [await asked(), await asked()]
  await system.sql.query("UPDATE refund_claims SET expires_at = now() - interval '1 s' WHERE id = $1", [expired.claim.id])
  await refundClaimStore(system.sql).forget(new Date())
  expect(await rowOf(expired.claim)).toMatchObject({ email: null })
  expect(await rowOf(open.claim)).toMatchObject({ email: EMAIL })
})

it('takes an address without a code where no mail address was given, and refuses what is no address', async () => {
  const of = await asked(null)
  expect(await of.view()).toMatchObject({ email_hint: null, code_available_at: null })
  expect((await of.askCode()).body).toMatchObject({ code: 'invalid_state' })
  expect((await of.name({ code: '123456' })).status).toBe(200)

  for (const email of ['', 'cliente', 'a@b.com\r\nBcc: x@y.com', 'a@b.com,c@d.com', `${'a'.repeat(250)}@example.com`])
    expect((await post(`/orders/${of.order.id}/refund-claims`, { reason: 'x', email })).body).toMatchObject({ errors: [{ path: 'email' }] })
  expect((await post(`/payer/refunds/${randomUUID()}/code`, {}, asPayer())).status).toBe(404)
  expect((await post(`/payer/refunds/${of.claim.id}/code`, {}, asPayer())).status).toBe(404)
  expect((await post(`/payer/refunds/${tokenOf(of.claim)}/code`, { language: 'fr' }, asPayer())).status).toBe(400)
})
