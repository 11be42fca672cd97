import type { AttentionItemBody, EntryBody, EventData, OrderBody, RefundBody } from '@ponte/contracts'
import { type LocalChain, startLocalChain, testAccounts } from '@ponte/local-servers'
import { readConfig, silentLogger, uuidv7 } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import request from 'supertest'
import { createOrders, ordersConfig } from '../src'
import { openStore } from '../src/store'
import { charge, listener, message } from './listener'
import { asMerchant, merchantId, settings, startOrders } from './setup'

// The listener's statements are the test's: late, twice, in another order, of a halted chain, and of refunds that this database has lost.

const wallet = new Wallet(testAccounts[2].privateKey)
const HOUR_MS = 3_600_000
const today = new Date().toISOString().slice(0, 10)
const DAY = { from: today, to: new Date(Date.now() + 24 * HOUR_MS).toISOString().slice(0, 10), timezone: 'UTC' }
let local: LocalChain
let system: Awaited<ReturnType<typeof startOrders>>
let chain: ReturnType<typeof listener>
/** Our clock, which may be ahead of the chain. */
let ahead = 0
const env = () => ({
  RPC_URLS: local.rpcUrl,
  TOKEN_ADDRESS: local.usdcAddress,
  ROUTER_ADDRESS: local.routerAddress,
  PLATFORM_FEE_BPS: String(local.feeBps),
})
beforeAll(async () => {
  local = await startLocalChain()
  system = await startOrders(env(), { now: () => new Date(Date.now() + ahead) })
  chain = listener(system.bus)
})
beforeEach(() => {
  ahead = 0
})
afterAll(async () => {
  await system?.stop()
  await local?.stop()
})

const me = () => asMerchant(merchantId, wallet.address, 'ana')
const post = (path: string, body: object = {}, url = system.url) => request(url).post(`/api/v1${path}`).set(me()).send(body)
const read = async ({ id }: { id: string }): Promise<RefundBody> => (await request(system.url).get(`/api/v1/refunds/${id}`).set(me())).body
async function paid(): Promise<OrderBody> {
  const { body: order } = await post('/orders', { brl_amount: '542.00' })
  await chain.report('confirmed', chain.payment(order))
  return order
}
const refund = (order: OrderBody, body: object = {}) =>
  post(`/orders/${order.id}/refunds`, { payee_address: Wallet.createRandom().address, reason: 'It came back', ...body })
const made = async (order: OrderBody, body: object = {}): Promise<RefundBody> => (await refund(order, body)).body
async function signed(of: RefundBody) {
  const { domain, types, message: data } = of.typed_data ?? { domain: {}, types: {}, message: { validBefore: '0' } }
  const body = { valid_before: Number(data.validBefore), signature: await wallet.signTypedData(domain, types, data) }
  expect((await post(`/refunds/${of.id}/signature`, body)).status).toBe(200)
  return body
}
const cancel = ({ id }: { id: string }) => post(`/refunds/${id}/cancel`)

let revision = 0
const END = { kind: 'transferred', tx_hash: `0x${'5b'.repeat(32)}`, log_index: 3, block_number: 1_000_020 } as const
/** As the listener states it, of a block at this time. */
const observed = (of: RefundBody, time: Date, change: Partial<EventData<'refund.observed'>> = {}): EventData<'refund.observed'> => ({
  ...{ chain_id: 31337, generation: chain.generation(), revision: ++revision, refund_id: of.id, order_id: of.order_id },
  ...{ from_address: of.from_address, payee_address: of.payee_address, amount: of.amount, nonce: of.nonce, watch_from: 10 },
  ...{ valid_before: of.valid_before, block_number: 1_000_030, block_time: time.toISOString(), wallet_balance: null, end: null },
  ...change,
})
const state = async (data: EventData<'refund.observed'>, id = uuidv7()) => {
  await system.bus.publish(message('refund.observed', data, id))
  await system.orders.idle()
}
const ended = (time: Date) => ({ end: { ...END, block_time: time.toISOString() } })

