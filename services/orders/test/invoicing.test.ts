import type { EntryBody, OrderBody } from '@ponte/contracts'
import { uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { openStore } from '../src/store'
import { charge, message } from './listener'
import { chain, runOrders, system } from './run-orders'
import { asMerchant, asPayer, merchantId, PAYOUT } from './setup'

let ahead = 0
const now = () => new Date(Date.now() + ahead)
runOrders({ RATE_REFRESH_MS: '3600000' }, { now })

const ANA = { name: 'Ana Souza', email: 'Ana@Example.com', tax_id: '12345678909', resident: true }
const KEY = '35261112ABC34501DE35550010000000071123456789'
const NFE = { kind: 'nfe', key: KEY }
const headers = (merchant = merchantId) => asMerchant(merchant, PAYOUT, 'ana')
const create = async (body: object = {}, merchant = merchantId): Promise<OrderBody> => {
  const answer = await request(system.url)
    .post('/api/v1/orders')
    .set(headers(merchant))
    .send({ brl_amount: '542.00', ...body })
  expect([answer.status, answer.body.detail]).toEqual([201, undefined])
  return answer.body
}
const read = async (id: string, merchant = merchantId): Promise<OrderBody> =>
  (await request(system.url).get(`/api/v1/orders/${id}`).set(headers(merchant))).body
const patch = (id: string, body: object, merchant = merchantId) =>
  request(system.url).patch(`/api/v1/orders/${id}`).set(headers(merchant)).send(body)
const erase = async (body: object, merchant = merchantId): Promise<number> => {
  const answer = await request(system.url).post('/api/v1/order-customers/erase').set(headers(merchant)).send(body)
  expect(answer.status).toBe(200)
  return answer.body.erased
}
const list = async (query: object, merchant: string): Promise<OrderBody[]> =>
  (await request(system.url).get('/api/v1/orders').query(query).set(headers(merchant))).body.data
const pays = (order: OrderBody) => chain.report('confirmed', chain.payment(order))
const kept = async (id: string) => (await system.sql.query('SELECT * FROM order_customers WHERE order_id = $1', [id])).rows
/** Every word that stands in any row of any table, in any form. */
const stands = async (word: string): Promise<string[]> => {
  const { rows } = await system.sql.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1",
  )
  const found: string[] = []
  for (const { name } of rows) {
    const { rowCount } = await system.sql.query(
      `SELECT FROM ${name} AS row WHERE strpos(lower(to_jsonb(row)::text), lower($1)) > 0 LIMIT 1`,
      [word],
    )
    if (rowCount) found.push(name)
  }
  return found
}

describe('the customer of an order', () => {
  it('is named when the order is made, normalized, and shown to the merchant alone', async () => {
    const order = await create({ customer: { ...ANA, tax_id: '123.456.789-09' } })
    expect(order.customer).toEqual(ANA)
    expect((await read(order.id)).customer).toEqual(ANA)
    expect((await list({ memo: order.memo }, merchantId))[0]?.customer).toEqual(ANA)
    const checkout = await request(system.url).get(`/api/v1/checkout/${order.id}`).set(asPayer())
    expect(JSON.stringify(checkout.body)).not.toMatch(/Souza|12345678909|example/i)
    await pays(order)
    expect(await stands('Souza')).toEqual(['order_customers'])
  })

  it('is no part of an order that names none', async () => {
    for (const body of [{}, { customer: null }, { customer: {} }, { customer: { name: null } }]) {
      const order = await create(body)
      expect('customer' in order || 'fiscal_document' in order).toBe(false)
      expect(await kept(order.id)).toEqual([])
    }
  })

  it('is named, replaced as a whole and erased later, in any state, and stays in every answer about the order', async () => {
    const order = await create()
    expect((await patch(order.id, { customer: ANA })).body.customer).toEqual(ANA)
    const cancelled = await request(system.url).post(`/api/v1/orders/${order.id}/cancel`).set(headers()).send({})
    expect(cancelled.body).toMatchObject({ status: 'cancelled', customer: ANA })
    const company = { name: null, email: null, tax_id: '12ABC34501DE35', resident: null }
    expect((await patch(order.id, { customer: { tax_id: '12.abc.345/01de-35' } })).body.customer).toEqual(company)
    const { body } = await patch(order.id, { customer: null })
    expect([body.status, 'customer' in body]).toEqual(['cancelled', false])
    expect(await kept(order.id)).toEqual([])
  })

  it.each([
    [{ customer: { tax_id: '12345678900' } }, 'customer.tax_id'],
    [{ customer: { tax_id: '111.111.111-11' } }, 'customer.tax_id'],
    [{ customer: { tax_id: 12345678909 } }, 'customer.tax_id'],
    [{ customer: { email: 'ana' } }, 'customer.email'],
    [{ customer: { name: 'a\0b' } }, 'customer.name'],
    [{ customer: { resident: 'yes' } }, 'customer.resident'],
    [{ customer: { cpf: '12345678909' } }, 'customer.cpf'],
    [{ fiscal_document: { kind: 'nfe', key: KEY.replace(/9$/, '8') } }, 'fiscal_document.key'],
    [{ fiscal_document: { kind: 'nfse', key: KEY } }, 'fiscal_document.key'],
    [{ fiscal_document: { kind: 'cte', key: KEY } }, 'fiscal_document.kind'],
    [{}, 'customer'],
  ])('refuses %j, naming the field', async (body, path) => {
    const order = await create()
    const answer = await patch(order.id, body)
    expect([answer.status, answer.body.errors?.[0]?.path]).toEqual([400, path])
    expect(JSON.stringify(answer.body)).not.toContain('1234567890')
    expect('customer' in (await read(order.id))).toBe(false)
  })

  it('is of its merchant: another one neither names nor reads nor erases it', async () => {
    const order = await create({ customer: ANA })
    const stranger = uuidv7()
    expect((await patch(order.id, { customer: null }, stranger)).status).toBe(403)
    expect((await patch(uuidv7(), { customer: null })).status).toBe(404)
    expect(await erase({ tax_id: ANA.tax_id }, stranger)).toBe(0)
    expect((await read(order.id)).customer).toEqual(ANA)
    expect((await request(system.url).patch(`/api/v1/orders/${order.id}`).set(asPayer()).send({ customer: null })).status).toBe(403)
  })
})

