import { randomUUID } from 'node:crypto'
import type { OrderBody, RefundBody, RefundClaimBody } from '@ponte/contracts'
import { type LocalChain, startLocalChain, testAccounts } from '@ponte/local-servers'
import { Wallet } from 'ethers'
import request from 'supertest'
import { listener } from './listener'
import { asMerchant, asPayer, merchantId, startOrders } from './setup'

const wallet = new Wallet(testAccounts[2].privateKey)
const DAY_MS = 86_400_000
let local: LocalChain
let system: Awaited<ReturnType<typeof startOrders>>
let chain: ReturnType<typeof listener>
let ahead = 0
beforeAll(async () => {
  local = await startLocalChain()
  const place = { RPC_URLS: local.rpcUrl, TOKEN_ADDRESS: local.usdcAddress, ROUTER_ADDRESS: local.routerAddress }
  system = await startOrders({ ...place, PLATFORM_FEE_BPS: String(local.feeBps) }, { now: () => new Date(Date.now() + ahead) })
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
const post = (path: string, body: object = {}, as = me()) => request(system.url).post(`/api/v1${path}`).set(as).send(body)
const get = async (path: string, as = me()) => (await request(system.url).get(`/api/v1${path}`).set(as)).body
const refundsOf = async ({ id }: Pick<OrderBody, 'id'>): Promise<RefundBody[]> => (await get(`/orders/${id}/refunds`)).data
async function paid() {
  const { body: order }: { body: OrderBody } = await post('/orders', { brl_amount: '542.00' })
  const payment = chain.payment(order)
  await chain.report('confirmed', payment)
  return { order, proof: { tx_hash: payment.tx_hash, amount: payment.amount } }
}
const ask = (order: OrderBody, body: object = {}) => post(`/orders/${order.id}/refund-claims`, { reason: 'Paid from an exchange', ...body })
const tokenOf = ({ url }: RefundClaimBody) => new URL(url ?? '').pathname.replace('/pay/refund/', '')
const claim = (of: RefundClaimBody | string, body: object) =>
  post(`/payer/refunds/${typeof of === 'string' ? of : tokenOf(of)}`, { payee_address: Wallet.createRandom().address, ...body }, asPayer())

it('takes the address of a payer who knows the payment, and a refund to it waits for the merchant’s wallet', async () => {
  const { order, proof } = await paid()
  const { body: made, status } = await ask(order, { amount: '5.00' })
  expect([status, made]).toEqual([201, expect.objectContaining({ status: 'open', amount: '5.000000', refund_id: null })])
  expect(await get(`/payer/refunds/${tokenOf(made)}`, asPayer())).toMatchObject({ status: 'open', amount: '5.000000', payee_address: null })

  const payee = Wallet.createRandom().address
  const { body: named } = await claim(made, { payee_address: payee.toLowerCase(), ...proof })
  expect(named).toMatchObject({ status: 'claimed', amount: '5.000000', payee_address: payee, tx_hash: null })
  expect(await refundsOf(order)).toMatchObject([
    { status: 'awaiting_signature', payee_address: payee, amount: '5.000000', requested_by: 'ana' },
  ])
  const [{ id }] = (await refundsOf(order)) as [RefundBody]
  expect(await get(`/refund-claims/${made.id}`)).toMatchObject({ status: 'claimed', refund_id: id, tx_hash: proof.tx_hash, url: null })

  // Sent again it is the same; another address is too late.
  expect((await claim(made, { payee_address: payee, ...proof })).status).toBe(200)
  expect((await claim(made, proof)).body).toMatchObject({ code: 'invalid_state' })
  expect((await post(`/refund-claims/${made.id}/cancel`)).body).toMatchObject({ code: 'invalid_state' })
  expect(await refundsOf(order)).toHaveLength(1)

  await post(`/refunds/${id}/cancel`)
  expect(await get(`/payer/refunds/${tokenOf(made)}`, asPayer())).toMatchObject({ status: 'cancelled' })
})

it('of twenty addresses at once takes one', async () => {
  const { order, proof } = await paid()
  const { body: made } = await ask(order)
  const answers = await Promise.all(Array.from({ length: 20 }, () => claim(made, proof)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)])
  expect(await refundsOf(order)).toHaveLength(1)
})

it('refuses who does not know the payment, and where money would be lost', async () => {
  const { order, proof } = await paid()
  const { body: made } = await ask(order)
  const stranger = await paid()
  for (const wrong of [stranger.proof, { ...proof, amount: '1' }, { ...proof, tx_hash: `0x${'ab'.repeat(32)}` }])
    expect((await claim(made, wrong)).body).toMatchObject({ code: 'invalid_request', errors: [{ path: 'tx_hash' }] })
  for (const lost of [`0x${'0'.repeat(40)}`, local.usdcAddress, local.routerAddress, order.payment.deposit_address, wallet.address])
    expect((await claim(made, { ...proof, payee_address: lost })).body).toMatchObject({ errors: [{ path: 'payee_address' }] })
  const mistyped = Wallet.createRandom().address.replace(/[a-f]/, letter => letter.toUpperCase())
  expect((await claim(made, { ...proof, payee_address: mistyped })).status).toBe(mistyped === mistyped.toLowerCase() ? 200 : 400)
  expect((await claim(randomUUID(), proof)).status).toBe(404)
  expect((await claim(made.id, proof)).status).toBe(404)
  expect((await get(`/payer/refunds/${made.id}`, asPayer())).code).toBe('not_found')
})

it('has one open link an order, ends by the merchant’s word or after thirty days, and shows its address to no list', async () => {
  const { order, proof } = await paid()
  const { body: made } = await ask(order)
  expect((await ask(order)).body).toMatchObject({ code: 'invalid_state' })
  expect(await get(`/orders/${order.id}/refunds`)).toMatchObject({ data: [], claims: [{ id: made.id, status: 'open', url: null }] })
  expect((await get(`/refund-claims/${made.id}`)).url).toBe(made.url)
  expect((await get(`/refund-claims/${made.id}`, asMerchant(randomUUID()))).code).toBe('forbidden')
  expect((await post(`/refund-claims/${made.id}/cancel`, {}, asMerchant(randomUUID()))).status).toBe(403)
  expect((await get(`/refund-claims/${made.id}`, asPayer())).code).toBe('forbidden')

  expect((await post(`/refund-claims/${made.id}/cancel`)).body).toMatchObject({ status: 'cancelled' })
  expect((await claim(made, proof)).status).toBe(409)
  const { body: next } = await ask(order)
  ahead = 31 * DAY_MS
  expect((await claim(next, proof)).status).toBe(409)
  expect(await get(`/payer/refunds/${tokenOf(next)}`, asPayer())).toMatchObject({ status: 'expired' })
})

it('promises nothing: what went back otherwise is not asked for twice, and an open order has no link', async () => {
  const { order, proof } = await paid()
  const { body: made } = await ask(order)
  expect((await post(`/orders/${order.id}/refunds`, { payee_address: Wallet.createRandom().address, reason: 'By hand' })).status).toBe(201)
  expect((await claim(made, proof)).body).toMatchObject({ code: 'invalid_state' })
  expect(await refundsOf(order)).toHaveLength(1)

  const { body: open } = await post('/orders', { brl_amount: '542.00' })
  expect((await ask(open)).body).toMatchObject({ code: 'invalid_state' })
  expect((await ask(order, { amount: '1000000' })).body).toMatchObject({ code: 'invalid_state' })
  expect((await ask(order, { amount: '1', surplus: true })).status).toBe(400)
})
