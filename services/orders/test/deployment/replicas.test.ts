import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type OrderBody, topology } from '@ponte/contracts'
import { freePort } from '@ponte/local-servers'
import { type Bus, type Database, openDatabase, rabbitmqBus, silentLogger, until } from '@ponte/service-kit'
import { testBroker, testDatabase } from '@ponte/service-kit/testing'
import { ordersMigrations } from '../../src'
import { listener } from '../listener'
import { asMerchant, settings } from '../setup'

/** Two processes of the built service on one database and a real broker; one of them may be killed at any line. */
interface Replica {
  url: string
  child: ChildProcess
}

let home: Awaited<ReturnType<typeof testDatabase>>
let sql: Database
let bus: Bus
const broker = testBroker()
const running = new Set<ChildProcess>()

beforeAll(async () => {
  home = await testDatabase(ordersMigrations)
  sql = openDatabase({ url: home.url, poolSize: 2 })
  bus = rabbitmqBus({ url: broker.url, namespace: broker.namespace, topology, logger: silentLogger })
  await bus.start?.()
})
afterAll(async () => {
  for (const child of running) await kill(child)
  await bus.stop?.()
  await sql.stop?.()
  await home.drop()
})

async function start(): Promise<Replica> {
  const [port, opsPort] = [await freePort(), await freePort()]
  const env = {
    ...settings(home.url),
    ...{
      PATH: process.env.PATH,
      AMQP_URL: broker.url,
      AMQP_NAMESPACE: broker.namespace,
      PORT: String(port),
      OPS_PORT: String(opsPort),
      LOG_LEVEL: 'error',
    },
  }
  const child = spawn(process.execPath, [join(__dirname, '../../dist/main.js')], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  running.add(child)
  const ready = () =>
    fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
      answer => answer.ok,
      () => false,
    )
  await until(ready, 'orders did not become ready', 30_000)
  return { url: `http://127.0.0.1:${port}`, child }
}

async function kill(child: ChildProcess): Promise<void> {
  running.delete(child)
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

interface Answer {
  status: number
  text: string
  replayed: boolean
}
/** Null when the answer was lost. */
async function create(url: string, key: string): Promise<Answer | null> {
  const headers = { ...asMerchant(), 'Content-Type': 'application/json', 'Idempotency-Key': key }
  try {
    const answer = await fetch(`${url}/api/v1/orders`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ brl_amount: '150.00', external_ref: key }),
    })
    return { status: answer.status, text: await answer.text(), replayed: answer.headers.get('idempotency-replayed') === 'true' }
  } catch {
    return null
  }
}
const count = async (query: string): Promise<number> => (await sql.query<{ n: number }>(query)).rows[0]?.n ?? Number.NaN

it('Idempotency-Key: orders killed in mid-request leaves nothing or the order with its answer, and a retry makes no second', async () => {
  const keys = Array.from({ length: 40 }, (_, index) => `crash-${index}`)
  const first = new Map<string, string>()
  let lost = 0
  for (let round = 0; round < 2; round++) {
    const replica = await start()
    const mine = keys.slice(round * 20, round * 20 + 20)
    let answered = 0
    const asked = mine.map(async key => {
      const answer = await create(replica.url, key)
      if (answer === null) lost++
      else if (answer.status === 201) first.set(key, answer.text)
      if (++answered === 4 + round) await kill(replica.child)
    })
    await Promise.all(asked)
    await kill(replica.child)
  }
  const replica = await start()
  const replayedBefore = await count("SELECT count(*)::int AS n FROM orders WHERE external_ref LIKE 'crash-%'")
  const again = await Promise.all(keys.map(async key => [key, await create(replica.url, key)] as const))
  for (const [key, answer] of again) {
    expect(answer?.status).toBe(201)
    if (first.has(key)) expect([answer?.text, answer?.replayed]).toEqual([first.get(key), true])
  }
  expect(again.filter(([, answer]) => answer?.replayed)).toHaveLength(replayedBefore)
  expect(await count("SELECT count(*)::int AS n FROM orders WHERE external_ref LIKE 'crash-%'")).toBe(keys.length)
  expect(await count("SELECT count(*)::int AS n FROM outbox WHERE type = 'deposit.watch'")).toBe(keys.length)
  expect(lost).toBeGreaterThan(0)
  process.stdout.write(`${keys.length} keyed requests, ${lost} answers lost to kill -9, ${replayedBefore} orders kept with their answers\n`)
  await kill(replica.child)
})

it('two replicas, one of them killed while payments arrive: every payment counts once and no event is written twice', async () => {
  const [one, two] = [await start(), await start()]
  const made = await Promise.all(Array.from({ length: 30 }, (_, index) => create(index % 2 ? one.url : two.url, `two-${index}`)))
  const orders = made.map(answer => JSON.parse(answer?.text ?? '') as OrderBody)
  const chain = listener(bus)
  const reported = orders.flatMap((order, index) => {
    const half = chain.payment(order, { gross: 14_000_000n, block_number: 10 })
    const rest = chain.payment(order, { gross: 13_675_277n, block_number: 11 })
    const events = [
      chain.next('detected', half),
      chain.next('detected', rest),
      chain.next('confirmed', half),
      chain.next('confirmed', rest),
    ]
    return index % 3 === 0 ? [...events, ...events].reverse() : [...events, ...events.slice(2)]
  })
  const publishing = reported.map(event => bus.publish(event))
  const paid = () => count("SELECT count(*)::int AS n FROM orders WHERE external_ref LIKE 'two-%' AND status = 'paid'")
  await until(async () => (await paid()) > 2, 'no payment arrived', 60_000)
  await kill(one.child)
  await Promise.all(publishing)
  await until(
    async () => (await paid()) === orders.length,
    async () => `${await paid()} of ${orders.length} are paid`,
    40_000,
  )
  await chain.publish({
    advanced: { from: 1_000_000, to: 1_000_009, time: new Date(Date.now() + 86_400_000).toISOString() },
    watched: orders.map(({ id }) => ({ order_id: id, through: 0 })),
  })
  await until(
    async () => (await count('SELECT watermark::int AS n FROM chain_cursors')) === 1_000_009,
    async () => `the watermark is ${await count('SELECT watermark::int AS n FROM chain_cursors')}`,
  )
  const { rows } = await sql.query<{ id: string; n: number }>(
    "SELECT body::jsonb->'data'->'order'->>'id' AS id, count(*)::int AS n FROM outbox WHERE type = 'order.paid' GROUP BY 1",
  )
  expect([rows.length, rows.every(row => row.n === 1)]).toEqual([orders.length, true])
  expect(await count('SELECT count(*)::int AS n FROM payments')).toBe(orders.length * 2)
  expect(await count("SELECT count(*)::int AS n FROM orders WHERE external_ref LIKE 'two-%' AND confirmed_units <> usdc_units")).toBe(0)
  expect(await count("SELECT count(*)::int AS n FROM outbox WHERE type = 'order.expired' AND body LIKE '%two-%'")).toBe(0)
  await kill(two.child)
})