describe('POST /api/v1/order-customers/erase', () => {
  it('erases by number or by mail address in any case, and changes no sum', async () => {
    const merchant = uuidv7()
    const [paid, byMail, other] = [
      await create({ customer: ANA, fiscal_document: NFE }, merchant),
      await create({ customer: { email: 'ANA@example.COM' } }, merchant),
      await create({ customer: { tax_id: 'B1A0L1MA000130' } }, merchant),
    ]
    await pays(paid)
    const books = async () => {
      const { body } = await request(system.url).get('/api/v1/entries').query({ limit: 100 }).set(headers(merchant))
      return body.data
    }
    const before = [await read(paid.id, merchant), await books()]
    expect(await erase({ tax_id: '123.456.789-09' }, merchant)).toBe(1)
    expect(await erase({ email: 'aNa@example.com' }, merchant)).toBe(1)
    expect(await erase({ tax_id: ANA.tax_id, email: ANA.email }, merchant)).toBe(0)
    const { customer: _, ...rest } = before[0] as OrderBody
    expect([await read(paid.id, merchant), await books()]).toEqual([rest, before[1]])
    expect([(await read(byMail.id, merchant)).customer, (await read(other.id, merchant)).customer?.tax_id]).toEqual([
      undefined,
      'B1A0L1MA000130',
    ])
    expect((await request(system.ops).get('/reconcile').query({ from_block: 10, to_block: 10 })).body.differences).toEqual([])
  })

  it('asks for one of the two', async () => {
    const answer = await request(system.url).post('/api/v1/order-customers/erase').set(headers()).send({})
    expect(answer.status).toBe(400)
  })

  it('reaches a charge that waits, one that comes later, and one that was being written meanwhile; a customer named again stays', async () => {
    const merchant = uuidv7()
    const named = (given: Date) => ({
      name: 'Bia Lima',
      email: null,
      tax_id: 'B1A0L1MA000130',
      resident: null,
      given_at: given.toISOString(),
    })
    const asked = async (given: Date) => {
      const wanted = { ...charge({ terms: { ...charge().terms, merchant_id: merchant } }), customer: named(given) }
      await system.bus.publish(message('subscription.charge_requested', wanted))
      return wanted.order_id
    }
    const at = new Date()
    const opened = await asked(at)
    expect((await read(opened, merchant)).customer?.name).toBe('Bia Lima')
    ahead = 3_600_000
    const waiting = await asked(at)
    expect(await stands('Bia Lima')).toEqual(['charges', 'order_customers'])
    expect(await erase({ tax_id: 'B1.A0L.1MA/0001-30' }, merchant)).toBe(1)
    expect(await stands('Bia Lima')).toEqual([])
    ahead = 0
    const late = await asked(at)
    for (const id of [waiting, late]) {
      await until404Ends(id, merchant)
      expect((await read(id, merchant)).customer).toBeUndefined()
    }
    // As another replica wrote it, which had not seen the erasure yet.
    await system.sql.query('INSERT INTO order_customers (order_id, merchant_id, name, tax_id, given_at) VALUES ($1, $2, $3, $4, $5)', [
      late,
      merchant,
      'Bia Lima',
      'B1A0L1MA000130',
      at,
    ])
    const again = await asked(new Date(Date.now() + 7_200_000))
    const store = openStore(system.sql, { now, latestChainTime: now, committed: () => undefined })
    await store.invoicing.repeatErasures(new Date())
    expect([(await read(late, merchant)).customer, (await read(again, merchant)).customer?.name]).toEqual([undefined, 'Bia Lima'])
    await store.invoicing.repeatErasures(new Date(Date.now() + 32 * 86_400_000))
    expect((await system.sql.query('SELECT FROM customer_erasures WHERE merchant_id = $1', [merchant])).rowCount).toBe(0)
  })
})

