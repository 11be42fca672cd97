import { type HttpServer, type LocalChain, mined, startHttpServer, startLocalChain } from '@ponte/local-servers'
import { testRateFeedAbi } from '@ponte/payment-router'
import { readConfig, silentLogger, until } from '@ponte/service-kit'
import { Contract } from 'ethers'
import request from 'supertest'
import { createOrders, ordersConfig } from '../src'
import { httpRate, httpRateSettings, parseExactly, rateMicros } from '../src/quote/http-rate'
import { asMerchant, settings, startOrders } from './setup'

let chain: LocalChain
let feed: (answer: bigint, updatedAt: number) => Promise<unknown>
const market = { body: '{"USDTBRL":{"bid":"5.4201"}}', status: 200 }
let server: HttpServer
let url: string
beforeAll(async () => {
  chain = await startLocalChain()
  const contract = new Contract(chain.rateFeedAddress, testRateFeedAbi, chain.wallet(0))
  feed = async (answer, updatedAt) => mined(await contract.getFunction('set').send(answer, updatedAt))
  server = await startHttpServer((_req, res) => res.writeHead(market.status, { 'Content-Type': 'application/json' }).end(market.body))
  url = server.url
})
afterAll(async () => {
  await server.stop()
  await chain.stop()
})

const seconds = () => Math.floor(Date.now() / 1000)
const start = (env: Record<string, string>) => startOrders({ RATE_STATIC: '', RATE_REFRESH_MS: '100', ...env })
const http = (more: object = {}) => JSON.stringify([{ name: 'market', url, path: 'USDTBRL.bid', ...more }])
const create = (system: { url: string }) => request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00' })

it('chainlink: dollars per real, inverted exactly to reais per dollar; stale or empty answers price nothing', async () => {
  await feed(18_450_184n, seconds())
  const system = await start({ RATE_CHAINLINK_RPC_URL: chain.rpcUrl, RATE_CHAINLINK_ADDRESS: chain.rateFeedAddress, RATE_MAX_AGE_S: '60' })
  try {
    const { body } = await create(system)
    // 10^14 / 18450184 = 5420000.15…, rounded down: the merchant is never short.
    expect(body.quote).toMatchObject({ rate: '5.420000', source: 'chainlink', spread_bps: 0 })
    expect(body.usdc_amount).toBe('27.675277')
    await feed(20_000_000n, seconds())
    await until(async () => (await create(system)).body.quote?.rate === '5.000000', 'the new round was not read')
    expect(Date.parse((await create(system)).body.quote.as_of)).toBeLessThanOrEqual(Date.now())
    await feed(18_450_184n, seconds() - 61)
    await until(async () => (await create(system)).status === 503, 'a stale round still prices')
    const refused = await create(system)
    expect([refused.body.code, Number(refused.headers['retry-after']) > 0]).toEqual(['rate_unavailable', true])
  } finally {
    await system.stop()
  }
})

it('fault: a round whose time lies ahead, or a rate outside absolute bounds, prices nothing instead of counting as fresh until its time has come', async () => {
  const env = { RATE_CHAINLINK_RPC_URL: chain.rpcUrl, RATE_CHAINLINK_ADDRESS: chain.rateFeedAddress, BLOCK_TIME_AHEAD_MAX_S: '120' }
  await feed(18_450_184n, seconds() + 3600)
  const system = await start({ ...env, RATE_CHAINLINK_MAX_AGE_S: '90', RATE_MAX_AGE_S: '1', RATE_MIN: '4', RATE_MAX: '7' })
  try {
    expect((await create(system)).body.code).toBe('rate_unavailable')
    await feed(18_450_184n, seconds() - 60)
    await until(async () => (await create(system)).body.quote?.rate === '5.420000', 'a round within the age of its own source is not taken')
    for (const outside of [30_000_000n, 10_000_000n]) {
      await feed(outside, seconds())
      await until(async () => (await create(system)).body.code === 'rate_unavailable', 'a rate outside the bounds still prices')
      await feed(18_450_184n, seconds())
      await until(async () => (await create(system)).status === 201, 'a rate within the bounds does not price')
    }
  } finally {
    await system.stop()
  }
})

it('chainlink: an address that is no BRL / USD feed prices nothing', async () => {
  const system = await start({ RATE_CHAINLINK_RPC_URL: chain.rpcUrl, RATE_CHAINLINK_ADDRESS: chain.usdcAddress })
  expect((await create(system)).body.code).toBe('rate_unavailable')
  await system.stop()
})

it('several sources: the median; too far apart, it fails closed; one gone, the others price', async () => {
  const system = await start({ RATE_HTTP_SOURCES: http(), RATE_STATIC: '5.44', RATE_MAX_SPREAD_BPS: '50', RATE_MAX_AGE_S: '1' })
  try {
    expect((await create(system)).body.quote).toMatchObject({ rate: '5.430050', source: 'market,static', spread_bps: 37 })
    market.body = '{"USDTBRL":{"bid":"5.30"}}'
    await until(async () => (await create(system)).status === 503, 'diverging sources still price')
    market.status = 500
    await until(async () => (await create(system)).body.quote?.source === 'static', 'the one that is left does not price')
  } finally {
    Object.assign(market, { body: '{"USDTBRL":{"bid":"5.4201"}}', status: 200 })
    await system.stop()
  }
})

