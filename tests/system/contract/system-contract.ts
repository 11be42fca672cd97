import { randomUUID } from 'node:crypto'
import { type OrderBody, order as orderSchema, type SubscriptionBody, webhookBodies } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import { askGateway, call, createMerchant, MERCHANT, pay, units, type World } from '../../world'
import { watchCheckout } from './checkout-stream'

const REPLICA_TRIES = 6

/**
 * What a merchant and a payer are promised however the services are laid out: all in one process, one process each, two replicas of each.
 * `deployed` is asked when the tests run. The chain's clock is ahead afterwards.
 */
export function systemContract(deployed: () => { world: World; gatewayUrl: string }): void {
  let merchant: Awaited<ReturnType<typeof createMerchant>>
  beforeAll(async () => {
    const { world, gatewayUrl } = deployed()
    merchant = await createMerchant(world, gatewayUrl)
  })

  const ask = <T = OrderBody>(method: string, path: string, body?: object) =>
    call<T>(deployed().gatewayUrl, method, `/api/v1${path}`, merchant.api_key, body)
  const order = (body: object = {}) => ask('POST', '/orders', { brl_amount: '150.00', ...body })
  const notified = (...ids: string[]) =>
    deployed().world.receiver.received.flatMap(({ body, signature_valid }) => {
      const { type, data } = JSON.parse(body)
      expect(signature_valid).toBe(true)
      return ids.includes(data.id) ? [webhookBodies[type as keyof typeof webhookBodies].parse({ type, data })] : []
    })
  const receives = (count: number, ...ids: string[]) =>
    until(
      () => notified(...ids).length >= count,
      () => `${notified(...ids).length} of ${count} were notified: ${JSON.stringify(notified(...ids))}`,
      60_000,
    )

  it('a BRL order is paid in USDC on a chain and the merchant is notified, once, signed, as the specification states', async () => {
    const created = await order({ external_ref: 'INV-7' })
    expect(created.payment.merchant_address).toBe(MERCHANT.address)
    const receipt = await pay(deployed().world.chain, created)
    await receives(1, created.id)

    const paid = await ask('GET', `/orders/${created.id}`)
    expect(paid).toMatchObject({ status: 'paid', exception: null, received: created.expected, tx_hash: receipt.hash })
    expect(paid.payments).toMatchObject([{ status: 'confirmed', amount: created.usdc_amount }])
    const { usdc_amount, memo } = created
    const data = {
      ...{ id: created.id, subscription_id: null, external_ref: 'INV-7', brl_amount: '150.00' },
      ...{ usdc_amount, memo, tx_hash: receipt.hash, paid_at: paid.paid_at },
    }
    expect(notified(created.id)).toEqual([{ type: 'order.paid', data }])
    expect(deployed().world.receiver.received.at(-1)?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-signature': expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  it('an order that is paid in part is reported as such, and is paid when the rest comes', async () => {
    const { chain } = deployed().world
    const created = await order()
    const half = units(created.usdc_amount) / 2n
    await pay(chain, created, half)
    await receives(1, created.id)
    await pay(chain, created, units(created.usdc_amount) - half)
    await receives(2, created.id)
    expect(notified(created.id).map(({ type }) => type)).toEqual(['order.underpaid', 'order.paid'])
  })

  it('a key sent twice at once, wherever it arrives, is one order; each of many is paid and notified once', async () => {
    const { world, gatewayUrl } = deployed()
    const keyed = async (key: string) => {
      const headers = { Authorization: `Bearer ${merchant.api_key}`, 'Content-Type': 'application/json', 'Idempotency-Key': key }
      // The second may be refused while the first is still at work.
      let answer = await askGateway(gatewayUrl, '/api/v1/orders', { method: 'POST', headers, body: '{"brl_amount":"1.00"}' })
      while (answer.status === 409)
        answer = await askGateway(gatewayUrl, '/api/v1/orders', { method: 'POST', headers, body: '{"brl_amount":"1.00"}' })
      return orderSchema.parse(await answer.json())
    }
    const orders = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const key = randomUUID()
        const [first, second] = await Promise.all([keyed(key), keyed(key)])
        expect(second).toEqual(first)
        return first
      }),
    )
    const ids = orders.map(({ id }) => id)
    expect(new Set(ids).size).toBe(8)
    for (const each of orders) await pay(world.chain, each)
    await receives(8, ...ids)
    expect(
      notified(...ids)
        .map(({ type, data }) => [type, data.id])
        .sort(),
    ).toEqual(ids.map(id => ['order.paid', id]).sort())
  })

  it('a subscription is charged to its end: subscription.charged for each, subscription.expired once, never order.paid', async () => {
    const { world } = deployed()
    const { id } = await ask<SubscriptionBody>('POST', '/subscriptions', { brl_amount: '49.90', max_periods: 2, external_ref: 'CLUB-1' })
    const orders: OrderBody[] = []
    for (const period of [1, 2]) {
      let issued: { object: string } = { object: 'none' }
      await until(
        async () => {
          issued = await ask<{ object: string }>('POST', `/subscriptions/${id}/charge`)
          return issued.object === 'order'
        },
        () => `no order was issued: ${JSON.stringify(issued)}`,
        30_000,
      )
      const charged = orderSchema.parse(issued)
      orders.push(charged)
      await pay(world.chain, charged)
      await receives(period, ...orders.map(each => each.id))
    }
    await receives(3, id, ...orders.map(each => each.id))
    expect(notified(...orders.map(each => each.id)).map(({ type }) => type)).toEqual(['subscription.charged', 'subscription.charged'])
    expect(notified(id)).toEqual([{ type: 'subscription.expired', data: { id, external_ref: 'CLUB-1' } }])
  })

  it('a payer who looks at the checkout sees the payment arrive without asking again; no other page is notified', async () => {
    const { world, gatewayUrl } = deployed()
    const [mine, other] = [await order(), await order()]
    const [seen, unseen] = [await watchCheckout(gatewayUrl, mine.id), await watchCheckout(gatewayUrl, other.id)]
    await until(() => seen.views.length > 0 && unseen.views.length > 0, 'the present view was not sent')
    expect(seen.views[0]).toMatchObject({ status: 'pending', due: mine.usdc_amount })
    const receipt = await pay(world.chain, mine)
    await until(
      () => seen.views.at(-1)?.status === 'paid',
      () => `the last that was sent is ${seen.views.at(-1)?.status}`,
      60_000,
    )
    expect(seen.views.at(-1)).toMatchObject({ received: mine.expected, due: '0.000000', tx_hash: receipt.hash })
    expect(['pending,paid', 'pending,confirming,paid']).toContain([...new Set(seen.views.map(({ status }) => status))].join())
    expect(unseen.views.map(({ status }) => status)).toEqual(['pending'])
    await seen.close()
    await unseen.close()
  })

  it('a key that was rotated is refused at once, wherever it arrives', async () => {
    const { gatewayUrl } = deployed()
    const rotated = await call<{ api_key: string }>(gatewayUrl, 'POST', '/api/v1/merchants/me/rotate-key', merchant.token)
    const statuses = (key: string) =>
      Promise.all(
        Array.from({ length: REPLICA_TRIES }, async () => {
          const answer = await askGateway(gatewayUrl, '/api/v1/orders', { headers: { Authorization: `Bearer ${key}` } })
          return answer.status
        }),
      )
    expect(await statuses(merchant.api_key)).toEqual(Array(REPLICA_TRIES).fill(401))
    expect(await statuses(rotated.api_key)).toEqual(Array(REPLICA_TRIES).fill(200))
    merchant.api_key = rotated.api_key
  })

  it('what is cancelled or expires is notified once', async () => {
    const { chain } = deployed().world
    const [unwanted, late] = [await order({ external_ref: 'A' }), await order({ external_ref: 'B', expires_in: 10 })]
    expect(await ask('POST', `/orders/${unwanted.id}/cancel`)).toMatchObject({ status: 'cancelled' })
    await chain.setNextBlockTimestamp((await chain.now()) + 60)
    await chain.mine(3)
    await receives(2, unwanted.id, late.id)
    expect(notified(unwanted.id)).toEqual([{ type: 'order.cancelled', data: { id: unwanted.id, external_ref: 'A' } }])
    expect(notified(late.id)).toEqual([{ type: 'order.expired', data: { id: late.id, external_ref: 'B' } }])
  })

  it('nothing was notified twice', () => {
    const bodies = deployed().world.receiver.received.map(({ body }) => body)
    expect(bodies).toHaveLength(new Set(bodies).size)
  })
}
