import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { call, merchant, RELAYER, runSystem, system, units, world } from '../world'

// The chain mines on request, or for a transaction, so that depth is the test's.

const CONFIRMATIONS = 3

runSystem({ world: { confirmations: CONFIRMATIONS, chain: {} } })

const create = () => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
const read = ({ id }: OrderBody) => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${id}`, merchant.api_key)
const notified = ({ id }: OrderBody) =>
  world.receiver.received.map(({ body }) => JSON.parse(body)).flatMap(({ type, data }) => (data.id === id ? [type] : []))

async function deposit(order: OrderBody) {
  const payer = world.chain.wallet(7)
  await mined(world.chain.mintUsdc(payer.address, units(order.usdc_amount)))
  return mined(world.chain.transferUsdc(payer, order.payment.deposit_address ?? '', units(order.usdc_amount)))
}
async function becomes(order: OrderBody, status: string): Promise<void> {
  let last = ''
  const holds = async () => {
    last = (await read(order)).status
    return last === status
  }
  await until(holds, () => `expected ${status}, found ${last}`, 30_000)
}
/** Takes the block of a transaction away, and everything on top of it. */
async function undo({ blockNumber }: { blockNumber: number }): Promise<void> {
  await world.chain.reorg((await world.chain.provider.getBlockNumber()) - blockNumber + 1)
  await world.chain.mine(1)
}
async function paidOnce(order: OrderBody): Promise<void> {
  await until(
    async () => {
      await world.chain.mine(1)
      const { status, payments = [] } = await read(order)
      return status === 'paid' && payments.some(({ settlement }) => settlement.status === 'settled')
    },
    'the order was not paid and its deposit swept',
    30_000,
  )
  await system.idle()
  expect(await read(order)).toMatchObject({ status: 'paid', exception: null, received: order.expected })
  expect(notified(order)).toEqual(['order.paid'])
}

describe('issue: a deposit during a reorganisation', () => {
  it('is shown at first sight, taken back, and paid once when it is made again', async () => {
    const order = await create()
    const first = await deposit(order)
    await becomes(order, 'confirming')
    await undo(first)
    await becomes(order, 'pending')
    await deposit(order)
    await becomes(order, 'confirming')
    await paidOnce(order)
  })

  it('is taken back also when it had paid the order: reorganised, and paid again without a second event', async () => {
    const { provider } = world.chain
    const full = await provider.getBalance(RELAYER.address)
    await provider.send('anvil_setBalance', [RELAYER.address, '0x1'])
    const order = await create()
    const first = await deposit(order)
    await world.chain.mine(CONFIRMATIONS + 1)
    const held = async () => (await (await fetch(`${system.opsUrls['chain-listener']}/deposits`)).json()) as { count: number }
    await until(async () => (await held()).count === 1, 'the deposit was not confirmed')
    await becomes(order, 'paid')
    await undo(first)
    await becomes(order, 'pending')
    expect(await read(order)).toMatchObject({ exception: 'reorged', received: '0.000000' })
    await provider.send('anvil_setBalance', [RELAYER.address, `0x${full.toString(16)}`])
    await deposit(order)
    await paidOnce(order)
  })
})
