import { migrations, startProcesses } from '@ponte/all-in-one'
import { startLocalChain } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { testBroker, testDatabase } from '@ponte/service-kit/testing'
import { createMerchant, GASLESS, RELAYER, startWorld } from '../world'
import { cpuPerUnit, type Usage, usage } from './cpu'
import { load } from './load'
import { median, type Row, report } from './table'

// CPU time of an order that may be paid on one network or on five, from its request until every listener has answered that it is watched; and that of a listener
// and of orders while nothing happens but blocks, one in two seconds.

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 6)
const IDLE_S = Number(process.env.BENCH_IDLE_SECONDS ?? 30)
const CONNECTIONS = 8
const BLOCK_S = 2
const BODY = JSON.stringify({ brl_amount: '150.00', external_ref: 'INV-7' })

/** Networks beside the first, each with a chain, a database and a listener. */
async function startFurther(count: number) {
  const chains = await Promise.all(
    Array.from({ length: count }, (_, index) => startLocalChain({ chainId: 31_338 + index, blockTimeS: BLOCK_S, mixedMining: true })),
  )
  const databases = await Promise.all(chains.map(() => testDatabase(migrations['chain-listener'])))
  const keys = { relayerPrivateKey: RELAYER.privateKey, gaslessPrivateKey: GASLESS.privateKey }
  const others = chains.map((chain, index) => ({ ...chain, ...keys, confirmations: 1, databaseUrl: databases[index]?.url ?? '' }))
  return {
    others,
    async stop() {
      await Promise.all(chains.map(chain => chain.stop()))
      await Promise.all(databases.map(database => database.drop()))
    },
  }
}

/** CPU milliseconds of orders for one order, and for one second of rest; and of a further listener for the same second. */
async function measure(networks: number) {
  const world = await startWorld({ amqp: testBroker(), chain: { blockTimeS: BLOCK_S, mixedMining: true } })
  const further = await startFurther(networks - 1)
  const place = { ...world.place, others: further.others }
  const processes = await startProcesses(place)
  try {
    const merchant = await createMerchant(world, world.place.publicUrl, null)
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${merchant.api_key}` }
    const url = `${world.place.publicUrl}/api/v1/orders`
    const offered = async () => {
      const answer = await fetch(url, { method: 'POST', headers, body: BODY })
      const { payment } = (await answer.json()) as { payment: { networks?: unknown[] } }
      return (payment.networks?.length ?? 1) === networks
    }
    await until(offered, 'not every network is offered', 60_000)
    const pids = {
      orders: processes.pid('orders'),
      listener: processes.pid('chain-listener'),
      further: networks > 1 ? processes.pid('chain-listener', 1) : undefined,
    }
    const perOrder: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const before = usage(pids)
      const { requestsPerS } = await load({ url, headers, method: 'POST', body: BODY, seconds: SECONDS, connections: CONNECTIONS })
      await atRest(pids)
      // The first round warms everything up and is not counted.
      if (round > 0) perOrder.push(cpuPerUnit(before, usage(pids), requestsPerS * SECONDS).orders ?? 0)
    }
    const before = usage(pids)
    await pause(IDLE_S * 1_000)
    const after = usage(pids)
    return { perOrder, idle: cpuPerUnit(before, after, IDLE_S), memory: (networks > 1 ? after.further : after.listener)?.memoryMb ?? 0 }
  } finally {
    await processes.stop()
    await further.stop()
    await world.stop()
  }
}

/** Listeners answer in batches; what is left then is that of a second without orders. */
async function atRest(pids: Readonly<Record<string, number | undefined>>): Promise<void> {
  let last: Record<string, Usage> = usage(pids)
  for (let quiet = 0; quiet < 2; ) {
    await pause(1_000)
    const now = usage(pids)
    quiet = (now.orders?.cpuMs ?? 0) - (last.orders?.cpuMs ?? 0) < 150 ? quiet + 1 : 0
    last = now
  }
}

const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

async function main(): Promise<void> {
  const rows: Row[] = []
  for (const networks of [1, 5]) {
    const { perOrder, idle, memory } = await measure(networks)
    const figures = {
      'orders, ms an order': perOrder,
      'orders at rest, ms/s': [idle.orders ?? 0],
      'listener at rest, ms/s': [(networks > 1 ? idle.further : idle.listener) ?? 0],
      'listener, MB': [memory],
    }
    rows.push({ name: `${networks} ${networks === 1 ? 'network' : 'networks'}`, figures })
  }
  const [one = 0, five = 0] = rows.map(({ figures }) => median(figures['orders, ms an order'] ?? []))
  report('An order that may be paid on one network, and on five', rows, [
    `An order of five networks costs orders ${(five / one).toFixed(2)} times one of one (goal 1.1)`,
  ])
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