describe('the end of a signature', () => {
  it('is the time of the confirmed chain, also while it stands still and our clock is ahead', async () => {
    const of = await made(await paid())
    const { valid_before } = await signed(of)
    const end = valid_before * 1_000
    ahead = 5 * HOUR_MS
    expect((await cancel(of)).status).toBe(409)
    expect((await refund({ id: of.order_id } as OrderBody)).status).toBe(409)
    await state(observed(of, new Date(end - 1_000)))
    expect((await cancel(of)).status).toBe(409)
    await state(observed(of, new Date(end)))
    expect(await read(of)).toMatchObject({ status: 'awaiting_signature', valid_before: null })
    expect((await cancel(of)).body).toMatchObject({ status: 'cancelled' })
    const { rows } = await system.sql.query(
      "SELECT body::jsonb#>'{data,refunds,0}' AS refund FROM outbox WHERE type = 'refund.watch' AND strpos(body, $1) > 0 ORDER BY id DESC LIMIT 1",
      [of.id],
    )
    expect(rows[0]?.refund).toMatchObject({ valid_before, signature: null, is_withdrawn: true })
  })

  it('is not taken from a time that lies ahead of our clock further than a chain can be', async () => {
    const of = await made(await paid())
    await signed(of)
    await state(observed(of, new Date(Date.now() + 400 * 24 * HOUR_MS)))
    expect((await cancel(of)).status).toBe(409)
  })
})

describe('what the listener states', () => {
  it('counts once, in any order, the newest of its history', async () => {
    const order = await paid()
    const of = await made(order)
    await signed(of)
    const now = new Date()
    const [early, late] = [observed(of, now), observed(of, now, ended(now))]
    const id = uuidv7()
    await state(late, id)
    await state(late, id)
    await state(late)
    await state(early)
    expect(await read(of)).toMatchObject({ status: 'confirmed', tx_hash: END.tx_hash })
    // A reorganisation took it away: what moved it once may move it again, and no one knows until when.
    await state(observed(of, new Date(Date.now() + 48 * HOUR_MS)))
    expect(await read(of)).toMatchObject({ status: 'submitted', tx_hash: null })
    expect((await cancel(of)).status).toBe(409)
    chain.beginAnew()
    revision = 0
    await state(observed(of, now, ended(now)))
    expect(await read(of)).toMatchObject({ status: 'confirmed' })
    expect((await system.sql.query('SELECT count(*)::int AS count FROM refund_signatures WHERE refund_id = $1', [of.id])).rows).toEqual([
      { count: 2 },
    ])
  })

  it('is of what this database has lost, too: its signature may live', async () => {
    const order = await paid()
    const of = await made(order)
    const { valid_before } = await signed(of)
    await system.sql.query('DELETE FROM refunds')
    await system.sql.query('DELETE FROM refund_signatures')
    await state(observed(of, new Date(), { valid_before }))
    expect(await read(of)).toMatchObject({ status: 'submitted', amount: of.amount, payee_address: of.payee_address, nonce: of.nonce })
    expect((await refund(order)).status).toBe(409)
  })

  it('is of a signature that this database alone has lost, too, also where its refund was cancelled meanwhile', async () => {
    const order = await paid()
    const of = await made(order)
    const { valid_before } = await signed(of)
    const lose = () => system.sql.query('DELETE FROM refund_signatures WHERE refund_id = $1', [of.id])
    await lose()
    await state(observed(of, new Date(), { valid_before }))
    expect(await read(of)).toMatchObject({ status: 'submitted', valid_before })
    expect((await cancel(of)).status).toBe(409)
    expect((await refund(order)).status).toBe(409)
    await lose()
    expect((await cancel(of)).status).toBe(200)
    await state(observed(of, new Date(), { valid_before }))
    expect(await read(of)).toMatchObject({ status: 'submitted', valid_before })
    expect((await refund(order)).status).toBe(409)
    await state(observed(of, new Date(valid_before * 1_000), { valid_before }))
    expect(await read(of)).toMatchObject({ status: 'cancelled', valid_before: null })
    expect((await refund(order)).status).toBe(201)
  })

  it('that the money went back although we had cancelled counts against what may go back', async () => {
    const order = await paid()
    const of = await made(order)
    expect((await cancel(of)).status).toBe(200)
    const now = new Date()
    await state(observed(of, now, ended(now)))
    expect(await read(of)).toMatchObject({ status: 'confirmed' })
    expect((await refund(order, { amount: '0.01' })).status).toBe(409)
  })
})

