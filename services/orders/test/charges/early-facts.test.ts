import { type EventData, type EventType, NO_MEMO, type OrderBody } from '@ponte/contracts'
import { type Database, silentLogger, uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { createIntake } from '../../src/intake'
import { openStore } from '../../src/store'
import { charge, message } from '../listener'
import { chain, runOrders, system } from '../run-orders'
import { asMerchant, merchantId } from '../setup'

// Facts that come before their order becomes a row are found by its later ones.

let ahead = 0
runOrders({}, { now: () => new Date(Date.now() + ahead) })
afterEach(() => {
  ahead = 0
})

type Closing = 'subscription.cancelled' | 'subscription.expired' | 'subscription.order_superseded'
const CLOSINGS: Closing[] = ['subscription.cancelled', 'subscription.expired', 'subscription.order_superseded']

const read = (id: string) => request(system.url).get(`/api/v1/orders/${id}`).set(asMerchant())
const send = <T extends EventType>(type: T, data: EventData<T>, occurredAt = new Date()) =>
  system.bus.publish(message(type, data, uuidv7(), occurredAt))
const owner = { merchant_id: merchantId, merchant_version: 1 }
const close = (type: Closing, ids: string[], occurredAt?: Date) =>
  type === 'subscription.order_superseded'
    ? send(type, { ...owner, subscription_id: uuidv7(), order_id: ids[0] ?? '' }, occurredAt)
    : send(
        type,
        { ...owner, open_order_id: ids[0] ?? null, open_order_ids: ids, subscription: { id: uuidv7(), external_ref: null } },
        occurredAt,
      )
const answersTo = async (orderId: string) => {
  const { rows } = await system.sql.query<{ type: string; reason: string }>(
    `SELECT type, body::jsonb->'data'->>'reason' AS reason FROM outbox WHERE body::jsonb->'data'->>'order_id' = $1 ORDER BY id`,
    [orderId],
  )
  return rows.map(({ type, reason }) => [type, reason])
}

it('payments that no order can claim are not looked through for those that one can', async () => {
  const asked: string[] = []
  const query: Database['query'] = (statement, values) => {
    asked.push(typeof statement === 'string' ? statement : statement.text)
    return system.sql.query(statement, values)
  }
  const store = openStore(
    { ...system.sql, query },
    { now: () => new Date(), latestChainTime: () => new Date(), committed: () => undefined },
  )
  await store.intake.claimable(100)
  const undone = new Error('undone')
  const planned = system.sql.transaction(async sql => {
    await sql.query(
      `INSERT INTO unmatched_payments (id, log_index, kind, status, reason, memo, chain_id, router_address, token_address, merchant_address, payer_address,
         gross_units, tx_hash, block_number, block_time)
       SELECT '31337:direct:' || n, 0, 'transfer', 'orphaned', 'unknown_memo', $1, 31337, '0x', '0x', '0x', '0x', 1, '0x' || n, 1, now()
       FROM generate_series(1, 20000) AS n`,
      [NO_MEMO],
    )
    await sql.query('ANALYZE unmatched_payments')
    const { rows } = await sql.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${asked[0]}`, [100])
    expect(rows.map(row => row['QUERY PLAN']).join('\n')).toMatch(/unmatched_payments_claimable/)
    throw undone
  })
  await expect(planned).rejects.toBe(undone)
})

describe.each(CLOSINGS)('%s before its charge', type => {
  it('is taken at once, and the charge that comes later is never opened', async () => {
    const wanted = charge()
    await close(type, [wanted.order_id])
    await close(type, [wanted.order_id])
    await send('subscription.charge_requested', wanted)
    expect((await read(wanted.order_id)).status).toBe(404)
    expect(await answersTo(wanted.order_id)).toEqual([['order.refused', 'withdrawn']])
  })

  it('closes the order also after an outage of orders that lasted for hours', async () => {
    const wanted = charge()
    await close(type, [wanted.order_id], new Date(Date.now() - 6 * 3_600_000))
    await send('subscription.charge_requested', wanted)
    expect((await read(wanted.order_id)).status).toBe(404)
  })

  it('leaves nothing open when both come at the same moment, in any order', async () => {
    const wanted = Array.from({ length: 40 }, () => charge())
    await Promise.all(
      wanted.flatMap((each, n) => {
        const both = [() => send('subscription.charge_requested', each), () => close(type, [each.order_id])]
        return (n % 2 ? both : both.reverse()).map(publish => publish())
      }),
    )
    for (const { order_id } of wanted) {
      const { status, body } = await read(order_id)
      expect(status === 404 ? 'never opened' : body.status).toMatch(/never opened|cancelled/)
    }
  })
})

it('five hundred events about unknown orders hold up no payment of another merchant', async () => {
  const order: OrderBody = (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '10' })).body
  const early = Array.from({ length: 520 }, (_, n) => close(CLOSINGS[n % 3] ?? 'subscription.cancelled', [uuidv7()]))
  await chain.report('confirmed', chain.payment(order))
  expect((await read(order.id)).body.status).toBe('paid')
  await Promise.all(early)
  const { rows } = await system.sql.query("SELECT count(*)::int AS n FROM charges WHERE state = 'withdrawn'")
  expect(rows[0]?.n).toBeGreaterThanOrEqual(520)
})

it('a confirmation that comes while the report before it is claimed is not lost, and does not give way to it', async () => {
  const order: OrderBody = (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '10' })).body
  const payment = chain.payment({ ...order, memo: 'cd'.repeat(32) })
  await chain.report('detected', payment)
  // As a replica writes it that has looked for the order before it was there.
  await system.sql.query('UPDATE unmatched_payments SET memo = $2 WHERE id = $1', [chain.idOf(payment), order.memo])
  const at = () => new Date(Date.now() + ahead)
  const store = openStore(system.sql, { now: at, latestChainTime: at, committed: () => undefined })
  let isOvertaken = false
  const replica = createIntake({
    ...{ now: at, logger: silentLogger, onUnmatched: () => undefined, onReorged: () => undefined, adopted: async () => undefined },
    store: {
      ...store,
      intake: {
        ...store.intake,
        async related(query) {
          const read = await store.intake.related(query)
          if (!isOvertaken) await chain.report('confirmed', { ...payment, memo: order.memo })
          isOvertaken = true
          return read
        },
      },
    },
  })
  await replica.claimEarlyPayments(order.memo)
  expect((await read(order.id)).body).toMatchObject({ status: 'paid', payments: [{ tx_hash: payment.tx_hash, status: 'confirmed' }] })
  const { rows } = await system.sql.query('SELECT id FROM unmatched_payments WHERE id = $1', [chain.idOf(payment)])
  expect(rows).toEqual([])
})

describe('a charge', () => {
  const until = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

  it('opens an order that ends when the charge states, however late it is opened', async () => {
    const wanted = charge({ expires_at: until(5) })
    await send('subscription.charge_requested', wanted)
    expect((await read(wanted.order_id)).body.expires_at).toBe(wanted.expires_at)
  })

  it('whose end is over, or too near for a payer, opens nothing, and its subscription is notified', async () => {
    const days = [-48, -24, 0.05, 5].map(hours => charge({ expires_at: until(hours) }))
    for (const wanted of days) await send('subscription.charge_requested', wanted)
    const statuses = await Promise.all(days.map(async ({ order_id }) => (await read(order_id)).status))
    expect(statuses).toEqual([404, 404, 404, 200])
    for (const { order_id } of days.slice(0, 3)) expect(await answersTo(order_id)).toEqual([['order.refused', 'lapsed']])
  })

  it('of the release before ends a life after it was published, not after it was read', async () => {
    const wanted = charge({ expires_in: 86_400 })
    await send('subscription.charge_requested', wanted, new Date(Date.now() - 3 * 86_400_000))
    expect((await read(wanted.order_id)).status).toBe(404)
  })

  it('for a merchant whose payout address was taken away is not paid to the old one: it waits', async () => {
    const id = uuidv7()
    const terms = { merchant_id: id, version: 1, display_name: 'Padaria', payout_address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' }
    const sealed = {
      webhook_url: null,
      sealed_webhook_secret: 'x',
      sealed_pending_webhook_secret: null,
      pending_webhook_secret_activates_at: null,
    }
    await send('merchant.updated', { ...terms, version: 2, payout_address: null, ...sealed })
    const wanted = charge({ terms })
    await send('subscription.charge_requested', wanted)
    const mine = () => request(system.url).get(`/api/v1/orders/${wanted.order_id}`).set(asMerchant(id))
    expect((await mine()).status).toBe(404)
    expect(await answersTo(wanted.order_id)).toEqual([['order.waiting', 'payout_address_required']])
    const address = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
    await send('merchant.updated', { ...terms, version: 3, payout_address: address, ...sealed })
    await system.orders.idle()
    const opened = async () => (await mine()).body.payment?.merchant_address
    for (let tries = 0; tries < 100 && (await opened()) === undefined; tries += 1) await system.orders.idle()
    expect(await opened()).toBe(address)
  })
})

describe('the end of a subscription', () => {
  it('closes every order that it names', async () => {
    const wanted = [charge(), charge(), charge()]
    for (const each of wanted.slice(0, 2)) await send('subscription.charge_requested', each)
    await close(
      'subscription.expired',
      wanted.map(({ order_id }) => order_id),
    )
    const seen = await Promise.all(wanted.map(async ({ order_id }) => (await read(order_id)).body.status))
    expect(seen).toEqual(['cancelled', 'cancelled', 404])
  })

  it('closes an order that was being paid once a reorganisation took that payment away', async () => {
    const wanted = charge()
    await send('subscription.charge_requested', wanted)
    const payment = chain.payment((await read(wanted.order_id)).body)
    await chain.report('detected', payment)
    await close('subscription.cancelled', [wanted.order_id])
    expect((await read(wanted.order_id)).body.status).toBe('confirming')
    await chain.report('orphaned', payment)
    expect((await read(wanted.order_id)).body.status).toBe('cancelled')
    expect((await system.published(wanted.order_id)).map(({ type }) => type)).toEqual(['order.cancelled'])
  })

  it('lets a payment in flight count', async () => {
    const wanted = charge()
    await send('subscription.charge_requested', wanted)
    const payment = chain.payment((await read(wanted.order_id)).body)
    await chain.report('detected', payment)
    await close('subscription.cancelled', [wanted.order_id])
    await chain.report('confirmed', payment)
    expect((await read(wanted.order_id)).body).toMatchObject({ status: 'paid', exception: null })
  })
})

it('money for a period`s order that is not paid is reported to its subscription, with what is missing', async () => {
  const wanted = charge({ brl_amount: '100.00' })
  await send('subscription.charge_requested', wanted)
  const order: OrderBody = (await read(wanted.order_id)).body
  const gross = (percent: bigint) => (BigInt(order.usdc_amount.replace('.', '')) * percent) / 100n
  const reports = async () => {
    const { rows } = await system.sql.query<{ data: EventData<'order.received'> }>(
      `SELECT body::jsonb->'data' AS data FROM outbox WHERE type = 'order.received' AND body::jsonb->'data'->>'order_id' = $1 ORDER BY id`,
      [wanted.order_id],
    )
    return rows.map(({ data }) => [data.missing_brl_amount, data.order?.tx_hash ?? null])
  }
  const part = chain.payment(order, { gross: gross(90n) })
  await chain.report('confirmed', part)
  expect(await reports()).toEqual([['10.01', part.tx_hash]])
  ahead = 2 * 86_400_000
  await chain.advances(new Date(Date.now() + ahead))
  await system.orders.idle()
  const rest = chain.payment(order, { gross: gross(10n), block_number: 11, block_time: new Date(Date.now() + ahead).toISOString() })
  await chain.report('confirmed', rest)
  expect((await reports()).at(-1)).toEqual(['0.00', rest.tx_hash])
})
