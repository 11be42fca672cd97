import type { OrderBody, RefundBody, RefundListBody } from '@ponte/contracts'
import { mined, testAccounts } from '@ponte/local-servers'
import { receiveWithAuthorizationTypedData, testUsdcAbi, transferWithAuthorizationTypedData } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { Contract, toBeHex, Wallet } from 'ethers'
import { askGateway, call, createMerchant, jsonRequest, MERCHANT, merchant, pay, runSystem, system, units, world } from '../world'

// The chain mines on request, or for a transaction, so that its time and depth are the test's; and the relayer submits no refund, so that the moment is, too.

const CONFIRMATIONS = 3
const STRANGER = testAccounts[7]

let wallet: Wallet
runSystem({ world: { confirmations: CONFIRMATIONS, chain: {} }, settings: { 'chain-listener': { REFUNDS_PAUSED: 'true' } } })
beforeAll(async () => {
  wallet = world.chain.wallet(MERCHANT.privateKey)
  // A full return costs the merchant the platform's fee.
  await mined(world.chain.mintUsdc(wallet.address, 1_000_000_000n))
})

const token = (signer: Wallet) => new Contract(world.chain.usdcAddress, testUsdcAbi, signer)
const balanceOf = (address: string) => world.chain.balanceOf(address)
/** Confirms what was mined, and waits until all have taken it in. */
async function confirm(): Promise<void> {
  await world.chain.mine(CONFIRMATIONS)
  await system.idle()
}
const create = (body: object = {}) =>
  call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '542.00', ...body })
const ask = async <T = { detail?: string }>(method: string, path: string, body?: object) => {
  const answer = await askGateway(system.gatewayUrl, `/api/v1${path}`, jsonRequest(method, merchant.api_key, body))
  return { status: answer.status, body: (await answer.json()) as T }
}
/** Of 100 USDC, paid by the router. */
async function paid(amount?: bigint): Promise<OrderBody> {
  const order = await create()
  await system.idle()
  await pay(world.chain, order, amount)
  await confirm()
  return order
}
const fresh = () => Wallet.createRandom().address
const refund = (order: OrderBody, body: object = {}) =>
  ask<RefundBody & { detail?: string }>('POST', `/orders/${order.id}/refunds`, { reason: 'It came back', ...body })
const made = async (order: OrderBody, body: object = {}): Promise<RefundBody> => {
  const answer = await refund(order, { payee_address: fresh(), ...body })
  expect(answer).toMatchObject({ status: 201, body: { status: 'awaiting_signature' } })
  await system.idle()
  return answer.body
}
const read = async ({ id }: { id: string }): Promise<RefundBody> => (await ask<RefundBody>('GET', `/refunds/${id}`)).body
const list = async ({ id }: OrderBody): Promise<RefundListBody> => (await ask<RefundListBody>('GET', `/orders/${id}/refunds`)).body
const cancel = ({ id }: { id: string }) => ask('POST', `/refunds/${id}/cancel`)

/** The wallet signs what the answer shows, as `eth_signTypedData_v4` would. */
async function sign({ typed_data }: RefundBody, signer: { signTypedData: Wallet['signTypedData'] } = wallet) {
  if (!typed_data) throw new Error('nothing is to be signed')
  const { domain, types, message } = typed_data
  return { valid_before: Number(message.validBefore), signature: await signer.signTypedData(domain, types, message) }
}
const bring = ({ id }: { id: string }, signed: object) => ask('POST', `/refunds/${id}/signature`, signed)
async function signed(of: RefundBody) {
  const signature = await sign(await read(of))
  expect(await bring(of, signature)).toMatchObject({ status: 200 })
  await system.idle()
  return signature
}
/** Anyone who has the signature submits it. */
const submit = (
  of: RefundBody,
  { valid_before, signature }: { valid_before: number; signature: string },
  signer = world.chain.wallet(STRANGER.privateKey),
) =>
  mined(
    token(signer)
      .getFunction('transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)')
      .send(of.from_address, of.payee_address, units(of.amount), 0, valid_before, of.nonce, signature, { gasLimit: 300_000 }),
  )
