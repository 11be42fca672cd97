import type { AttentionItemBody, ExplanationBody, List, MerchantBody, OrderBody, RefundBody } from '@ponte/contracts'
import { type LocalChain, mined } from '@ponte/local-servers'
import { deployContractWallet, paymentRouterAbi } from '@ponte/payment-router'
import { checkPayout, type Order } from '@ponte/sdk'
import { until } from '@ponte/service-kit'
import { Contract } from 'ethers'
import { audit } from '../audit'
import { call, MERCHANT, merchant, PAYER, pay, runSystem, system, units, world } from '../world'

// Two networks, and a merchant whose wallet on the second one is a contract that stands there alone.

const OTHER = 31_338
const AT_ONCE = { PAYOUT_DELAY_S: '0', PAYOUT_UNSIGNED_DELAY_S: '0' }
let other: LocalChain
let safe: string
runSystem({ world: { otherChains: [{ chainId: OTHER }] }, settings: { 'api-gateway': AT_ONCE, orders: { RECONCILE_EVERY_S: '86400' } } })
beforeAll(async () => {
  const [second] = world.otherChains
  if (!second) throw new Error('There is no second network.')
  other = second
  safe = await deployedAlone(other, world.chain)
})

/** Contracts of one account stand at the same addresses on both chains, one after the other: this one on one of them alone. */
async function deployedAlone(on: LocalChain, beside: LocalChain): Promise<string> {
  const address = await deployContractWallet(on, MERCHANT.address)
  return (await beside.provider.getCode(address)) === '0x' ? address : deployedAlone(on, beside)
}

const ask = <T>(method: string, path: string, body?: object) => call<T>(system.gatewayUrl, method, `/api/v1${path}`, merchant.api_key, body)
const order = () => ask<OrderBody>('POST', '/orders', { brl_amount: '150.00' })
const read = ({ id }: OrderBody) => ask<OrderBody>('GET', `/orders/${id}`)
const name = (own: Record<string, string | null>) =>
  call<MerchantBody>(system.gatewayUrl, 'PATCH', '/api/v1/merchants/me', merchant.token, { payout_addresses: own })
const mineThere = (done: () => Promise<boolean>, message: string) => until(async () => other.mine(1).then(done), message, 30_000)
const isSettled = async (of: OrderBody) => {
  const { status, payments = [] } = await read(of)
  return status === 'paid' && payments.every(({ settlement }) => settlement.status === 'settled')
}
const payout = () => ({ address: MERCHANT.address, addresses: { [OTHER]: safe }, router: world.chain.routerAddress })

it('is refused where no contract stands at the address, and on the first network', async () => {
  const here = await deployedAlone(world.chain, other)
  await expect(name({ [OTHER]: here })).rejects.toThrow('payout_address_refused')
  await expect(name({ [world.chain.chainId]: safe })).rejects.toThrow(`must be of the networks beside the first: ${OTHER}`)
  await expect(name({ 137: safe })).rejects.toThrow(`must be of the networks beside the first: ${OTHER}`)
})

it('is paid on both networks, on the second one to the contract: by the router, by a transfer that is swept, and plainly; and a refund goes out from it', async () => {
  const before = await order()
  expect(await name({ [OTHER]: safe })).toMatchObject({ payout_address: MERCHANT.address, payout_addresses: { [OTHER]: safe } })
  const [halves, routed] = [await order(), await order()]
  const there = halves.payment.networks?.[1]
  expect(there).toMatchObject({ chain_id: OTHER, merchant_address: safe })
  expect(there?.deposit_address).not.toBe(halves.payment.deposit_address)
  const asRead = await ask<Order>('GET', `/orders/${routed.id}`)
  checkPayout(asRead, payout())
  expect(() => checkPayout(asRead, { ...payout(), addresses: {} })).toThrow('address_mismatch')
  const payer = other.wallet(PAYER.privateKey)
  const send = async (to: string | null | undefined, amount: bigint) => {
    await mined(other.mintUsdc(payer.address, amount))
    return mined(other.transferUsdc(payer, to ?? '', amount))
  }

  const half = units(halves.usdc_amount) / 2n
  await pay(world.chain, halves, half)
  await send(there?.deposit_address, units(halves.usdc_amount) - half)
  await pay(other, { ...routed, payment: { ...routed.payment, merchant_address: safe } })
  // One that was made before keeps the address of all networks.
  await send(before.payment.deposit_address, units(before.usdc_amount))
  await send(safe, 7_000_000n)
  await mineThere(async () => (await Promise.all([halves, routed, before].map(isSettled))).every(Boolean), 'they are not settled')
  const share = (of: bigint) => of - (of * BigInt(other.feeBps)) / 10_000n
  const came = share(units(halves.usdc_amount) - half) + share(units(routed.usdc_amount)) + 7_000_000n
  expect(await other.balanceOf(safe)).toBe(came)

  const back = await ask<RefundBody>('POST', `/orders/${routed.id}/refunds`, {
    ...{ payee_address: PAYER.address, amount: '1.00', reason: 'It came back', chain_id: OTHER },
  })
  expect(back).toMatchObject({ from_address: safe, chain_id: OTHER })
  const cancelled = await ask<RefundBody>('POST', `/refunds/${back.id}/cancel`)
  expect(cancelled.cancelled_at).not.toBeNull()
}, 180_000)

