import { type CheckoutBody, formatUsdc, type OrderBody } from '@ponte/contracts'
import { mined, testAccounts } from '@ponte/local-servers'
import { deployContracts, paymentRouterAbi, receiveWithAuthorizationTypedData, testUsdcAbi } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { AbiCoder, Contract, type InterfaceAbi, keccak256, toBeHex, Wallet, ZeroAddress } from 'ethers'
import { askGateway, call, MERCHANT, merchant, RELAYER, runSystem, system, units, world } from '../world'

/** Expires while the first tests run. */
let early: OrderBody
runSystem()
beforeAll(async () => {
  early = await order({ expires_in: 10 })
})

const STRANGER = testAccounts[7]

const order = (more: object = {}) =>
  call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00', ...more })
const read = ({ id }: OrderBody) => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${id}`, merchant.api_key)
const published = (type: string, { id }: OrderBody) =>
  world.receiver.received.filter(webhook => webhook.body.includes(`"${type}"`) && webhook.body.includes(id))

const usdcOf = (address: string): Promise<bigint> =>
  new Contract(world.chain.usdcAddress, testUsdcAbi, world.chain.provider).getFunction('balanceOf')(address)

/** A plain transfer, as an exchange makes it. */
async function transfer(to: string | null, amount: bigint) {
  const stranger = world.chain.wallet(STRANGER.privateKey)
  await mined(world.chain.mintUsdc(stranger.address, amount))
  return mined(world.chain.transferUsdc(stranger, to ?? '', amount))
}

describe('issue: pay from anywhere', () => {
  it('an order is paid by a plain transfer from an account that knows nothing of us', async () => {
    const before = await usdcOf(MERCHANT.address)
    const created = await order()
    expect(created.payment.deposit_address).toMatch(/^0x[0-9a-fA-F]{40}$/)
    await transfer(created.payment.deposit_address, units(created.usdc_amount))
    await system.idle()
    expect(await read(created)).toMatchObject({ status: 'paid', exception: null, received: created.expected })
    expect(published('order.paid', created)).toHaveLength(1)
    expect((await usdcOf(MERCHANT.address)) - before).toBe(units(created.expected))
  })
})

const address = (of: OrderBody) => of.payment.deposit_address ?? ''

describe('mismatches by deposit, as by router', () => {
  it('paid twice: the second is kept as a duplicate and published to no one', async () => {
    const created = await order()
    await transfer(address(created), units(created.usdc_amount))
    await system.idle()
    await transfer(address(created), units(created.usdc_amount))
    await system.idle()
    const after = await read(created)
    expect(after).toMatchObject({ status: 'paid', exception: 'duplicate' })
    expect(after.payments).toHaveLength(2)
    expect(published('order.paid', created)).toHaveLength(1)
  })

  it('short, then topped up at the same address by exactly what is still due', async () => {
    const created = await order()
    await transfer(address(created), units(created.usdc_amount) - 5_000_000n)
    await system.idle()
    expect(await read(created)).toMatchObject({ status: 'underpaid' })
    expect(published('order.underpaid', created)).toHaveLength(1)
    const checkout = (await (await askGateway(system.gatewayUrl, `/api/v1/checkout/${created.id}`)).json()) as CheckoutBody
    expect(checkout.payment.deposit_address).toBe(address(created))
    expect(checkout.payment.payment_uri).toContain(`uint256=${units(checkout.due)}`)
    await transfer(address(created), units(checkout.due))
    await system.idle()
    expect(await read(created)).toMatchObject({ status: 'paid', exception: null })
    expect(published('order.paid', created)).toHaveLength(1)
  })

  it("to a cancelled order: the money is the merchant's, the order stays cancelled", async () => {
    const created = await order()
    await call(system.gatewayUrl, 'POST', `/api/v1/orders/${created.id}/cancel`, merchant.api_key)
    await transfer(address(created), units(created.usdc_amount))
    await system.idle()
    expect(await read(created)).toMatchObject({ status: 'cancelled', exception: 'paid_after_cancel' })
  })

  it('late: an order that expired unpaid stays expired', async () => {
    const created = early
    await until(async () => (await read(created)).status === 'expired', 'the order did not expire', 40_000)
    await transfer(address(created), units(created.usdc_amount))
    await system.idle()
    expect(await read(created)).toMatchObject({ status: 'expired', exception: 'paid_late' })
    expect(published('order.paid', created)).toHaveLength(0)
  })

  it('invariant 4: sent in time and swept late, because the relayer was out of gas, is paid by the transfer and settled by the sweep', async () => {
    const { provider } = world.chain
    const full = await provider.getBalance(RELAYER.address)
    const created = await order({ expires_in: 10 })
    await system.idle()
    await provider.send('anvil_setBalance', [RELAYER.address, '0x1'])
    const sent = await transfer(address(created), units(created.usdc_amount))
    await until(async () => (await read(created)).status === 'paid', 'the transfer did not pay')
    expect(await read(created)).toMatchObject({ tx_hash: sent.hash, payments: [{ kind: 'transfer', settlement: { status: 'pending' } }] })
    const metrics = async () => (await fetch(`${system.opsUrls['chain-listener']}/metrics`)).text()
    await until(async () => /ponte_relayer_sweeps_starved\{[^}]*\} 1/.test(await metrics()), 'no metric shows that the relayer cannot pay')
    const { oldest_first, count } = (await (await fetch(`${system.opsUrls['chain-listener']}/deposits`)).json()) as Waiting
    expect({ count, oldest_first }).toMatchObject({ count: 1, oldest_first: [{ order_id: created.id, amount: created.usdc_amount }] })
    await until(async () => (await world.chain.now()) * 1_000 > Date.parse(created.expires_at) + 3_000, 'time stands still', 40_000)
    await provider.send('anvil_setBalance', [RELAYER.address, `0x${full.toString(16)}`])
    await until(
      async () => (await read(created)).payments?.[0]?.settlement?.status === 'settled',
      'the deposit was not swept after the refill',
      40_000,
    )
    await system.idle()
    expect(await read(created)).toMatchObject({ status: 'paid', exception: null, received: created.expected, tx_hash: sent.hash })
    expect(published('order.expired', created)).toHaveLength(0)
    expect(published('order.paid', created)).toHaveLength(1)
  })
})

describe('what is no payment, and what has no payer', () => {
  const pending = { status: 'pending', exception: null, received: '0.000000', payments: [] }
  const read = async (of: OrderBody) => [
    await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${of.id}`, merchant.api_key),
    (await (await askGateway(system.gatewayUrl, `/api/v1/checkout/${of.id}`)).json()) as CheckoutBody,
  ]

  it('transfers of nothing, foreign tokens and routers, and what is recovered pay nothing', async () => {
    const created = await order()
    const stranger = world.chain.wallet(STRANGER.privateKey)
    const send = (address: string, abi: InterfaceAbi, method: string, ...values: unknown[]) =>
      mined(new Contract(address, abi, stranger).getFunction(method).send(...values))
    const [deposit, terms] = [address(created), [`0x${created.memo}`, MERCHANT.address]]
    await mined(world.chain.transferUsdc(stranger, deposit, 0n))
    const foreign = await deployContracts(stranger, { feeBps: 99, feeReceiver: STRANGER.address })
    for (const to of [deposit, STRANGER.address]) await send(foreign.usdcAddress, testUsdcAbi, 'mint', to, units(created.usdc_amount))
    await send(foreign.usdcAddress, testUsdcAbi, 'approve', foreign.routerAddress, units(created.usdc_amount))
    await send(foreign.routerAddress, paymentRouterAbi, 'pay', ...terms, units(created.usdc_amount))
    await mined(stranger.sendTransaction({ to: deposit, value: 1n }))
    for (const asset of [foreign.usdcAddress, ZeroAddress])
      await send(world.chain.routerAddress, paymentRouterAbi, 'recover', ...terms, asset)
    await system.idle()
    for (const body of await read(created)) expect(body).toMatchObject(pending)
    expect(published('order.', created)).toEqual([])
    await call(system.gatewayUrl, 'POST', `/api/v1/orders/${created.id}/cancel`, merchant.api_key)
  })

  it('tokens minted to the address, as a bridge brings them, pay the order by an unknown payer', async () => {
    const created = await order()
    const { hash } = await mined(world.chain.mintUsdc(address(created), units(created.usdc_amount)))
    await system.idle()
    const payment = { kind: 'transfer', tx_hash: hash, payer_address: null, amount: created.usdc_amount, settlement: { status: 'settled' } }
    for (const body of await read(created))
      expect(body).toMatchObject({ status: 'paid', exception: null, tx_hash: hash, payments: [payment] })
    expect(published('order.paid', created)).toHaveLength(1)
  })
})

