import { type ErrorCode, errorTable, type OrderBody } from '@ponte/contracts'
import { signCaller, uuidv7 } from '@ponte/service-kit'
import fc from 'fast-check'
import request, { type Test } from 'supertest'
import { chain, runOrders, system } from './run-orders'
import { asMerchant, TOKEN_SECRET } from './setup'

const RUNS = Number(process.env.PONTE_FUZZ_RUNS ?? 150)
let ahead = 0
const now = () => new Date(Date.now() + ahead)
let made: Record<'pending' | 'paid' | 'confirming' | 'underpaid' | 'expired' | 'foreign', OrderBody>

runOrders({ RATE_REFRESH_MS: '3600000' }, { now })
beforeAll(async () => {
  const create = async (merchant?: string): Promise<OrderBody> =>
    (await post('/api/v1/orders', { brl_amount: '10' }, asMerchant(merchant))).body
  made = {
    ...{ expired: await create(), pending: await create(), paid: await create(), confirming: await create(), underpaid: await create() },
    foreign: await create(uuidv7()),
  }
  await system.sql.query("UPDATE orders SET status = 'expired', expired_at = now() WHERE id = $1", [made.expired.id])
  await chain.report('confirmed', chain.payment(made.paid))
  await chain.report('detected', chain.payment(made.confirming))
  await chain.report('confirmed', chain.payment(made.underpaid, { gross: 20_000n }))
  await post('/api/v1/orders', { brl_amount: '10' }, { ...asMerchant(), 'Idempotency-Key': 'taken' })
})

const post = (path: string, body: object | string | undefined, headers: Record<string, string> = asMerchant()): Test =>
  request(system.url).post(path).set(headers).send(body)
const get = (path: string, headers: Record<string, string> = asMerchant()): Test => request(system.url).get(path).set(headers)
const token = (claims: object, options: Partial<{ secrets: string[]; audience: string }> = {}) => ({
  Authorization: `Bearer ${signCaller(claims, { secrets: [TOKEN_SECRET], audience: 'orders', ...options })}`,
})
const checkout = () => token({ kind: 'checkout' })
const terms = { merchant_id: uuidv7(), version: 1, display_name: 'x', payout_address: null }

/** Everything that a request could change. */
const everything = async () =>
  (
    await system.sql.query(`SELECT (SELECT count(*) FROM orders)::int AS orders, (SELECT sum(version) FROM orders)::int AS versions,
      (SELECT count(*) FROM outbox WHERE type NOT IN ('deposit.watch', 'chain.followed'))::int AS published, (SELECT count(*) FROM idempotency_keys)::int AS keys`)
  ).rows[0]

