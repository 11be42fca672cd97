import type { OrderBody } from '@ponte/contracts'
import request from 'supertest'
import { chain, runOrders, system } from '../run-orders'
import { asMerchant, merchantId, PAYOUT, ROUTER } from '../setup'

// Only endpoints that chose these are notified.

runOrders({ DEPOSIT_FACTORY: ROUTER })

const create = async (): Promise<OrderBody> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00' })).body
const units = (amount: string) => BigInt(amount.replace('.', ''))
const types = async (id: string) => (await system.chosen(id)).map(({ type }) => type)

describe('order.settled', () => {
  it('comes once, when the last of what was transferred has been swept to the payout address', async () => {
    const order = await create()
    const half = units(order.usdc_amount) / 2n
    await chain.report('confirmed', chain.transfer(order, { gross: half, block_number: 10 }))
    await chain.report('confirmed', chain.transfer(order, { gross: units(order.usdc_amount) - half, block_number: 11 }))
    await chain.sweeps('confirmed', order, half, { block_number: 12 })
    await system.orders.idle()
    expect(await types(order.id)).toEqual([])
    const last = await chain.sweeps('confirmed', order, units(order.usdc_amount) - half, { block_number: 13 })
    await chain.sweeps('confirmed', order, 5n, { block_number: 14 })
    await system.orders.idle()
    const [settled, ...more] = await system.chosen(order.id)
    expect([settled?.type, more]).toEqual(['order.settled', []])
    expect(settled?.data.order).toMatchObject({ id: order.id, settlement_tx_hash: last.tx_hash, payout_address: PAYOUT })
    const { rows } = await system.sql.query('SELECT settled_at IS NOT NULL AS settled FROM orders WHERE id = $1', [order.id])
    expect(rows).toEqual([{ settled: true }])
  })

  it('is not held up by dust that someone sent to the address, before or after it was swept', async () => {
    const [byRouter, swept] = [await create(), await create()]
    await chain.report('confirmed', chain.transfer(byRouter, { gross: 1n, block_number: 9 }))
    await chain.report('confirmed', chain.payment(byRouter))
    await chain.report('confirmed', chain.transfer(swept, { block_number: 10 }))
    await chain.report('confirmed', chain.transfer(swept, { gross: 1n, block_number: 12 }))
    const last = await chain.sweeps('confirmed', swept, units(swept.usdc_amount), { block_number: 11 })
    await system.orders.idle()
    expect(await types(byRouter.id)).toEqual(['order.settled'])
    const [settled, ...more] = await system.chosen(swept.id)
    expect([settled?.data.order, more]).toMatchObject([{ settlement_tx_hash: last.tx_hash }, []])
  })

  it('is not held up by a hundred older orders whose memo someone swept for another merchant', async () => {
    const stranger = { merchant_address: `0x${'22'.repeat(20)}` }
    const older = await Promise.all(Array.from({ length: 100 }, create))
    await Promise.all(older.map(order => chain.report('confirmed', chain.transfer(order))))
    await Promise.all(older.map(order => chain.sweeps('confirmed', order, units(order.usdc_amount), stranger)))
    await system.orders.idle()
    const order = await create()
    await chain.report('confirmed', chain.transfer(order))
    await chain.sweeps('confirmed', order, units(order.usdc_amount))
    await system.orders.idle()
    expect(await types(order.id)).toEqual(['order.settled'])
    expect(await types(older[0]?.id ?? '')).toEqual([])
  })

  it('comes at once although the sweep was reported before the payment', async () => {
    const order = await create()
    const payment = chain.next('confirmed', chain.transfer(order))
    await chain.sweeps('confirmed', order, units(order.usdc_amount))
    await system.orders.idle()
    await system.bus.publish(payment)
    await system.orders.idle()
    expect(await types(order.id)).toEqual(['order.settled'])
  })

  it('comes however late the payout address could be swept to', async () => {
    const order = await create()
    await chain.report('confirmed', chain.transfer(order))
    await chain.blocked(order, 'payout_address_blocked', 1)
    await system.orders.idle()
    await system.sql.query("UPDATE orders SET paid_at = paid_at - interval '31 days' WHERE id = $1", [order.id])
    await chain.sweeps('confirmed', order, units(order.usdc_amount))
    await system.orders.idle()
    expect(await types(order.id)).toEqual(['order.settled'])
  })

  it('comes with order.paid when the router took it', async () => {
    const order = await create()
    await chain.report('confirmed', chain.payment(order))
    expect(await types(order.id)).toEqual(['order.settled'])
    expect((await system.published(order.id)).map(({ type }) => type)).toEqual(['order.paid'])
  })
})

describe('payment.unmatched', () => {
  const unmatched = async (txHash: string) => {
    const { rows } = await system.sql.query<{ data: { merchant_id: string; payment: Record<string, unknown> } }>(
      "SELECT body::jsonb->'data' AS data FROM outbox WHERE type = 'order.payment_unmatched' AND body::jsonb->'data'->'payment'->>'tx_hash' = $1",
      [txHash],
    )
    return rows.map(({ data }) => data)
  }
  const known = () =>
    system.bus.publish({
      id: '01981f3c-0000-7000-8000-0000000000aa',
      type: 'merchant.updated',
      body: JSON.stringify({
        id: '01981f3c-0000-7000-8000-0000000000aa',
        type: 'merchant.updated',
        occurred_at: new Date().toISOString(),
        trace: null,
        data: {
          ...{ merchant_id: merchantId, version: 1, display_name: 'Padaria Estrela', payout_address: PAYOUT, webhook_url: null },
          ...{ sealed_webhook_secret: 's', sealed_pending_webhook_secret: null, pending_webhook_secret_activates_at: null },
        },
      }),
    })

  it('comes when a payment to the payout address is confirmed and matches no order, once however often it is reported', async () => {
    await known()
    const stray = chain.payment({ ...(await create()), memo: 'ab'.repeat(32) })
    await chain.report('detected', stray)
    expect(await unmatched(stray.tx_hash)).toEqual([])
    const confirmed = chain.next('confirmed', stray)
    await system.bus.publish(confirmed)
    await system.bus.publish(confirmed)
    await system.orders.idle()
    expect(await unmatched(stray.tx_hash)).toMatchObject([
      { merchant_id: merchantId, payment: { reason: 'unknown_memo', amount: stray.amount, memo: 'ab'.repeat(32) } },
    ])
  })

  it('does not come for less than a cent, nor for money that went to an address of no merchant', async () => {
    const order = await create()
    const dust = chain.payment({ ...order, memo: 'cd'.repeat(32) }, { gross: 9_999n })
    const elsewhere = chain.payment(order, { merchant_address: `0x${'11'.repeat(20)}` })
    await chain.report('confirmed', dust)
    await chain.report('confirmed', elsewhere)
    await system.orders.idle()
    expect([await unmatched(dust.tx_hash), await unmatched(elsewhere.tx_hash)]).toEqual([[], []])
  })
})
