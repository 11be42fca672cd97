import { type NewEvent, topology } from '@ponte/contracts'
import { startHttpServer } from '@ponte/local-servers'
import { outboxRows, rabbitmqBus, silentLogger, until, uuidv7 } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { createMerchant, type Replicas, type ReplicasOptions, startReplicas, startWorld, type World } from '../world'
import { cpuPerUnit, type Usage, usage } from './cpu'
import { load } from './load'
import { type Row, report } from './table'

// Measures the gain of more replicas of orders and of the dispatcher, and the CPU time of one order and one delivery wherever it is spent.

const REPLICAS = (process.env.BENCH_REPLICAS ?? '1,2,4').split(',').map(Number)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 8)
const DELIVERIES = Number(process.env.BENCH_DELIVERIES ?? 3000)

async function main(): Promise<void> {
  const rows: Row[] = []
  for (const count of REPLICAS) rows.push(await withReplicas({ orders: count }, `orders × ${count}`, 'orders/s', createOrders))
  for (const count of REPLICAS) {
    rows.push(await withReplicas({ 'webhook-dispatcher': count }, `dispatcher × ${count}`, 'deliveries/s', deliver))
  }
  report('replicas of one service, one of each of the others, all on these cores', rows, [
    'CPU is milliseconds for one unit, of all processes of that name.',
  ])
}

/** One row: how many units a second, and what one costs each service. */
async function withReplicas(
  others: NonNullable<ReplicasOptions['others']>,
  name: string,
  unit: string,
  work: (
    world: World,
    replicas: Replicas,
  ) => Promise<{ units: number; seconds: number; before: Record<string, Usage>; after: Record<string, Usage> }>,
): Promise<Row> {
  const world = await startWorld({ amqp: testBroker() })
  try {
    const replicas = await startReplicas(world.place, 1, {}, { others })
    try {
      const { units, seconds, before, after } = await work(world, replicas)
      const cost = new Map<string, number>()
      for (const [process, ms] of Object.entries(cpuPerUnit(before, after, units))) {
        const service = process.replace(/ \d+$/, '')
        cost.set(service, (cost.get(service) ?? 0) + ms)
      }
      const cpu = Object.fromEntries([...cost].map(([service, ms]) => [`${service} ms`, [ms]]))
      return { name, figures: { [unit]: [units / seconds], ...cpu } }
    } finally {
      await replicas.stop()
    }
  } finally {
    await world.stop()
  }
}

async function createOrders(world: World, replicas: Replicas) {
  const merchant = await createMerchant(world, replicas.gatewayUrl, null)
  const shoot = () =>
    load({
      url: `${replicas.gatewayUrl}/api/v1/orders`,
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${merchant.api_key}` },
      body: JSON.stringify({ brl_amount: '150.00', external_ref: 'INV-7' }),
      seconds: SECONDS,
      connections: 64,
    })
  await shoot()
  const before = usage(replicas.pids())
  const { requestsPerS } = await shoot()
  return { units: requestsPerS * SECONDS, seconds: SECONDS, before, after: usage(replicas.pids()) }
}

/** Cancellations published as orders would publish them, until the merchant's server knows of all. */
async function deliver(world: World, replicas: Replicas) {
  let notified = 0
  const server = await startHttpServer((req, res) => {
    req.resume().once('end', () => {
      notified += 1
      res.end()
    })
  })
  const bus = rabbitmqBus({ ...world.place.amqp, topology, logger: silentLogger })
  await bus.start?.()
  try {
    const merchant = await createMerchant(world, replicas.gatewayUrl, `${server.url}/`)
    await until(() => bus.accepts(), 'the broker did not answer')
    const publish = async (count: number) => {
      const owner = { merchant_id: merchant.id, merchant_version: 1 }
      const event = (): NewEvent => ({
        type: 'order.cancelled',
        data: { ...owner, subscription_id: null, order: { id: uuidv7(), external_ref: null } },
      })
      const messages = outboxRows(Array.from({ length: count }, event), new Date(), null)
      await Promise.all(messages.map(message => bus.publish(message)))
    }
    await publish(DELIVERIES / 4)
    await until(
      () => notified === DELIVERIES / 4,
      () => `${notified} were notified`,
      120_000,
    )
    const before = usage(replicas.pids())
    const since = performance.now()
    await publish(DELIVERIES)
    await until(
      () => notified >= DELIVERIES * 1.25,
      () => `${notified} were notified`,
      300_000,
    )
    return { units: DELIVERIES, seconds: (performance.now() - since) / 1000, before, after: usage(replicas.pids()) }
  } finally {
    await bus.stop?.()
    await server.stop()
  }
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