const cases: [what: string, code: ErrorCode, ask: () => Test, path?: string][] = [
  ['no token', 'missing_authorization', () => get('/api/v1/orders', {})],
  ['another scheme', 'missing_authorization', () => get('/api/v1/orders', { Authorization: 'Basic abc' })],
  ['a token of another secret', 'invalid_jwt', () => get('/api/v1/orders', token({ kind: 'checkout' }, { secrets: ['x'.repeat(32)] }))],
  ['a token for another owner', 'invalid_jwt', () => get('/api/v1/orders', token({ kind: 'checkout' }, { audience: 'subscriptions' }))],
  ['a token that names no one', 'invalid_jwt', () => get('/api/v1/orders', token({ kind: 'operator' }))],
  ['a payer who lists', 'forbidden', () => get('/api/v1/orders', checkout())],
  ['a payer who creates', 'forbidden', () => post('/api/v1/orders', { brl_amount: '1' }, checkout())],
  ['a payer who reads an order', 'forbidden', () => get(`/api/v1/orders/${made.pending.id}`, checkout())],
  ['another merchant’s order', 'forbidden', () => get(`/api/v1/orders/${made.foreign.id}`)],
  ['cancelling another merchant’s order', 'forbidden', () => post(`/api/v1/orders/${made.foreign.id}/cancel`, {})],
  ['an order that no one has', 'not_found', () => get(`/api/v1/orders/${uuidv7()}`)],
  ['cancelling an order that no one has', 'not_found', () => post(`/api/v1/orders/${uuidv7()}/cancel`, undefined)],
  ['a checkout that no one has', 'not_found', () => get(`/api/v1/checkout/${uuidv7()}`, checkout())],
  ['a route that is none', 'not_found', () => get('/api/v1/nothing')],
  ['a method that is none', 'not_found', () => request(system.url).delete('/api/v1/orders').set(asMerchant())],
  ['an id that is none', 'invalid_request', () => get('/api/v1/orders/7'), 'id'],
  ['an id with NUL', 'invalid_request', () => get('/api/v1/orders/%00'), 'id'],
  ['a path that cannot be decoded', 'invalid_request', () => get('/api/v1/orders/%E0%A4%A')],
  ['a query on an order', 'invalid_request', () => get(`/api/v1/orders/${made.pending.id}?expand=payments`), 'expand'],
  ['a query on a creation', 'invalid_request', () => post('/api/v1/orders?dry=1', { brl_amount: '1' }), 'dry'],
  ['an unknown query parameter', 'invalid_request', () => get('/api/v1/orders?offset=3'), 'offset'],
  ['a limit of 0', 'invalid_request', () => get('/api/v1/orders?limit=0'), 'limit'],
  ['a limit of 101', 'invalid_request', () => get('/api/v1/orders?limit=101'), 'limit'],
  ['a limit twice', 'invalid_request', () => get('/api/v1/orders?limit=1&limit=2'), 'limit'],
  ['a status that is none', 'invalid_request', () => get('/api/v1/orders?status=settled'), 'status'],
  ['a time that is none', 'invalid_request', () => get('/api/v1/orders?created_gte=yesterday'), 'created_gte'],
  ['both cursors', 'invalid_request', () => get(`/api/v1/orders?starting_after=${uuidv7()}&ending_before=${uuidv7()}`), 'ending_before'],
  ['NUL in a filter', 'invalid_request', () => get('/api/v1/orders?external_ref=a%00b'), 'external_ref'],
  ['no body', 'invalid_request', () => post('/api/v1/orders', undefined), 'brl_amount'],
  ['an amount as a number', 'invalid_request', () => post('/api/v1/orders', { brl_amount: 150 }), 'brl_amount'],
  ['an amount with three decimals', 'invalid_request', () => post('/api/v1/orders', { brl_amount: '1.001' }), 'brl_amount'],
  ['an amount of nothing', 'invalid_request', () => post('/api/v1/orders', { brl_amount: '0.00' }), 'brl_amount'],
  ['an amount too long', 'invalid_request', () => post('/api/v1/orders', { brl_amount: '12345678901' }), 'brl_amount'],
  ['a list instead of an object', 'invalid_request', () => post('/api/v1/orders', [])],
  [
    '21 metadata keys',
    'invalid_request',
    () => post('/api/v1/orders', { brl_amount: '1', metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [n, ''])) }),
    'metadata',
  ],
  [
    'an expiry in the past',
    'invalid_request',
    () => post('/api/v1/orders', { brl_amount: '1', expires_at: '2020-01-01T00:00:00Z' }),
    'expires_at',
  ],
  ['an expiry in eight days', 'invalid_request', () => post('/api/v1/orders', { brl_amount: '1', expires_in: 8 * 86_400 }), 'expires_in'],
  [
    'two expiries',
    'invalid_request',
    () => post('/api/v1/orders', { brl_amount: '1', expires_in: 60, expires_at: '2030-01-01T00:00:00Z' }),
    'expires_at',
  ],
  ['a body with a cancellation', 'invalid_request', () => post(`/api/v1/orders/${made.pending.id}/cancel`, { reason: 'x' }), 'reason'],
  [
    'broken JSON',
    'invalid_request',
    () => post('/api/v1/orders', '{"brl_amount": "1"', { ...asMerchant(), 'Content-Type': 'application/json' }),
  ],
  [
    'a key with a space',
    'invalid_request',
    () => post('/api/v1/orders', { brl_amount: '1' }, { ...asMerchant(), 'Idempotency-Key': 'a b' }),
    'Idempotency-Key',
  ],
  [
    'a key too long',
    'invalid_request',
    () => post('/api/v1/orders', { brl_amount: '1' }, { ...asMerchant(), 'Idempotency-Key': 'k'.repeat(256) }),
    'Idempotency-Key',
  ],
  [
    'a form instead of JSON',
    'unsupported_media_type',
    () => request(system.url).post('/api/v1/orders').set(asMerchant()).type('form').send('brl_amount=1'),
  ],
  ['a body above 64 KiB', 'payload_too_large', () => post('/api/v1/orders', { brl_amount: '1', description: 'x'.repeat(65_536) })],
  [
    'a key used with another body',
    'idempotency_mismatch',
    () => post('/api/v1/orders', { brl_amount: '11' }, { ...asMerchant(), 'Idempotency-Key': 'taken' }),
  ],
  [
    'a merchant without an address',
    'payout_address_required',
    () => post('/api/v1/orders', { brl_amount: '1' }, token({ kind: 'merchant', terms })),
  ],
  ['cancelling a paid order', 'invalid_state', () => post(`/api/v1/orders/${made.paid.id}/cancel`, {})],
  ['cancelling an expired order', 'invalid_state', () => post(`/api/v1/orders/${made.expired.id}/cancel`, {})],
  ['cancelling a confirming order', 'order_has_payments', () => post(`/api/v1/orders/${made.confirming.id}/cancel`, {})],
  ['cancelling an underpaid order', 'order_has_payments', () => post(`/api/v1/orders/${made.underpaid.id}/cancel`, {})],
]