describe('the fiscal document of an order', () => {
  it('is named by whom and when, replaced, removed, and shown with each entry of the order as it is now', async () => {
    const merchant = uuidv7()
    const order = await create({}, merchant)
    await pays(order)
    const before = await request(system.url).get('/api/v1/entries').set(headers(merchant))
    expect(before.body.data.some((entry: EntryBody) => 'fiscal_document' in entry)).toBe(false)
    const { body } = await patch(order.id, { fiscal_document: { kind: 'nfe', key: KEY.match(/.{1,4}/g)?.join(' ') } }, merchant)
    expect(body.fiscal_document).toEqual({ ...NFE, set_at: expect.any(String), set_by: 'ana' })
    const { body: ledger } = await request(system.url).get('/api/v1/entries').set(headers(merchant))
    expect(ledger.data).toEqual(before.body.data.map((entry: EntryBody) => ({ ...entry, fiscal_document: NFE })))

    const nfse = { kind: 'nfse', key: '35503082112ABC34501DE35'.padEnd(50, '1') }
    const byKey = await request(system.url).patch(`/api/v1/orders/${order.id}`).set(asMerchant(merchant)).send({ fiscal_document: nfse })
    expect(byKey.body.fiscal_document).toMatchObject({ ...nfse, set_by: null })
    const files = await Promise.all(
      ['/api/v1/orders.csv', '/api/v1/entries.csv', '/api/v1/entries.csv?form=brazilian'].map(async path =>
        (await request(system.url).get(path).set(headers(merchant))).text.split('\r\n'),
      ),
    )
    for (const [n, [head, row]] of files.entries()) {
      expect(head?.split(n === 2 ? ';' : ',')).toContain(n === 2 ? 'Chave do documento' : 'fiscal_document')
      expect(row).toContain(n === 2 ? `NFS-e;${nfse.key.match(/.{1,4}/g)?.join(' ')}` : `nfse ${nfse.key}`)
    }
    expect('fiscal_document' in (await patch(order.id, { fiscal_document: null }, merchant)).body).toBe(false)
    expect((await request(system.url).get('/api/v1/entries').set(headers(merchant))).body).toEqual(before.body)
  })

  it('is what a list is filtered by: paid, and without one', async () => {
    const merchant = uuidv7()
    const [withIt, without, open] = [
      await create({ fiscal_document: NFE }, merchant),
      await create({}, merchant),
      await create({}, merchant),
    ]
    for (const order of [withIt, without]) await pays(order)
    const ids = async (query: object) => (await list(query, merchant)).map(({ id }) => id)
    expect(await ids({ has_fiscal_document: 'false', status: 'paid' })).toEqual([without.id])
    expect(await ids({ has_fiscal_document: 'false' })).toEqual([open.id, without.id])
    expect(await ids({ has_fiscal_document: 'true' })).toEqual([withIt.id])
    const file = await request(system.url)
      .get('/api/v1/orders.csv')
      .query({ has_fiscal_document: 'false', status: 'paid' })
      .set(headers(merchant))
    expect(file.text.trim().split('\r\n')).toHaveLength(2)
    const wrong = await request(system.url).get('/api/v1/orders').query({ has_fiscal_document: 'no' }).set(headers(merchant))
    expect(wrong.status).toBe(400)
  })

  it('stands beside the money: naming it never loses to a payment of the same moment, nor a payment to it', async () => {
    const order = await create()
    await Promise.all([pays(order), ...Array.from({ length: 5 }, () => patch(order.id, { fiscal_document: NFE, customer: ANA }))])
    expect(await read(order.id)).toMatchObject({ status: 'paid', fiscal_document: NFE, customer: ANA })
  })
})

async function until404Ends(id: string, merchant: string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await request(system.url).get(`/api/v1/orders/${id}`).set(headers(merchant))).status === 200) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`Order ${id} was not opened.`)
}
