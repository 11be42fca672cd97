import type { SummaryBody } from '@ponte/contracts'
import { uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { fillOrders } from '../bench/many-orders'
import { asMerchant, startOrders } from './setup'

let system: Awaited<ReturnType<typeof startOrders>>
beforeAll(async () => {
  system = await startOrders()
})
afterAll(() => system.stop())

const ask = (merchant: string, query: object) => request(system.url).get('/api/v1/summary').query(query).set(asMerchant(merchant))
const summaryOf = async (merchant: string, query: object): Promise<SummaryBody> => {
  const { status, body } = await ask(merchant, query)
  expect(status).toBe(200)
  return body
}
const create = async (merchant: string, brl_amount: string): Promise<string> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant(merchant)).send({ brl_amount })).body.id
const markPaid = (id: string, at: string) => system.sql.query("UPDATE orders SET status = 'paid', paid_at = $2 WHERE id = $1", [id, at])

test('orders are summed by the day of payment in the asked time zone, whenever they were created, and figures are of the same orders', async () => {
  const merchant = uuidv7()
  // Ten minutes apart, over midnight in São Paulo; both on the 20th in UTC.
  await markPaid(await create(merchant, '100.00'), '2026-11-20T02:55:00.000Z')
  await markPaid(await create(merchant, '50.00'), '2026-11-20T03:05:00.000Z')
  await markPaid(await create(merchant, '25.50'), '2026-11-20T20:00:00.000Z')
  await markPaid(await create(merchant, '999.00'), '2026-11-21T03:00:00.000Z')
  await markPaid(await create(uuidv7(), '7.00'), '2026-11-20T20:00:00.000Z')
  for (let count = 0; count < 3; count += 1) await create(merchant, '5.00')
  const local = await summaryOf(merchant, { from: '2026-11-19', to: '2026-11-20', timezone: 'America/Sao_Paulo' })
  expect(local.days.map(({ date, orders, brl_amount }) => [date, orders, brl_amount])).toEqual([
    ['2026-11-19', 1, '100.00'],
    ['2026-11-20', 2, '75.50'],
  ])
  // 175.50 at 5.42, each order rounded up to a base unit, a fee of 1 % rounded down.
  expect(local.total).toEqual({
    ...{ orders: 3, brl_amount: '175.50', usdc_amount: '32.380076', platform_fee: '0.323798', expected: '32.056278' },
  })
  expect(local.open).toEqual({ pending: 3, confirming: 0, underpaid: 0 })
  const utc = await summaryOf(merchant, { from: '2026-11-20', to: '2026-11-20', timezone: 'UTC' })
  expect(utc.days).toMatchObject([{ date: '2026-11-20', orders: 3 }])
})

test('a span that ends before it begins, a long one and an unknown time zone are refused', async () => {
  const merchant = uuidv7()
  for (const query of [
    { from: '2026-11-20', to: '2026-11-19', timezone: 'UTC' },
    { from: '2026-01-01', to: '2026-11-19', timezone: 'UTC' },
    { from: '2026-11-19', to: '2026-11-19', timezone: 'Mars/Olympus' },
    { from: '2026-11-31', to: '2026-12-01', timezone: 'UTC' },
    { from: '2026-11-19', to: '2026-11-19' },
  ])
    expect((await ask(merchant, query)).status).toBe(400)
})

test('orders that need a look are counted', async () => {
  const merchant = uuidv7()
  const id = await create(merchant, '10.00')
  await system.sql.query("UPDATE orders SET exception = 'overpaid', status = 'paid', paid_at = now() WHERE id = $1", [id])
  expect((await summaryOf(merchant, { from: '2026-11-19', to: '2026-11-19', timezone: 'UTC' })).attention).toMatchObject({
    overpaid: 1,
    reorged: 0,
  })
})

test('the sums are read from one index alone, whatever else the merchant has', async () => {
  const merchant = uuidv7()
  await fillOrders(system.sql, merchant, 20_000)
  await system.sql.query("UPDATE orders SET paid_at = created_at WHERE merchant_id = $1 AND status = 'paid'", [merchant])
  // Only what is visible to every transaction is read without its row.
  await system.sql.query('VACUUM ANALYZE orders')
  const { rows } = await system.sql.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN SELECT width_bucket(paid_at, ARRAY[now() - interval '1 hour']) AS day, count(*), sum(brl_centavos), sum(usdc_units),
       sum(fee_units) FROM orders WHERE merchant_id = $1 AND status = 'paid' AND paid_at >= now() - interval '1 hour' AND paid_at < now() GROUP BY 1`,
    [merchant],
  )
  const plan = rows.map(row => row['QUERY PLAN']).join('\n')
  expect(plan).toMatch(/Index Only Scan using orders_merchant_paid/)
})
