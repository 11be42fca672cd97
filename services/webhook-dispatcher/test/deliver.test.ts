import { createHmac, randomUUID } from 'node:crypto'
import { OPT_IN_EVENTS } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import { addEndpoint, KINDS, notifyAt } from './endpoints/kinds'
import { event, merchantUpdated, optIn, orderPaid, paidOrder, runDispatcher, startReceiver, system } from './setup'

runDispatcher({ WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32,127.0.0.5/32', WEBHOOK_DENY_CIDRS: '127.0.0.5/32' })

async function deliveryOf(eventId: string) {
  const { rows } = await system.sql.query('SELECT * FROM deliveries WHERE event_id = $1', [eventId])
  return rows[0]
}

const names = (rawHeaders: readonly string[] = []) => rawHeaders.filter((_, index) => index % 2 === 0).map(name => name.toLowerCase())
const SPECIFIED_HEADERS = ['connection', 'content-length', 'content-type', 'host', 'user-agent', 'x-service-signature']
const STANDARD_HEADERS = ['webhook-id', 'webhook-sequence', 'webhook-signature', 'webhook-timestamp']

describe.each(KINDS)('an event at %s', kind => {
  it('is delivered at once: signed, exactly the stored bytes, and recorded', async () => {
    const merchantId = randomUUID()
    const receiver = await startReceiver()
    const { secret } = await notifyAt(system, kind, merchantId, receiver.url)
    const paid = orderPaid(merchantId)
    await system.publish(paid)
    await system.dispatcher.idle()
    expect(receiver.received).toHaveLength(1)
    const { body = Buffer.of(), headers = {} as Record<string, string> } = receiver.received[0] ?? {}
    expect(JSON.parse(body.toString())).toEqual({ type: 'order.paid', data: paid.type === 'order.paid' ? paid.data.order : null })
    expect(headers['x-service-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'))
    const { rows } = await system.sql.query('SELECT body FROM events WHERE id = $1', [paid.id])
    expect(body.equals(rows[0].body)).toBe(true)
    const delivery = await deliveryOf(paid.id)
    expect(delivery).toMatchObject({ status: 'delivered', attempts: 1, tries: 1, next_attempt_at: null, last_http_status: 200 })
    const attempts = await system.sql.query('SELECT * FROM attempts WHERE delivery_id = $1', [delivery.id])
    expect(attempts.rows).toMatchObject([{ ordinal: 1, outcome: 'delivered', http_status: 200, error_code: null }])
    await receiver.stop()
  })

  it('delivery rule 7: comes with Content-Type and the signature, and nothing else of meaning', async () => {
    const merchantId = randomUUID()
    const receiver = await startReceiver()
    await notifyAt(system, kind, merchantId, `${receiver.url}?shop=1`)
    await system.publish(orderPaid(merchantId))
    await system.dispatcher.idle()
    const expected = kind === 'standard' ? [...SPECIFIED_HEADERS, ...STANDARD_HEADERS].sort() : SPECIFIED_HEADERS
    expect(names(receiver.received[0]?.rawHeaders).sort()).toEqual(expected)
    expect(receiver.received[0]?.headers['content-type']).toBe('application/json')
    expect(receiver.received[0]?.url).toBe('/hooks?shop=1')
    await receiver.stop()
  })

  it('invariant 3: delivered twice by the bus, it is one delivery', async () => {
    const merchantId = randomUUID()
    const receiver = await startReceiver()
    await notifyAt(system, kind, merchantId, receiver.url)
    const paid = orderPaid(merchantId)
    for (let n = 0; n < 3; n += 1) await system.publish(paid)
    await system.dispatcher.idle()
    expect(receiver.received).toHaveLength(1)
    await receiver.stop()
  })

  it('that a subscription will report is not sent as order.paid', async () => {
    const merchantId = randomUUID()
    const receiver = await startReceiver()
    await notifyAt(system, kind, merchantId, receiver.url)
    const order = { ...paidOrder(), subscription_id: randomUUID() }
    await system.publish(event('order.paid', { merchant_id: merchantId, merchant_version: 1, order }))
    const charged = { subscription_id: order.subscription_id, charges_done: 1, order }
    await system.publish(event('subscription.charged', { merchant_id: merchantId, merchant_version: 1, ...charged }))
    await system.dispatcher.idle()
    expect(receiver.received.map(({ body }) => JSON.parse(body.toString()).type)).toEqual(['subscription.charged'])
    await receiver.stop()
  })

  it.each([
    ['an internal address', 'http://127.0.0.2:8080/'],
    ['a range that the operator denies', 'http://127.0.0.5:8080/'],
  ])('delivery rule 6: to %s is dead at once, with zero attempts', async (_name, url) => {
    const merchantId = randomUUID()
    await notifyAt(system, kind, merchantId, url)
    const paid = orderPaid(merchantId)
    await system.publish(paid)
    await system.dispatcher.idle()
    const delivery = await deliveryOf(paid.id)
    expect(delivery).toMatchObject({ status: 'dead', attempts: 0, tries: 0, dead_reason: 'destination_not_allowed', next_attempt_at: null })
  })

  it.each([0, 1])('waits while our copy of the merchant is %i and its own version is 2', async known => {
    const merchantId = randomUUID()
    const receiver = await startReceiver()
    const isDefault = kind === 'webhook_url'
    if (!isDefault) await addEndpoint(system, merchantId, { url: receiver.url, format: kind })
    if (known > 0) await system.publish(merchantUpdated(merchantId, { version: known }))
    const paid = orderPaid(merchantId, 2)
    await system.publish(paid)
    await system.dispatcher.idle()
    expect(await deliveryOf(paid.id)).toBeUndefined()
    await system.publish(merchantUpdated(merchantId, { version: 2, webhook_url: isDefault ? receiver.url : null }))
    await system.dispatcher.idle()
    expect(receiver.received).toHaveLength(1)
    await receiver.stop()
  })
})

describe('an event of a merchant', () => {
  it.each(OPT_IN_EVENTS)('%s never goes to the webhook_url, and can be pulled', async type => {
    const merchantId = randomUUID()
    const receiver = await startReceiver()
    await system.publish(merchantUpdated(merchantId, { webhook_url: receiver.url }))
    const chosen = optIn(type, merchantId)
    await system.publish(chosen, orderPaid(merchantId))
    await system.dispatcher.idle()
    expect(receiver.received.map(({ body }) => JSON.parse(body.toString()).type)).toEqual(['order.paid'])
    const { rows } = await system.sql.query('SELECT type, sequence FROM events WHERE id = $1', [chosen.id])
    expect(rows).toMatchObject([{ type }])
    await receiver.stop()
  })

  it('without a webhook_url is kept, with no delivery', async () => {
    const merchantId = randomUUID()
    await system.publish(merchantUpdated(merchantId))
    const paid = orderPaid(merchantId)
    await system.publish(paid)
    await system.dispatcher.idle()
    expect(await deliveryOf(paid.id)).toBeUndefined()
    const { rows } = await system.sql.query('SELECT waiting FROM events WHERE id = $1', [paid.id])
    expect(rows).toEqual([{ waiting: false }])
  })
})

it('a lane that a process held which ended a month ago is taken back', async () => {
  const merchantId = randomUUID()
  const receiver = await startReceiver()
  const { endpointId } = await notifyAt(system, 'webhook_url', merchantId, receiver.url)
  await system.publish(orderPaid(merchantId))
  await system.dispatcher.idle()
  await system.sql.query("UPDATE lanes SET lease_token = gen_random_uuid(), turn_at = now() - interval '30 days' WHERE endpoint_id = $1", [
    endpointId,
  ])
  await system.publish(orderPaid(merchantId))
  await until(() => receiver.received.length === 2, 'the lane was not taken back')
  await receiver.stop()
})

describe.each(KINDS)('delivery rule 4 and the retry schedule at %s', kind => {
  it('invariant 5: tries seven times by the table, each counted from the end of the one before it, with equal bytes, and then is dead', async () => {
    const merchantId = randomUUID()
    const receiver = await startReceiver(res => res.writeHead(500).end('no bread today'))
    const { endpointId } = await notifyAt(system, kind, merchantId, receiver.url)
    const paid = orderPaid(merchantId)
    await system.publish(paid)
    const delays: number[] = []
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      await system.dispatcher.idle()
      const delivery = await deliveryOf(paid.id)
      expect([delivery.attempts, receiver.received.length]).toEqual([attempt, attempt])
      const { rows } = await system.sql.query(
        `SELECT extract(epoch FROM d.next_attempt_at - (a.started_at + a.duration_ms * interval '1 ms'))::float AS delay
         FROM deliveries d JOIN attempts a ON a.delivery_id = d.id AND a.ordinal = d.tries WHERE d.id = $1`,
        [delivery.id],
      )
      if (attempt < 7) delays.push(rows[0].delay)
      // Time passes: the schedule is the database's, so that is where it is moved.
      await system.sql.query("UPDATE deliveries SET next_attempt_at = now() WHERE id = $1 AND status = 'pending'", [delivery.id])
      await system.sql.query('UPDATE lanes SET turn_at = now() WHERE endpoint_id = $1 AND turn_at IS NOT NULL', [endpointId])
    }
    const table = [60, 300, 1_800, 7_200, 43_200, 86_400]
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeGreaterThanOrEqual((table[index] ?? 0) - 0.005)
      expect(delay).toBeLessThan((table[index] ?? 0) + 2)
    }
    await system.dispatcher.idle()
    expect(receiver.received).toHaveLength(7)
    expect(new Set(receiver.received.map(({ body }) => body.toString('hex'))).size).toBe(1)
    expect(new Set(receiver.received.map(({ headers }) => headers['x-service-signature'])).size).toBe(1)
    expect(await deliveryOf(paid.id)).toMatchObject({
      status: 'dead',
      attempts: 7,
      dead_reason: 'attempts_exhausted',
      last_error: 'The endpoint answered 500: no bread today',
    })
    await receiver.stop()
  })
})
