import { type OrderBody, queuesReadBy, topology } from '@ponte/contracts'
import { memoryBus, readConfig, silentLogger, until } from '@ponte/service-kit'
import request from 'supertest'
import { createOrders, ordersConfig } from '../src'
import { openStore } from '../src/store'
import { listener, message } from './listener'
import { asked, asMerchant, merchantId, PAYOUT, settings, startOrders } from './setup'

// The listener is a cache of the chain that may forget: what orders knows is decided by the present generation of its history alone.

let system: Awaited<ReturnType<typeof startOrders>>
let chain: ReturnType<typeof listener>
beforeEach(async () => {
  system = await startOrders({ RECONCILE_EVERY_S: '1' })
  chain = listener(system.bus)
})
afterEach(() => system.stop())

const create = async (): Promise<OrderBody> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00', expires_in: 600 })).body
const read = async (id: string): Promise<OrderBody> => (await request(system.url).get(`/api/v1/orders/${id}`).set(asMerchant())).body
const after = (order: OrderBody, seconds: number) => new Date(Date.parse(order.expires_at) + seconds * 1_000)
const types = async (id: string) => (await system.published(id)).map(({ type }) => type)
const watched = (order: OrderBody, through: number) => [{ order_id: order.id, through }]
const at = (minute: number) => new Date(Date.now() + minute * 60_000)
const changed = (version: number, payout_address: string, minute: number) => {
  const terms = {
    ...{ merchant_id: merchantId, version, display_name: 'Padaria Estrela', payout_address, webhook_url: null },
    ...{ sealed_webhook_secret: 'x', sealed_pending_webhook_secret: null, pending_webhook_secret_activates_at: null },
  }
  return system.bus.publish(message('merchant.updated', terms, undefined, at(minute)))
}
const metric = async (name: string) =>
  Number(new RegExp(`^${name}\\{[^}]*\\} (.*)$`, 'm').exec((await request(system.ops).get('/metrics')).text)?.[1])

/** Another process of the service on the same database, which looks at the chain only when it has read of it. */
async function replicaOf(databaseUrl: string) {
  const bus = memoryBus({ topology, logger: silentLogger })
  const config = readConfig(ordersConfig, { ...settings(databaseUrl), EXPIRY_SWEEP_MS: '3600000' })
  const replica = createOrders(config, { bus, logger: silentLogger })
  const unread = Object.keys(topology).filter(queue => !queuesReadBy('orders').includes(queue))
  for (const queue of unread) await bus.consume(queue, async () => undefined).start?.()
  await replica.start()
  return [bus, replica] as const
}

it('a listener whose database went back expires no order that was paid, and what it forgot is reported again', async () => {
  const [paying, other] = [await create(), await create()]
  await chain.publish({ watched: [...watched(paying, 0), ...watched(other, 0)] })
  chain.beginAnew()
  // It knows neither the orders nor the payment, and confirms blocks beyond their end.
  await system.bus.publish(chain.advance(after(other, 60)))
  await system.orders.idle()
  expect([(await read(paying.id)).status, (await read(other.id)).status]).toEqual(['pending', 'pending'])
  const paid = chain.payment(paying, { block_time: after(paying, -39).toISOString() })
  await chain.publish({ watched: [...watched(paying, 20), ...watched(other, 20)], payments: [paid] })
  await until(async () => (await read(other.id)).status === 'expired', 'nothing expires any more')
  expect([(await read(paying.id)).status, await types(paying.id)]).toEqual(['paid', ['order.paid']])
})

it('another generation asks for every open order again at once, and answers of the older one count for nothing', async () => {
  const order = await create()
  await system.orders.idle()
  const before = chain.blocks({ watched: watched(order, 0) })
  asked.get(system.bus)?.orders.clear()
  chain.beginAnew()
  await chain.publish({})
  await until(() => asked.get(system.bus)?.orders.has(order.id) === true, 'it was not asked for again')
  await system.bus.publish(message('chain.blocks', before))
  await system.bus.publish(chain.advance(after(order, 60)))
  await system.orders.idle()
  expect((await read(order.id)).status).toBe('pending')
})

