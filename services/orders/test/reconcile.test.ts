import type { OrderBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import request from 'supertest'
import { chain, runOrders, system } from './run-orders'
import { asMerchant } from './setup'

let order: OrderBody
runOrders({ RECONCILE_EVERY_S: '1' })
beforeAll(async () => {
  order = (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00' })).body
  await chain.report('confirmed', chain.payment(order))
  await system.orders.idle()
})

const ask = async () => (await request(system.ops).get('/reconcile').query({ from_block: 0, to_block: 4_999 })).body
const counted = async () =>
  Number(/^ponte_reconcile_differences\{[^}]*\} (.*)$/m.exec((await request(system.ops).get('/metrics')).text)?.[1])

/** Differences found while a column of the order states something else; none once it is repaired. */
async function harmed(set: string, repair: string) {
  await system.sql.query(`UPDATE orders SET ${set} WHERE id = $1`, [order.id])
  const { differences } = await ask()
  await until(async () => (await counted()) === 1, 'the metric does not see it')
  await system.sql.query(`UPDATE orders SET ${repair} WHERE id = $1`, [order.id])
  await until(async () => (await counted()) === 0, 'the metric still sees it')
  return differences
}

describe('issue: the scheduled auditor', () => {
  it('finds nothing where there is nothing, and names what the books have', async () => {
    const found = await ask()
    expect(found).toMatchObject({
      differences: [],
      payments: [{ place: 'order', order_id: order.id, status: 'confirmed', kind: 'router', amount: order.usdc_amount }],
    })
  })

  it('names an order whose received is not the sum of its payments, and one whose status does not follow from them', async () => {
    expect(await harmed('confirmed_units = confirmed_units + 1', 'confirmed_units = confirmed_units - 1')).toMatchObject([
      { order_id: order.id, kind: 'received', detail: expect.stringContaining(order.usdc_amount) },
    ])
    expect(await harmed("status = 'pending'", "status = 'paid'")).toMatchObject([{ order_id: order.id, kind: 'status' }])
  })

  it('reads the history of the ledger from its first booked block on, past what lies empty', async () => {
    const old = (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00' })).body
    await system.sql.query('ALTER TABLE payments DISABLE TRIGGER USER')
    await chain.report('confirmed', chain.payment(old, { block_number: 800_000 }))
    await system.sql.query('ALTER TABLE payments ENABLE TRIGGER USER')
    await chain.publish({ head: 900_000 })
    const booked = async () => (await system.sql.query('SELECT FROM entries WHERE order_id = $1', [old.id])).rowCount === 3
    await until(booked, 'an old payment is not booked')
    await until(async () => (await counted()) === 0, 'the metric still sees it')
  })

  it.each([
    [
      'a sum',
      "UPDATE entry_sums SET units = units + 1 WHERE quarter = $1 AND kind = 'fee'",
      "UPDATE entry_sums SET units = units - 1 WHERE quarter = $1 AND kind = 'fee'",
    ],
    [
      'a sum of nothing',
      "INSERT INTO entry_sums SELECT merchant_id, quarter, 'direct', 1, 5, 0 FROM entry_sums WHERE quarter = $1 AND kind = 'fee'",
      "DELETE FROM entry_sums WHERE quarter = $1 AND kind = 'direct'",
    ],
    [
      'how many there are',
      "UPDATE entry_sums SET movements = movements + 1 WHERE quarter = $1 AND kind = 'fee'",
      "UPDATE entry_sums SET movements = movements - 1 WHERE quarter = $1 AND kind = 'fee'",
    ],
    [
      'a sum of a day',
      "UPDATE entry_day_sums SET units = units + 1 WHERE day = date_trunc('day', $1::timestamptz, 'UTC') AND kind = 'fee'",
      "UPDATE entry_day_sums SET units = units - 1 WHERE day = date_trunc('day', $1::timestamptz, 'UTC') AND kind = 'fee'",
    ],
    [
      'a sum of a day of nothing',
      "INSERT INTO entry_day_sums SELECT merchant_id, day, 'direct', 1, 5, 0 FROM entry_day_sums WHERE day = date_trunc('day', $1::timestamptz, 'UTC') AND kind = 'fee'",
      "DELETE FROM entry_day_sums WHERE day = date_trunc('day', $1::timestamptz, 'UTC') AND kind = 'direct'",
    ],
  ])('sees in an old month %s that its entries do not come to, until it is repaired', async (_, harm, repair) => {
    const at = '2026-03-02T12:00:00.000Z'
    const old = (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00' })).body
    await chain.report('confirmed', chain.payment(old, { block_time: at }))
    await system.sql.query(harm, [at])
    await until(async () => (await counted()) === 1, 'the metric does not see it')
    await system.sql.query(repair, [at])
    await until(async () => (await counted()) === 0, 'the metric still sees it')
  })

  it('refuses a span that is too wide or no span', async () => {
    for (const query of [{}, { from_block: 0, to_block: 9_999 }, { from_block: 'x', to_block: 1 }])
      expect((await request(system.ops).get('/reconcile').query(query)).status).toBe(400)
  })
})