async function cancelOnChain({ nonce }: RefundBody): Promise<void> {
  const domain = { name: 'USD Coin', version: '2', chainId: world.chain.chainId, verifyingContract: world.chain.usdcAddress }
  const types = {
    CancelAuthorization: [
      { name: 'authorizer', type: 'address' },
      { name: 'nonce', type: 'bytes32' },
    ],
  }
  const signature = await wallet.signTypedData(domain, types, { authorizer: wallet.address, nonce })
  await mined(
    token(wallet).getFunction('cancelAuthorization(address,bytes32,bytes)').send(wallet.address, nonce, signature, { gasLimit: 300_000 }),
  )
}

describe('a return', () => {
  it('goes from the merchant’s wallet to the payee by one signature, once, whoever submits it', async () => {
    const order = await paid()
    expect(await list(order)).toMatchObject({
      came: '100.000000',
      platform_fee: '1.000000',
      promised: '0.000000',
      returnable: '100.000000',
    })
    const of = await made(order, { amount: '40' })
    expect(of).toMatchObject({ amount: '40.000000', from_address: MERCHANT.address, valid_before: null, tx_hash: null })
    const signature = await signed(of)
    expect(await read(of)).toMatchObject({ status: 'submitted', valid_before: signature.valid_before, typed_data: null })
    // The same again is the same answer, and the money is gone once.
    expect(await bring(of, signature)).toMatchObject({ status: 200 })
    const receipt = await submit(of, signature)
    await expect(submit(of, signature)).rejects.toThrow()
    expect(await read(of)).toMatchObject({ status: 'submitted' })
    await confirm()
    expect(await read(of)).toMatchObject({ status: 'confirmed', tx_hash: receipt.hash, valid_before: null })
    expect(await balanceOf(of.payee_address)).toBe(40_000_000n)
    expect(await list(order)).toMatchObject({ promised: '40.000000', returnable: '60.000000' })
    expect(await cancel(of)).toMatchObject({ status: 409 })
    expect(await refund(order, { payee_address: fresh(), amount: '60.000001' })).toMatchObject({
      status: 409,
      body: { code: 'invalid_state' },
    })
    const rest = await made(order)
    expect(rest.amount).toBe('60.000000')
    await submit(rest, await signed(rest))
    await confirm()
    expect(await list(order)).toMatchObject({ promised: '100.000000', returnable: '0.000000' })
  })

  it('of the surplus is what the order does not take', async () => {
    const order = await paid(130_000_000n)
    const of = await made(order, { surplus: true })
    expect(of.amount).toBe('30.000000')
    expect(await refund(order, { payee_address: fresh(), surplus: true })).toMatchObject({ status: 409 })
  })

  it('goes by default only to an address that signed the payment', async () => {
    const plain = await paid()
    const refused = await refund(plain)
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'payee_address' }] } })
    expect(refused.body.detail).toContain('may be an exchange')
    const order = await create()
    await system.idle()
    const payer = Wallet.createRandom()
    await mined(world.chain.mintUsdc(payer.address, 100_000_000n))
    await confirm()
    const terms = { memo: order.memo, merchant: order.payment.merchant_address, payer: payer.address, amount: 100_000_000n }
    const validBefore = BigInt(Math.floor(Date.parse(order.expires_at) / 1_000))
    const { domain, types, message } = receiveWithAuthorizationTypedData({
      ...{ ...terms, chainId: world.chain.chainId, usdcAddress: world.chain.usdcAddress, router: order.payment.router_address },
      ...{ validBefore, salt: toBeHex(terms.amount, 32) },
    })
    const body = {
      ...{ payer_address: payer.address, amount: '100.000000', valid_before: Number(validBefore), salt: toBeHex(terms.amount, 32) },
      signature: await payer.signTypedData(domain, types, message),
    }
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
    expect((await askGateway(system.gatewayUrl, `/api/v1/checkout/${order.id}/authorization`, init)).status).toBe(202)
    await until(
      async () => {
        // The relayer is busy until what it sent is confirmed.
        await world.chain.mine(1)
        return (await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)).status === 'paid'
      },
      'the signature did not pay the order',
      30_000,
    )
    await confirm()
    expect(await refund(order)).toMatchObject({ status: 201, body: { payee_address: payer.address } })
  })

  it('is refused where money is lost, and of an order that is still open', async () => {
    const order = await paid()
    const { usdcAddress, routerAddress } = world.chain
    for (const payee_address of [usdcAddress, routerAddress, `0x${'0'.repeat(40)}`, MERCHANT.address, order.payment.deposit_address])
      expect(await refund(order, { payee_address })).toMatchObject({ status: 400, body: { errors: [{ path: 'payee_address' }] } })
    const mistyped = testAccounts[8].address.replace(/[a-f]/, letter => letter.toUpperCase())
    expect(await refund(order, { payee_address: mistyped })).toMatchObject({ status: 400 })
    const open = await create()
    expect(await refund(open, { payee_address: fresh() })).toMatchObject({ status: 409, body: { code: 'invalid_state' } })
  })

  it('takes the signature of these terms by this wallet alone, for a day at most', async () => {
    const of = await made(await paid(), { amount: '5' })
    const good = await sign(of)
    const faults = async (body: object, path: string) =>
      expect(await bring(of, body)).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path }] } })
    await faults(await sign(of, world.chain.wallet(STRANGER.privateKey)), 'signature')
    await faults({ ...good, valid_before: good.valid_before + 1 }, 'signature')
    await faults({ ...good, signature: `0x${'1b'.repeat(65)}` }, 'signature')
    await faults({ ...good, valid_before: good.valid_before - 3_600 }, 'valid_before')
    await faults({ ...good, valid_before: good.valid_before + 86_400 }, 'valid_before')
    expect(await read(of)).toMatchObject({ status: 'awaiting_signature' })
  })
})

