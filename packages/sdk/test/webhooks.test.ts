import { createHmac, randomBytes } from 'node:crypto'
import { webhookType } from '@ponte/contracts'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { dedupeKey, type PonteError, signTestWebhook, verifyStandardWebhook, verifyWebhook } from '../src/index.js'

const SECRET = `whsec_${'5c'.repeat(32)}`
const paid = {
  type: 'order.paid',
  data: {
    id: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90',
    subscription_id: null,
    external_ref: 'INV-7 ação',
    brl_amount: '150.00',
    usdc_amount: '27.675277',
    tx_hash: `0x${'5b'.repeat(32)}`,
    memo: 'a3'.repeat(32),
    paid_at: '2026-11-20T12:00:00.000Z',
  },
}
const body = JSON.stringify(paid)
/** As the specification has it, by another implementation. */
const signed = (text: string | Buffer, secret = SECRET) => createHmac('sha256', secret).update(text).digest('hex')
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: PonteError) => error.code,
  )

describe('verifyWebhook', () => {
  it.each([
    ['a string', body],
    ['a Buffer', Buffer.from(body)],
    ['a part of a larger buffer', Buffer.from(`xx${body}`).subarray(2)],
    ['an ArrayBuffer', new Uint8Array(Buffer.from(body)).buffer],
  ])('takes the raw body as %s', async (_, raw) => {
    expect(await verifyWebhook(raw, signed(body), SECRET)).toEqual(paid)
  })

  it('takes the old and the new secret while one is rotated, and neither afterwards', async () => {
    const [old, next] = ['whsec_old', 'whsec_new']
    expect(await verifyWebhook(body, signed(body, old), [next, old])).toEqual(paid)
    expect(await verifyWebhook(body, signed(body, next), [next, old])).toEqual(paid)
    expect(await codeOf(verifyWebhook(body, signed(body, old), next))).toBe('invalid_signature')
  })

  it.each([
    ['none', null],
    ['an empty one', ''],
    ['one digit less', signed(body).slice(1)],
    ['one more', `${signed(body)}0`],
    ['of another secret', signed(body, 'whsec_other')],
    ['of the body as it is serialised again', signed(JSON.stringify(paid, null, 2))],
    ['no hex', 'g'.repeat(64)],
    ['one beyond ASCII', 'é'.repeat(32)],
  ])('refuses a signature: %s', async (_, signature) => {
    expect(await codeOf(verifyWebhook(body, signature, SECRET))).toBe('invalid_signature')
  })

  it('refuses 200 bodies of which one byte is another', async () => {
    const signature = signed(body)
    const bytes = Buffer.from(body)
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ flip
        expect(await codeOf(verifyWebhook(changed, signature, SECRET))).toBe('invalid_signature')
      }),
      { numRuns: 200 },
    )
  })

  it('refuses a parsed body with advice, and the compiler refuses it before', async () => {
    // @ts-expect-error a parsed body is no raw body
    const promise = verifyWebhook(paid, signed(body), SECRET)
    await expect(promise).rejects.toMatchObject({ code: 'raw_body_required', detail: expect.stringContaining('express.raw') })
    // @ts-expect-error neither is what Express leaves without a parser
    expect(await codeOf(verifyWebhook(undefined, signed(body), SECRET))).toBe('raw_body_required')
  })

  it('asks for the secret when there is none', async () => {
    for (const secret of ['', []]) expect(await codeOf(verifyWebhook(body, signed(body), secret))).toBe('invalid_argument')
  })

  it('gives an event of a kind that came later, and refuses a known one that lacks a field', async () => {
    const later = JSON.stringify({ type: 'order.refunded', data: 7 })
    expect(await verifyWebhook(later, signed(later), SECRET)).toEqual({ type: 'order.refunded', data: 7 })
    for (const wrong of [JSON.stringify({ ...paid, data: { ...paid.data, tx_hash: null } }), 'null', '[]', '{', '{"type":"order.paid"}']) {
      expect(await codeOf(verifyWebhook(wrong, signed(wrong), SECRET))).toBe('malformed_event')
    }
    const inherited = JSON.stringify({ type: 'constructor', data: {} })
    expect(await verifyWebhook(inherited, signed(inherited), SECRET)).toEqual({ type: 'constructor', data: {} })
  })
})

it.each(webhookType.options)('%s is a kind that this version knows', async type => {
  const text = JSON.stringify({ type, data: {} })
  expect(await codeOf(verifyWebhook(text, signed(text), SECRET))).toBe('malformed_event')
})