it('what comes in parts is believed when all of them have come, in whatever order', async () => {
  const order = await create()
  await chain.publish({ watched: watched(order, 0) })
  const first = message('chain.blocks', chain.blocks({ payments: [chain.payment(order, { block_number: 1_000_001 })] }))
  const other = await create()
  const { body } = chain.advance(after(order, 60), { payments: [chain.payment(other, { block_number: 1_000_001 })] })
  const { data } = JSON.parse(body)
  const last = message('chain.blocks', { ...data, version: chain.blocks().version, parts: [first.id] })
  const taking = system.bus.publish(last)
  await chain.publish({})
  expect([(await read(other.id)).status, await types(order.id)]).toEqual(['pending', []])
  await system.bus.publish(first)
  await taking
  await until(async () => (await read(other.id)).status === 'paid', 'the statement was not taken')
  await system.orders.idle()
  expect([(await read(order.id)).status, await types(order.id)]).toEqual(['paid', ['order.paid']])
})

it('what another generation does not know is not confirming for ever, and what was confirmed stays and is named as a difference', async () => {
  const [seen, settled] = [await create(), await create()]
  await chain.report('detected', chain.payment(seen))
  await chain.report('confirmed', chain.payment(settled))
  expect([(await read(seen.id)).status, (await read(settled.id)).status]).toEqual(['confirming', 'paid'])
  chain.beginAnew()
  await chain.publish({ watched: [...watched(seen, 20), ...watched(settled, 20)] })
  expect([(await read(seen.id)).status, (await read(settled.id)).status]).toEqual(['pending', 'paid'])
  await until(async () => (await metric('ponte_reconcile_differences')) === 1, 'the difference is not noticed')
})

it('what the generation before saw for no order is forgotten once this one is past it, and taken in where it was confirmed after all', async () => {
  const stray = (memo: string) => chain.payment(ordered, { memo: memo.repeat(64), block_number: 1_000_002 })
  const ordered = await create()
  const [gone, late] = [stray('a'), stray('b')]
  for (const one of [gone, late]) await chain.report('detected', one)
  const confirmation = chain.next('confirmed', late)
  const seen = async () => (await system.sql.query('SELECT memo, status FROM unmatched_payments ORDER BY memo')).rows
  expect(await seen()).toMatchObject([{ status: 'detected' }, { status: 'detected' }])
  chain.beginAnew()
  await chain.publish({ since: 1_000_003, advanced: { from: 1_000_003, to: 1_000_020, time: at(1).toISOString() } })
  await until(async () => (await seen()).length === 0, 'what was seen stays for ever')
  await system.bus.publish(confirmation)
  expect(await seen()).toEqual([{ memo: 'b'.repeat(64), status: 'confirmed' }])
})

it('what the generation before saw is not there once blocks are confirmed without it, whether they or the answer to the watch come first', async () => {
  const order = await create()
  await chain.publish({ watched: watched(order, 0) })
  await chain.report('detected', chain.transfer(order))
  expect((await read(order.id)).status).toBe('confirming')
  chain.beginAnew()
  const answer = chain.blocks({ since: 1, watched: watched(order, 0) })
  await chain.publish({ since: 1, advanced: { from: 1, to: 20, time: after(order, -60).toISOString() } })
  expect((await read(order.id)).status).toBe('confirming')
  await system.bus.publish(message('chain.blocks', answer))
  expect((await read(order.id)).status).toBe('pending')
})

it('a replica that last looked in the generation before expires no order by what that one had confirmed', async () => {
  const order = await create()
  const [bus, other] = await replicaOf(system.database.url)
  try {
    await bus.publish(chain.advance(after(order, 60)))
    await other.idle()
    chain.beginAnew()
    await chain.publish({ watched: watched(order, 0) })
    await bus.publish(chain.next('confirmed', chain.payment(order, { gross: 1_000_000n })))
    expect((await read(order.id)).status).toBe('underpaid')
  } finally {
    await other.stop()
  }
})

