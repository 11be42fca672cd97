import type { ExplanationBody, OrderBody } from '@ponte/contracts'
import { mined, testAccounts } from '@ponte/local-servers'
import { deployContracts, testUsdcAbi } from '@ponte/payment-router'
import { Contract, Wallet } from 'ethers'
import { askGateway, call, createMerchant, jsonRequest, merchant, pay, runSystem, system, units, world } from '../world'

// The chain mines on request, or for a transaction, so that the depth is the test's; and no sweep adds blocks of its own.

const CONFIRMATIONS = 3
const STRANGER = testAccounts[7]
const UNKNOWN = `0x${'5b'.repeat(32)}`

runSystem({ world: { confirmations: CONFIRMATIONS, chain: {} }, settings: { 'chain-listener': { SWEEPS_PAUSED: 'true' } } })

const create = (body: object = {}) =>
  call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '542.00', ...body })
async function confirm(): Promise<void> {
  await world.chain.mine(CONFIRMATIONS)
  await system.idle()
}
const ask = async (path: string, hash: unknown, key = 'none') => {
  const answer = await askGateway(system.gatewayUrl, `/api/v1${path}/explain`, jsonRequest('POST', key, { tx_hash: hash }))
  return { status: answer.status, body: (await answer.json()) as ExplanationBody }
}
const byMerchant = async ({ id }: OrderBody, hash: string, key = merchant.api_key) => (await ask(`/orders/${id}`, hash, key)).body
const byPayer = async ({ id }: OrderBody, hash: string) => (await ask(`/checkout/${id}`, hash)).body
/** The same answer for both. */
async function explain(order: OrderBody, hash: string): Promise<ExplanationBody> {
  const answer = await byMerchant(order, hash)
  expect(await byPayer(order, hash)).toEqual(answer)
  return answer
}
async function transfer(to: string | null, amount: bigint): Promise<string> {
  const stranger = world.chain.wallet(STRANGER.privateKey)
  await mined(world.chain.mintUsdc(stranger.address, amount))
  return (await mined(world.chain.transferUsdc(stranger, to ?? '', amount))).hash
}

it('a payment by the router is unconfirmed, then settled, and the merchant and the payer learn it alike', async () => {
  const order = await create()
  await system.idle()
  const { hash } = await pay(world.chain, order)
  const amount = order.usdc_amount
  expect(await explain(order, hash)).toMatchObject({ code: 'unconfirmed', confirmations: { seen: 1, required: CONFIRMATIONS }, amount })
  await confirm()
  const settled = await explain(order, hash)
  expect(settled).toMatchObject({ object: 'explanation', order_id: order.id, tx_hash: hash, code: 'settled', amount, confirmations: null })
  for (const quoted of [hash.slice(2).toUpperCase(), `https://basescan.org/tx/${hash}#eventlog`, ` ${hash} `])
    expect(await byPayer(order, quoted)).toEqual(settled)
})

it('a transfer of too little is short by the rest, and its sweep is no payment of its own', async () => {
  const order = await create()
  await system.idle()
  const hash = await transfer(order.payment.deposit_address, units(order.usdc_amount) - 1_500_000n)
  expect(await explain(order, hash)).toMatchObject({ code: 'unconfirmed' })
  await confirm()
  expect(await explain(order, hash)).toMatchObject({ code: 'short', short_by: '1.500000' })
})

it('nothing of it is there, it failed, it went elsewhere, or it was another token', async () => {
  const order = await create()
  await system.idle()
  const { deposit_address: deposit } = order.payment
  expect(await explain(order, UNKNOWN)).toMatchObject({ code: 'not_found' })
  const failed = await world.chain.transferUsdc(world.chain.wallet(testAccounts[8].privateKey), deposit ?? '', 10n ** 15n)
  await expect(failed.wait()).rejects.toThrow()
  expect(await explain(order, failed.hash)).toMatchObject({ code: 'reverted' })
  const recipient = Wallet.createRandom().address
  const lost = { code: 'wrong_recipient', recipient_address: recipient, amount: '1.000000' }
  expect(await explain(order, await transfer(recipient, 1_000_000n))).toMatchObject(lost)
  const stranger = world.chain.wallet(STRANGER.privateKey)
  const other = await deployContracts(stranger, { feeBps: 100, feeReceiver: stranger.address })
  const token = new Contract(other.usdcAddress, testUsdcAbi, stranger)
  const foreign = await mined(token.getFunction('mint').send(deposit, 1_000_000n))
  expect(await explain(order, foreign.hash)).toMatchObject({ code: 'wrong_token', token_address: other.usdcAddress })
  const coin = await mined(stranger.sendTransaction({ to: deposit, value: 1n }))
  expect(await explain(order, coin.hash)).toMatchObject({ code: 'wrong_token', token_address: null })
})

it('money of another order is shown to the merchant of both alone, and an order to its merchant alone', async () => {
  const [order, mine] = [await create(), await create()]
  await system.idle()
  const { hash } = await pay(world.chain, mine)
  await confirm()
  expect(await byMerchant(order, hash)).toMatchObject({ code: 'other_order', other_order_id: mine.id, amount: null })
  expect(await byPayer(order, hash)).toMatchObject({ code: 'other_order', other_order_id: null, amount: null })
  const others = await createMerchant(world, system.gatewayUrl)
  expect(await ask(`/orders/${order.id}`, hash, others.api_key)).toMatchObject({ status: 403 })
  const theirs = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', others.api_key, { brl_amount: '542.00' })
  expect(await byMerchant(theirs, hash, others.api_key)).toMatchObject({ code: 'other_order', other_order_id: null })
})

it('money that came too late is late', async () => {
  const order = await create({ expires_in: 10 })
  await system.idle()
  await world.chain.setNextBlockTimestamp(Math.ceil(Date.parse(order.expires_at) / 1_000) + 1)
  const { hash } = await pay(world.chain, order)
  expect(await explain(order, hash)).toMatchObject({ code: 'late' })
  await confirm()
  expect(await explain(order, hash)).toMatchObject({ code: 'late', amount: order.usdc_amount })
})

it('what is no hash is refused, and so is an order that there is not; a payer is limited', async () => {
  const order = await create()
  for (const hash of ['0x12', `${UNKNOWN}00`, `https://basescan.org/address/${order.payment.router_address}`, 7])
    expect(await ask(`/checkout/${order.id}`, hash)).toMatchObject({ status: 400, body: { errors: [{ path: 'tx_hash' }] } })
  expect(await ask(`/checkout/${UNKNOWN.slice(2, 10)}-0000-7000-8000-000000000000`, UNKNOWN)).toMatchObject({ status: 404 })
  const answers = await Promise.all(Array.from({ length: 31 }, () => ask(`/checkout/${order.id}`, UNKNOWN)))
  // The payers of this file are one address, which asked before.
  const answered = answers.filter(({ status }) => status === 200).length
  expect(answered > 0 && answered <= 30).toBe(true)
  expect(answers.find(({ status }) => status !== 200)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(await byMerchant(order, UNKNOWN)).toMatchObject({ code: 'not_found' })
})
