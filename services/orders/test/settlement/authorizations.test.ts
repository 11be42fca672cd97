import type { AuthorizationChanged, CheckoutBody, OrderBody } from '@ponte/contracts'
import request from 'supertest'
import { message } from '../listener'
import { chain, runOrders, system } from '../run-orders'
import { asMerchant, PAYOUT } from '../setup'

runOrders()

const create = async (): Promise<OrderBody> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00' })).body
const checkout = async ({ id }: OrderBody): Promise<CheckoutBody> =>
  (await request(system.url).get(`/api/v1/checkout/${id}`).set(asMerchant())).body
const report = async (order: OrderBody, change: Partial<AuthorizationChanged>) =>
  system.bus.publish(
    message('authorization.changed', {
      ...{ chain_id: order.payment.chain_id, order_id: order.id, attempt: 1, revision: 1, status: 'accepted', payer_address: PAYOUT },
      ...{ amount: order.usdc_amount, valid_before: Math.floor(Date.parse(order.expires_at) / 1_000), tx_hash: null, reason: null },
      ...change,
    }),
  )

describe("a payer's signature that the relayer took", () => {
  it('makes nothing due while it is on its way, and the amount due again, with the reason, when it fails', async () => {
    const order = await create()
    expect(await checkout(order)).toMatchObject({ due: order.usdc_amount, authorization: null })
    await report(order, {})
    expect(await checkout(order)).toMatchObject({ due: '0.000000', authorization: { status: 'accepted' }, payment: { payment_uri: null } })
    await report(order, { revision: 2, status: 'submitted', tx_hash: `0x${'1'.repeat(64)}` })
    expect(await checkout(order)).toMatchObject({ due: '0.000000', authorization: { status: 'submitted' } })
    await report(order, { revision: 3, status: 'failed', reason: 'reverted' })
    expect(await checkout(order)).toMatchObject({ due: order.usdc_amount, authorization: { status: 'failed', reason: 'reverted' } })
  })

  it('reported late, twice or in any order, is what it was last', async () => {
    const order = await create()
    await report(order, { attempt: 2 })
    await report(order, { attempt: 1, revision: 9, status: 'failed', reason: 'reverted' })
    await report(order, { attempt: 2, revision: 3, status: 'failed', reason: 'expired' })
    await report(order, { attempt: 2, revision: 2, status: 'submitted' })
    expect(await checkout(order)).toMatchObject({ due: order.usdc_amount, authorization: { status: 'failed', reason: 'expired' } })
  })

  it('is on its way no more once the listener has forgotten it, and what its present history states counts', async () => {
    const order = await create()
    const forgotten = { generation: chain.generation(), attempt: 2 }
    await report(order, { ...forgotten, revision: 3, status: 'submitted', tx_hash: `0x${'3'.repeat(64)}` })
    expect(await checkout(order)).toMatchObject({ due: '0.000000', authorization: { status: 'submitted' } })
    chain.beginAnew()
    await chain.publish({})
    expect(await checkout(order)).toMatchObject({ due: '0.000000', authorization: { status: 'submitted' } })
    await chain.synced(order)
    expect(await checkout(order)).toMatchObject({ due: order.usdc_amount, authorization: { status: 'failed', reason: 'not_sent' } })
    await report(order, { ...forgotten, revision: 4, status: 'submitted' })
    expect(await checkout(order)).toMatchObject({ due: order.usdc_amount })
    await report(order, { generation: chain.generation(), attempt: 1, revision: 1 })
    expect(await checkout(order)).toMatchObject({ due: '0.000000', authorization: { status: 'accepted' } })
  })

  it('stays on its way where the present history of the listener has stated it before the rest', async () => {
    const order = await create()
    chain.beginAnew()
    await report(order, { generation: chain.generation() })
    await chain.synced(order)
    expect(await checkout(order)).toMatchObject({ due: '0.000000', authorization: { status: 'accepted' } })
  })

  it('is counted once: its own payment takes its place, also before it is reported as paid', async () => {
    const order = await create()
    const paid = chain.payment(order, { gross: 10_000_000n, payer_address: PAYOUT.toLowerCase() })
    const part = { amount: '10.000000', tx_hash: paid.tx_hash }
    await report(order, { ...part, status: 'submitted' })
    const due = (Number(order.usdc_amount) - 10).toFixed(6)
    expect(await checkout(order)).toMatchObject({ due })
    await chain.report('confirmed', paid)
    expect(await checkout(order)).toMatchObject({ status: 'underpaid', due })
    await report(order, { ...part, revision: 2, status: 'paid' })
    expect(await checkout(order)).toMatchObject({ status: 'underpaid', due })
  })

  it('for the second half is on its way although the first half was paid by the same account', async () => {
    const order = await create()
    const half = { gross: BigInt(order.usdc_amount.replace('.', '')) / 2n, payer_address: PAYOUT.toLowerCase() }
    const paid = chain.payment(order, half)
    await chain.report('confirmed', paid)
    expect(await checkout(order)).not.toMatchObject({ due: '0.000000' })
    await report(order, { amount: paid.amount })
    expect(await checkout(order)).toMatchObject({ status: 'underpaid', due: '0.000000' })
    await report(order, { amount: paid.amount, revision: 2, status: 'submitted', tx_hash: `0x${'2'.repeat(64)}` })
    expect(await checkout(order)).toMatchObject({ status: 'underpaid', due: '0.000000' })
  })
})
