import { type System, startAll } from '@ponte/all-in-one'
import {
  type OrderBody,
  order as orderSchema,
  type SubscriptionBody,
  subscription as subscriptionSchema,
  webhookBodies,
} from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { testRateFeedAbi } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { Contract } from 'ethers'
import { call, createMerchant, pay, startWorld, units, type World } from '../world'

const DAY_MS = 86_400_000

let world: World
let system: System
/** Lead of the services' clock over ours. */
let aheadMs = 0
beforeAll(async () => {
  world = await startWorld()
  // A rate of after the end of the story, read when orders starts, is fresh throughout: no test waits for the next reading after a jump.
  const feed = new Contract(world.chain.rateFeedAddress, testRateFeedAbi, world.chain.wallet(0))
  const { answer_: answer } = await feed.getFunction('latestRoundData')()
  await mined(feed.getFunction('set')(answer, (await world.chain.now()) + (10 * DAY_MS) / 1000))
  aheadMs = 10 * DAY_MS
  system = await startAll(world.place, { logger: world.logger, now: () => new Date(Date.now() + aheadMs) })
})
beforeEach(() => {
  aheadMs = 0
})
afterAll(async () => {
  await system?.stop()
  await world?.stop()
})

type Merchant = Awaited<ReturnType<typeof createMerchant>>
const get = <T>(merchant: Merchant, path: string) => call<T>(system.gatewayUrl, 'GET', `/api/v1${path}`, merchant.api_key)
const post = <T>(merchant: Merchant, path: string, body: object = {}) =>
  call<T>(system.gatewayUrl, 'POST', `/api/v1${path}`, merchant.api_key, body)

/** The order that is open: the merchant's charge answers it once orders has created it, which after a jump may have to wait for a rate. */
async function charge(merchant: Merchant, id: string): Promise<OrderBody> {
  let answer: { object: string } = { object: 'none' }
  const created = async () => {
    answer = await post<{ object: string }>(merchant, `/subscriptions/${id}/charge`)
    return answer.object === 'order'
  }
  await until(created, () => `no order was created: ${JSON.stringify(answer)}`, 40_000)
  return orderSchema.parse(answer)
}

/** Webhooks of this merchant about one subscription and its orders: parsed bodies of the specification's kinds. */
function notified(ids: readonly string[]) {
  return world.receiver.received.flatMap(({ body, signature_valid }) => {
    const { type, data } = JSON.parse(body)
    expect(signature_valid).toBe(true)
    if (!ids.includes(data.id)) return []
    return [webhookBodies[type as keyof typeof webhookBodies].parse({ type, data })]
  })
}
const receives = (ids: readonly string[], count: number) =>
  until(
    () => notified(ids).length >= count,
    () => JSON.stringify(notified(ids)),
    30_000,
  )

it('a plan of three charges, each paid in two parts, is played to its end: three subscription.charged, then one subscription.expired, never order.paid', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const { id } = subscriptionSchema.parse(
    await post(merchant, '/subscriptions', { brl_amount: '49.90', interval: 'day', max_periods: 3, external_ref: 'CLUB-1' }),
  )
  const paid: OrderBody[] = []
  for (let period = 0; period < 3; period += 1) {
    aheadMs = period * DAY_MS
    await until(
      async () => {
        const { open_order_id } = await get<SubscriptionBody>(merchant, `/subscriptions/${id}`)
        return open_order_id !== null && open_order_id !== paid.at(-1)?.id
      },
      'no order was issued',
      30_000,
    )
    const order = await charge(merchant, id)
    expect(order).toMatchObject({ subscription_id: id, external_ref: 'CLUB-1', brl_amount: '49.90' })
    const half = units(order.usdc_amount) / 2n
    await pay(world.chain, order, half)
    const isShort = async () => (await charge(merchant, id)).status === 'underpaid'
    await until(isShort, 'the open order is not shown as it is now', 30_000)
    await pay(world.chain, order, units(order.usdc_amount) - half)
    paid.push(order)
    await receives([...paid.map(order => order.id), id], 2 * paid.length)
  }
  const ids = [...paid.map(order => order.id), id]
  await receives(ids, 7)

  expect(await get(merchant, `/subscriptions/${id}`)).toMatchObject({
    ...{ status: 'expired', charges_done: 3, next_charge_at: null, open_order_id: null },
  })
  const bodies = notified(ids)
  expect(bodies.map(({ type }) => type).sort()).toEqual([
    ...Array(3).fill('order.underpaid'),
    ...Array(3).fill('subscription.charged'),
    'subscription.expired',
  ])
  for (const order of paid) {
    expect(bodies.find(({ type, data }) => type === 'subscription.charged' && data.id === order.id)?.data).toMatchObject({
      subscription_id: id,
      external_ref: 'CLUB-1',
      brl_amount: '49.90',
      usdc_amount: order.usdc_amount,
      memo: order.memo,
    })
  }
  expect(bodies.find(({ type }) => type === 'subscription.expired')?.data).toEqual({ id, external_ref: 'CLUB-1' })
})

it('cancelling a subscription cancels its open order too, and both are notified', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const { id } = await post<SubscriptionBody>(merchant, '/subscriptions', { brl_amount: '10.00', external_ref: 'CLUB-2' })
  const order = await charge(merchant, id)
  expect(await post(merchant, `/subscriptions/${id}/cancel`)).toMatchObject({ status: 'cancelled' })
  await receives([id, order.id], 2)
  expect(notified([id, order.id]).sort((a, b) => a.type.localeCompare(b.type))).toEqual([
    { type: 'order.cancelled', data: { id: order.id, external_ref: 'CLUB-2' } },
    { type: 'subscription.cancelled', data: { id, external_ref: 'CLUB-2' } },
  ])
  expect(await get(merchant, `/orders/${order.id}`)).toMatchObject({ status: 'cancelled' })
})

it('an order of a plan that expires unpaid makes it past due; issued again a day later and paid, it is active again', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const plan = { brl_amount: '19.90', interval: 'month', external_ref: 'CLUB-3', order_expires_in: 30 }
  const { id } = await post<SubscriptionBody>(merchant, '/subscriptions', plan)
  const read = () => get<SubscriptionBody>(merchant, `/subscriptions/${id}`)
  const first = await charge(merchant, id)
  // Only the chain's own time lets an order expire.
  await world.chain.setNextBlockTimestamp((await world.chain.now()) + 60)
  await world.chain.mine(2)
  await until(async () => (await read()).status === 'past_due', 'the plan did not become past due', 30_000)
  await receives([first.id], 1)

  aheadMs = DAY_MS
  await until(async () => (await read()).open_order_id !== null, 'the order was not issued again', 30_000)
  const second = await charge(merchant, id)
  expect([second.id === first.id, second.memo === first.memo]).toEqual([false, false])
  await pay(world.chain, second)
  await receives([first.id, second.id], 2)
  expect(await read()).toMatchObject({ status: 'active', charges_done: 1 })
  expect(notified([first.id, second.id]).map(({ type, data }) => [type, data.id])).toEqual([
    ['order.expired', first.id],
    ['subscription.charged', second.id],
  ])
})