describe('every error has its status, code and words, and changes nothing', () => {
  it.each(cases.map(([what, code, ask, path = null]) => ({ what, code, ask, path })))('$what: $code', async ({ code, ask, path }) => {
    const before = await everything()
    const answer = await ask().set('X-Request-Id', 'request-1234')
    expect([answer.status, answer.body.code]).toEqual([errorTable[code].status, code])
    expect(answer.headers['content-type']).toMatch('application/problem+json')
    expect(answer.body).toMatchObject({
      type: expect.stringContaining(`errors#${code}`),
      title: errorTable[code].title,
      status: answer.status,
      request_id: 'request-1234',
    })
    expect(answer.body.detail.length).toBeGreaterThan(10)
    if (path === null) expect(answer.body.errors?.some((error: { path: string }) => error.path !== '')).toBeFalsy()
    else expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
    expect(await everything()).toEqual(before)
  })

  it('rate_unavailable: fails closed with Retry-After, and a repeated request still gets its answer', async () => {
    const headers = { ...asMerchant(), 'Idempotency-Key': 'before-the-outage' }
    const first = await post('/api/v1/orders', { brl_amount: '77' }, headers)
    ahead = 3_600_000
    try {
      const before = await everything()
      const answer = await post('/api/v1/orders', { brl_amount: '1' })
      expect([answer.status, answer.body.code, Number(answer.headers['retry-after'])]).toEqual([
        503,
        'rate_unavailable',
        expect.any(Number),
      ])
      const replayed = await post('/api/v1/orders', { brl_amount: '77' }, headers)
      expect([replayed.status, replayed.text, replayed.headers['idempotency-replayed']]).toEqual([201, first.text, 'true'])
      const mismatch = await post('/api/v1/orders', { brl_amount: '78' }, headers)
      expect(mismatch.body.code).toBe('idempotency_mismatch')
      expect(await everything()).toEqual(before)
      // Without a rate everything else goes on, so the service stays ready.
      expect((await fetch(`${system.ops}/readyz`)).status).toBe(200)
      expect(await (await fetch(`${system.ops}/metrics`)).text()).toMatch(/ponte_quote_age_seconds\{service="orders"\} \+Inf/)
    } finally {
      ahead = 0
    }
  })
})