it('a replica that looked before it knew of the doubt expires no order that is watched by what is lost', async () => {
  const order = await create()
  const [bus, other] = await replicaOf(system.database.url)
  try {
    const { lease } = chain.blocks()
    // Put back to before it was asked, the listener confirms blocks under its next lease without watching the order, and this comes first.
    const next = { lease: '01900000-0000-7000-8000-00000000000a', earlier: [{ lease, version: 0 }] }
    await bus.publish(chain.advance(after(order, 60), next))
    await other.idle()
    await chain.publish({ watched: watched(order, 0) })
    await bus.publish(chain.next('confirmed', chain.payment(order, { gross: 1_000_000n })))
    expect((await read(order.id)).status).toBe('underpaid')
  } finally {
    await other.stop()
  }
})

it('a dead letter of the listener brings the doubt that it would have brought', async () => {
  const order = await create()
  const first = chain.blocks()
  await system.bus.publish(message('chain.blocks', first))
  const next = { lease: '01900000-0000-7000-8000-00000000000a', earlier: [{ lease: first.lease, version: first.version }] }
  const lost = chain.advance(after(order, 60), { ...next, payments: [chain.payment({ ...order, memo: 'ab'.repeat(32) })] })
  await system.bus.publish({ ...lost, body: lost.body.replace(/"block_time":"[^"]*"/, '"block_time":"yesterday"') })
  await chain.publish({ watched: watched(order, 0) })
  await until(async () => (await metric('ponte_payment_events_missing')) > 0, 'the doubt is not shown')
  await chain.report('confirmed', chain.payment(order, { gross: 1_000_000n }))
  expect((await read(order.id)).status).toBe('underpaid')
})

it('a dead letter that takes a watch back holds the order', async () => {
  const [order, other] = [await create(), await create()]
  await chain.publish({ watched: [...watched(order, 0), ...watched(other, 0)] })
  const back = message('chain.blocks', chain.blocks({ watched: watched(order, -1), payments: [chain.payment(other, { gross: 1n })] }))
  await system.bus.publish({ ...back, body: back.body.replace(/"block_time":"[^"]*"/, '"block_time":"yesterday"') })
  const third = await create()
  await chain.publish({ watched: watched(third, 0) })
  await system.bus.publish(chain.advance(after(third, 60)))
  await until(async () => (await read(third.id)).status === 'expired', 'nothing expires any more')
  expect((await read(order.id)).status).toBe('pending')
})

it('nothing expires while a lease was seen further than the listener knows it, and a new generation ends the doubt', async () => {
  const order = await create()
  await chain.publish({ watched: watched(order, 0) })
  const { lease, version } = chain.blocks()
  // A dump was loaded: the next lease knows the one before up to a version that lies before what was read here.
  await chain.publish({ lease: '01900000-0000-7000-8000-00000000000a', earlier: [{ lease, version: version - 2 }] })
  await system.bus.publish(
    chain.advance(after(order, 60), { lease: '01900000-0000-7000-8000-00000000000a', earlier: [{ lease, version: version - 2 }] }),
  )
  await until(async () => (await metric('ponte_payment_events_missing')) > 0, 'the doubt is not shown')
  expect((await read(order.id)).status).toBe('pending')
  chain.beginAnew()
  await chain.publish({ watched: watched(order, 0) })
  await system.bus.publish(chain.advance(after(order, 60)))
  await until(async () => (await read(order.id)).status === 'expired', 'it waits for ever')
})

it('a payment of the release before is taken over by what is reported at its place, and counted once', async () => {
  const again = await create()
  const [old, same] = [chain.payment(again), chain.payment(again)]
  await system.sql.query(
    `INSERT INTO payments (id, order_id, kind, status, gross_units, payer_address, tx_hash, block_number, block_time, log_index)
     VALUES ($1, $2, 'router', 'confirmed', 14000000, $3, $4, 10, now(), 3)`,
    [`31337:${old.tx_hash}:0`, again.id, old.payer_address, old.tx_hash],
  )
  await system.sql.query(
    'UPDATE orders SET confirmed_units = 14000000, seen_units = 14000000, last_block = 10, last_index = 3 WHERE id = $1',
    [again.id],
  )
  await chain.publish({
    payments: [
      { ...old, amount: '14.000000', log_index: 3 },
      { ...same, amount: '13.675277', block_number: 11 },
    ],
  })
  const { status, payments } = await read(again.id)
  expect([status, payments?.map(({ amount }) => amount)]).toEqual(['paid', ['14.000000', '13.675277']])
})

it('money that counts for no order stays its merchant’s after they changed the payout address', async () => {
  const next = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
  const order = await create()
  await changed(1, PAYOUT, -60)
  await changed(2, next, 10)
  const lost = (minute: number) => chain.payment(order, { memo: 'ab'.repeat(32), block_time: at(minute).toISOString() })
  const [before, later] = [lost(0), lost(20)]
  await chain.publish({ payments: [before, { ...later, log_index: 1 }] })
  const { body } = await request(system.url).get('/api/v1/attention').set(asMerchant(merchantId, next))
  expect(body.data.map((item: { payment: { tx_hash: string } }) => item.payment.tx_hash)).toEqual([before.tx_hash])
})

describe('what a history that ended still states, when it comes after the next has begun', () => {
  const memo = 'cd'.repeat(32)
  const listed = async () => {
    const { body } = await request(system.url).get('/api/v1/attention').set(asMerchant())
    return body.data.map((item: { payment: { tx_hash: string } | null }) => item.payment?.tx_hash)
  }
  const notices = async () =>
    (await system.sql.query("SELECT 1 FROM outbox WHERE type = 'order.payment_unmatched' AND body LIKE '%' || $1 || '%'", [memo])).rowCount
  const begins = async () => {
    chain.beginAnew()
    await chain.publish({})
  }

  it('is money that counts for no order, which the next states for nobody: it is shown, and its merchant notified once', async () => {
    await changed(1, PAYOUT, -60)
    const order = await create()
    const lost = chain.payment({ ...order, memo })
    const late = chain.next('confirmed', lost)
    const seen = chain.next('detected', chain.payment({ ...order, memo }))
    await begins()
    for (const each of [late, seen, late]) await system.bus.publish(each)
    expect(await listed()).toEqual([lost.tx_hash])
    await chain.report('confirmed', lost)
    expect([await listed(), await notices()]).toEqual([[lost.tx_hash], 1])
  })

  it('is that such money is confirmed, by a listener that was put back and stated it under an older version than what it had seen', async () => {
    await changed(1, PAYOUT, -60)
    const order = await create()
    const lost = chain.payment({ ...order, memo })
    const confirmed = chain.next('confirmed', lost)
    await chain.report('detected', lost)
    await system.bus.publish(confirmed)
    await begins()
    expect(await listed()).toEqual([lost.tx_hash])
  })

  it('is that the block of such money is gone, unless the next has it', async () => {
    const order = await create()
    const [gone, stands] = [chain.payment({ ...order, memo }), chain.payment({ ...order, memo }, { block_number: 11 })]
    const [before, then] = [chain.next('confirmed', gone), chain.next('confirmed', stands)]
    const takenBack = [chain.next('orphaned', gone), chain.next('orphaned', stands)]
    await system.bus.publish(then)
    await begins()
    await chain.report('confirmed', stands)
    for (const each of [...takenBack, before]) await system.bus.publish(each)
    expect(await listed()).toEqual([stands.tx_hash])
  })

  it('is not what an order got: the next states all of it, and what that lacks is not counted', async () => {
    const order = await create()
    const late = [chain.next('confirmed', chain.payment(order)), chain.next('detected', chain.transfer(order))]
    await begins()
    await chain.publish({ watched: watched(order, 20) })
    for (const each of late) await system.bus.publish(each)
    expect((await read(order.id)).status).toBe('pending')
  })
})

it('of all replicas one reports how far the listener is followed, and a minute later another one may', async () => {
  await chain.publish({ watched: [] })
  const store = openStore(system.sql, { now: () => new Date(), latestChainTime: () => new Date(), committed: () => undefined })
  const reports = async () => {
    const { rows } = await system.sql.query("SELECT count(*)::int AS count FROM outbox WHERE type = 'chain.followed'")
    return Number(rows[0]?.count)
  }
  const before = await reports()
  for (const turn of [1, 2]) {
    await system.sql.query("UPDATE chain_cursors SET reported_at = now() - interval '1 minute'")
    await Promise.all([1, 2, 3].map(() => store.chain.publishFollowed(31_337)))
    expect((await reports()) - before).toBe(turn)
  }
})
