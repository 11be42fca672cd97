import { readConfig, silentLogger, until } from '@ponte/service-kit'
import request from 'supertest'
import { createOrders, ordersConfig } from '../../src'
import { charge, message } from '../listener'
import { asMerchant, settings, startOrders } from '../setup'

it('the charge of a plan waits while orders are paused, says why, and is opened once they are not', async () => {
  const system = await startOrders({ ORDERS_PAUSED: 'true' })
  const wanted = charge()
  await system.bus.publish(message('subscription.charge_requested', wanted))
  await request(system.url).get(`/api/v1/orders/${wanted.order_id}`).set(asMerchant()).expect(404)
  const { rows } = await system.sql.query("SELECT body::jsonb->'data'->>'reason' AS reason FROM outbox WHERE type = 'order.waiting'")
  expect(rows).toEqual([{ reason: 'orders_paused' }])

  await system.orders.stop()
  const lifted = createOrders(readConfig(ordersConfig, settings(system.database.url)), { bus: system.bus, logger: silentLogger })
  await lifted.start()
  try {
    const read = () => request(`http://127.0.0.1:${lifted.http.port()}`).get(`/api/v1/orders/${wanted.order_id}`).set(asMerchant())
    await until(async () => (await read()).status === 200, 'the charge is not opened', 30_000)
    expect((await read()).body).toMatchObject({ status: 'pending', subscription_id: wanted.subscription_id })
  } finally {
    await lifted.stop()
    await system.stop()
  }
})
