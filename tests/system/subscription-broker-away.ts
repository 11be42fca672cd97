import { environments } from '@ponte/all-in-one'
import { apiGatewayConfig, createApiGateway } from '@ponte/api-gateway'
import { chainListenerConfig, createChainListener } from '@ponte/chain-listener'
import { type EventBody, type List, type OrderBody, order as orderSchema, type SubscriptionBody } from '@ponte/contracts'
import { startTcpProxy, type TcpProxy } from '@ponte/local-servers'
import { createOrders, ordersConfig } from '@ponte/orders'
import { readConfig, type Service, service, silentLogger, until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { createSubscriptions, subscriptionsConfig } from '@ponte/subscriptions'
import { createWebhookDispatcher, webhookDispatcherConfig } from '@ponte/webhook-dispatcher'
import { call, createMerchant, pay, startWorld, type World } from '../world'

// The five over RabbitMQ, on one clock that the chain shares. RabbitMQ is away for two hours over the end of a period in which everyone pays.

const HOUR_MS = 3_600_000
const PLANS = 20
/** One merchant's plans are charged one after the other, each with a rest behind it. */
const PATIENCE_MS = 180_000

let world: World
let line: TcpProxy
let system: Service
let url: string
let aheadMs = 0
beforeAll(async () => {
  const broker = testBroker()
  line = await startTcpProxy(() => [broker.url])
  world = await startWorld({ amqp: { url: line.through(broker.url), namespace: broker.namespace } })
  url = world.place.publicUrl
  const env = environments(world.place)
  const { RATE_CHAINLINK_RPC_URL, RATE_CHAINLINK_ADDRESS, ...orders } = env.orders
  const given = { logger: silentLogger, now: () => new Date(Date.now() + aheadMs) }
  const rate = { RATE_STATIC: '5.42', RATE_MAX_AGE_S: '31536000' }
  system = service('ponte', [
    createWebhookDispatcher(readConfig(webhookDispatcherConfig, env['webhook-dispatcher']), given),
    createSubscriptions(readConfig(subscriptionsConfig, env.subscriptions), given),
    createOrders(readConfig(ordersConfig, { ...orders, ...rate }), given),
    createChainListener(readConfig(chainListenerConfig, env['chain-listener']), given),
    createApiGateway(readConfig(apiGatewayConfig, env['api-gateway']), given),
  ])
  await system.start()
})
afterAll(async () => {
  await system?.stop()
  await world?.stop()
  await line?.stop()
})

/** On every clock there is. */
async function pass(hours: number) {
  aheadMs += hours * HOUR_MS
  await world.chain.setNextBlockTimestamp((await world.chain.now()) + hours * 3600)
  await world.chain.mine(2)
}

it(`RabbitMQ is away for two hours over a period's end: of ${PLANS} plans whose payers paid in time all are charged, and none is cancelled or paused`, async () => {
  const merchant = await createMerchant(world, url)
  const get = <T>(path: string) => call<T>(url, 'GET', `/api/v1${path}`, merchant.api_key)
  const created = await Promise.all(
    Array.from({ length: PLANS }, (_, n) =>
      call<SubscriptionBody>(url, 'POST', '/api/v1/subscriptions', merchant.api_key, {
        ...{ brl_amount: '49.90', interval: 'day', external_ref: `CLUB-${n}` },
        ...{ unpaid_periods_max: 1, when_unpaid: n % 2 === 0 ? 'cancel' : 'pause', retry_after: [] },
      }),
    ),
  )
  const plans = () => Promise.all(created.map(({ id }) => get<SubscriptionBody>(`/subscriptions/${id}`)))
  const shown = async () => JSON.stringify((await plans()).map(plan => [plan.status, plan.current_period_index, plan.open_order_id]))
  const openOrders = async (): Promise<OrderBody[]> => {
    const ids = (await plans()).flatMap(({ open_order_id: id }) => id ?? [])
    const found = await Promise.all(ids.map(id => get<OrderBody>(`/orders/${id}`).catch(() => null)))
    return found.flatMap(order => order ?? []).map(order => orderSchema.parse(order))
  }
  await until(async () => (await openOrders()).length === PLANS, shown, PATIENCE_MS)
  const orders = await openOrders()

  await pass(23)
  line.refuse(true)
  for (const order of orders) await pay(world.chain, order)
  await pass(2)
  await until(async () => (await plans()).every(plan => plan.current_period_index === 1), shown, PATIENCE_MS)

  line.refuse(false)
  const statuses = () => Promise.all(orders.map(async ({ id }) => (await get<OrderBody>(`/orders/${id}`)).status))
  const isDecided = async () => !(await statuses()).some(status => status === 'pending' || status === 'confirming')
  await until(isDecided, async () => (await statuses()).join(), PATIENCE_MS)
  await system.idle(PATIENCE_MS)
  const published = async (type: string) => (await get<List<EventBody>>(`/events?type=${type}&limit=100`)).data.length
  const count = (known: readonly unknown[], wanted: unknown) => known.filter(each => each === wanted).length
  const known = await plans()
  expect({
    paid: count(await statuses(), 'paid'),
    charged: await published('subscription.charged'),
    cancelled: await published('subscription.cancelled'),
    paused: await published('subscription.paused'),
    live: count(
      known.map(({ status, charges_done, paused_at }) => `${status} ${charges_done} ${paused_at}`),
      'active 1 null',
    ),
  }).toEqual({ paid: PLANS, charged: PLANS, cancelled: 0, paused: 0, live: PLANS })
  // Their next period goes on as any other.
  const isNext = async () => (await openOrders()).filter(({ id }) => !orders.some(order => order.id === id)).length === PLANS
  await until(isNext, shown, PATIENCE_MS)
}, 900_000)
