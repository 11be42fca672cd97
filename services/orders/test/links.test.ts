import { randomUUID } from 'node:crypto'
import type { AttentionItemBody, LinkBody, OrderBody, PayerLinkBody } from '@ponte/contracts'
import { type Sql, silentLogger, until, uuidv7 } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import request from 'supertest'
import { fillOrders } from '../bench/many-orders'
import { createOrders } from '../src'
import { closeReplaced } from '../src/link-routes'
import { openStore } from '../src/store'
import { chain, runOrders, system } from './run-orders'
import { asMerchant, asPayer, merchantId, PAYOUT } from './setup'

let second: ReturnType<typeof createOrders>
afterAll(async () => {
  await second.stop()
})
runOrders()
beforeAll(async () => {
  second = createOrders(system.config, { bus: system.bus, logger: silentLogger })
  await second.start()
})

/** Chain time only goes forward, so that orders of each test end later than those before. */
let quoteSeconds = 60
beforeEach(() => {
  quoteSeconds += 2_000
})
const invoice = { kind: 'invoice', brl_amount: '542.00', description: 'Consulting, November', external_ref: 'INV-7' }
const post = (path: string, body: object = {}, as: object = asMerchant(), url = system.url) =>
  request(url)
    .post(`/api/v1${path}`)
    .set(as as Record<string, string>)
    .send(body)
const get = async (path: string, as: object = asMerchant()) =>
  (
    await request(system.url)
      .get(`/api/v1${path}`)
      .set(as as Record<string, string>)
  ).body
