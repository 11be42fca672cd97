import type { OrderBody } from '@ponte/contracts'
import { until, uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { charge, message } from '../listener'
import { chain, runOrders, system } from '../run-orders'
import { asMerchant, merchantId } from '../setup'

/** The rate is as old as this clock states. */
let ahead = 0
const now = () => new Date(Date.now() + ahead)
runOrders({ RATE_REFRESH_MS: '3600000' }, { now })

const read = (id: string) => request(system.url).get(`/api/v1/orders/${id}`).set(asMerchant())
const stopPricing = () => {
  ahead = 3_600_000
}
const priceAgain = () => {
  ahead = 0
}
const cancelled = (orderId: string) =>
  message('subscription.cancelled', {
    merchant_id: merchantId,
    merchant_version: 1,
    open_order_id: orderId,
    subscription: { id: uuidv7(), external_ref: null },
  })
const unmatchedOf = async (memo: string) => (await system.sql.query('SELECT reason FROM unmatched_payments WHERE memo = $1', [memo])).rows

describe('subscription.charge_requested', () => {
  it('opens the order with the id and memo it names, once', async () => {
    const wanted = charge()
    await system.bus.publish(message('subscription.charge_requested', wanted))
    await system.bus.publish(message('subscription.charge_requested', wanted))
    const { body } = await read(wanted.order_id)
    expect(body).toMatchObject({ id: wanted.order_id, memo: wanted.memo, subscription_id: wanted.subscription_id, external_ref: 'SUB-1' })
    const { rows } = await system.sql.query(
      "SELECT count(*)::int AS n FROM outbox WHERE type = 'order.created' AND body::jsonb->'data'->'order'->>'id' = $1",
      [wanted.order_id],
    )
    expect(rows[0]?.n).toBe(1)
  })

  it('is decided under the newest terms of the merchant, in any order of arrival', async () => {
    const id = uuidv7()
    const terms = {
      merchant_id: id,
      version: 3,
      display_name: 'Nova Estrela',
      payout_address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    }
    const more = {
      webhook_url: null,
      sealed_webhook_secret: 'x',
      sealed_pending_webhook_secret: null,
      pending_webhook_secret_activates_at: null,
    }
    await system.bus.publish(message('merchant.updated', { ...terms, ...more }))
    await system.bus.publish(message('merchant.updated', { ...terms, version: 2, display_name: 'Old', ...more }))
    const wanted = charge({ terms: { ...terms, version: 1, payout_address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' } })
    await system.bus.publish(message('subscription.charge_requested', wanted))
    const { body } = await request(system.url).get(`/api/v1/orders/${wanted.order_id}`).set(asMerchant(id))
    expect(body.payment.merchant_address).toBe(terms.payout_address)
  })

  it('waits in the database while there is no rate, and in no one’s way', async () => {
    const order: OrderBody = (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '10' })).body
    stopPricing()
    const wanted = Array.from({ length: 40 }, () => charge())
    // Each is taken at once: a queue that held them would hold the payments behind them.
    await Promise.all(wanted.map(each => system.bus.publish(message('subscription.charge_requested', each))))
    await chain.report('confirmed', chain.payment(order))
    expect((await read(order.id)).body.status).toBe('paid')
    expect((await read(wanted[0]?.order_id ?? '')).status).toBe(404)
    priceAgain()
    const opened = async () => (await Promise.all(wanted.map(each => read(each.order_id)))).every(({ status }) => status === 200)
    await until(opened, 'the charges were not opened')
    const { rows } = await system.sql.query("SELECT count(*)::int AS n FROM charges WHERE state = 'waiting'")
    expect(rows[0]?.n).toBe(0)
  })
})

it('a hundred and fifty charges that wait for payout addresses hold up no good one behind them, and all are seen to wait', async () => {
  const terms = () => ({ merchant_id: uuidv7(), version: 1, display_name: 'Padaria', payout_address: null })
  const stuck = Array.from({ length: 150 }, () => charge({ terms: terms() }))
  stopPricing()
  await Promise.all(stuck.map(each => system.bus.publish(message('subscription.charge_requested', each))))
  const good = charge()
  await system.bus.publish(message('subscription.charge_requested', good))
  const metrics = async () => (await fetch(`${system.ops}/metrics`)).text()
  expect(await metrics()).toMatch(/^ponte_charges_waiting\{service="orders"\} 151$/m)
  priceAgain()
  await until(async () => (await read(good.order_id)).status === 200, 'the good charge was not opened', 30_000)
  expect(await metrics()).toMatch(/^ponte_charges_waiting\{service="orders"\} 150$/m)
  const { rows } = await system.sql.query(
    "SELECT count(*)::int AS n FROM charges WHERE state = 'waiting' AND tries > 0 AND next_try_at > now()",
  )
  await system.sql.query("DELETE FROM charges WHERE state = 'waiting'")
  // Each backs off by itself.
  expect(rows[0]?.n).toBeGreaterThan(0)
})

describe('a payment that is there before its order', () => {
  const target = { payment: { chain_id: 31337, router_address: '', token_address: '', merchant_address: '' } }
  const paymentOf = (wanted: ReturnType<typeof charge>) =>
    chain.payment({ ...target, memo: wanted.memo, usdc_amount: '27.675277' } as unknown as OrderBody, {
      router_address: system.config.ROUTER_ADDRESS.toLowerCase(),
      token_address: system.config.TOKEN_ADDRESS.toLowerCase(),
      merchant_address: (wanted.terms.payout_address ?? '').toLowerCase(),
    })

  it('is given to it when the charge comes', async () => {
    const wanted = charge()
    const paid = paymentOf(wanted)
    await chain.report('detected', paid)
    await chain.report('confirmed', paid)
    expect(await unmatchedOf(wanted.memo)).toEqual([{ reason: 'unknown_memo' }])
    await system.bus.publish(message('subscription.charge_requested', wanted))
    expect((await read(wanted.order_id)).body).toMatchObject({ status: 'paid', exception: 'overpaid', tx_hash: paid.tx_hash })
    expect(await unmatchedOf(wanted.memo)).toEqual([])
    expect((await system.published(wanted.order_id)).map(event => event.type)).toEqual(['order.paid'])
  })

  it('is never lost when both come at the same moment', async () => {
    const wanted = Array.from({ length: 30 }, () => charge())
    await Promise.all(
      wanted.flatMap(each => [
        system.bus.publish(message('subscription.charge_requested', each)),
        chain.report('confirmed', paymentOf(each)),
      ]),
    )
    const all = await Promise.all(wanted.map(each => read(each.order_id)))
    expect(all.map(({ body }) => body.status)).toEqual(wanted.map(() => 'paid'))
    for (const each of wanted) expect(await unmatchedOf(each.memo)).toEqual([])
  })

  it('is kept with the true reason when it turns out to go elsewhere', async () => {
    const wanted = charge()
    await chain.report('confirmed', { ...paymentOf(wanted), merchant_address: '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65' })
    await system.bus.publish(message('subscription.charge_requested', wanted))
    expect(await unmatchedOf(wanted.memo)).toEqual([{ reason: 'wrong_recipient' }])
    expect((await read(wanted.order_id)).body.status).toBe('pending')
  })
})

describe('subscription.cancelled', () => {
  it('cancels the open order that no one paid, and only that', async () => {
    const [open, paying] = [charge(), charge()]
    for (const each of [open, paying]) await system.bus.publish(message('subscription.charge_requested', each))
    await chain.report('detected', chain.payment((await read(paying.order_id)).body))
    for (const each of [open, paying]) await system.bus.publish(cancelled(each.order_id))
    expect((await read(open.order_id)).body.status).toBe('cancelled')
    expect((await system.published(open.order_id)).map(event => event.type)).toEqual(['order.cancelled'])
    expect((await read(paying.order_id)).body.status).toBe('confirming')
  })

  it('gives up a charge that still waits for a rate', async () => {
    stopPricing()
    const wanted = charge()
    await system.bus.publish(message('subscription.charge_requested', wanted))
    await system.bus.publish(cancelled(wanted.order_id))
    priceAgain()
    const { rows } = await system.sql.query("SELECT count(*)::int AS n FROM charges WHERE state = 'waiting'")
    expect([rows[0]?.n, (await read(wanted.order_id)).status]).toEqual([0, 404])
  })
})
