import type { OrderBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import request from 'supertest'
import { openStore } from '../../src/store'
import { listener } from '../listener'
import { asMerchant, ROUTER, startOrders } from '../setup'

// A sweep that posed as the payment went wrong in these ways, each as the payer and the merchant see it.

let system: Awaited<ReturnType<typeof startOrders>>
let chain: ReturnType<typeof listener>
beforeAll(async () => {
  system = await startOrders({ DEPOSIT_FACTORY: ROUTER })
  chain = listener(system.bus)
})
afterAll(() => system.stop())

/** Chain time only goes forward, so each test's orders expire later than those before. */
let expiresIn = 600
beforeEach(() => {
  expiresIn += 20_000
})
const create = async (): Promise<OrderBody> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00', expires_in: expiresIn })).body
const read = async (id: string): Promise<OrderBody> => (await request(system.url).get(`/api/v1/orders/${id}`).set(asMerchant())).body
const types = async (id: string) => (await system.published(id)).map(event => event.type)
const isExpired = async (id: string) => (await read(id)).status === 'expired'
const around = (order: OrderBody, seconds: number, block: number) => ({
  block_time: new Date(Date.parse(order.expires_at) + seconds * 1000).toISOString(),
  block_number: block,
})
const time = (order: OrderBody, seconds: number) => new Date(around(order, seconds, 0).block_time)
const units = (amount: string) => BigInt(amount.replace('.', ''))

describe('a transfer is the payment, and a sweep only settles it', () => {
  it('pays with the payer’s own transaction and address, before anything is swept', async () => {
    const order = await create()
    const paid = chain.transfer(order)
    await chain.report('detected', paid)
    expect((await read(order.id)).status).toBe('confirming')
    await chain.report('confirmed', paid)
    const before = await read(order.id)
    expect(before).toMatchObject({ status: 'paid', tx_hash: paid.tx_hash, received: order.expected })
    expect(before.payments).toMatchObject([
      {
        kind: 'transfer',
        amount: order.usdc_amount,
        payer_address: paid.payer_address,
        tx_hash: paid.tx_hash,
        settlement: { status: 'pending', tx_hash: null },
      },
    ])
    const sweep = await chain.sweeps('confirmed', order, units(order.usdc_amount))
    const after = await read(order.id)
    expect(after).toEqual({ ...before, payments: [{ ...before.payments?.[0], settlement: { status: 'settled', tx_hash: sweep.tx_hash } }] })
    expect(await types(order.id)).toEqual(['order.paid'])
  })

  it('a mint to the address has no payer', async () => {
    const order = await create()
    await chain.report('confirmed', chain.transfer(order, { payer_address: `0x${'0'.repeat(40)}` }))
    expect(await read(order.id)).toMatchObject({ status: 'paid', payments: [{ payer_address: null }] })
  })

  it('a stranger’s 0.000001 before the sweep leaves an order paid in time paid', async () => {
    const order = await create()
    await chain.report('confirmed', chain.transfer(order, { gross: 1n, ...around(order, 5, 20) }))
    await chain.report('confirmed', chain.transfer(order, around(order, 0, 19)))
    await chain.sweeps('confirmed', order, units(order.usdc_amount) + 1n, around(order, 60, 25))
    await chain.synced(order)
    await chain.advances(time(order, 100))
    await system.orders.idle()
    expect(await read(order.id)).toMatchObject({ status: 'paid', exception: null })
    expect(await types(order.id)).toEqual(['order.paid'])
  })

  it('0.000001 in time, swept by the payer, does not keep the old rate for the rest two hours late', async () => {
    const order = await create()
    await chain.report('confirmed', chain.transfer(order, { gross: 1n, ...around(order, -60, 20) }))
    await chain.synced(order)
    await chain.advances(time(order, 1))
    await until(() => isExpired(order.id), 'it did not expire')
    await chain.report('confirmed', chain.transfer(order, around(order, 7200, 30)))
    await chain.sweeps('confirmed', order, units(order.usdc_amount) + 1n, around(order, 7200, 30))
    expect(await read(order.id)).toMatchObject({ status: 'expired', exception: 'paid_late' })
    expect(await types(order.id)).toEqual(['order.expired'])
  })

  it('six orders paid in one block by six senders have six transactions', async () => {
    const orders = await Promise.all(Array.from({ length: 6 }, create))
    const transfers = orders.map(order => chain.transfer(order, { block_number: 40 }))
    await Promise.all(transfers.map(transfer => chain.report('confirmed', transfer)))
    const swept = { tx_hash: `0x${'5b'.repeat(32)}`, block_number: 44 }
    await Promise.all(orders.map(order => chain.sweeps('confirmed', order, units(order.usdc_amount), swept)))
    const hashes = await Promise.all(orders.map(async order => (await system.published(order.id))[0]?.data.order.tx_hash))
    expect(hashes).toEqual(transfers.map(({ tx_hash }) => tx_hash))
    expect((await read(orders[0]?.id ?? '')).payments).toMatchObject([{ settlement: { status: 'settled', tx_hash: swept.tx_hash } }])
  })

  it('a sweep that a reorganisation takes away leaves the order paid, and its transfer pending', async () => {
    const order = await create()
    await chain.report('confirmed', chain.transfer(order))
    const sweep = await chain.sweeps('confirmed', order, units(order.usdc_amount))
    await chain.sweeps('orphaned', order, units(order.usdc_amount), { tx_hash: sweep.tx_hash, block_hash: sweep.block_hash })
    expect(await read(order.id)).toMatchObject({ status: 'paid', payments: [{ settlement: { status: 'pending', tx_hash: null } }] })
  })

  it('a sweep of the same memo out of a stranger’s address settles nothing', async () => {
    const order = await create()
    await chain.report('confirmed', chain.transfer(order))
    const stranger = '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65'
    await chain.sweeps('confirmed', order, units(order.usdc_amount), { merchant_address: stranger, deposit_address: stranger })
    expect(await read(order.id)).toMatchObject({ payments: [{ settlement: { status: 'pending' } }] })
  })
})

describe('what decides an order does not depend on who sweeps, and when', () => {
  it('most through the router and what is due by a small deposit: paid, though no one sweeps it', async () => {
    const order = await create()
    const rest = 500_000n
    await chain.report('confirmed', chain.payment(order, { gross: units(order.usdc_amount) - rest }))
    const { body: checkout } = await request(system.url).get(`/api/v1/checkout/${order.id}`).set(asMerchant())
    expect(checkout).toMatchObject({ status: 'underpaid', due: '0.500000' })
    await chain.report('confirmed', chain.transfer(order, { gross: rest, block_number: 11 }))
    expect(await read(order.id)).toMatchObject({
      status: 'paid',
      exception: null,
      payments: [
        { kind: 'router', settlement: { status: 'settled' } },
        { kind: 'transfer', settlement: { status: 'pending' } },
      ],
    })
  })

  it('a payout address that the token has blocked: paid, and the merchant sees what holds the money', async () => {
    const order = await create()
    await chain.report('confirmed', chain.transfer(order))
    await chain.blocked(order, null, 2)
    await chain.blocked(order, 'payout_address_blocked', 1)
    expect(await read(order.id)).toMatchObject({ status: 'paid', payments: [{ settlement: { status: 'pending' } }] })
    await chain.blocked(order, 'payout_address_blocked', 3)
    expect(await read(order.id)).toMatchObject({ status: 'paid', payments: [{ settlement: { status: 'blocked', tx_hash: null } }] })
    await chain.blocked(order, null, 4)
    const sweep = await chain.sweeps('confirmed', order, units(order.usdc_amount))
    expect(await read(order.id)).toMatchObject({ payments: [{ settlement: { status: 'settled', tx_hash: sweep.tx_hash } }] })
  })

  it('one that the listener has forgotten to be blocked is so again when its present history states it', async () => {
    const order = await create()
    await chain.report('confirmed', chain.transfer(order))
    const before = chain.generation()
    await chain.blocked(order, 'payout_address_blocked', 3, before)
    const state = async () => (await read(order.id)).payments?.[0]?.settlement?.status
    expect(await state()).toBe('blocked')
    chain.beginAnew()
    await chain.publish({})
    expect(await state()).toBe('pending')
    await chain.blocked(order, 'payout_address_blocked', 4, before)
    expect(await state()).toBe('pending')
    await chain.blocked(order, 'payout_address_blocked', 1, chain.generation())
    expect(await state()).toBe('blocked')
    await chain.blocked(order, null, 2)
    expect(await state()).toBe('pending')
  })

  it('a third party that sweeps early and often changes only what is settled', async () => {
    const order = await create()
    await chain.report('confirmed', chain.transfer(order, { gross: 7_000_000n, block_number: 50 }))
    const first = await chain.sweeps('confirmed', order, 7_000_000n, { block_number: 50 })
    await chain.report('confirmed', chain.transfer(order, { gross: units(order.usdc_amount) - 7_000_000n, block_number: 51 }))
    const second = await chain.sweeps('confirmed', order, units(order.usdc_amount) - 7_000_000n, { block_number: 52 })
    expect(await read(order.id)).toMatchObject({
      status: 'paid',
      exception: null,
      payments: [{ settlement: { tx_hash: first.tx_hash } }, { settlement: { tx_hash: second.tx_hash } }],
    })
    expect(await types(order.id)).toEqual(['order.underpaid', 'order.paid'])
  })
})

it('an address that is swept again and again is read by no more sweeps than settle its transfers', async () => {
  const order = await create()
  const rest = units(order.usdc_amount) - 5_000_000n
  await chain.report('confirmed', chain.transfer(order, { gross: 5_000_000n, block_number: 50 }))
  await chain.report('confirmed', chain.transfer(order, { gross: rest, block_number: 51 }))
  const early = await chain.sweeps('confirmed', order, 4_999_980n, { block_number: 52 })
  const sweep = (gross: bigint, block: number) =>
    chain.sweeps('confirmed', order, gross, { block_number: block, block_time: early.block_time })
  const small = []
  for (let block = 60; block < 90; block++) small.push(await sweep(1n, block))
  const last = await sweep(rest, 95)
  for (let block = 100; block < 130; block++) await sweep(1n, block)
  expect(await read(order.id)).toMatchObject({
    payments: [
      { settlement: { status: 'settled', tx_hash: small[19]?.tx_hash } },
      { settlement: { status: 'settled', tx_hash: last.tx_hash } },
    ],
  })
  const store = openStore(system.sql, { now: () => new Date(), latestChainTime: () => new Date(), committed: () => undefined })
  const { sweeps = [] } = (await store.orders.history(order.id)) ?? {}
  expect(sweeps.map(({ grossUnits }) => grossUnits).toSorted()).toEqual([5_000_000n, rest + 10n].toSorted())
})

describe('invariant 4: nothing expires before its address is known to have been read', () => {
  it('a listener that was away for hours publishes the deposit after the time has passed: paid, never expired', async () => {
    const [order, other] = [await create(), await create()]
    await chain.advances(time(other, 3600))
    await system.orders.idle()
    expect([(await read(order.id)).status, (await read(other.id)).status]).toEqual(['pending', 'pending'])
    await chain.report('confirmed', chain.transfer(order, around(order, -1, 60)))
    await chain.synced(order, other)
    await chain.advances(time(other, 3700))
    await until(() => isExpired(other.id), 'the unpaid one did not expire')
    expect([await types(order.id), await types(other.id)]).toEqual([['order.paid'], ['order.expired']])
  })

  it('a deposit that is overtaken by later blocks is waited for', async () => {
    const [order, other] = [await create(), await create()]
    await chain.synced(order, other)
    const overtaken = chain.advance(time(other, -10), { payments: [chain.transfer(order, around(order, -20, 1_000_005))] })
    await chain.advances(time(other, 3600))
    await system.orders.idle()
    expect([(await read(order.id)).status, (await read(other.id)).status]).toEqual(['pending', 'pending'])
    await system.bus.publish(overtaken)
    await until(() => isExpired(other.id), 'the unpaid one did not expire')
    expect(await types(order.id)).toEqual(['order.paid'])
  })

  it('an address that the listener does not watch any more is waited for until it is watched again', async () => {
    const order = await create()
    await chain.synced(order)
    await chain.publish({ watched: [{ order_id: order.id, through: -1 }] })
    await chain.advances(time(order, 1))
    await system.orders.idle()
    expect((await read(order.id)).status).toBe('pending')
    await chain.synced(order)
    await until(() => isExpired(order.id), 'it did not expire')
  })
})

describe('dust', () => {
  it('sends no event, and the order can still be cancelled', async () => {
    const order = await create()
    for (let index = 0; index < 3; index++) await chain.report('confirmed', chain.transfer(order, { gross: 1n, block_number: 70 + index }))
    expect(await read(order.id)).toMatchObject({ status: 'pending', exception: null })
    const answer = await request(system.url).post(`/api/v1/orders/${order.id}/cancel`).set(asMerchant()).send({})
    expect([answer.status, answer.body.status]).toEqual([200, 'cancelled'])
    expect(await types(order.id)).toEqual(['order.cancelled'])
  })

  it('after completion changes nothing', async () => {
    const order = await create()
    await chain.report('confirmed', chain.transfer(order, { block_number: 80 }))
    await chain.report('confirmed', chain.transfer(order, { gross: 1n, block_number: 81 }))
    expect(await read(order.id)).toMatchObject({ status: 'paid', exception: null })
  })
})

describe('deposit.watch', () => {
  it('names from which block on the address may have been known', async () => {
    const watchFrom = async () => {
      const order = await create()
      const { rows } = await system.sql.query(
        "SELECT body::jsonb->'data'->'orders'->0->'watch_from' AS block FROM outbox WHERE body::jsonb->'data'->'orders'->0->>'order_id' = $1 AND type = 'deposit.watch'",
        [order.id],
      )
      return rows[0]?.block
    }
    await chain.advances(new Date(0), { head: 5_000_000 })
    await until(async () => (await watchFrom()) === 4_999_872, 'the head is not known')
    await chain.advances(new Date(0), { head: 4_000_000 })
    await system.orders.idle()
    expect(await watchFrom()).toBe(4_999_872)
  })

  it('has no deposit address, and offers no relayed payment, where the gas would cost more than it is worth', async () => {
    const small = await startOrders({ DEPOSIT_FACTORY: ROUTER, DEPOSIT_MIN_UNITS: '1000000', GASLESS_MIN_UNITS: '500000' })
    const made = async (brl: string) => (await request(small.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: brl })).body
    expect((await made('1.00')).payment).toMatchObject({ deposit_address: null, payment_uri: null, gasless: false })
    expect((await made('5.00')).payment).toMatchObject({ deposit_address: null, gasless: true })
    expect((await made('5.42')).payment).toMatchObject({ deposit_address: expect.stringMatching(/^0x/), gasless: true })
    await small.stop()
  })
})

describe('GET /api/v1/orders', () => {
  it('finds an order by the transaction of any of its payments, by that of its sweep, and by its address in any case', async () => {
    const order = await create()
    const parts = [7_000_000n, 8_000_000n].map(gross => chain.transfer(order, { gross }))
    for (const part of parts) await chain.report('confirmed', part)
    const sweep = await chain.sweeps('confirmed', order, 15_000_000n)
    const address = order.payment.deposit_address ?? ''
    for (const query of [
      ...parts.map(({ tx_hash }) => ({ tx_hash })),
      { tx_hash: sweep.tx_hash },
      { deposit_address: address },
      { deposit_address: address.toLowerCase() },
    ]) {
      const { body } = await request(system.url).get('/api/v1/orders').query(query).set(asMerchant())
      expect([query, body.data.map(({ id }: OrderBody) => id)]).toEqual([query, [order.id]])
    }
    const other = asMerchant('01981f3c-0000-7000-8000-000000000077')
    const { body } = await request(system.url).get('/api/v1/orders').query({ deposit_address: address }).set(other)
    expect(body.data).toEqual([])
  })
})