const make = async (body: object = {}, as: object = asMerchant()): Promise<LinkBody> => {
  const answer = await post('/links', { ...invoice, quote_seconds: quoteSeconds, ...body }, as)
  expect(answer.status).toBe(201)
  return answer.body
}
const tokenOf = ({ url }: LinkBody) => new URL(url).pathname.replace('/pay/link/', '')
const open = (link: LinkBody, body: object = {}, url = system.url) => post(`/payer/links/${tokenOf(link)}/order`, body, asPayer(), url)
const view = (link: LinkBody): Promise<PayerLinkBody> => get(`/payer/links/${tokenOf(link)}`, asPayer())
const opened = async (link: LinkBody): Promise<OrderBody> => {
  const { body } = await open(link)
  return get(`/orders/${body.order.id}`)
}
const storeOf = () => openStore(system.sql, { now: () => new Date(), latestChainTime: () => new Date(), committed: () => undefined })
const pays = (order: OrderBody, change: object = {}) => chain.report('confirmed', chain.payment(order, change))
const waiting = async (sql: Sql) =>
  Number(
    (await sql.query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'", [])).rows[0]
      ?.count,
  )
const expire = async (order: OrderBody) => {
  await chain.advances(new Date(Date.parse(order.expires_at) + 1))
  await until(async () => (await get(`/orders/${order.id}`)).status === 'expired', 'it did not expire')
}

const actionsOf = async ({ id }: OrderBody) =>
  (await get('/attention?limit=100')).data.find((item: AttentionItemBody) => item.order?.id === id)?.actions

describe('a link', () => {
  it('asks for reais, and is quoted when a payer opens an order on it', async () => {
    const link = await make({ metadata: { seat: '12' }, success_url: 'https://shop.example/done' })
    expect(link).toMatchObject({ object: 'link', status: 'open', brl_amount: '542.00', orders_paid: 0, order_id: null, livemode: false })
    expect(await view(link)).toMatchObject({ object: 'payer_link', status: 'open', merchant_name: 'Padaria Estrela', order: null })
    expect((await get(`/links/${link.id}`)).order_id).toBeNull()

    const { status, body } = await open(link)
    expect([status, body.order.status]).toEqual([200, 'pending'])
    const order: OrderBody = await get(`/orders/${body.order.id}`)
    expect(order).toMatchObject({
      ...{ brl_amount: '542.00', usdc_amount: '100.000000', external_ref: 'INV-7', description: 'Consulting, November' },
      ...{ metadata: { seat: '12' }, success_url: 'https://shop.example/done', subscription_id: null },
    })
    expect(Date.parse(order.expires_at) - Date.parse(order.created_at)).toBe(quoteSeconds * 1_000)
    expect((await system.published(order.id)).map(({ type }) => type)).toEqual([])
  })

  it('of an invoice has one order at most that is open: fifty browsers on two replicas open one', async () => {
    const link = await make()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => open(link, {}, n % 2 === 0 ? system.url : `http://127.0.0.1:${second.http.port()}`)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ body }) => body.order.id)).size).toBe(1)
    const { rows } = await system.sql.query('SELECT count(*)::int AS n FROM link_orders WHERE link_id = $1', [link.id])
    expect(rows).toEqual([{ n: 1 }])
  })

  it('is paid once, and then opens nothing', async () => {
    const link = await make()
    const order = await opened(link)
    await pays(order)
    expect(await get(`/links/${link.id}`)).toMatchObject({ status: 'paid', orders_paid: 1, order_id: order.id })
    const answer = await open(link)
    expect([answer.status, answer.body.status, answer.body.order]).toEqual([
      ...[200, 'paid'],
      { id: order.id, status: 'paid', checkout_url: order.payment.checkout_url, expires_at: order.expires_at },
    ])
  })

  it('opens another order at the rate of its moment once one has ended unpaid', async () => {
    const link = await make()
    const first = await opened(link)
    await expire(first)
    expect(await view(link)).toMatchObject({ status: 'open', order: null })
    const next = await opened(link)
    expect(next.id).not.toBe(first.id)
    expect(await get(`/links/${link.id}`)).toMatchObject({ order_id: next.id })
  })

  it('opens none while money of an order that ended waits for a decision, and that decision pays it', async () => {
    const link = await make()
    const order = await opened(link)
    await expire(order)
    await pays(order, { block_time: new Date(Date.parse(order.expires_at) + 5_000).toISOString() })
    expect(await get(`/links/${link.id}`)).toMatchObject({ status: 'undecided', orders_paid: 0 })
    const refused = await open(link)
    expect([refused.status, refused.body.code]).toEqual([409, 'invalid_state'])
    expect((await post(`/orders/${order.id}/accept`, { reason: 'An hour late' })).status).toBe(200)
    expect(await get(`/links/${link.id}`)).toMatchObject({ status: 'paid', orders_paid: 1 })
  })

  it('opens again once the merchant has handled that money', async () => {
    const link = await make()
    const order = await opened(link)
    await expire(order)
    await pays(order, { block_time: new Date(Date.parse(order.expires_at) + 5_000).toISOString() })
    const { data } = await get('/attention?limit=100')
    const item = data.find((one: { order: OrderBody | null }) => one.order?.id === order.id)
    expect((await post(`/attention/${item.id}/handle`, { facts: item.facts, note: 'Paid back by hand' })).status).toBe(200)
    expect((await opened(link)).id).not.toBe(order.id)
  })

  it('opens none where more has come since the merchant handled what came, from its first sight on', async () => {
    const link = await make()
    const order = await opened(link)
    await expire(order)
    const block_time = new Date(Date.parse(order.expires_at) + 5_000).toISOString()
    await pays(order, { block_time, amount: '3.000000' })
    const { data } = await get('/attention?limit=100')
    const item = data.find((one: { order: OrderBody | null }) => one.order?.id === order.id)
    expect((await post(`/attention/${item.id}/handle`, { facts: item.facts, note: 'Paid back by hand' })).status).toBe(200)
    expect(await view(link)).toMatchObject({ status: 'open' })
    const more = chain.payment(order, { block_time, amount: '4.000000' })
    await chain.report('detected', more)
    expect((await open(link)).status).toBe(409)
    await chain.report('confirmed', more)
    expect(await get(`/links/${link.id}`)).toMatchObject({ status: 'undecided' })
    expect((await open(link)).status).toBe(409)
  })

  it('closes what is open once an order before it is paid after all', async () => {
    const link = await make()
    const first = await opened(link)
    await expire(first)
    const next = await opened(link)
    await pays(first, { block_time: new Date(Date.parse(first.expires_at) + 5_000).toISOString() })
    // The second was opened before the money came.
    expect((await post(`/orders/${first.id}/accept`, { reason: 'Late' })).status).toBe(200)
    await until(async () => (await get(`/orders/${next.id}`)).status === 'cancelled', 'the other order stays open')
    await pays(next)
    expect(await get(`/orders/${next.id}`)).toMatchObject({ status: 'cancelled', exception: 'paid_after_cancel' })
  })

  it('takes no late money as payment of an invoice that another order has paid', async () => {
    const link = await make()
    const first = await opened(link)
    await expire(first)
    const next = await opened(link)
    await pays(next)
    await pays(first, { block_time: new Date(Date.parse(first.expires_at) + 5_000).toISOString() })
    const refused = await post(`/orders/${first.id}/accept`, { reason: 'Late' })
    expect([refused.status, refused.body.code]).toEqual([409, 'invalid_state'])
    expect(await get(`/orders/${first.id}`)).toMatchObject({ status: 'expired', exception: 'paid_late' })
    expect(await actionsOf(first)).toEqual([])
  })

  it('counts no money by hand that would pay an order of an invoice that another order has paid', async () => {
    const merchant = uuidv7()
    const as = asMerchant(merchant, Wallet.createRandom().address)
    const link = await make({}, as)
    const first: OrderBody = await get(`/orders/${(await open(link)).body.order.id}`, as)
    const paid = chain.payment(first, { memo: uuidv7().replaceAll('-', '').padEnd(64, '0') })
    await chain.advances(new Date(Date.parse(first.expires_at) + 1))
    await until(async () => (await get(`/orders/${first.id}`, as)).status === 'expired', 'it did not expire')
    await pays(await get(`/orders/${(await open(link)).body.order.id}`, as))
    await chain.report('confirmed', paid)
    const [item] = (await get('/attention', as)).data.filter(({ payment }: AttentionItemBody) => payment !== null)
    const refused = await post(`/attention/${item?.id}/attach`, { order_id: first.id, reason: 'Typed wrong' }, as)
    expect([refused.status, refused.body.code]).toEqual([409, 'invalid_state'])
    expect(await get(`/links/${link.id}`, as)).toMatchObject({ status: 'paid', orders_paid: 1 })
  })

  it('offers acceptance of late money for as long as none of it goes back', async () => {
    const order = await opened(await make())
    await expire(order)
    await pays(order, { block_time: new Date(Date.parse(order.expires_at) + 5_000).toISOString() })
    expect(await actionsOf(order)).toEqual(['accept'])
    const refund = await post(`/orders/${order.id}/refunds`, { payee_address: Wallet.createRandom().address, reason: 'Late' })
    expect(refund.status).toBe(201)
    expect(await actionsOf(order)).toEqual([])
    expect((await post(`/orders/${order.id}/accept`, { reason: 'Late' })).status).toBe(409)
    expect((await post(`/refunds/${refund.body.id}/cancel`)).status).toBe(200)
    expect(await actionsOf(order)).toEqual(['accept'])
  })

  it('is paid by one of two orders that are accepted at once, however old they are', async () => {
    const link = await make()
    const side = await make()
    const both = [await opened(link), await opened(side)]
    await Promise.all(both.map(expire))
    for (const order of both) await pays(order, { block_time: new Date(Date.parse(order.expires_at) + 5_000).toISOString() })
    await system.sql.query('UPDATE link_orders SET link_id = $1 WHERE order_id = $2', [link.id, both[1]?.id])
    const urls = [system.url, `http://127.0.0.1:${second.http.port()}`]
    const answers = await Promise.all(both.map(({ id }, n) => post(`/orders/${id}/accept`, { reason: 'Late' }, asMerchant(), urls[n])))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await get(`/links/${link.id}`)).toMatchObject({ status: 'paid', orders_paid: 1 })
  })

  it('is paid by one of two orders where one is accepted while money is counted by hand for the other, however old they are', async () => {
    const as = asMerchant(uuidv7(), Wallet.createRandom().address)
    const [link, side] = [await make({}, as), await make({}, as)]
    const read = (id: string): Promise<OrderBody> => get(`/orders/${id}`, as)
    const [counted, accepted] = [await read((await open(link)).body.order.id), await read((await open(side)).body.order.id)]
    const stray = chain.payment(counted, { memo: uuidv7().replaceAll('-', '').padEnd(64, '0') })
    const ended = new Date(Date.parse(accepted.expires_at) + 1)
    await chain.advances(ended)
    for (const { id } of [counted, accepted]) await until(async () => (await read(id)).status === 'expired', 'it did not expire')
    await pays(accepted, { block_time: new Date(ended.getTime() + 5_000).toISOString() })
    await chain.report('confirmed', stray)
    await system.sql.query('UPDATE link_orders SET link_id = $1 WHERE order_id = $2', [link.id, accepted.id])
    const [item] = (await get('/attention', as)).data.filter(({ payment }: AttentionItemBody) => payment !== null)
    let answers: Promise<{ status: number }[]> = Promise.resolve([])
    await system.sql.transaction(async sql => {
      await sql.query('SELECT FROM chain_cursors FOR UPDATE')
      const attaching = post(`/attention/${item?.id}/attach`, { order_id: counted.id, reason: 'Typed wrong' }, as).then(answer => answer)
      await until(async () => (await waiting(sql)) === 1, 'the payment is not about to be counted')
      const accepting = post(`/orders/${accepted.id}/accept`, { reason: 'Late' }, as, `http://127.0.0.1:${second.http.port()}`).then(
        answer => answer,
      )
      answers = Promise.all([attaching, accepting])
      await Promise.race([accepting, until(async () => (await waiting(sql)) === 2, 'neither answered nor waiting')])
    })
    expect((await answers).map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await get(`/links/${link.id}`, as)).toMatchObject({ status: 'paid', orders_paid: 1 })
  })

  it('that two orders have paid keeps the one that was paid first; the other is a duplicate to return, and what was published stands', async () => {
    const merchant = uuidv7()
    const as = asMerchant(merchant, PAYOUT)
    const [link, side] = [await make({}, as), await make({}, as)]
    const read = (id: string): Promise<OrderBody> => get(`/orders/${id}`, as)
    const [twice, standing] = [await read((await open(link)).body.order.id), await read((await open(side)).body.order.id)]
    for (const order of [standing, twice]) {
      await pays(order)
      await until(async () => (await read(order.id)).status === 'paid', 'it is not paid')
    }
    // As two payments of one moment leave it, before either order is looked at again.
    await system.sql.query('UPDATE link_orders SET link_id = $1 WHERE order_id = $2', [link.id, standing.id])
    const store = storeOf()
    await Promise.all([1, 2, 3].map(() => closeReplaced(store, () => new Date())))
    expect([await read(standing.id), await read(twice.id)]).toMatchObject([
      { status: 'paid', exception: null },
      { status: 'paid', exception: 'duplicate' },
    ])
    const { data } = await get('/attention', as)
    expect(data).toMatchObject([{ reasons: ['duplicate'], gross: '100.000000', left_over: '100.000000', order: { id: twice.id } }])
    const { rows } = await system.sql.query<{ type: string }>('SELECT type FROM outbox WHERE merchant_id = $1 AND strpos(body, $2) > 0', [
      ...[merchant, twice.id],
    ])
    const types = rows.map(({ type }) => type).filter(type => type === 'order.paid' || type === 'order.duplicate')
    expect(types.sort()).toEqual(['order.duplicate', 'order.paid'])
    expect((await open(link)).body.order.id).toBe(standing.id)
    expect(await get(`/links/${link.id}`, as)).toMatchObject({ status: 'paid', orders_paid: 2 })
  })

  it('lets the payer choose within bounds', async () => {
    const link = await make({
      kind: 'reusable',
      brl_amount: undefined,
      brl_amount_min: '5.42',
      brl_amount_max: '54.20',
      external_ref: null,
    })
    expect((await open(link, { brl_amount: '54.21' })).body.errors).toEqual([
      { path: 'brl_amount', message: 'must be chosen between 5.42 and 54.20' },
    ])
    expect((await open(link)).status).toBe(400)
    const [one, other] = [await open(link, { brl_amount: '5.42' }), await open(link, { brl_amount: '54.20' })]
    expect(one.body.order.id).not.toBe(other.body.order.id)
    expect((await get(`/orders/${other.body.order.id}`)).usdc_amount).toBe('10.000000')
    // No payer sees the order of another.
    expect((await view(link)).order).toBeNull()
  })

  it('that is reusable ends with its number of payments', async () => {
    const link = await make({ kind: 'reusable', max_payments: 1 })
    const [first, second] = [await opened(link), await opened(link)]
    await pays(first)
    expect((await open(link)).body.code).toBe('invalid_state')
    // Orders that were open stay so.
    await pays(second)
    expect(await get(`/links/${link.id}`)).toMatchObject({ status: 'paid', orders_paid: 2 })
  })

  it('that is reusable costs a payer the same whatever strangers have opened by it', async () => {
    const merchant = uuidv7()
    const [fresh, crowded] = [await make({ kind: 'reusable' }), await make({ kind: 'reusable' })]
    await fillOrders(system.sql, merchant, 20_000, 864_000)
    await system.sql.query("INSERT INTO link_orders SELECT id, $2::uuid, status = 'paid' FROM orders WHERE merchant_id = $1", [
      merchant,
      crowded.id,
    ])
    const took = async (link: LinkBody) => {
      const begun = performance.now()
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => (n < 15 ? view(link) : opened(link))))
      expect(answers).toHaveLength(20)
      return performance.now() - begun
    }
    await took(fresh)
    expect(await took(crowded)).toBeLessThan(3 * (await took(fresh)) + 300)
    expect((await get(`/links/${crowded.id}`)).orders_paid).toBe(17_980)
  })

  it('counts what is paid, and no longer what the network took back', async () => {
    const link = await make({ kind: 'reusable' })
    const [first, second] = [await opened(link), await opened(link)]
    const payment = chain.payment(first)
    await chain.report('confirmed', payment)
    await pays(second)
    expect((await get(`/links/${link.id}`)).orders_paid).toBe(2)
    await chain.report('orphaned', payment)
    await until(async () => (await get(`/orders/${first.id}`)).status !== 'paid', 'it stays paid')
    expect((await get(`/links/${link.id}`)).orders_paid).toBe(1)
  })

  it('is ended once, by its merchant alone', async () => {
    const link = await make()
    const stranger = asMerchant(uuidv7(), PAYOUT)
    expect((await post(`/links/${link.id}/end`, {}, stranger)).status).toBe(404)
    expect(await get(`/links/${link.id}`, stranger)).toMatchObject({ code: 'not_found' })
    const ended = await post(`/links/${link.id}/end`)
    expect(ended.body).toMatchObject({ status: 'ended', ended_at: expect.any(String) })
    expect((await post(`/links/${link.id}/end`)).body.ended_at).toBe(ended.body.ended_at)
    expect((await open(link)).body).toMatchObject({ code: 'invalid_state' })
    expect((await post('/links/00000000-0000-7000-8000-000000000000/end')).status).toBe(404)
  })

  it('pays to the payout address that the merchant has when an order is opened, and opens none without one', async () => {
    const merchant = uuidv7()
    const link = await make({}, asMerchant(merchant, null))
    expect((await open(link)).body.code).toBe('payout_address_required')
  })

  it('is found by its token alone', async () => {
    expect((await open({ url: `https://x/pay/link/${randomUUID()}` } as LinkBody)).status).toBe(404)
    expect(await get(`/payer/links/${randomUUID()}`, asPayer())).toMatchObject({ code: 'not_found' })
  })
})

