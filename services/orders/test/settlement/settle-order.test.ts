import type { OrderBody } from '@ponte/contracts'
import request from 'supertest'
import { chain, read, runOrders, system, types } from '../run-orders'
import { asMerchant, PAYOUT } from '../setup'

runOrders({ CONFIRMATIONS: '5' })

const create = async (body: object = { brl_amount: '150.00' }): Promise<OrderBody> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant()).send(body)).body
const unmatched = async (memo: string) =>
  (await system.sql.query('SELECT reason, status FROM unmatched_payments WHERE memo = $1', [memo])).rows
describe('a payment that matches', () => {
  it('settles its order: paid, published once, with the transaction that completed it', async () => {
    const order = await create({ brl_amount: '150.00', external_ref: 'INV-1' })
    const paid = chain.payment(order)
    await chain.report('detected', paid)
    expect(await read(order.id)).toMatchObject({ status: 'confirming', received: '0.000000', payments: [{ status: 'detected' }] })
    await chain.report('confirmed', paid)
    const settled = await read(order.id)
    expect(settled).toMatchObject({ status: 'paid', exception: null, received: order.expected, tx_hash: paid.tx_hash })
    expect(settled.payments).toEqual([
      {
        kind: 'router',
        tx_hash: paid.tx_hash,
        status: 'confirmed',
        amount: order.usdc_amount,
        payer_address: paid.payer_address,
        block_number: 10,
        block_time: paid.block_time,
        settlement: { status: 'settled', tx_hash: paid.tx_hash },
      },
    ])
    expect(await system.published(order.id)).toMatchObject([
      {
        type: 'order.paid',
        data: { merchant_version: 1, order: { id: order.id, external_ref: 'INV-1', tx_hash: paid.tx_hash, paid_at: settled.paid_at } },
      },
    ])
  })

  it('keeps amounts that no float could hold', async () => {
    const order = await create({ brl_amount: '9999999999.99' })
    const gross = 9_007_199_254_740_993n
    await chain.report('confirmed', chain.payment(order, { gross }))
    expect(await read(order.id)).toMatchObject({ received: '8917127262.193584', payments: [{ amount: '9007199254.740993' }] })
    const { rows } = await system.sql.query('SELECT gross_units::text AS units FROM payments WHERE order_id = $1', [order.id])
    expect(rows[0]?.units).toBe(String(gross))
  })

  it('invariant 1: is counted once, however often and in whatever order it is published', async () => {
    const order = await create()
    const paid = chain.payment(order)
    const [detected, confirmed] = [chain.next('detected', paid), chain.next('confirmed', paid)]
    await Promise.all([confirmed, detected, confirmed, detected, confirmed].map(event => system.bus.publish(event)))
    await system.bus.publish(detected)
    await system.bus.publish({ ...confirmed, id: confirmed.id })
    expect(await read(order.id)).toMatchObject({ status: 'paid', received: order.expected })
    expect(await types(order.id)).toEqual(['order.paid'])
  })

  it('a race of twenty payments for one order loses none of them', async () => {
    const order = await create()
    const part = 1_000_000n
    const reported = Array.from({ length: 20 }, (_, index) =>
      chain.next('confirmed', chain.payment(order, { gross: part, block_number: 10 + index })),
    )
    await Promise.all(reported.map(event => system.bus.publish(event)))
    expect(await read(order.id)).toMatchObject({ status: 'underpaid', received: '19.800000' })
    const published = await system.published(order.id)
    expect(new Set(published.map(event => event.type))).toEqual(new Set(['order.underpaid']))
    expect(published.at(-1)?.data.order).toMatchObject({ received: '19.800000', expected: order.expected })
    const amounts = published.map(event => Number(event.data.order.received))
    expect([...amounts].sort((a, b) => a - b)).toEqual(amounts)
    await chain.report('confirmed', chain.payment(order, { gross: 7_675_277n, block_number: 40 }))
    expect((await types(order.id)).filter(type => type === 'order.paid')).toHaveLength(1)
  })

  it('a block’s payments are one write, and one that comes twice spoils nothing for the others', async () => {
    const orders = await Promise.all(Array.from({ length: 60 }, () => create()))
    const paid = orders.map(order => chain.payment(order))
    await chain.report('confirmed', paid[7] ?? chain.payment(orders[0] ?? (await create())))
    await Promise.all([chain.publish({ payments: paid }), chain.publish({ payments: paid })])
    const settled = await Promise.all(orders.map(order => read(order.id)))
    expect(settled.map(({ status, received }) => [status, received])).toEqual(orders.map(({ expected }) => ['paid', expected]))
    expect(await Promise.all(orders.map(order => types(order.id)))).toEqual(orders.map(() => ['order.paid']))
  })

  it('one transaction that pays exactly in parts is one order.paid and no order.underpaid', async () => {
    const order = await create()
    const units = BigInt(order.usdc_amount.replace('.', ''))
    const tx = { tx_hash: `0x${'5a'.repeat(32)}` }
    const parts = [1n, 2n, 3n, units - 6n].map((gross, log_index) => chain.payment(order, { ...tx, gross, log_index }))
    await chain.publish({ payments: parts })
    expect([(await read(order.id)).status, await types(order.id)]).toEqual(['paid', ['order.paid']])
  })

  it('a later statement that gives the same log to another order takes it from the first', async () => {
    const [first, second] = [await create(), await create()]
    const paid = chain.payment(first)
    await chain.report('detected', paid)
    await chain.report('confirmed', { ...paid, memo: second.memo })
    const [left, right] = [await read(first.id), await read(second.id)]
    expect([left.status, left.payments, right.status]).toEqual(['pending', [], 'paid'])
  })

  it('900 transfers of 1 USDC pay R$ 4,878 in time: all are counted', async () => {
    const order = await create({ brl_amount: '4878.00' })
    expect(order.usdc_amount).toBe('900.000000')
    const parts = Array.from({ length: 900 }, (_, index) => chain.payment(order, { gross: 1_000_000n, block_number: 10 + index }))
    for (let first = 0; first < parts.length; first += 60) await chain.publish({ payments: parts.slice(first, first + 60) })
    const paid = await read(order.id)
    expect([paid.status, paid.exception, paid.received, paid.payments?.length]).toEqual(['paid', null, order.expected, 900])
    expect((await types(order.id)).filter(type => type === 'order.paid')).toHaveLength(1)
  })

  it('two changes of one order at one moment come one after the other', async () => {
    const order = await create()
    const halves = [0n, 1n].map(rest => chain.payment(order, { gross: BigInt(order.usdc_amount.replace('.', '')) / 2n + rest }))
    const cancels = Array.from({ length: 5 }, () =>
      request(system.url).post(`/api/v1/orders/${order.id}/cancel`).set(asMerchant()).send({}),
    )
    const answers = await Promise.all([...halves.map(half => chain.report('confirmed', half)), ...cancels])
    const cancelled = answers.some(answer => answer !== undefined && answer.status === 200)
    expect(await read(order.id)).toMatchObject({ status: cancelled ? 'cancelled' : 'paid', received: order.expected, payments: [{}, {}] })
    // Notified of `underpaid` or not, as the halves came: the end is the same, and published once.
    expect((await types(order.id)).filter(type => type !== 'order.underpaid')).toEqual([cancelled ? 'order.cancelled' : 'order.paid'])
  })

  it('orphaned after paid: recomputed and reorged, loudly, and nothing is published; back again: paid', async () => {
    const order = await create()
    const paid = chain.payment(order)
    await chain.report('confirmed', paid)
    await chain.report('orphaned', paid)
    expect(await read(order.id)).toMatchObject({ status: 'pending', exception: 'reorged', received: '0.000000', tx_hash: paid.tx_hash })
    await chain.report('detected', paid, { block_number: 13 })
    await chain.report('confirmed', paid, { block_number: 13 })
    expect(await read(order.id)).toMatchObject({ status: 'paid', exception: null, payments: [{ block_number: 13 }] })
    expect(await types(order.id)).toEqual(['order.paid'])
    const metrics = await (await fetch(`${system.ops}/metrics`)).text()
    expect(metrics).toMatch(/ponte_reorged_payments_total\{service="orders"\} 1/)
  })
})