it('finds on the second network what came for an order of the first alone, at the address that its payers see, and counts it by a click', async () => {
  const narrow = await ask<OrderBody>('POST', '/orders', { brl_amount: '150.00', chain_ids: [world.chain.chainId] })
  const payer = other.wallet(PAYER.privateKey)
  await mined(other.mintUsdc(payer.address, units(narrow.usdc_amount)))
  const [sent, before] = [
    await mined(other.transferUsdc(payer, narrow.payment.deposit_address ?? '', units(narrow.usdc_amount))),
    await other.balanceOf(MERCHANT.address),
  ]
  const found = async () =>
    (await ask<List<AttentionItemBody>>('GET', '/attention')).data.find(({ payment }) => payment?.tx_hash === sent.hash)
  await mineThere(async () => (await found()) !== undefined, 'it needs no attention')
  const item = await found()
  expect(item).toMatchObject({ payment: { reason: 'wrong_chain', chain_id: OTHER }, actions: ['attach'] })
  expect(await ask<ExplanationBody>('POST', `/orders/${narrow.id}/explain`, { tx_hash: sent.hash })).toMatchObject({
    ...{ code: 'wrong_network', amount: narrow.usdc_amount },
  })
  await ask('POST', `/attention/${item?.id}/attach`, { order_id: narrow.id, reason: 'The wrong network' })
  await mineThere(() => isSettled(narrow), 'it is not settled')
  const due = units(narrow.usdc_amount)
  expect((await other.balanceOf(MERCHANT.address)) - before).toBe(due - (due * BigInt(other.feeBps)) / 10_000n)
})

it('names what came on the second network at the address of the first one, which no listener watches there, and the router sends it on', async () => {
  const mixed = await order()
  const [due, deposit] = [units(mixed.usdc_amount), mixed.payment.deposit_address ?? '']
  const payer = other.wallet(PAYER.privateKey)
  await mined(other.mintUsdc(payer.address, due))
  const { hash } = await mined(other.transferUsdc(payer, deposit, due))
  expect(await ask<ExplanationBody>('POST', `/orders/${mixed.id}/explain`, { tx_hash: hash })).toMatchObject({
    ...{ code: 'wrong_recipient', recipient_address: deposit, chain_id: OTHER, amount: mixed.usdc_amount },
  })
  const before = await other.balanceOf(MERCHANT.address)
  const router = new Contract(other.routerAddress, paymentRouterAbi, other.wallet(MERCHANT.privateKey))
  await mined(router.getFunction('sweep').send(`0x${mixed.memo}`, MERCHANT.address))
  expect((await other.balanceOf(MERCHANT.address)) - before).toBe(due - (due * BigInt(other.feeBps)) / 10_000n)
  expect((await read(mixed)).status).toBe('pending')
})

it('is paid on the second network as on the first once it is taken back', async () => {
  const open = await order()
  expect((await name({ [OTHER]: null })).payout_addresses).toEqual({})
  const later = await order()
  expect(later.payment.networks?.map(({ merchant_address }) => merchant_address)).toEqual([undefined, undefined])
  expect((await read(open)).payment.networks?.[1]?.merchant_address).toBe(safe)
  await pay(other, { ...open, payment: { ...open.payment, merchant_address: safe } })
  await mineThere(() => isSettled(open), 'it is not settled')
})

it('leaves books that agree with both chains', async () => {
  const urls = { ...system.opsUrls, otherListeners: Object.values(system.otherOpsUrls) }
  const found = async () => (await audit(urls, { from: 0, to: undefined })).differences
  await mineThere(async () => (await found()).length === 0, 'the books differ').catch(async () => expect(await found()).toEqual([]))
})