interface Waiting {
  count: number
  oldest_first: { order_id: string; amount: string }[]
}

describe('issue: no gas needed', () => {
  const payer = Wallet.createRandom()
  const balance = () => world.chain.provider.getBalance(payer.address)

  async function signed(of: OrderBody, changes: { amount?: bigint; signer?: { signTypedData: typeof payer.signTypedData } } = {}) {
    const amount = changes.amount ?? units(of.usdc_amount)
    const validBefore = BigInt(Math.floor(Date.parse(of.expires_at) / 1_000))
    const salt = toBeHex(amount, 32)
    const { domain, types, message } = receiveWithAuthorizationTypedData({
      ...{ chainId: world.chain.chainId, usdcAddress: world.chain.usdcAddress, router: of.payment.router_address },
      ...{ memo: of.memo, merchant: of.payment.merchant_address, payer: payer.address, amount, validBefore, salt },
    })
    const signature = await (changes.signer ?? payer).signTypedData(domain, types, message)
    return { payer_address: payer.address, amount: formatUsdc(amount), valid_before: Number(validBefore), salt, signature }
  }
  async function authorize(of: OrderBody, body: object) {
    const response = await askGateway(system.gatewayUrl, `/api/v1/checkout/${of.id}/authorization`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: await response.json() }
  }

  it('an order is paid by a signature of an account that owns no native coin', async () => {
    const created = await order()
    await mined(world.chain.mintUsdc(payer.address, units(created.usdc_amount)))
    await system.idle()
    expect(await balance()).toBe(0n)
    const body = await signed(created)
    const accepted = await authorize(created, body)
    expect(accepted).toMatchObject({ status: 202, body: { object: 'authorization', order_id: created.id, payer_address: payer.address } })
    await system.idle()
    expect(await read(created)).toMatchObject({ status: 'paid', exception: null, received: created.expected })
    expect((await read(created)).payments).toMatchObject([{ payer_address: payer.address }])
    expect(published('order.paid', created)).toHaveLength(1)
    // The same again is the same answer, further on; nothing is paid twice.
    expect(await authorize(created, body)).toMatchObject({ status: 202, body: { status: 'paid', tx_hash: expect.stringMatching(/^0x/) } })
    await system.idle()
    expect((await read(created)).payments).toHaveLength(1)
  })

  it('a signature that follows the words of the document is taken', async () => {
    const { paths } = (await (await fetch(`${system.gatewayUrl}/openapi.json`)).json()) as {
      paths: Record<string, { post?: { description: string } }>
    }
    const description = paths['/api/v1/checkout/{order_id}/authorization']?.post?.description ?? ''
    const listed = (words: RegExp) => (words.exec(description)?.[1] ?? '').split(', ').map(field => field.split(' ') as [string, string])
    const created = await order()
    const amount = units(created.usdc_amount)
    await mined(world.chain.mintUsdc(payer.address, amount))
    await system.idle()
    const { memo, payment } = created
    const token = new Contract(payment.token_address, ['function name() view returns (string)', 'function version() view returns (string)'])
    const [name, version] = await Promise.all(
      ['name', 'version'].map(field => (token.connect(world.chain.provider) as Contract).getFunction(field)()),
    )
    const salt = toBeHex(amount, 32)
    const parts: Record<string, string> = { memo: `0x${memo}`, 'payment.merchant_address': payment.merchant_address, salt }
    const encoded = listed(/abi\.encode\(([^)]*)\)/)
    const nonce = keccak256(
      AbiCoder.defaultAbiCoder().encode(
        encoded.map(([type]) => type),
        encoded.map(([, field]) => parts[field]),
      ),
    )
    const validBefore = Math.floor(Date.parse(created.expires_at) / 1_000)
    const message = { from: payer.address, to: payment.router_address, value: amount, validAfter: 0, validBefore, nonce }
    const domain = { name, version, chainId: payment.chain_id, verifyingContract: payment.token_address }
    const fields = listed(/ReceiveWithAuthorization\(([^)]*)\)/).map(([type, field]) => ({ type, name: field }))
    const signature = await payer.signTypedData(domain, { ReceiveWithAuthorization: fields }, message)
    const body = { payer_address: payer.address, amount: formatUsdc(amount), valid_before: validBefore, salt, signature }
    expect(await authorize(created, body)).toMatchObject({ status: 202 })
    await system.idle()
    expect(await read(created)).toMatchObject({ status: 'paid' })
  })

  it('what cannot be mined is refused at once, with the reason', async () => {
    const created = await order()
    await system.idle()
    const refused = async (body: object, path: string) => {
      const answer = await authorize(created, body)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path }] } })
    }
    await refused(await signed(created), 'amount')
    await mined(world.chain.mintUsdc(payer.address, units(created.usdc_amount)))
    await refused(await signed(created, { signer: Wallet.createRandom() }), 'signature')
    await refused({ ...(await signed(created)), amount: '1.000000' }, 'signature')
    await refused({ ...(await signed(created)), valid_before: 1 }, 'valid_before')
    await refused({ ...(await signed(created)), tip: '1' }, 'tip')
    await refused(await signed(created, { amount: units(created.usdc_amount) + 1n }), 'amount')
    await call(system.gatewayUrl, 'POST', `/api/v1/orders/${created.id}/cancel`, merchant.api_key)
    expect(await authorize(created, await signed(created))).toMatchObject({ status: 409, body: { code: 'invalid_state' } })
    expect(await authorize({ ...created, id: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90' }, await signed(created))).toMatchObject({
      status: 404,
    })
  })
})