describe('a JSON source', () => {
  const observe = (body: string, more: object = {}) => {
    market.body = body
    return httpRate(httpRateSettings.parse({ name: 'market', url, path: 'a.0.rate', ...more }), {
      now: () => new Date('2026-11-20T12:00:00Z'),
      maxAgeS: 300,
    }).observe()
  }
  it.each([
    ['a number of any length, exactly', '{"a":[{"rate":5.42010199999999999999999}]}', {}, 5_420_101n],
    ['a text', '{"a":[{"rate":"5.42"}]}', {}, 5_420_000n],
    ['dollars per real', '{"a":[{"rate":0.18450184}]}', { inverted: true }, 5_420_000n],
    ['a number that a string looks like', '{"x":"\\"1","a":[{"rate":5}]}', {}, 5_000_000n],
  ])('gives %s', async (_what, body, more, micros) => {
    expect((await observe(body, more)).rateMicros).toBe(micros)
  })
  it('gives the time it names, and refuses one ahead of ours', async () => {
    const timed = { as_of_path: 'at', as_of_unit: 's' }
    expect((await observe('{"a":[{"rate":5}],"at":1763640000}', timed)).asOf).toEqual(new Date(1_763_640_000_000))
    const now = Date.parse('2026-11-20T12:00:00Z') / 1_000
    expect((await observe(`{"a":[{"rate":5}],"at":${now + 5}}`, timed)).asOf).toEqual(new Date((now + 5) * 1_000))
    for (const at of [now + 6, 99_999_999_999]) await expect(observe(`{"a":[{"rate":5}],"at":${at}}`, timed)).rejects.toThrow('lies ahead')
  })
  it('has a maximum age of its own', async () => {
    expect((await observe('{"a":[{"rate":5}]}')).maxAgeS).toBe(300)
    expect((await observe('{"a":[{"rate":5}]}', { max_age_s: 7 })).maxAgeS).toBe(7)
  })
  it.each([
    '{}',
    'null',
    '[',
    '{"a":[{"rate":0}]}',
    '{"a":[{"rate":-5}]}',
    '{"a":[{"rate":"5,42"}]}',
    '{"a":[{"rate":5e1}]}',
    '{"a":[{"rate":true}]}',
    '{"a":[{"rate":5}]}x',
  ])('refuses %s', async body => {
    await expect(observe(body)).rejects.toThrow()
  })
  it('reads text exactly', () => {
    expect(parseExactly('{"a":1.10,"b":"1.10","c":[true,null]}')).toEqual({ a: '1.10', b: '1.10', c: [true, null] })
    expect(rateMicros('0.0000001', true)).toBe(10_000_000_000_000n)
  })
})

describe('settings', () => {
  const read = (env: Record<string, string>) => () => readConfig(ordersConfig, { ...settings('postgres://x'), ...env })
  it.each([
    ['RATE_HTTP_SOURCES', '{"not":"a list"}'],
    ['RATE_HTTP_SOURCES', '[{"name":"x","url":"ftp://x","path":"y"}]'],
    ['RATE_CHAINLINK_ADDRESS', `0x${'01'.repeat(20)}`],
    ['DEPOSIT_FACTORY', `0x${'01'.repeat(20)}`],
    ['RATE_STATIC', '5,42'],
  ])('%s refuses %s, naming itself', (name, value) => expect(read({ [name]: value })).toThrow(name))

  it('none that gives a rate: the service does not start', async () => {
    await expect(start({})).rejects.toThrow('RATE_STATIC')
  })
})

it('deposit addresses: the router’s own, where the factory is set', async () => {
  const system = await startOrders({ ROUTER_ADDRESS: chain.routerAddress, DEPOSIT_FACTORY: chain.routerAddress })
  const { body } = await create(system)
  const router = new Contract(chain.routerAddress, ['function depositAddress(bytes32, address) view returns (address)'], chain.provider)
  expect(body.payment.deposit_address).toBe(
    await router.getFunction('depositAddress').staticCall(`0x${body.memo}`, body.payment.merchant_address),
  )
  expect(body.payment.payment_uri).toContain(`/transfer?address=${body.payment.deposit_address}&uint256=27675277`)
  await system.stop()
})

it('ORDERS_PAUSED opens no order and says what to do; those that exist are read and cancelled, and a repeated request gets its answer', async () => {
  const system = await startOrders()
  const keyed = (url: string) =>
    request(url).post('/api/v1/orders').set(asMerchant()).set('Idempotency-Key', 'key-0001').send({ brl_amount: '150.00' })
  const { body: order } = await keyed(system.url).expect(201)
  const config = readConfig(ordersConfig, { ...settings(system.database.url), ORDERS_PAUSED: 'true' })
  const paused = createOrders(config, { bus: system.bus, logger: silentLogger })
  await paused.start()
  const url = `http://127.0.0.1:${paused.http.port()}`
  try {
    const refused = await create({ url }).expect(503)
    expect([refused.body.code, refused.headers['retry-after']]).toEqual(['orders_paused', '60'])
    expect(refused.body.detail).toContain('those that exist can be paid')
    expect((await keyed(url).expect(201)).body.id).toBe(order.id)
    await request(url).get(`/api/v1/orders/${order.id}`).set(asMerchant()).expect(200)
    await request(url).post(`/api/v1/orders/${order.id}/cancel`).set(asMerchant()).send({}).expect(200)
  } finally {
    await paused.stop()
    await system.stop()
  }
})