test('a cancellation or a signature that is sent again leaves the order as it is, so that none of fifty at once is refused', async () => {
  const order = await paid()
  const versionOf = async () => (await system.sql.query('SELECT version FROM orders WHERE id = $1', [order.id])).rows[0]?.version
  const again = async (path: string, body: object = {}) => {
    const first = await post(path, body)
    const version = await versionOf()
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(path, body)))
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`))).toEqual(
      new Set([`200 ${JSON.stringify(first.body)}`]),
    )
    expect(await versionOf()).toBe(version)
  }
  await again(`/refunds/${(await made(order, { amount: '1' })).id}/cancel`)
  const of = await made(order, { amount: '1' })
  await again(`/refunds/${of.id}/signature`, await signed(of))
  const { body: claim } = await post(`/orders/${order.id}/refund-claims`, { amount: '1', reason: 'It came back' })
  await again(`/refund-claims/${claim.id}/cancel`)
})

describe('the ledger', () => {
  it('has a return as an entry, takes it back with its transfer, and has it again', async () => {
    const order = await paid()
    const of = await made(order, { amount: '40' })
    const booked = async () => {
      const { body } = await request(system.url).get('/api/v1/entries').query({ limit: 100, order_id: order.id }).set(me())
      const { data }: { data: EntryBody[] } = body
      return data.map(({ kind, amount, brl_amount, from_account, to_account }) => [kind, amount, brl_amount, from_account, to_account])
    }
    const before = await booked()
    const sumOf = async () => (await request(system.url).get('/api/v1/summary').query(DAY).set(me())).body.total
    const { returned } = await sumOf()
    const now = new Date()
    await state(observed(of, now, ended(now)))
    const entry = ['returned', '40.000000', '216.80', 'payout', 'payer']
    expect(await booked()).toEqual([...before, entry])
    expect(Number((await sumOf()).returned) - Number(returned)).toBe(40)
    await state(observed(of, now))
    const reversal = ['returned', '-40.000000', '-216.80', 'payout', 'payer']
    expect(await booked()).toEqual([...before, entry, reversal])
    await state(observed(of, now, ended(now)))
    await state(observed(of, now, ended(now)))
    expect(await booked()).toEqual([...before, entry, reversal, entry])
    const { rows } = await system.sql.query('SELECT book(ARRAY[$1]) AS count', [END.tx_hash])
    expect(rows).toEqual([{ count: '0' }])
  })
})

describe('what may go back', () => {
  const ofPlan = async () => {
    const charged = charge({ brl_amount: '542.00', terms: { ...charge().terms, merchant_id: merchantId, payout_address: wallet.address } })
    await system.bus.publish(message('subscription.charge_requested', charged))
    const { order_id, subscription_id } = charged
    const shown = async (): Promise<OrderBody> => (await request(system.url).get(`/api/v1/orders/${order_id}`).set(me())).body
    return { order: await shown(), order_id, subscription_id, shown }
  }

  it('is judged anew for a signature after a reorganisation took money away', async () => {
    const order = (await post('/orders', { brl_amount: '542.00' })).body
    const payment = chain.payment(order)
    await chain.report('confirmed', payment)
    const of = await made(order)
    await chain.report('orphaned', payment)
    const { domain, types, message: data } = of.typed_data ?? { domain: {}, types: {}, message: { validBefore: '0' } }
    const body = { valid_before: Number(data.validBefore), signature: await wallet.signTypedData(domain, types, data) }
    const answer = await post(`/refunds/${of.id}/signature`, body)
    expect([answer.status, answer.body.detail]).toEqual([409, expect.stringContaining('Less came')])
  })

  it('is not taken as payment in full, and what was taken as it may go back', async () => {
    const { body: order } = await post('/orders', { brl_amount: '542.00' })
    await chain.report('confirmed', chain.payment(order, { gross: 60_000_000n }))
    await chain.synced(order)
    await system.sql.query("UPDATE orders SET status = 'expired', expired_at = now() WHERE id = $1", [order.id])
    const of = await made(order)
    expect(of.amount).toBe('60.000000')
    const accept = () => post(`/orders/${order.id}/accept`, { reason: 'It is enough' })
    expect((await accept()).status).toBe(409)
    expect((await cancel(of)).status).toBe(200)
    expect((await accept()).status).toBe(200)
    expect((await made(order)).amount).toBe('60.000000')
  })

  it('may go back of a part of a period whose paid order asked for everything', async () => {
    const { order, order_id, subscription_id } = await ofPlan()
    await chain.report('confirmed', chain.payment(order, { gross: 40_000_000n }))
    await chain.synced(order)
    await system.sql.query("UPDATE orders SET status = 'expired', expired_at = now() WHERE id = $1", [order_id])
    expect((await refund(order)).status).toBe(409)
    const superseded = { merchant_id: merchantId, merchant_version: 1, subscription_id, order_id, deducted_brl_amount: '0.00' }
    await system.bus.publish(message('subscription.order_superseded', superseded))
    expect((await made(order)).amount).toBe('40.000000')
  })

  it('is reported to the plan, which counts what does not go back', async () => {
    const { order, order_id } = await ofPlan()
    expect((await post(`/orders/${order_id}/cancel`, {})).status).toBe(200)
    await chain.report('confirmed', chain.payment(order, { gross: 100_000_000n }))
    await chain.synced(order)
    const missing = async () =>
      (await system.published(order_id)).flatMap(event =>
        event.type === 'order.received' ? [Reflect.get(event.data, 'missing_brl_amount')] : [],
      )
    const of = await made(order, { amount: '60' })
    await system.orders.idle()
    expect(await missing()).toEqual(['0.00', '325.20'])
    expect((await cancel(of)).status).toBe(200)
    await system.orders.idle()
    expect(await missing()).toEqual(['0.00', '325.20', '0.00'])
  })

  it('is not taken as payment with its period either, whose charge counts by the merchant’s word alone', async () => {
    const { order, order_id, subscription_id, shown } = await ofPlan()
    const payment = chain.payment(order, { gross: 60_000_000n })
    await chain.report('confirmed', payment)
    await chain.synced(order)
    const owner = { merchant_id: merchantId, merchant_version: 1 }
    await system.sql.query("UPDATE orders SET status = 'cancelled', cancelled_at = now() WHERE id = $1", [order_id])
    const of = await made(order)
    expect(of.amount).toBe('60.000000')
    const accepted = () =>
      system.bus.publish(
        message('subscription.charged', {
          ...{ ...owner, subscription_id, charges_done: 1, accepted: { by: 'ana' } },
          order: {
            ...{ id: order_id, subscription_id, external_ref: order.external_ref, brl_amount: order.brl_amount },
            ...{ usdc_amount: order.usdc_amount, tx_hash: payment.tx_hash, memo: order.memo, paid_at: new Date().toISOString() },
          },
        }),
      )
    await accepted()
    expect((await shown()).status).toBe('cancelled')
    expect((await system.published(order_id)).map(({ type }) => type)).not.toContain('order.paid')
    expect((await cancel(of)).status).toBe(200)
    await accepted()
    expect(await shown()).toMatchObject({ status: 'paid', accepted: { given_away: '40.000000' } })
  })

  it('no payment without an order is counted for it while money of it goes back', async () => {
    const { body: order } = await post('/orders', { brl_amount: '542.00' })
    await chain.report('confirmed', chain.payment(order, { gross: 60_000_000n }))
    await chain.synced(order)
    await system.sql.query("UPDATE orders SET status = 'expired', expired_at = now() WHERE id = $1", [order.id])
    const of = await made(order)
    const stray = chain.payment(order, { memo: 'ad'.repeat(32), gross: 40_000_000n })
    await chain.report('confirmed', stray)
    const { body } = await request(system.url).get('/api/v1/attention').set(me())
    const item = body.data.find(({ payment }: AttentionItemBody) => payment?.tx_hash === stray.tx_hash)
    const attach = () => post(`/attention/${item.id}/attach`, { order_id: order.id, reason: 'It is theirs' })
    expect((await attach()).status).toBe(409)
    expect((await cancel(of)).status).toBe(200)
    expect((await attach()).body).toMatchObject({ status: 'paid', received: '99.000000' })
  })

  it('is the same whichever of two replicas is asked', async () => {
    const config = readConfig(ordersConfig, { ...settings(system.database.url), ...env() })
    const second = createOrders(config, { bus: system.bus, logger: silentLogger })
    await second.start()
    const url = `http://127.0.0.1:${second.http.port()}`
    const order = await paid()
    const body = { payee_address: Wallet.createRandom().address, amount: '30', reason: 'x' }
    const asked = await Promise.all(
      Array.from({ length: 8 }, (_, index) => post(`/orders/${order.id}/refunds`, body, index % 2 ? url : system.url)),
    )
    expect(asked.filter(({ status }) => status === 201)).toHaveLength(3)
    expect(asked.filter(({ status }) => status === 409)).toHaveLength(5)
    await second.stop()
  })

  it('is nothing of another merchant’s', async () => {
    const of = await made(await paid())
    const stranger = asMerchant(uuidv7(), wallet.address)
    for (const path of [`/refunds/${of.id}/cancel`, `/orders/${of.order_id}/refunds`])
      expect(
        (
          await request(system.url)
            .post(`/api/v1${path}`)
            .set(stranger)
            .send(path.endsWith('refunds') ? { reason: 'x' } : {})
        ).status,
      ).toBe(403)
    expect((await request(system.url).get(`/api/v1/refunds/${of.id}`).set(stranger)).status).toBe(403)
    expect((await request(system.url).get(`/api/v1/refunds/${uuidv7()}`).set(me())).status).toBe(404)
  })
})