const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '\0',
    '\ud800',
    'a\0b',
    '__proto__',
    'constructor',
    '\u202e',
    '١٢',
    "'; DROP TABLE orders; --",
    '%00',
    '🧾'.repeat(300),
    ' 1',
    '1e3',
    'NaN',
  ),
)
const oddValue = fc.oneof(oddText, fc.jsonValue({ maxDepth: 3 }), fc.double(), fc.constant({ toString: 1 }), fc.constant('1'.repeat(400)))
const fields = ['brl_amount', 'external_ref', 'description', 'metadata', 'expires_in', 'expires_at', 'surprise', '__proto__']
const bodies = fc.oneof(
  fc.dictionary(fc.constantFrom(...fields), oddValue).map(body => JSON.stringify(body)),
  fc.record({ brl_amount: oddText, metadata: fc.dictionary(oddText, oddValue) }).map(body => JSON.stringify(body)),
  oddText.map(ref => JSON.stringify({ brl_amount: '1', external_ref: ref, expires_in: 1 })),
  fc.json().map(json => json),
  fc.string({ unit: 'binary' }),
  fc.integer({ min: 1, max: 60_000 }).map(depth => '['.repeat(depth)),
  fc.integer({ min: 1, max: 9_000 }).map(depth => `{"brl_amount":"1","metadata":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`),
  fc.constantFrom(
    '{"metadata":{"__proto__":{"a":"b"}}}',
    '{"brl_amount":"1","__proto__":{"x":1}}',
    '"\\ud800"',
    'null',
    '{"brl_amount":"1","metadata":{"\\u0000":""}}',
  ),
)

describe('whatever is sent is answered with a 4xx and changes nothing (invariant 10)', () => {
  const judged = async (answers: AsyncIterable<{ status: number }>) => {
    const before = await everything()
    const seen = new Map<number, number>()
    for await (const { status } of answers) seen.set(status, (seen.get(status) ?? 0) + 1)
    const strange = [...seen.keys()].filter(status => status < 400 || status >= 500)
    expect(strange).toEqual([])
    expect(await everything()).toEqual(before)
    process.stdout.write(`${RUNS} fuzzed requests: ${JSON.stringify(Object.fromEntries(seen))}\n`)
  }
  const ask = (path: string, init: RequestInit) =>
    fetch(`${system.url}${path}`, init).then(async answer => {
      await answer.arrayBuffer()
      return answer
    })
  const acceptable = (body: string) => {
    try {
      const { brl_amount: amount, ...rest } = JSON.parse(body)
      return /^\d{1,10}(\.\d{1,2})?$/.test(amount) && Object.keys(rest).length < 3
    } catch {
      return false
    }
  }

  it('bodies', () =>
    judged(
      (async function* () {
        for (const body of fc.sample(bodies, RUNS)) {
          // A few of them happen to be fine; those are sent for an order that cannot be.
          const target = acceptable(body) ? `/api/v1/orders/${made.paid.id}/cancel` : '/api/v1/orders'
          yield await ask(target, { method: 'POST', headers: { ...asMerchant(), 'Content-Type': 'application/json' }, body })
        }
      })(),
    ))

  it('queries, ids and headers', () =>
    judged(
      (async function* () {
        const odd = oddText.map(text => encodeURIComponent(text.toWellFormed()))
        for (const [name, value, raw] of fc.sample(
          fc.tuple(
            fc.constantFrom('limit', 'created_gte', 'created_lt', 'memo', 'tx_hash', 'starting_after', 'odd'),
            odd,
            fc.constantFrom('%', '%zz', '%ff', '%C0%80', ''),
          ),
          RUNS,
        )) {
          yield await ask(`/api/v1/orders?${name}=x${value}${raw}`, { headers: asMerchant() })
          yield await ask(`/api/v1/orders/${value}x${raw}`, { headers: asMerchant() })
          yield await ask(`/api/v1/orders/${made.paid.id}/cancel`, {
            method: 'POST',
            headers: { ...asMerchant(), 'Idempotency-Key': `a ${value.slice(0, 30)}` },
          })
        }
      })(),
    ))
})

it('metadata keeps odd but lawful keys as they are, and nothing else changes by them', async () => {
  const body = '{"brl_amount":"1","metadata":{"constructor":"a","toString":"b","🧾":"\u202e"}}'
  const answer = await post('/api/v1/orders', body, { ...asMerchant(), 'Content-Type': 'application/json' })
  expect([answer.status, answer.body.metadata]).toEqual([201, { constructor: 'a', toString: 'b', '🧾': '\u202e' }])
})
