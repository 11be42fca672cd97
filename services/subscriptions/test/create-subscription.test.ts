import { subscription } from '@ponte/contracts'
import request from 'supertest'
import { asMerchant, merchantId, runSubscriptions, system } from './setup'

runSubscriptions()

const create = (body: object, headers: Record<string, string> = {}) => system.call('post', '', body, headers)
const count = async () => (await system.sql.query('SELECT count(*)::int AS n FROM subscriptions')).rows[0]?.n

describe('POST /api/v1/subscriptions', () => {
  it('answers 201 with a plan, its defaults and its next charge', async () => {
    const { status, body } = await create({ brl_amount: '49.9', interval: 'month', start_at: '2026-03-31T12:00:00.000Z', max_periods: 12 })
    expect(status).toBe(201)
    expect(subscription.parse(body)).toEqual({
      object: 'subscription',
      livemode: true,
      pause_reason: null,
      ...{ cancel_at: null, cancel_at_period_end: false, max_periods_counts: 'payments', trial_periods: 0, trial_ends_at: null },
      upcoming_notice: 259_200,
      id: body.id,
      status: 'active',
      external_ref: null,
      description: null,
      metadata: {},
      brl_amount: '49.90',
      interval: 'month',
      interval_count: 1,
      timezone: 'America/Sao_Paulo',
      start_at: '2026-03-31T12:00:00.000Z',
      current_period_index: null,
      next_charge_at: '2026-03-31T12:00:00.000Z',
      charges_done: 0,
      max_periods: 12,
      expires_at: null,
      ends_at: null,
      order_expires_in: 86_400,
      paused_at: null,
      retry_after: [86_400, 259_200, 604_800],
      unpaid_periods_max: 3,
      waiting_for: null,
      when_unpaid: 'pause',
      open_order_id: null,
      payer_url: expect.stringMatching(/^http:\/\/127.0.0.1:8080\/pay\/subscription\/[0-9a-f-]{36}$/),
      created_at: '2026-01-31T12:00:00.000Z',
      cancelled_at: null,
      expired_at: null,
    })
    expect(await system.get(body.id)).toEqual({ ...body, charges: [] })
  })

  it('names when it ends by itself, whichever comes first', async () => {
    const plan = { brl_amount: '10', interval: 'month', max_periods: 3 }
    const ends = async (body: object) => (await create({ ...plan, ...body })).body.ends_at
    expect(await ends({})).toBeNull()
    expect(await ends({ max_periods_counts: 'periods' })).toBe('2026-04-30T12:00:00.000Z')
    expect(await ends({ max_periods_counts: 'periods', expires_at: '2026-03-01T00:00:00.000Z' })).toBe('2026-03-01T00:00:00.000Z')
  })

  it('answers 201 with a merchant-driven subscription when there is no interval', async () => {
    const { status, body } = await create({ brl_amount: '10', external_ref: 'SUB-7', description: 'Clube', metadata: { level: 'ouro' } })
    expect([status, body]).toMatchObject([
      201,
      {
        interval: null,
        interval_count: null,
        next_charge_at: null,
        current_period_index: 0,
        order_expires_in: 1_800,
        metadata: { level: 'ouro' },
      },
    ])
  })

  it('issues the first order of a plan that begins now', async () => {
    const { body } = await create({ brl_amount: '10', interval: 'week' })
    await system.idle()
    const now = await system.get(body.id)
    expect(now).toMatchObject({ current_period_index: 0, next_charge_at: '2026-02-07T12:00:00.000Z' })
    expect(now.charges).toMatchObject([
      { period_index: 0, status: 'open', brl_amount: '10.00', orders: [{ id: now.open_order_id, status: 'open' }] },
    ])
  })

  it('bills nothing of what was over before it was created: a start in the past sets the calendar', async () => {
    const { body } = await create({ brl_amount: '10', interval: 'month', start_at: '2025-08-31T12:00:00.000Z' })
    await system.idle()
    const now = await system.get(body.id)
    expect(now).toMatchObject({ current_period_index: 5, next_charge_at: '2026-02-28T12:00:00.000Z' })
    expect(now.charges?.map(({ status }) => status)).toEqual(['open', 'skipped', 'skipped', 'skipped', 'skipped', 'skipped'])
  })

  it('makes one subscription of twenty equal requests at once with one Idempotency-Key', async () => {
    const before = await count()
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({ brl_amount: '12.34' }, { 'Idempotency-Key': 'twenty' })))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(19)
    expect(await count()).toBe((before ?? 0) + 1)
    const other = await create({ brl_amount: '12.35' }, { 'Idempotency-Key': 'twenty' })
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_mismatch'])
    expect((await create({ brl_amount: '1' }, { 'Idempotency-Key': 'a b' })).body).toMatchObject({
      status: 400,
      errors: [{ path: 'Idempotency-Key' }],
    })
  })

  it.each([
    [{}, 'brl_amount'],
    [{ brl_amount: 49.9 }, 'brl_amount'],
    [{ brl_amount: '0' }, 'brl_amount'],
    [{ brl_amount: '1', interval: 'hour' }, 'interval'],
    [{ brl_amount: '1', interval_count: 2 }, 'interval_count'],
    [{ brl_amount: '1', timezone: 'Brasilia' }, 'timezone'],
    [{ brl_amount: '1', timezone: '-03:00' }, 'timezone'],
    [{ brl_amount: '1', expires_at: '2026-01-31T12:00:00.000Z' }, 'expires_at'],
    [{ brl_amount: '1', start_at: '2026-03-01T00:00:00.000Z', expires_at: '2026-02-01T00:00:00.000Z' }, 'expires_at'],
    [{ brl_amount: '1', start_at: '2024-01-01T00:00:00.000Z' }, 'start_at'],
    [{ brl_amount: '1', start_at: '2099-01-01T00:00:00.000Z' }, 'start_at'],
    [{ brl_amount: '1', start_at: '0000-01-01T00:00:00.000Z' }, 'start_at'],
    [{ brl_amount: '1', expires_at: '0000-01-01T00:00:00.000Z' }, 'expires_at'],
    [{ brl_amount: '1', max_periods: -1 }, 'max_periods'],
    [{ brl_amount: '1', external_ref: 'a\0b' }, 'external_ref'],
    [{ brl_amount: '1', surprise: 1 }, 'surprise'],
  ])('refuses %j, naming the field, and changes nothing (invariant 10)', async (body, path) => {
    const before = await count()
    const answer = await create(body)
    expect([answer.status, answer.body.code, answer.body.errors[0].path]).toEqual([400, 'invalid_request', path])
    expect(await count()).toBe(before)
  })

  it('asks for a payout address before it promises to charge', async () => {
    const answer = await create({ brl_amount: '1' }, asMerchant(merchantId, null))
    expect([answer.status, answer.body.code]).toEqual([422, 'payout_address_required'])
  })
})

