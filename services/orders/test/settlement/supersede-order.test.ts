import { uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import { charge, message } from '../listener'
import { chain, read, runOrders, system, types } from '../run-orders'
import { asMerchant, merchantId } from '../setup'

runOrders()

const superseded = (orderId: string, more: { is_replaced?: boolean } = {}) => {
  const owner = { merchant_id: merchantId, merchant_version: 1, subscription_id: uuidv7() }
  return message('subscription.order_superseded', { ...owner, order_id: orderId, ...more })
}

async function opened(): Promise<string> {
  const wanted = charge()
  await system.bus.publish(message('subscription.charge_requested', wanted))
  return wanted.order_id
}

describe('subscription.order_superseded: another order of the same period was paid', () => {
  it('cancels an order that no one has begun to pay', async () => {
    const id = await opened()
    await system.bus.publish(superseded(id))
    await system.bus.publish(superseded(id))
    expect((await read(id)).status).toBe('cancelled')
    expect(await types(id)).toEqual(['order.cancelled'])
  })

  it('makes an order that is paid already a duplicate, and publishes nothing more', async () => {
    const id = await opened()
    await chain.report('confirmed', chain.payment(await read(id)))
    await system.bus.publish(superseded(id))
    expect(await read(id)).toMatchObject({ status: 'paid', exception: 'duplicate' })
    expect(await types(id)).toEqual(['order.paid'])
  })

  it('makes an order that is being paid a duplicate once its money is confirmed', async () => {
    const id = await opened()
    const payment = chain.payment(await read(id))
    await chain.report('detected', payment)
    await system.bus.publish(superseded(id))
    expect(await read(id)).toMatchObject({ status: 'confirming', exception: null })
    await chain.report('confirmed', payment)
    expect(await read(id)).toMatchObject({ status: 'paid', exception: 'duplicate' })
    expect(await types(id)).toEqual(['order.paid'])
  })

  it('closes a charge that it overtook, which is never opened', async () => {
    const wanted = charge()
    await system.bus.publish(superseded(wanted.order_id))
    await system.bus.publish(message('subscription.charge_requested', wanted))
    expect((await request(system.url).get(`/api/v1/orders/${wanted.order_id}`).set(asMerchant())).status).toBe(404)
  })
})

describe('subscription.order_superseded of an order that new terms replace', () => {
  it('cancels it once no money counts for it, at once or after a reorganisation', async () => {
    const [untouched, paying] = [await opened(), await opened()]
    const payment = chain.payment(await read(paying))
    await chain.report('detected', payment)
    for (const id of [untouched, paying]) await system.bus.publish(superseded(id, { is_replaced: true }))
    expect([(await read(untouched)).status, (await read(paying)).status]).toEqual(['cancelled', 'confirming'])
    await chain.report('orphaned', payment)
    expect((await read(paying)).status).toBe('cancelled')
  })

  it('lets money that is on its way be the period`s payment, and no duplicate', async () => {
    const id = await opened()
    const payment = chain.payment(await read(id))
    await chain.report('detected', payment)
    await system.bus.publish(superseded(id, { is_replaced: true }))
    await chain.report('confirmed', payment)
    expect(await read(id)).toMatchObject({ status: 'paid', exception: null })
    expect(await types(id)).toEqual(['order.paid'])
  })
})
