import type { EventBody, List, OrderBody, RefundBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import { call, createMerchant, pay, runSystem, system, units, world } from '../world'

// A merchant's wallet signs, and everything after that goes by itself.

runSystem({ merchant: false })

type Merchant = Awaited<ReturnType<typeof createMerchant>>
const ask = <T>({ api_key }: Merchant, method: string, path: string, body?: object) =>
  call<T>(system.gatewayUrl, method, `/api/v1${path}`, api_key, body)

async function paidOrder(merchant: Merchant): Promise<OrderBody> {
  const order = await ask<OrderBody>(merchant, 'POST', '/orders', { brl_amount: '542.00', external_ref: 'INV-9' })
  await pay(world.chain, order)
  await system.idle()
  return order
}
async function signedRefund(merchant: Merchant, wallet: Wallet, { id }: OrderBody, body: object): Promise<RefundBody> {
  const of = await ask<RefundBody>(merchant, 'POST', `/orders/${id}/refunds`, { reason: 'It came back', ...body })
  const { domain, types, message } = of.typed_data ?? { domain: {}, types: {}, message: { validBefore: '0' } }
  const signature = await wallet.signTypedData(domain, types, message)
  return ask<RefundBody>(merchant, 'POST', `/refunds/${of.id}/signature`, { valid_before: Number(message.validBefore), signature })
}
const eventsOf = async (merchant: Merchant, { id }: OrderBody) =>
  (await ask<List<EventBody>>(merchant, 'GET', `/events?order_id=${id}`)).data
    .filter(({ type }) => type.startsWith('refund.'))
    .map(({ type, data }) => ({ type, data }))
    .reverse()

it('money goes back by one signature of the merchant’s wallet, which holds no coin of the network', async () => {
  const wallet = new Wallet(Wallet.createRandom().privateKey)
  const merchant = await createMerchant(world, system.gatewayUrl, null, wallet.address)
  await mined(world.chain.mintUsdc(wallet.address, 1_000_000n))
  const order = await paidOrder(merchant)
  const payee = Wallet.createRandom().address
  const of = await signedRefund(merchant, wallet, order, { payee_address: payee, amount: '100' })
  await system.idle()
  const read = await ask<RefundBody>(merchant, 'GET', `/refunds/${of.id}`)
  expect(read).toMatchObject({ status: 'confirmed', valid_before: null })
  expect(await world.chain.balanceOf(payee)).toBe(units('100.000000'))
  expect(await world.chain.provider.getBalance(wallet.address)).toBe(0n)
  const data = { id: of.id, order_id: order.id, external_ref: 'INV-9', amount: '100.000000', payee_address: payee }
  expect(await eventsOf(merchant, order)).toEqual([
    { type: 'refund.created', data },
    { type: 'refund.confirmed', data: { ...data, tx_hash: read.tx_hash, confirmed_at: read.confirmed_at } },
  ])
})

it('an empty wallet pays once it is filled', async () => {
  const wallet = new Wallet(Wallet.createRandom().privateKey)
  const merchant = await createMerchant(world, system.gatewayUrl, null, wallet.address)
  const order = await paidOrder(merchant)
  // All of it: more than reached the wallet, by the platform's fee.
  const of = await signedRefund(merchant, wallet, order, { payee_address: Wallet.createRandom().address })
  const become = (status: string) =>
    until(
      async () => (await ask<RefundBody>(merchant, 'GET', `/refunds/${of.id}`)).status === status,
      `the refund is not ${status}`,
      30_000,
    )
  await become('awaiting_funds')
  await mined(world.chain.mintUsdc(wallet.address, 10_000_000n))
  await become('confirmed')
})

it('a signature that ends before its money moves is named, and another one may be brought', async () => {
  const wallet = new Wallet(Wallet.createRandom().privateKey)
  const merchant = await createMerchant(world, system.gatewayUrl, null, wallet.address)
  const order = await paidOrder(merchant)
  const of = await signedRefund(merchant, wallet, order, { payee_address: Wallet.createRandom().address })
  await system.idle()
  await world.chain.setNextBlockTimestamp((of.valid_before ?? 0) + 1)
  await world.chain.mine(1)
  await until(async () => (await eventsOf(merchant, order)).length === 2, 'nothing was said of its end', 30_000)
  expect((await eventsOf(merchant, order))[1]).toMatchObject({
    type: 'refund.failed',
    data: { id: of.id, failure_code: 'authorization_expired' },
  })
  expect(await ask<RefundBody>(merchant, 'GET', `/refunds/${of.id}`)).toMatchObject({ status: 'awaiting_signature', valid_before: null })
})
