import type { AttentionItemBody, ExplanationBody, List, OrderBody, RecoveryBody, RecoveryListBody } from '@ponte/contracts'
import { mined, testAccounts } from '@ponte/local-servers'
import { deployContracts, testUsdcAbi } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { Contract, parseEther, Wallet } from 'ethers'
import { askGateway, call, createMerchant, jsonRequest, MERCHANT, merchant, pay, runSystem, system, world } from '../world'

// The chain mines on request, or for a transaction, so that the depth is the test's.

const CONFIRMATIONS = 3
const UNITS = 7_000_000_000_000_000_000n

let token: Contract
runSystem({ world: { confirmations: CONFIRMATIONS, chain: {} } })
beforeAll(async () => {
  const stranger = world.chain.wallet(testAccounts[7].privateKey)
  const other = await deployContracts(stranger, { feeBps: 100, feeReceiver: stranger.address })
  token = new Contract(other.usdcAddress, testUsdcAbi, stranger)
})

const ask = async <T>(method: string, path: string, body?: object, key = merchant.api_key) => {
  const answer = await askGateway(system.gatewayUrl, `/api/v1${path}`, jsonRequest(method, key, body))
  return { status: answer.status, body: (await answer.json()) as T & { code?: string; detail?: string } }
}
async function create(): Promise<OrderBody & { deposit: string }> {
  const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '542.00' })
  await system.idle()
  return { ...order, deposit: order.payment.deposit_address ?? '' }
}
async function confirm(): Promise<void> {
  await world.chain.mine(CONFIRMATIONS)
  await system.idle()
}
const give = async (to: string, units = UNITS) => (await mined(token.getFunction('mint').send(to, units))).hash
const held = (): Promise<bigint> => token.getFunction('balanceOf').staticCall(MERCHANT.address)
const explain = async ({ id }: OrderBody, tx_hash: string, by: 'orders' | 'checkout' = 'orders') =>
  (await ask<ExplanationBody>('POST', `/${by}/${id}/explain`, { tx_hash }, by === 'orders' ? merchant.api_key : 'none')).body
/** Of this order alone. */
const items = async ({ id }: OrderBody, query = '') =>
  (await ask<List<AttentionItemBody>>('GET', `/attention?reason=foreign_token${query}`)).body.data.filter(({ order }) => order?.id === id)
const recover = ({ id }: OrderBody, body: object, key = merchant.api_key) =>
  ask<RecoveryBody>('POST', `/orders/${id}/recoveries`, { destination: MERCHANT.address, ...body }, key)
const recoveries = async ({ id }: OrderBody) => (await ask<RecoveryListBody>('GET', `/orders/${id}/recoveries`)).body.data
async function recovered(order: OrderBody): Promise<RecoveryBody[]> {
  const isDone = async () => {
    await world.chain.mine(1)
    return (await recoveries(order)).every(({ status }) => status !== 'pending')
  }
  await until(isDone, 'it was not recovered')
  await confirm()
  return recoveries(order)
}

it('a token that a payer sent is found by an explanation, needs attention, and is recovered once', async () => {
  const order = await create()
  const hash = await give(order.deposit)
  expect(await explain(order, hash, 'checkout')).toMatchObject({ code: 'wrong_token', detail: expect.stringContaining('3 confirmations') })
  expect(await items(order)).toEqual([])
  await confirm()
  const before = await ask<OrderBody>('GET', `/orders/${order.id}`)
  expect(await explain(order, hash, 'checkout')).toMatchObject({ code: 'wrong_token', token_address: token.target })
  await explain(order, hash)
  const [item, ...more] = await items(order)
  const foreign = { token_address: token.target, amount: String(UNITS), tx_hash: hash, destination: MERCHANT.address, recovery: null }
  expect([item, more]).toMatchObject([
    { reasons: ['foreign_token'], gross: '0.000000', left_over: '0.000000', foreign_token: foreign, actions: ['recover'] },
    [],
  ])
  const answers = await Promise.all([1, 2, 3].map(() => recover(order, { token_address: String(token.target).toLowerCase() })))
  for (const { status, body } of answers)
    expect([status, body]).toMatchObject([202, { object: 'recovery', status: 'pending', id: answers[0]?.body.id }])
  expect(await recovered(order)).toMatchObject([
    { status: 'confirmed', amount: String(UNITS), destination: MERCHANT.address, requested_by: null },
  ])
  expect(await held()).toBe(UNITS)
  expect(await items(order)).toEqual([])
  expect(await recover(order, { token_address: token.target })).toMatchObject({ status: 202, body: { status: 'confirmed' } })
  expect(await ask('GET', `/orders/${order.id}`)).toEqual(before)
  // More of it is another case, and the old transaction is none.
  await explain(order, hash)
  expect(await items(order)).toEqual([])
  const again = await give(order.deposit)
  await confirm()
  await explain(order, again)
  expect(await items(order)).toMatchObject([{ id: item?.id, foreign_token: { tx_hash: again, recovery: null }, actions: ['recover'] }])
  expect(await recover(order, { token_address: token.target })).toMatchObject({ status: 202, body: { status: 'pending' } })
  expect(await recovered(order)).toMatchObject([{ status: 'confirmed' }])
  expect(await held()).toBe(2n * UNITS)
})