describe('who may ask', () => {
  const stranger = asMerchant('01981f3c-0000-7000-8000-00000000dead')

  it('refuses a caller without the gateway`s token', async () => {
    expect((await request(system.url()).get('/api/v1/subscriptions')).status).toBe(401)
  })

  it.each([
    ['get', ''],
    ['patch', ''],
    ['post', '/charge'],
    ['post', '/cancel'],
  ] as const)('%s of another merchant`s subscription is 403, of no one`s 404, of nonsense 400 (invariant 8)', async (method, path) => {
    const { id } = await system.create()
    expect((await system.call(method, `/${id}${path}`, {}, stranger)).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await system.call(method, `/01981f3c-0000-7000-8000-000000000099${path}`)).body).toMatchObject({
      status: 404,
      code: 'not_found',
    })
    expect((await system.call(method, `/nonsense${path}`)).body).toMatchObject({ status: 400, code: 'invalid_request' })
  })
})

it('takes the longest plan that can be written, and one that ends in the year 2999', async () => {
  const { status, body } = await create({
    brl_amount: '9999999999.99',
    interval: 'year',
    interval_count: 366,
    max_periods: 100_000,
    expires_at: '2999-12-31T23:59:59.999Z',
  })
  await system.idle()
  expect([status, await system.get(body.id)]).toMatchObject([201, { next_charge_at: '2392-01-31T12:00:00.000Z' }])
})