describe('a signature that was seen', () => {
  it('binds the refund until its cancellation is confirmed on the chain', async () => {
    const order = await paid()
    const of = await made(order)
    const signature = await signed(of)
    for (const body of [{ amount: '1' }, {}])
      expect(await refund(order, { payee_address: fresh(), ...body })).toMatchObject({ status: 409 })
    expect(await cancel(of)).toMatchObject({ status: 409 })
    await cancelOnChain(of)
    await system.idle()
    expect(await cancel(of)).toMatchObject({ status: 409 })
    await confirm()
    expect(await read(of)).toMatchObject({ status: 'awaiting_signature', typed_data: null })
    expect(await bring(of, signature)).toMatchObject({ status: 200 })
    expect(await cancel(of)).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    await expect(submit(of, signature)).rejects.toThrow()
    expect(await list(order)).toMatchObject({ promised: '0.000000', returnable: '100.000000' })
  })

  it('lives until the confirmed chain has passed its end', async () => {
    const order = await paid()
    const of = await made(order)
    const at = await world.chain.now()
    const valid_before = Math.max(at, Math.ceil(Date.now() / 1_000)) + 75
    const data = (await read(of)).typed_data
    const { domain, types, message } = { ...data, message: { ...data?.message, validBefore: String(valid_before) } }
    const signature = await wallet.signTypedData(domain ?? {}, types ?? {}, message)
    expect(await bring(of, { valid_before, signature })).toMatchObject({ status: 200 })
    await system.idle()
    await world.chain.setNextBlockTimestamp(valid_before)
    await world.chain.mine(1)
    await system.idle()
    // Mined, and not confirmed: the block before it may still take the signature.
    expect(await cancel(of)).toMatchObject({ status: 409 })
    await confirm()
    expect(await read(of)).toMatchObject({ status: 'awaiting_signature', valid_before: null })
    await expect(submit(of, { valid_before, signature })).rejects.toThrow()
    const again = await sign(await read(of))
    expect(await bring(of, again)).toMatchObject({ status: 200, body: { status: 'submitted' } })
    await submit(of, again)
    await confirm()
    expect(await read(of)).toMatchObject({ status: 'confirmed' })
  })

  it('is told by its transfer, not by the use of its nonce for something else', async () => {
    const of = await made(await paid(), { amount: '7' })
    await signed(of)
    const at = await world.chain.now()
    const terms = { from: wallet.address, to: STRANGER.address, value: 1n, validBefore: BigInt(at + 3_000), nonce: of.nonce }
    const { domain, types, message } = transferWithAuthorizationTypedData({
      ...terms,
      ...{ chainId: world.chain.chainId, usdcAddress: world.chain.usdcAddress },
    })
    const signature = await wallet.signTypedData(domain, types, message)
    await submit({ ...of, payee_address: STRANGER.address, amount: '0.000001' }, { valid_before: at + 3_000, signature })
    await confirm()
    expect(await read(of)).toMatchObject({ status: 'awaiting_signature', tx_hash: null, typed_data: null })
    expect(await bring(of, { valid_before: Math.floor(Date.now() / 1_000) + 600, signature })).toMatchObject({ status: 409 })
    expect(await cancel(of)).toMatchObject({ status: 200, body: { status: 'cancelled' } })
  })
})