it('lists links newest first, by their reference too', async () => {
  const merchant = uuidv7()
  const as = asMerchant(merchant, PAYOUT)
  const made = [await make({ external_ref: 'A' }, as), await make({ external_ref: 'B' }, as), await make({ external_ref: 'A' }, as)]
  const ids = (list: { data: LinkBody[] }) => list.data.map(({ id }) => made.findIndex(link => link.id === id))
  expect(ids(await get('/links', as))).toEqual([2, 1, 0])
  expect(ids(await get('/links?external_ref=A', as))).toEqual([2, 0])
  const page = await get('/links?limit=2', as)
  expect([ids(page), page.has_more]).toEqual([[2, 1], true])
  expect(ids(await get(`/links?starting_after=${page.data[1].id}`, as))).toEqual([0])
  expect((await get('/links')).data.every((link: LinkBody) => !made.some(({ id }) => id === link.id))).toBe(true)
})

it('answers a repeated request with the same link', async () => {
  const key = { 'Idempotency-Key': uuidv7() }
  const as = { ...asMerchant(merchantId, PAYOUT), ...key }
  const [first, again] = [await post('/links', invoice, as), await post('/links', invoice, as)]
  expect([again.status, again.body]).toEqual([201, first.body])
})

describe('the customer of an invoice', () => {
  const ANA = { name: 'Ana Souza', email: 'Ana@Example.com', tax_id: '12345678909', resident: true }
  const ofMerchant = (merchant: string) => asMerchant(merchant, PAYOUT)
  const erase = async (body: object, merchant: string) => (await post('/order-customers/erase', body, ofMerchant(merchant))).body

  it('is shown to the merchant alone, and each order of the link has it', async () => {
    const merchant = uuidv7()
    const link = await make({ customer: { ...ANA, tax_id: '123.456.789-09' } }, ofMerchant(merchant))
    expect(link.customer).toEqual(ANA)
    expect((await get(`/links/${link.id}`, ofMerchant(merchant))).customer).toEqual(ANA)
    expect((await get('/links', ofMerchant(merchant))).data[0].customer).toEqual(ANA)
    const { body } = await open(link)
    const order: OrderBody = await get(`/orders/${body.order.id}`, ofMerchant(merchant))
    expect(order.customer).toEqual(ANA)
    await pays(order)
    const shown = [body, await view(link), await get(`/checkout/${order.id}`, asPayer()), await system.published(order.id)]
    expect(JSON.stringify(shown)).not.toMatch(/Souza|12345678909|example\.com/i)
    expect((await post(`/links/${link.id}/end`, {}, ofMerchant(merchant))).body.customer).toEqual(ANA)
  })

  it('is left out where none is named', async () => {
    for (const customer of [undefined, null, {}, { name: null }]) expect('customer' in (await make({ customer }))).toBe(false)
    expect('customer' in (await make({ kind: 'reusable', customer: {} }))).toBe(false)
  })

  it.each([
    [{ customer: { tax_id: '12345678900' } }, 'customer.tax_id'],
    [{ customer: { email: 'ana' } }, 'customer.email'],
    [{ customer: { cpf: '12345678909' } }, 'customer.cpf'],
    [{ kind: 'reusable', customer: { name: 'Ana' } }, 'customer'],
  ])('refuses %j, naming the field, and makes no link', async (body, path) => {
    const merchant = uuidv7()
    const answer = await post('/links', { ...invoice, ...body }, ofMerchant(merchant))
    expect([answer.status, answer.body.errors?.[0]?.path]).toEqual([400, path])
    expect((await get('/links', ofMerchant(merchant))).data).toEqual([])
  })

  it('is erased from the link and from its orders, changes no sum, and is on no order that is opened later', async () => {
    const merchant = uuidv7()
    const [paid, other] = [
      await make({ customer: ANA }, ofMerchant(merchant)),
      await make({ customer: { email: 'ANA@example.COM' } }, ofMerchant(merchant)),
    ]
    const order: OrderBody = await get(`/orders/${(await open(paid)).body.order.id}`, ofMerchant(merchant))
    await pays(order)
    const books = async () => [
      (await get('/entries?limit=100', ofMerchant(merchant))).data,
      await get('/summary?from=2026-01-01&to=2026-12-31&by=month&timezone=UTC', ofMerchant(merchant)),
    ]
    const before = await books()
    expect(await erase({ tax_id: ANA.tax_id }, uuidv7())).toEqual({ erased: 0, erased_links: 0 })
    expect(await erase({ email: 'ana@example.com' }, merchant)).toEqual({ erased: 1, erased_links: 2 })
    expect(await books()).toEqual(before)
    for (const { id } of [paid, other]) expect('customer' in (await get(`/links/${id}`, ofMerchant(merchant)))).toBe(false)
    expect('customer' in (await get(`/orders/${order.id}`, ofMerchant(merchant)))).toBe(false)
    const later = await get(`/orders/${(await open(other)).body.order.id}`, ofMerchant(merchant))
    expect('customer' in later).toBe(false)
  })

  it('that another replica had read before it was erased stays erased', async () => {
    const merchant = uuidv7()
    const link = await make({ customer: ANA }, ofMerchant(merchant))
    expect(await erase({ tax_id: ANA.tax_id }, merchant)).toEqual({ erased: 0, erased_links: 1 })
    await system.sql.query('INSERT INTO link_customers (link_id, merchant_id, name, tax_id, given_at) VALUES ($1, $2, $3, $4, $5)', [
      ...[link.id, merchant, ANA.name, ANA.tax_id, link.created_at],
    ])
    const order = await get(`/orders/${(await open(link)).body.order.id}`, ofMerchant(merchant))
    expect('customer' in order).toBe(false)
    await storeOf().invoicing.repeatErasures(new Date())
    expect('customer' in (await get(`/links/${link.id}`, ofMerchant(merchant)))).toBe(false)
  })
})