describe('a payment that does not match changes nothing and is kept with the reason', () => {
  const stranger = '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65'
  it.each([
    ['wrong_recipient', { merchant_address: stranger }],
    ['wrong_token', { token_address: stranger }],
    ['wrong_router', { router_address: stranger }],
    ['wrong_chain', { chain_id: 1 }],
    ['zero_amount', { amount: '0.000000' }],
  ] as const)('%s', async (reason, change) => {
    const order = await create()
    const before = await read(order.id)
    const reported = chain.next('confirmed', chain.payment(order, change))
    await system.bus.publish(reported)
    await system.bus.publish(reported)
    expect(await read(order.id)).toEqual(before)
    expect(await types(order.id)).toEqual([])
    expect(await unmatched(order.memo)).toEqual([{ reason, status: 'confirmed' }])
  })

  it('unknown_memo, with the newest that was reported of it', async () => {
    const order = await create()
    const memo = 'ef'.repeat(32)
    const paid = chain.payment(order, { memo })
    const [detected, confirmed, orphaned] = [chain.next('detected', paid), chain.next('confirmed', paid), chain.next('orphaned', paid)]
    await system.bus.publish(confirmed)
    await system.bus.publish(orphaned)
    await system.bus.publish(detected)
    await system.bus.publish(confirmed)
    expect(await unmatched(memo)).toEqual([{ reason: 'unknown_memo', status: 'orphaned' }])
    const seen = await request(`http://127.0.0.1:${system.orders.ops.port()}`).get('/unmatched?limit=1000')
    expect(seen.body.data).toContainEqual(expect.objectContaining({ memo, reason: 'unknown_memo', status: 'orphaned' }))
    expect((await request(`http://127.0.0.1:${system.orders.ops.port()}`).get('/unmatched?limit=many')).status).toBe(400)
    const metrics = await (await fetch(`${system.ops}/metrics`)).text()
    expect(metrics).toMatch(/ponte_unmatched_payments_total\{reason="wrong_token",service="orders"\} \d/)
  })
})

describe('the payer’s view', () => {
  it('shows confirmations arriving and nothing about the merchant but its name', async () => {
    const order = await create()
    const received: string[] = []
    const ears = system.bus.listen(['order.changed'], event => received.push(JSON.parse(event.body).data.order_id))
    await ears.start?.()
    await chain.report('detected', chain.payment(order, { block_number: 100 }))
    received.length = 0
    await chain.advances(new Date(0), { head: 104 })
    expect(received).toEqual([order.id])
    await ears.stop?.()
    const { status, body } = await request(system.url).get(`/api/v1/checkout/${order.id}`).set(asMerchant())
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'confirming',
      confirmations: { seen: 5, required: 5 },
      due: '0.000000',
      merchant_name: 'Padaria Estrela',
    })
    expect(JSON.stringify(body)).not.toContain('INV')
    expect(body.payment.merchant_address).toBe(PAYOUT)
  })
})