describe('verifyStandardWebhook', () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const at = new Date()
  const headersOf = (text: string, key = secret, time = at) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(time.getTime() / 1_000)),
    'webhook-signature': new Webhook(key).sign('msg_1', time, text),
    'webhook-sequence': '42',
  })

  it('takes what the public library signs, from headers of any kind', async () => {
    const headers = headersOf(body)
    for (const given of [headers, new Headers(headers), { ...headers, 'Webhook-Id': 'msg_1', 'webhook-id': undefined }]) {
      const { event, id, sequence, timestamp } = await verifyStandardWebhook(body, given, secret)
      expect([event, id, sequence, Math.floor(timestamp.getTime() / 1_000)]).toEqual([paid, 'msg_1', 42, Math.floor(at.getTime() / 1_000)])
    }
  })

  it('takes one of two signatures, and one of two secrets', async () => {
    const other = `whsec_${randomBytes(32).toString('base64')}`
    const both = {
      ...headersOf(body),
      'webhook-signature': `${headersOf(body, other)['webhook-signature']} ${headersOf(body)['webhook-signature']}`,
    }
    expect((await verifyStandardWebhook(body, both, secret)).event).toEqual(paid)
    expect((await verifyStandardWebhook(body, headersOf(body), [other, secret])).event).toEqual(paid)
    expect(await codeOf(verifyStandardWebhook(body, headersOf(body), other))).toBe('invalid_signature')
  })

  it('refuses an attempt that is too old or too early, another id, and a missing header', async () => {
    const later = (s: number) => ({ now: new Date(at.getTime() + s * 1_000) })
    expect(await codeOf(verifyStandardWebhook(body, headersOf(body), secret, later(299)))).toBe('accepted')
    expect(await codeOf(verifyStandardWebhook(body, headersOf(body), secret, later(302)))).toBe('timestamp_out_of_range')
    expect(await codeOf(verifyStandardWebhook(body, headersOf(body), secret, later(-302)))).toBe('timestamp_out_of_range')
    expect(await codeOf(verifyStandardWebhook(body, { ...headersOf(body), 'webhook-id': 'msg_2' }, secret))).toBe('invalid_signature')
    expect(await codeOf(verifyStandardWebhook(body, { ...headersOf(body), 'webhook-id': undefined }, secret))).toBe('invalid_signature')
  })

  it('what signTestWebhook makes is taken by the public library and by both checks', async () => {
    const { body: text, headers } = await signTestWebhook(paid, secret, { format: 'standard', sequence: 3 })
    expect(new Webhook(secret).verify(text, headers)).toEqual(paid)
    expect((await verifyStandardWebhook(text, headers, secret)).sequence).toBe(3)
    expect(await verifyWebhook(text, headers['X-Service-Signature'], secret)).toEqual(paid)
    expect(headers['X-Service-Signature']).toBe(signed(text, secret))
  })
})

describe('dedupeKey', () => {
  it('names type, id and transaction', () => {
    expect(dedupeKey(paid)).toBe(`order.paid:${paid.data.id}:${paid.data.tx_hash}`)
    expect(dedupeKey({ type: 'order.expired', data: { id: 'a', external_ref: null } })).toBe('order.expired:a:')
    expect(dedupeKey({ type: 'later', data: [1] })).toBe('later:[1]')
  })

  it('separates the periods of a subscription', () => {
    const of = (period_index: number) => dedupeKey({ type: 'subscription.upcoming', data: { id: 'a', period_index } })
    expect([of(0), of(1)]).toEqual(['subscription.upcoming:a:0', 'subscription.upcoming:a:1'])
  })

  it('separates the orders that one period of a subscription was issued', () => {
    const of = (order_id: string) => dedupeKey({ type: 'subscription.order_issued', data: { id: 'a', period_index: 3, order_id } })
    expect([of('o1'), of('o2')]).toEqual(['subscription.order_issued:a:o1', 'subscription.order_issued:a:o2'])
  })

  it('separates two orders that one transaction pays, and two payments of one order', () => {
    const of = (id: string, tx_hash: string) => dedupeKey({ type: 'order.underpaid', data: { id, tx_hash } })
    expect(new Set([of('a', '0x1'), of('b', '0x1'), of('a', '0x2'), of('a', '0x1')]).size).toBe(3)
  })
})