it('what has gone back of a surplus is left over no more', async () => {
  const { body: order } = await post('/orders', { brl_amount: '542.00' })
  await chain.report('confirmed', chain.payment(order, { gross: 120_000_000n }))
  const toReturn = async () => {
    const get = (path: string) =>
      request(system.url)
        .get(`/api/v1${path}`)
        .query(path === '/summary' ? DAY : {})
        .set(me())
    const [list, summary] = [await get('/attention'), await get('/summary')]
    const item = list.body.data.find(({ id }: { id: string }) => id === order.id)
    return { taken: item.taken, left_over: item.left_over, to_return: Number(summary.body.to_return) }
  }
  const before = await toReturn()
  const surplus = Number(before.left_over)
  expect(surplus).toBeGreaterThan(10)
  const of = await made(order, { surplus: true })
  await signed(of)
  expect(await toReturn()).toEqual(before)
  await state(observed(of, new Date(), ended(new Date())))
  expect(await toReturn()).toEqual({ ...before, left_over: '0.000000', to_return: expect.closeTo(before.to_return - surplus, 6) })
  // A reorganisation took the return away.
  await state(observed(of, new Date()))
  expect(await toReturn()).toEqual(before)
})

it('a refund that was lost here with its order is taken up once the order is back, and its merchant is notified of its end', async () => {
  const order = await paid()
  const of = await made(order)
  await system.sql.query('DELETE FROM refunds WHERE id = $1', [of.id])
  await state(observed({ ...of, order_id: uuidv7() }, new Date(), ended(new Date())))
  expect((await request(system.url).get(`/api/v1/refunds/${of.id}`).set(me())).status).toBe(404)
  await state(observed(of, new Date(), ended(new Date())))
  expect(await read(of)).toMatchObject({ status: 'confirmed' })
  const confirmed = () => system.sql.query("SELECT FROM outbox WHERE type = 'refund.confirmed' AND body LIKE '%' || $1 || '%'", [of.id])
  expect((await confirmed()).rowCount).toBe(1)
  expect((await refund(order)).status).toBe(409)
})