it('takes a trial of a thousand times 366 years, also by a change: what no date can hold is shown as the end of 2999', async () => {
  const last = '2999-12-31T23:59:59.999Z'
  const far = { interval: 'year', interval_count: 366 }
  const made = await create({ brl_amount: '1', ...far, trial_periods: 1_000, max_periods: 100_000, max_periods_counts: 'periods' })
  expect([made.status, made.body]).toMatchObject([201, { trial_ends_at: last, ends_at: last, next_charge_at: null }])
  const { body } = await create({ brl_amount: '1', interval: 'day', trial_periods: 1_000 })
  expect(await system.call('patch', `/${body.id}`, far)).toMatchObject({ status: 200, body: { trial_ends_at: last } })
  await system.idle()
  expect(await system.get(body.id)).toMatchObject({ trial_ends_at: last, next_charge_at: last })
  const listed = await system.call('get', '?limit=100')
  expect([listed.status, listed.body.data.map(({ id }: { id: string }) => id)]).toEqual([
    200,
    expect.arrayContaining([body.id, made.body.id]),
  ])
  expect(await system.call('patch', `/${body.id}`, { interval_count: 1 })).toMatchObject({ status: 200 })
  expect(await system.call('post', `/${made.body.id}/cancel`, {})).toMatchObject({ status: 200, body: { status: 'cancelled' } })
})

describe('GET /api/v1/subscriptions', () => {
  const merchant = asMerchant('01981f3c-0000-7000-8000-00000000115a')
  const list = async (query = '') => (await system.call('get', `?${query}`, undefined, merchant)).body

  it('lists the caller`s own, newest first, page by page in both directions', async () => {
    const made: string[] = []
    for (let n = 0; n < 5; n += 1) made.unshift((await create({ brl_amount: '1', external_ref: `R-${n % 2}` }, merchant)).body.id)
    const ids = async (query: string) => (await list(query)).data.map((one: { id: string }) => one.id)
    expect(await ids('')).toEqual(made)
    expect(await list('limit=2')).toMatchObject({ object: 'list', has_more: true, data: [{ id: made[0] }, { id: made[1] }] })
    expect(await ids(`limit=2&starting_after=${made[1]}`)).toEqual([made[2], made[3]])
    expect(await ids(`limit=2&ending_before=${made[3]}`)).toEqual([made[1], made[2]])
    expect(await list(`starting_after=${made[3]}`)).toMatchObject({ has_more: false })
    expect(await ids('external_ref=R-1')).toEqual([made[1], made[3]])
    await system.call('post', `/${made[4]}/cancel`, {}, merchant)
    expect(await ids('status=cancelled')).toEqual([made[4]])
    expect(await ids('created_lt=2026-01-31T12:00:00.000Z')).toEqual([])
    expect(await ids('created_gte=2026-01-31T12:00:00.000Z&created_lt=2026-01-31T12:00:00.0001Z&limit=2')).toEqual([made[0], made[1]])
    expect(await ids('created_gte=1970-01-01T00:00:00Z&status=active&external_ref=R-0&created_lt=2999-12-31T23:59:59Z')).toEqual([
      made[0],
      made[2],
    ])
  })

  it('is answered as a file too, by the same filters, without the links of payers and without formulas', async () => {
    await create({ brl_amount: '2', external_ref: 'F-1', description: '=HYPERLINK("https://evil")' }, merchant)
    const { text, headers } = await system.call('get', '.csv?external_ref=F-1', undefined, merchant)
    expect(headers['content-disposition']).toBe('attachment; filename="subscriptions.csv"')
    const [head = '', row = '', ...more] = text.trimEnd().split('\r\n')
    expect(head).toMatch(/^\ufeffid,created_at,status,external_ref,description,brl_amount,/)
    expect(row).toContain(`,active,F-1,"'=HYPERLINK(""https://evil"")",2.00,`)
    expect([more, text.includes('/pay/subscription/')]).toEqual([[], false])
    expect((await system.call('get', '.csv?limit=1', undefined, merchant)).status).toBe(400)
  })

  it.each(['limit=0', 'limit=101', 'status=dead', 'page=2', 'starting_after=x', 'limit=1&limit=2'])('refuses ?%s', async query => {
    expect((await system.call('get', `?${query}`, undefined, merchant)).body).toMatchObject({ status: 400, code: 'invalid_request' })
  })
})
