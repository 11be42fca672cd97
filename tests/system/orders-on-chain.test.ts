import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { deployContracts } from '@ponte/payment-router'
import { openDatabase, until } from '@ponte/service-kit'
import { Contract, Transaction } from 'ethers'
import { askGateway, call, merchant, PAYER, pay, runSystem, system, units, world } from '../world'

// Every mismatch of the order table on the real parts, with two replicas of orders. The chain mines on request, so that depth and time are the test's.

const CONFIRMATIONS = 3
const HOUR = 3600

runSystem({ world: { confirmations: CONFIRMATIONS, chain: {} }, moreOrders: 1 })

const create = (expiresIn = 24 * HOUR): Promise<OrderBody> =>
  call(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00', expires_in: expiresIn })
const read = (order: { id: string }): Promise<OrderBody> => call(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
const confirm = () => world.chain.mine(CONFIRMATIONS)
const notified = (order: { id: string }) =>
  world.receiver.received.map(({ body }) => JSON.parse(body)).filter(({ data }) => data.id === order.id)
const types = (order: { id: string }) => notified(order).map(({ type }) => type)

/** Waits for a state that the chain's events bring about, however long they travel. */
async function becomes(order: { id: string }, state: Partial<OrderBody>): Promise<OrderBody> {
  let last: OrderBody | undefined
  const holds = async () => {
    last = await read(order)
    return Object.entries(state).every(([key, value]) => last?.[key as keyof OrderBody] === value)
  }
  await until(holds, () => `expected ${JSON.stringify(state)}, found ${JSON.stringify(last)}`, 60_000)
  await system.idle(60_000)
  return read(order)
}
/** Moves the chain's own clock past an order's expiry, with enough blocks for that time to be confirmed. */
async function passExpiry(order: OrderBody): Promise<void> {
  await world.chain.setNextBlockTimestamp(Math.max(Math.floor(Date.parse(order.expires_at) / 1000) + 2, (await world.chain.now()) + 1))
  await world.chain.mine(CONFIRMATIONS + 2)
}

describe('amounts', () => {
  it('underpaid, topped up by what is due, paid: notified with expected and received, and once as paid', async () => {
    const order = await create()
    await pay(world.chain, order, 10_000_000n)
    await confirm()
    await becomes(order, { status: 'underpaid', received: '9.900000' })
    expect(notified(order)).toMatchObject([{ type: 'order.underpaid', data: { expected: order.expected, received: '9.900000' } }])
    const checkout = await askGateway(system.gatewayUrl, `/api/v1/checkout/${order.id}`).then(answer => answer.json())
    const last = await pay(world.chain, order, units(String(Reflect.get(Object(checkout), 'due'))))
    await becomes(order, { status: 'confirming' })
    await confirm()
    expect(await becomes(order, { status: 'paid' })).toMatchObject({ exception: null, tx_hash: last.hash, received: order.expected })
    expect(types(order).sort()).toEqual(['order.paid', 'order.underpaid'])
  })

  it('overpaid: paid with the exception; a second full payment is a duplicate and notifies of nothing', async () => {
    const order = await create()
    const first = await pay(world.chain, order, units(order.usdc_amount) + 1_000_000n)
    await confirm()
    expect(await becomes(order, { status: 'paid', exception: 'overpaid' })).toMatchObject({ tx_hash: first.hash, received: '28.388525' })
    await pay(world.chain, order)
    await confirm()
    expect((await becomes(order, { exception: 'duplicate' })).payments).toHaveLength(2)
    expect(types(order)).toEqual(['order.paid'])
  })
})

describe('time, by the chain’s clock alone', () => {
  it('late: expired, and a payment afterwards is paid_late and silent', async () => {
    const order = await create(600)
    await passExpiry(order)
    await becomes(order, { status: 'expired' })
    await pay(world.chain, order)
    await confirm()
    expect(await becomes(order, { exception: 'paid_late' })).toMatchObject({ status: 'expired', received: order.expected })
    expect(types(order)).toEqual(['order.expired'])
  })

  it('paid in time but confirmed after expires_at: stays confirming, then paid', async () => {
    const order = await create(48 * HOUR)
    await pay(world.chain, order)
    await world.chain.setNextBlockTimestamp(Math.floor(Date.parse(order.expires_at) / 1000) + 2)
    await world.chain.mine(1)
    await becomes(order, { status: 'confirming' })
    await confirm()
    await becomes(order, { status: 'paid', exception: null })
    expect(types(order)).toEqual(['order.paid'])
  })
})

describe('after a cancellation, and to the wrong place', () => {
  it('paid_after_cancel: stays cancelled, the money is on record, nothing more is notified', async () => {
    const order = await create(72 * HOUR)
    await call(system.gatewayUrl, 'POST', `/api/v1/orders/${order.id}/cancel`, merchant.api_key)
    await pay(world.chain, order)
    await confirm()
    expect(await becomes(order, { exception: 'paid_after_cancel' })).toMatchObject({ status: 'cancelled', received: order.expected })
    expect(types(order)).toEqual(['order.cancelled'])
  })

  it('wrong merchant and unknown memo are kept with their reasons and change nothing; so is a memo through a router of another token', async () => {
    const order = await create(72 * HOUR)
    const before = await read(order)
    const payer = world.chain.wallet(PAYER.privateKey)
    const amount = units(order.usdc_amount)
    await mined(world.chain.mintUsdc(payer.address, amount * 2n))
    const thief = world.chain.wallet(7).address
    await mined(world.chain.pay(payer, { memo: `0x${order.memo}`, merchant: thief, amount }))
    const stray = 'ab'.repeat(32)
    await mined(world.chain.pay(payer, { memo: `0x${stray}`, merchant: order.payment.merchant_address, amount }))
    await payElsewhere(order, amount)
    await confirm()
    const database = openDatabase({ url: world.place.databaseUrl('orders'), poolSize: 1 })
    const kept = async () =>
      (
        await database.query<{ reason: string; status: string }>(
          'SELECT reason, status FROM unmatched_payments WHERE memo = ANY ($1) ORDER BY reason',
          [[order.memo, stray]],
        )
      ).rows
    const confirmed = async () => (await kept()).filter(({ status }) => status === 'confirmed').length === 2
    await until(confirmed, async () => `kept: ${JSON.stringify(await kept())}`, 60_000)
    expect((await kept()).map(({ reason }) => reason)).toEqual(['unknown_memo', 'wrong_recipient'])
    await database.stop?.()
    expect([await read(order), types(order)]).toEqual([before, []])
  })
})

/** A worthless token through a genuine router of its own, with the right memo to the right merchant: not a router that we watch. */
async function payElsewhere(order: OrderBody, amount: bigint): Promise<void> {
  const owner = world.chain.wallet(8)
  const { usdcAddress, routerAddress } = await deployContracts(owner, { feeBps: 100, feeReceiver: owner.address })
  const abi = ['function mint(address, uint256)', 'function approve(address, uint256)', 'function pay(bytes32, address, uint256)']
  const send = (address: string, method: string, ...values: unknown[]) =>
    mined(new Contract(address, abi, owner).getFunction(method).send(...values))
  await send(usdcAddress, 'mint', owner.address, amount)
  await send(usdcAddress, 'approve', routerAddress, amount)
  await send(routerAddress, 'pay', `0x${order.memo}`, order.payment.merchant_address, amount)
}

describe('reorganisations', () => {
  it('before paid: the payment vanishes and the order is as before; mined again, it is paid once', async () => {
    const order = await create(120 * HOUR)
    const receipt = await pay(world.chain, order)
    const transaction = await signed(receipt.hash)
    await becomes(order, { status: 'confirming' })
    await world.chain.reorg(1)
    await world.chain.mine(1)
    expect(await becomes(order, { status: 'pending' })).toMatchObject({ received: '0.000000', payments: [{ status: 'orphaned' }] })
    await again(transaction)
    await confirm()
    expect(await becomes(order, { status: 'paid' })).toMatchObject({ exception: null, tx_hash: receipt.hash })
    expect((await read(order)).payments).toHaveLength(1)
    expect(types(order)).toEqual(['order.paid'])
  })

  it('after paid, deeper than the confirmations: recomputed as reorged, and nothing is notified; mined again, paid without a second word', async () => {
    const order = await create(120 * HOUR)
    const receipt = await pay(world.chain, order)
    const transaction = await signed(receipt.hash)
    await confirm()
    await becomes(order, { status: 'paid' })
    await world.chain.reorg(CONFIRMATIONS + 1)
    await world.chain.mine(1)
    expect(await becomes(order, { exception: 'reorged' })).toMatchObject({ status: 'pending', received: '0.000000', tx_hash: receipt.hash })
    await again(transaction)
    await confirm()
    await becomes(order, { status: 'paid', exception: null })
    expect(types(order)).toEqual(['order.paid'])
  })
})

/** The signed transaction as it was sent: after a reorganisation a wallet or a node's pool sends the very same once more. */
async function signed(hash: string): Promise<string> {
  const transaction = await world.chain.provider.getTransaction(hash)
  if (!transaction) throw new Error(`There is no transaction ${hash}.`)
  return Transaction.from(transaction).serialized
}
const again = async (transaction: string) => mined(world.chain.provider.broadcastTransaction(transaction))
