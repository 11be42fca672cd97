import { text } from 'node:stream/consumers'
import { serviceNames, startProcesses } from '@ponte/all-in-one'
import type { OrderBody, SubscriptionBody } from '@ponte/contracts'
import { startHttpServer } from '@ponte/local-servers'
import { openDatabase, until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { percentile } from '../bench/table'
import { call, createMerchant, pay, startWorld } from '../world'
import { drill } from './drill'
import { print, verdict } from './table'

// One merchant's plans that are due at once, and beside them another merchant's plan and another's payment until its webhook: each alone first, in one run.

const PLANS = Number(process.env.DRILL_PLANS ?? 20_000)
const SAMPLES = Number(process.env.DRILL_SAMPLES ?? 100)
/** Highest p99 beside the due plans, by the p99 alone. */
const RATIO_MAX = 1.5
/** From the model plan to its first charge: the others are copied meanwhile. */
const DUE_IN_MS = Number(process.env.DRILL_DUE_IN_MS ?? 30_000)

drill(async started => {
  const world = started(await startWorld({ amqp: testBroker() }))
  started(await startProcesses(world.place))
  const url = world.place.publicUrl
  const receiver = started(await startReceiver())
  const [busy, planner, shop] = [
    await createMerchant(world, url, null),
    await createMerchant(world, url, null),
    await createMerchant(world, url, receiver.url),
  ]
  const issued = { url: receiver.url, events: ['subscription.order_issued'] }
  await call(url, 'POST', '/api/v1/webhook-endpoints', planner.token, issued)
  const database = openDatabase({
    url: world.databases[serviceNames.indexOf('subscriptions')]?.url ?? '',
    poolSize: 2,
    applicationName: 'midnight',
  })
  started({ stop: async () => database.stop?.() })
  const orders: OrderBody[] = []
  while (orders.length < 2 * SAMPLES) {
    orders.push(await call<OrderBody>(url, 'POST', '/api/v1/orders', shop.api_key, { brl_amount: '1.00', expires_in: 86_400 }))
  }
  const took = async (work: () => Promise<string>): Promise<number> => {
    const since = performance.now()
    const id = await work()
    await until(() => receiver.notedAt.has(id), `nothing came for ${id}`, 120_000)
    return (receiver.notedAt.get(id) ?? Number.NaN) - since
  }
  const payment = (order: OrderBody) =>
    took(async () => {
      await pay(world.chain, order)
      return order.id
    })
  const plan = () =>
    took(async () => {
      const body = { brl_amount: '1.00', interval: 'month', upcoming_notice: 0 }
      return (await call<SubscriptionBody>(url, 'POST', '/api/v1/subscriptions', planner.api_key, body)).id
    })
  const measure = async (chosen: readonly OrderBody[]) => {
    const all = { payments: [] as number[], plans: [] as number[] }
    for (const order of chosen) {
      all.payments.push(await payment(order))
      all.plans.push(await plan())
    }
    return all
  }
  const asked = async () =>
    (
      await database.query<{ n: number }>(
        'SELECT count(DISTINCT subscription_id)::int AS n FROM attempts JOIN subscriptions ON subscriptions.id = subscription_id WHERE merchant_id = $1',
        [busy.id],
      )
    ).rows[0]?.n ?? 0

  await measure(orders.splice(0, 5))
  const alone = await measure(orders.splice(0, SAMPLES - 5))
  const startAt = new Date(Date.now() + DUE_IN_MS)
  const model = { brl_amount: '1.00', interval: 'month', upcoming_notice: 0, start_at: startAt.toISOString() }
  const { id } = await call<SubscriptionBody>(url, 'POST', '/api/v1/subscriptions', busy.api_key, model)
  const { rows } = await database.query<{ columns: string }>(
    "SELECT string_agg(column_name, ', ') AS columns FROM information_schema.columns WHERE table_name = 'subscriptions' AND column_name NOT IN ('id', 'payer_token')",
  )
  const columns = rows[0]?.columns
  await database.query(
    `INSERT INTO subscriptions (id, payer_token, ${columns})
     SELECT gen_random_uuid(), gen_random_uuid(), ${columns} FROM subscriptions, generate_series(2, $1::int) WHERE id = $2`,
    [PLANS, id],
  )
  await until(() => Date.now() >= startAt.getTime(), 'the plans are not due', DUE_IN_MS + 1_000)
  await until(async () => (await asked()) > 0, 'no plan was charged', 60_000)
  const since = performance.now()
  const beside = await measure(orders.splice(0, SAMPLES))
  const [charged, seconds] = [await asked(), (performance.now() - since) / 1_000]

  const p99 = (all: readonly number[]) => Math.round(percentile(all, 0.99))
  const p50 = (all: readonly number[]) => Math.round(percentile(all, 0.5))
  const line = (name: string, before: readonly number[], after: readonly number[]) => ({
    name,
    ...{ 'p50 alone ms': p50(before), 'p99 alone ms': p99(before), 'p50 beside ms': p50(after), 'p99 beside ms': p99(after) },
    'p99 ratio': Math.round((p99(after) / p99(before)) * 100) / 100,
    count: after.length,
  })
  const lines = [
    line("a stranger's payment to its webhook", alone.payments, beside.payments),
    line("a neighbour's plan to its order", alone.plans, beside.plans),
  ]
  const notes = [
    `${charged} of ${PLANS} plans were charged in the ${Math.round(seconds)} s that were measured; each process once, all on these cores.`,
  ]
  print(`${PLANS} plans of one merchant due at once`, lines, notes)
  const worst = Math.max(...lines.map(each => each['p99 ratio']))
  verdict(worst <= RATIO_MAX && charged < PLANS, `p99 beside is ${worst} times that alone, ${RATIO_MAX} at most.`)
})

/** Notes when anything first came that names an id. */
async function startReceiver() {
  const notedAt = new Map<string, number>()
  const { url, stop } = await startHttpServer(async (req, res) => {
    const body = await text(req)
    const at = performance.now()
    for (const [id] of body.matchAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g)) if (!notedAt.has(id)) notedAt.set(id, at)
    res.end()
  })
  return { notedAt, url: `${url}/`, stop }
}