it('a refund that cannot be written leaves nothing behind, neither row nor question nor answer', async () => {
  const order = await paid()
  const before = (await system.sql.query('SELECT count(*)::int AS count FROM outbox')).rows
  await system.sql.query(
    `CREATE FUNCTION dies() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the process died here'; END $$`,
  )
  await system.sql.query('CREATE TRIGGER dies BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION dies()')
  const key = uuidv7()
  const ask = () => refund(order).set('Idempotency-Key', key)
  expect((await ask()).status).toBe(500)
  await system.sql.query('DROP TRIGGER dies ON outbox')
  expect((await system.sql.query('SELECT count(*)::int AS count FROM outbox')).rows).toEqual(before)
  expect((await request(system.url).get(`/api/v1/orders/${order.id}/refunds`).set(me())).body).toMatchObject({
    data: [],
    promised: '0.000000',
  })
  expect((await ask()).status).toBe(201)
})

it('another history of the listener is asked about a refund that went back so lately that a reorganisation may take it: the one before may have been alone in watching it', async () => {
  const of = await made(await paid())
  await state(observed(of, new Date(), ended(new Date())))
  const asked = async () =>
    (await system.sql.query("SELECT FROM outbox WHERE type = 'refund.watch' AND body LIKE '%' || $1 || '%'", [of.id])).rowCount
  const look = () => openStore(system.sql, { now: () => new Date(), latestChainTime: () => new Date(), committed: () => undefined })
  await look().refunds.askUnheard(31337)
  expect(await asked()).toBe(1)
  chain.beginAnew()
  await chain.publish({ head: END.block_number + 5 })
  await look().refunds.askUnheard(31337)
  expect(await asked()).toBe(2)
  await state(observed(of, new Date()))
  expect((await read(of)).status).toBe('submitted')
})

it('the listener is asked again about what it was not heard of: soon where a signature is known, else once a day', async () => {
  const of = await made(await paid())
  await state(observed(of, new Date()))
  const asked = async () =>
    (
      await system.sql.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM outbox WHERE type = 'refund.watch' AND body LIKE '%' || $1 || '%'",
        [of.id],
      )
    ).rows[0]?.count ?? 0
  const begin = async (more: number) => {
    const config = readConfig(ordersConfig, { ...settings(system.database.url), ...env() })
    const replica = createOrders(config, { bus: system.bus, logger: silentLogger, now: () => new Date(Date.now() + more) })
    await replica.start()
    await replica.idle()
    await replica.stop()
  }
  await begin(0)
  await begin(11 * 60_000)
  expect(await asked()).toBe(1)
  await begin(25 * HOUR_MS)
  expect(await asked()).toBe(2)
  await signed(of)
  const before = await asked()
  await begin(25 * HOUR_MS + 11 * 60_000)
  expect(await asked()).toBe(before + 1)
})
