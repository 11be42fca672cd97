import { type Processes, serviceNames, startProcesses } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import pg from 'pg'
import { call, createMerchant, pay, startWorld, type World } from '../../world'
import { systemContract } from './system-contract'
import { type Span, startTraceCollector, traceTree } from './trace-collector'

let world: World
let processes: Processes
let gatewayUrl: string
let collector: Awaited<ReturnType<typeof startTraceCollector>>
beforeAll(async () => {
  world = await startWorld({ amqp: testBroker() })
  collector = await startTraceCollector()
  const traced = { TRACES_URL: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' }
  processes = await startProcesses(world.place, Object.fromEntries(serviceNames.map(name => [name, traced])))
  gatewayUrl = world.place.publicUrl
})
afterAll(async () => {
  await processes?.stop()
  await collector?.stop()
  await world?.stop()
})

const paidWebhooks = (order: OrderBody) =>
  world.receiver.received.filter(webhook => webhook.body.includes('"order.paid"') && webhook.body.includes(order.id))

async function paidEvents(order: OrderBody): Promise<number> {
  const client = new pg.Client({ connectionString: world.place.databaseUrl('orders') })
  await client.connect()
  try {
    const { rows } = await client.query(
      "SELECT count(*)::int AS n FROM outbox WHERE type = 'order.paid' AND body::jsonb->'data'->'order'->>'id' = $1",
      [order.id],
    )
    return rows[0].n
  } finally {
    await client.end()
  }
}

describe('five processes on RabbitMQ and five databases', () => {
  systemContract(() => ({ world, gatewayUrl }))

  it('export one trace for one payment, from its block to the merchant`s server, and one for a request and all that it caused', async () => {
    const merchant = await createMerchant(world, gatewayUrl)
    const order = await call<OrderBody>(gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
    const { hash } = await pay(world.chain, order)
    await until(() => paidWebhooks(order).length > 0, 'order.paid was not delivered')
    expect(paidWebhooks(order)[0]?.headers).not.toHaveProperty('traceparent')

    const { spans } = collector
    const treeOf = (wanted: (span: Span) => boolean) => traceTree(spans, spans.find(wanted)?.traceId ?? '')
    const payment = () =>
      spans
        .filter(({ name, attributes }) => name === 'chain.blocks' && attributes.tx_hash === hash)
        .map(({ traceId }) => traceTree(spans, traceId))
        .find(tree => tree.includes('orders: order.paid')) ?? ''
    const created = () => treeOf(({ name }) => name === 'POST /api/v1/merchants')
    const names = (tree: string) => tree.split('\n').map(line => line.replace(/ +\+\d+ ms .*$/, ''))
    const has = (tree: string, steps: string[]) => steps.every(step => names(tree).includes(step))
    const paymentSteps = [
      'chain-listener: chain.blocks',
      '  orders on chain.blocks',
      '    orders: order.paid',
      '      webhook-dispatcher on order.paid',
      '        webhook-dispatcher sends order.paid',
    ]
    const requestSteps = [
      'api-gateway: POST /api/v1/merchants',
      '  api-gateway: merchant.updated',
      '    orders on merchant.updated',
      '    webhook-dispatcher on merchant.updated',
    ]
    // Each process exports its own spans, a while after they end.
    await until(
      () => has(payment(), paymentSteps) && has(created(), requestSteps),
      () => `${payment()}\n\n${created()}`,
    )
    if (process.env.PONTE_PRINT_TRACE) console.log(`${payment()}\n\n${created()}`)
    expect(names(treeOf(({ name }) => name === 'POST /api/v1/orders')).slice(0, 3)).toEqual([
      'api-gateway: POST /api/v1/orders',
      '  orders: POST /api/v1/orders',
      '    orders: deposit.watch',
    ])
  })

  it.each(serviceNames)('invariant 1: %s killed in mid-payment loses nothing and doubles nothing', async name => {
    const merchant = await createMerchant(world, gatewayUrl)
    const order = await call<OrderBody>(gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '42.00' })
    const paying = pay(world.chain, order)
    await processes.end(name, 'SIGKILL')
    await paying
    await processes.start(name)
    await until(() => paidWebhooks(order).length > 0, `order.paid was not delivered after ${name} came back`, 60_000)
    const read = await call<OrderBody>(gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
    expect(read).toMatchObject({ status: 'paid', received: order.expected })
    expect(read.payments).toHaveLength(1)
    expect(await paidEvents(order)).toBe(1)
  })

  it.each(serviceNames)('%s, stopped in the midst of payments, ends with 0, and each payment is notified exactly once', async name => {
    const merchant = await createMerchant(world, gatewayUrl)
    const order = () => call<OrderBody>(gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '42.00' })
    const [first, ...others] = [await order(), await order(), await order(), await order()]
    await pay(world.chain, first)
    const paying = others.reduce<Promise<unknown>>((before, each) => before.then(() => pay(world.chain, each)), Promise.resolve())
    expect(await processes.end(name, 'SIGTERM')).toBe(0)
    await paying
    await processes.start(name)
    const times = () => [first, ...others].map(each => paidWebhooks(each).length)
    await until(
      () => times().every(count => count > 0),
      () => `notified ${times()} times`,
      60_000,
    )
    expect(times()).toEqual([1, 1, 1, 1])
  })
})
