import type { OrderBody, SummaryBody } from '@ponte/contracts'
import { uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { listener } from './listener'
import { asMerchant, startOrders } from './setup'

let system: Awaited<ReturnType<typeof startOrders>>
let chain: ReturnType<typeof listener>
beforeAll(async () => {
  system = await startOrders()
  chain = listener(system.bus)
})
afterAll(() => system.stop())

const ask = (merchant: string, query: object) => request(system.url).get('/api/v1/summary').query(query).set(asMerchant(merchant))
const summaryOf = async (merchant: string, query: object): Promise<SummaryBody> => {
  const { status, body } = await ask(merchant, query)
  expect(status).toBe(200)
  return body
}
const create = async (merchant: string, brl_amount: string): Promise<OrderBody> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant(merchant)).send({ brl_amount })).body
const pay = async (merchant: string, brl: string, at: string): Promise<void> =>
  chain.report('confirmed', chain.payment(await create(merchant, brl), { block_time: at }))

test('what came is summed by the day of its block in the asked time zone, whatever became of its order', async () => {
  const merchant = uuidv7()
  // Ten minutes apart, over midnight in São Paulo; both on the 20th in UTC.
  await pay(merchant, '100.00', '2026-11-20T02:55:00.000Z')
  await pay(merchant, '50.00', '2026-11-20T03:05:00.000Z')
  await pay(merchant, '25.50', '2026-11-20T20:00:00.000Z')
  await pay(merchant, '999.00', '2026-11-21T03:00:00.000Z')
  await pay(uuidv7(), '7.00', '2026-11-20T20:00:00.000Z')
  const late = await create(merchant, '10.00')
  await chain.report('confirmed', chain.payment(late, { gross: 1_000_000n, block_time: '2026-11-20T21:00:00.000Z' }))
  for (let count = 0; count < 3; count += 1) await create(merchant, '5.00')
  const local = await summaryOf(merchant, { from: '2026-11-19', to: '2026-11-20', timezone: 'America/Sao_Paulo' })
  expect(local.periods.map(({ date, payments, brl_amount }) => [date, payments, brl_amount])).toEqual([
    ['2026-11-19', 1, '100.00'],
    ['2026-11-20', 3, '80.92'],
  ])
  // 175.50 at 5.42, each order rounded up to a base unit, and a part of another; each fee of 1 % rounded down.
  expect(local.total).toEqual({
    ...{ payments: 4, brl_amount: '180.92', gross: '33.380076', platform_fee: '0.333798' },
    ...{ settled: '33.046278', waiting: '0.000000', unmatched: '0.000000', given_away: '0.000000' },
  })
  expect(local.opening).toMatchObject({ payments: 0, gross: '0.000000' })
  expect(local.closing).toEqual(local.total)
  expect(local.open).toEqual({ pending: 3, confirming: 0, underpaid: 1 })
  const utc = await summaryOf(merchant, { from: '2026-11-20', to: '2026-11-20', timezone: 'UTC' })
  expect(utc.periods).toMatchObject([{ date: '2026-11-20', payments: 4 }])
  const month = await summaryOf(merchant, { from: '2026-11-01', to: '2026-11-30', timezone: 'America/Sao_Paulo', by: 'month' })
  const days = await summaryOf(merchant, { from: '2026-11-01', to: '2026-11-30', timezone: 'America/Sao_Paulo' })
  expect(month.periods).toEqual([{ date: '2026-11-01', ...days.total }])
  const next = await summaryOf(merchant, { from: '2026-11-21', to: '2026-11-21', timezone: 'America/Sao_Paulo' })
  expect(next.opening).toEqual(local.closing)
})

test('a transfer waits until it is swept', async () => {
  const merchant = uuidv7()
  const order = await create(merchant, '542.00')
  await chain.report('confirmed', chain.transfer(order, { block_time: '2026-11-20T12:00:00.000Z' }))
  const day = { from: '2026-11-20', to: '2026-11-20', timezone: 'UTC' }
  expect((await summaryOf(merchant, day)).total).toMatchObject({ gross: '100.000000', platform_fee: '0.000000', waiting: '100.000000' })
  await chain.sweeps('confirmed', order, 100_000_000n, { block_time: '2026-11-21T12:00:00.000Z' })
  expect((await summaryOf(merchant, day)).total).toMatchObject({ waiting: '100.000000' })
  const both = await summaryOf(merchant, { ...day, to: '2026-11-21' })
  expect(both.periods.map(({ settled, waiting }) => [settled, waiting])).toEqual([
    ['0.000000', '100.000000'],
    ['99.000000', '-100.000000'],
  ])
  expect(both.closing.waiting).toBe('0.000000')
})

test('a span that ends before it begins, a long one and an unknown time zone are refused', async () => {
  const merchant = uuidv7()
  for (const query of [
    { from: '2026-11-20', to: '2026-11-19', timezone: 'UTC' },
    { from: '2026-01-01', to: '2026-11-19', timezone: 'UTC' },
    { from: '2026-11-19', to: '2026-11-19', timezone: 'Mars/Olympus' },
    { from: '2026-11-31', to: '2026-12-01', timezone: 'UTC' },
    { from: '2026-11-19', to: '2026-11-19', timezone: 'UTC', by: 'year' },
    { from: '2010-01-01', to: '2026-11-19', timezone: 'UTC', by: 'month' },
    { from: '2026-11-19', to: '2026-11-19' },
  ])
    expect((await ask(merchant, query)).status).toBe(400)
})

test('orders that need a look are counted, and what counts for no sale is to be returned', async () => {
  const merchant = uuidv7()
  const order = await create(merchant, '542.00')
  await chain.report('confirmed', chain.payment(order, { gross: 130_000_000n }))
  const found = await summaryOf(merchant, { from: '2026-11-19', to: '2026-11-19', timezone: 'UTC' })
  expect(found.attention).toMatchObject({ overpaid: 1, reorged: 0 })
  expect(found.to_return).toBe('30.000000')
})
