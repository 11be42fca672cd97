import type { EntryBody, OrderBody } from '@ponte/contracts'
import { type HttpServer, startHttpServer } from '@ponte/local-servers'
import { until, uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { listener } from './listener'
import { asMerchant, startOrders } from './setup'

const bank: { asked: string[]; status: number; value: { cotacaoVenda: number; dataHoraCotacao: string }[] } = {
  asked: [],
  status: 200,
  value: [],
}
let server: HttpServer
let url: string
beforeAll(async () => {
  server = await startHttpServer((req, res) => {
    bank.asked.push(decodeURIComponent(req.url ?? ''))
    res.writeHead(bank.status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ value: bank.value }))
  })
  url = `${server.url}/odata/`
})
afterAll(() => server.stop())

type System = Awaited<ReturnType<typeof startOrders>>
let system: System | undefined
afterEach(() => system?.stop())

const entriesOf = async ({ url: at }: System, merchant: string): Promise<EntryBody[]> =>
  (await request(at).get('/api/v1/entries').query({ limit: 100 }).set(asMerchant(merchant))).body.data

/** Pays an order in a block of this time. */
async function paidAt({ url: at, bus }: System, merchant: string, time: Date) {
  const chain = listener(bus)
  const { body } = await request(at).post('/api/v1/orders').set(asMerchant(merchant)).send({ brl_amount: '542.00' })
  const order: OrderBody = body
  const paid = chain.payment(order, { block_time: time.toISOString() })
  await chain.report('confirmed', paid)
  return () => chain.report('orphaned', paid)
}

const values = ({ kind, amount, market_rate, market_brl_amount, ptax_rate, ptax_date }: EntryBody) => ({
  ...{ kind, amount, market_rate, market_brl_amount, ptax_rate, ptax_date },
})

test('an entry has the value of its block’s time, by the last median before it; its reversal has the opposite, and what comes later changes neither', async () => {
  system = await startOrders()
  const { sql } = system
  const merchant = uuidv7()
  const time = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 5_000)
  const before = (ms: number) => new Date(time.getTime() - ms)
  await sql.query('TRUNCATE market_rates')
  const add = (at: Date, micros: number) => sql.query('INSERT INTO market_rates VALUES ($1, $2)', [at, micros])
  await add(before(60_000), 5_000_000)
  await add(before(0), 5_100_000)
  await add(before(-1_000), 9_000_000)
  const orphan = await paidAt(system, merchant, time)
  const first = await entriesOf(system, merchant)
  expect(first.map(values)).toMatchObject([
    { kind: 'payment', amount: '100.000000', market_rate: '5.100000', market_brl_amount: '510.00', ptax_rate: null, ptax_date: null },
    { kind: 'fee', amount: '1.000000', market_brl_amount: '5.10' },
    { kind: 'settled', amount: '99.000000', market_brl_amount: '504.90' },
  ])
  await orphan()
  await add(before(-60_000), 9_000_000)
  const then = await entriesOf(system, merchant)
  expect(then.slice(0, 3)).toEqual(first)
  expect(then.slice(3).map(({ market_brl_amount }) => market_brl_amount)).toEqual(['-510.00', '-5.10', '-504.90'])
})

test('an entry whose block is further from the last median than a quarter of an hour has no value by it', async () => {
  system = await startOrders()
  const [merchant, time] = [uuidv7(), new Date()]
  await system.sql.query('TRUNCATE market_rates')
  await system.sql.query("INSERT INTO market_rates VALUES ($1::timestamptz - interval '15 minutes 1 second', 5000000)", [time])
  await paidAt(system, merchant, time)
  expect((await entriesOf(system, merchant)).map(values)).toMatchObject(Array(3).fill({ market_rate: null, market_brl_amount: null }))
})

test('the median is kept; while nothing can be priced there is none', async () => {
  system = await startOrders()
  const { sql } = system
  const kept = async () => (await sql.query<{ rate_micros: string }>('SELECT rate_micros FROM market_rates')).rows
  await until(async () => (await kept()).length > 0, 'the median is not kept')
  expect(await kept()).toEqual([{ rate_micros: '5420000' }])
  await system.stop()
  system = await startOrders({ RATE_STATIC: '', RATE_HTTP_SOURCES: JSON.stringify([{ name: 'market', url, path: 'value.9' }]) })
  await system.orders.idle()
  expect((await system.sql.query('SELECT FROM market_rates')).rows).toEqual([])
})

test('PTAX is of the block’s civil day in São Paulo once it is published; a day without has that of the day before, when a later one is known', async () => {
  const friday = [{ cotacaoVenda: 5.3781, dataHoraCotacao: '2026-11-27 13:04:28.123' }]
  Object.assign(bank, { asked: [], value: friday })
  // 23:30 of Saturday in São Paulo, which is Sunday in UTC.
  let now = new Date('2026-11-29T02:30:00Z')
  system = await startOrders({ PTAX_URL: url }, { now: () => now })
  const merchant = uuidv7()
  const { sql } = system
  const known = async () => (await sql.query('SELECT FROM ptax_rates')).rows.length
  await until(async () => (await known()) === 1, 'PTAX is not asked for')
  expect(bank.asked[0]).toContain("dataInicial='11-18-2026'&@dataFinalCotacao='11-28-2026'")
  await paidAt(system, merchant, new Date('2026-11-28T01:00:00Z'))
  await paidAt(system, merchant, now)
  const read = async () => (await entriesOf(system as System, merchant)).filter(({ kind }) => kind === 'payment').map(values)
  expect(await read()).toMatchObject([
    { ptax_rate: '5.378100', ptax_date: '2026-11-27' },
    { ptax_rate: null, ptax_date: null },
  ])
  await sql.query("INSERT INTO ptax_rates VALUES ('2026-11-30', 5400000)")
  now = new Date('2026-11-30T18:00:00Z')
  expect(await read()).toMatchObject([
    { ptax_rate: '5.378100', ptax_date: '2026-11-27' },
    { ptax_rate: '5.378100', ptax_date: '2026-11-27' },
  ])
})

test('fault: a central bank that is down, or lies, changes nothing of what is known, and no order waits for it', async () => {
  Object.assign(bank, { asked: [], status: 500, value: [] })
  const now = new Date('2026-11-27T18:00:00Z')
  system = await startOrders({ PTAX_URL: url }, { now: () => now })
  await until(() => bank.asked.length > 0, 'PTAX is not asked for')
  const create = await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00' })
  expect(create.status).toBe(201)
  await system.stop()
  Object.assign(bank, { asked: [], status: 200, value: [{ cotacaoVenda: 5.3, dataHoraCotacao: '2027-01-04 13:00:00' }] })
  system = await startOrders({ PTAX_URL: url }, { now: () => now })
  await until(() => bank.asked.length > 0, 'PTAX is not asked for')
  await system.orders.idle()
  expect((await system.sql.query('SELECT FROM ptax_rates')).rows).toEqual([])
})