describe('a reorganisation', () => {
  it('takes a return back, also one that was confirmed, and it may come again', async () => {
    const order = await paid()
    const of = await made(order)
    const signature = await signed(of)
    const { blockNumber } = await submit(of, signature)
    await confirm()
    expect(await read(of)).toMatchObject({ status: 'confirmed' })
    await world.chain.reorg((await world.chain.provider.getBlockNumber()) - blockNumber + 1)
    await confirm()
    await confirm()
    await until(async () => (await read(of)).status === 'submitted', 'the return was not taken back', 30_000)
    expect(await cancel(of)).toMatchObject({ status: 409 })
    expect(await refund(order, { payee_address: fresh(), amount: '1' })).toMatchObject({ status: 409 })
    await submit(of, signature)
    await confirm()
    expect(await read(of)).toMatchObject({ status: 'confirmed' })
    expect(await balanceOf(of.payee_address)).toBe(units(of.amount))
  })
})

describe('at once', () => {
  it('twenty refunds promise no more than came', async () => {
    const order = await paid()
    const answers = await Promise.all(Array.from({ length: 20 }, () => refund(order, { payee_address: fresh(), amount: '9' })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(11)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9)
    expect(await list(order)).toMatchObject({ promised: '99.000000' })
  })

  it('a cancellation and a signature are one or the other', async () => {
    const order = await paid()
    const all = await Promise.all(Array.from({ length: 6 }, () => made(order, { amount: '1' })))
    for (const of of all) {
      const signature = await sign(await read(of))
      const [cancelled, brought] = await Promise.all([cancel(of), bring(of, signature)])
      expect([cancelled.status, brought.status].sort()).toEqual([200, 409])
    }
  })
})

describe('a wallet with too little', () => {
  it('is a state of the refund, and so is its refill', async () => {
    const poor = Wallet.createRandom().connect(world.chain.provider)
    const other = await createMerchant(world, system.gatewayUrl, null, poor.address)
    const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', other.api_key, { brl_amount: '542.00' })
    await system.idle()
    await pay(world.chain, order)
    await confirm()
    const post = (path: string, body: object) => call<RefundBody>(system.gatewayUrl, 'POST', `/api/v1${path}`, other.api_key, body)
    const of = await post(`/orders/${order.id}/refunds`, { payee_address: fresh(), reason: 'All of it' })
    await post(`/refunds/${of.id}/signature`, await sign(of, poor))
    await confirm()
    const status = async () => (await call<RefundBody>(system.gatewayUrl, 'GET', `/api/v1/refunds/${of.id}`, other.api_key)).status
    expect(await status()).toBe('awaiting_funds')
    await mined(world.chain.mintUsdc(poor.address, 1_000_000n))
    await confirm()
    expect(await status()).toBe('submitted')
  })
})