it('so is the coin of the network, beside the payment of the order', async () => {
  const order = await create()
  const stranger = world.chain.wallet(testAccounts[7].privateKey)
  const { hash } = await mined(stranger.sendTransaction({ to: order.deposit, value: parseEther('0.5') }))
  await pay(world.chain, order)
  await confirm()
  expect(await explain(order, hash)).toMatchObject({ code: 'wrong_token', token_address: null })
  const before = await world.chain.provider.getBalance(MERCHANT.address)
  expect(await recover(order, { token_address: null })).toMatchObject({ status: 202, body: { token_address: null } })
  expect(await recovered(order)).toMatchObject([{ status: 'confirmed', token_address: null, amount: String(parseEther('0.5')) }])
  expect((await world.chain.provider.getBalance(MERCHANT.address)) - before).toBe(parseEther('0.5'))
  expect((await ask<OrderBody>('GET', `/orders/${order.id}`)).body).toMatchObject({ status: 'paid', exception: null })
})

it('what was not found, USDC, another destination and the order of another merchant are refused', async () => {
  const order = await create()
  expect(await recover(order, { token_address: token.target })).toMatchObject({
    status: 409,
    body: { code: 'invalid_state', detail: expect.stringContaining('explain') },
  })
  const destination = Wallet.createRandom().address
  for (const [path, body] of [
    ['token_address', { token_address: world.chain.usdcAddress }],
    ['destination', { token_address: token.target, destination }],
    ['destination', { token_address: token.target, destination: MERCHANT.address.replace(/[a-f]/, letter => letter.toUpperCase()) }],
  ] as const)
    expect(await recover(order, body)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  const others = await createMerchant(world, system.gatewayUrl)
  expect(await recover(order, { token_address: null }, others.api_key)).toMatchObject({ status: 403 })
  expect(await ask('GET', `/orders/${order.id}/recoveries`, undefined, others.api_key)).toMatchObject({ status: 403 })
})

it('payers fill five places with worthless tokens and leave those of the merchant, who marks a case as handled', async () => {
  const order = await create()
  const stranger = world.chain.wallet(testAccounts[7].privateKey)
  const spam = []
  for (let made = 0; made < 6; made++) {
    const { usdcAddress } = await deployContracts(stranger, { feeBps: 100 + made, feeReceiver: Wallet.createRandom().address })
    spam.push((await mined(new Contract(usdcAddress, testUsdcAbi, stranger).getFunction('mint').send(order.deposit, 1n))).hash)
  }
  await confirm()
  for (const hash of spam) await explain(order, hash, 'checkout')
  expect(await items(order)).toHaveLength(5)
  const hash = await give(order.deposit)
  await confirm()
  await explain(order, hash)
  const [newest] = await items(order)
  expect(newest).toMatchObject({ foreign_token: { tx_hash: hash } })
  const handled = await ask<AttentionItemBody>('POST', `/attention/${newest?.id}/handle`, { facts: newest?.facts, note: 'Worthless' })
  expect(handled).toMatchObject({ status: 200, body: { handled_note: 'Worthless' } })
  expect(await items(order)).toHaveLength(5)
  expect(await items(order, '&handled=true')).toMatchObject([{ id: newest?.id, handled_note: 'Worthless' }])
  expect(await ask('POST', `/attention/${newest?.id}/reopen`)).toMatchObject({ status: 200 })
  expect(await items(order)).toHaveLength(6)
})