it('lists the orders of a link, in a file too, and those of another merchant never', async () => {
  const merchant = uuidv7()
  const as = asMerchant(merchant, PAYOUT)
  const [link, other] = [await make({ kind: 'reusable' }, as), await make({ kind: 'reusable' }, as)]
  const ids = [(await open(link)).body.order.id, (await open(link)).body.order.id]
  await open(other)
  const listed = async (query: string, of: object = as) => (await get(`/orders?${query}`, of)).data.map(({ id }: OrderBody) => id)
  expect(await listed(`link_id=${link.id}`)).toEqual(ids.toReversed())
  expect(await listed(`link_id=${link.id}&limit=1&starting_after=${ids[1]}`)).toEqual([ids[0]])
  expect(await listed(`link_id=${link.id}&status=paid`)).toEqual([])
  expect(await listed(`link_id=${link.id}&status=pending&limit=1&ending_before=${ids[0]}`)).toEqual([ids[1]])
  expect(await listed(`link_id=${link.id}`, asMerchant(uuidv7(), PAYOUT))).toEqual([])
  const order: OrderBody = await get(`/orders/${ids[0]}`, as)
  await pays(order)
  await until(async () => (await listed(`link_id=${link.id}&status=paid`)).length === 1, 'it is not paid')
  expect(await listed(`link_id=${link.id}&paid_gte=2020-01-01T00:00:00Z`)).toEqual([ids[0]])
  expect(await listed(`link_id=${other.id}&paid_gte=2020-01-01T00:00:00Z`)).toEqual([])
  const file = await request(system.url).get(`/api/v1/orders.csv?link_id=${link.id}`).set(as)
  expect(file.text.trim().split('\r\n')).toHaveLength(3)
  expect((await get('/orders?link_id=x', as)).status).toBe(400)
})
