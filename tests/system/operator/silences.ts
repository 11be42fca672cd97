import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { databaseName, processNames, serviceNames } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { type CrashableServers, startCrashableServers } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { processTable } from '@ponte/service-kit/testing'
import { call, createMerchant, pay, type Served, startServed, startWorld, type World } from '../../world'

// Two replicas of each service, and of the relayer as a process of its own, at production settings, and PostgreSQL and RabbitMQ: each is stopped in the middle (SIGSTOP) under traffic, as one whose machine hangs is. It takes every
// connection and answers nothing.

const LIMIT_MS = 2_000
const SPAN_MS = 8_000
/** An alert has two minutes; the command is asked earlier. */
const NAMED_MS = 60_000
const RECOVERED_MS = 120_000
const status = join(__dirname, '../../../scripts/operate/status.mjs')

let servers: CrashableServers
let world: World
let system: Served
let key: string
let token: string
const stopped = new Set<number>()
beforeAll(async () => {
  servers = await startCrashableServers(serviceNames.map(databaseName))
  world = await startWorld({
    amqp: { url: servers.broker.url, namespace: 'ponte' },
    databaseUrl: name => servers.postgres.url(databaseName(name)),
  })
  system = await startServed(world, processNames.map(name => `${name}=2`).join())
  const merchant = await createMerchant(world, system.gateway_urls[0] ?? '')
  key = merchant.api_key
  token = merchant.token
}, 300_000)
afterEach(() => goOn())
afterAll(async () => {
  await system?.stop()
  await world?.stop()
  await servers?.stop()
})

function stop(pids: readonly number[]) {
  for (const pid of pids) {
    process.kill(pid, 'SIGSTOP')
    stopped.add(pid)
  }
}
function goOn() {
  for (const pid of stopped) {
    try {
      process.kill(pid, 'SIGCONT')
    } catch (error) {
      // It was ended meanwhile.
      if (Object(error).code !== 'ESRCH') throw error
    }
  }
  stopped.clear()
}

/** A process and all below it, the first first: it starts no other then. */
function withChildren(pid = 0): number[] {
  const table = processTable()
  const below = (parent: number): number[] => [parent, ...table.filter(one => one.parent === parent).flatMap(one => below(one.pid))]
  return below(pid)
}

interface Answered {
  kind: string
  status: number
  ms: number
}

/** Requests of merchants and payers for a while, through these gateways. */
async function traffic(gateways: readonly string[]): Promise<Answered[]> {
  const answers: Answered[] = []
  const end = performance.now() + SPAN_MS
  const ask = (kind: string, method: string, path: string, bearer: string, body?: object) => async (gateway: string) => {
    const since = performance.now()
    const answer = await fetch(`${gateway}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${bearer}`,
        'Content-Type': 'application/json',
        ...(body ? { 'Idempotency-Key': randomUUID() } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(60_000),
    })
    await answer.text()
    answers.push({ kind, status: answer.status, ms: performance.now() - since })
  }
  const clients = [
    ask('orders', 'GET', '/api/v1/orders?limit=5', key),
    ask('new order', 'POST', '/api/v1/orders', key, { brl_amount: '10.00' }),
    ask('subscriptions', 'GET', '/api/v1/subscriptions?limit=5', key),
    ask('deliveries', 'GET', '/api/v1/deliveries?limit=5', token),
    ask('merchant', 'GET', '/api/v1/merchants/me', token),
    ask('checkpoints', 'GET', '/api/v1/chain/checkpoints', key),
  ]
  await Promise.all(
    clients.map(async (one, index) => {
      for (let turn = index; performance.now() < end; turn++) {
        await one(gateways[turn % gateways.length] ?? '')
        await pause(100)
      }
    }),
  )
  return answers
}
const slowest = (answers: Answered[]) => answers.reduce((worst, one) => (one.ms > worst.ms ? one : worst))
const failed = (answers: Answered[]) => answers.filter(({ status }) => status >= 400)

async function operatorsView() {
  const child = spawn(process.execPath, [status], {
    env: { PATH: process.env.PATH, ...system.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}
const isWell = async () => (await operatorsView()).code === 0
async function names(pattern: RegExp) {
  let seen = ''
  await until(
    async () => {
      seen = (await operatorsView()).output
      return pattern.test(seen)
    },
    () => `status does not name ${pattern}:\n${seen}`,
    NAMED_MS,
  )
}

/** An order that is paid, and its webhook. */
async function isSold(gateway: string) {
  const order = await call<OrderBody>(gateway, 'POST', '/api/v1/orders', key, { brl_amount: '150.00' })
  await pay(world.chain, order)
  await until(
    () => world.receiver.received.some(({ body }) => body.includes('"order.paid"') && body.includes(order.id)),
    'order.paid was not delivered',
    RECOVERED_MS,
  )
}

async function recovers() {
  await until(isWell, async () => (await operatorsView()).output, RECOVERED_MS)
  expect(failed(await traffic(system.gateway_urls))).toEqual([])
  await isSold(system.gateway_urls[0] ?? '')
}

const report = (subject: string, before: Answered[], meanwhile: Answered[]) => {
  const [usual, worst] = [slowest(before), slowest(meanwhile)]
  console.log(
    `${subject}: ${meanwhile.length} requests, ${failed(meanwhile).length} failed; slowest ${Math.round(worst.ms)} ms (${worst.kind} ${worst.status}), before ${Math.round(usual.ms)} ms`,
  )
  return { usual, worst }
}

describe.each([...processNames])('a replica of %s that is stopped in the middle', name => {
  it.each([0, 1])(
    '(%s) holds up no request for two seconds, is named, is done without, and takes part again',
    async index => {
      await until(isWell, async () => (await operatorsView()).output, RECOVERED_MS)
      const rest = system.gateway_urls.filter((_, at) => name !== 'api-gateway' || at !== index)
      const before = await traffic(rest)
      expect(failed(before)).toEqual([])
      stop([system.replica(name, index).pid])
      const meanwhile = await traffic(rest)
      const { usual, worst } = report(`${name} ${index}`, before, meanwhile)
      // The machine's own worst time, with nothing stopped, is not ours.
      expect(worst.ms).toBeLessThan(LIMIT_MS + usual.ms)
      expect(failed(meanwhile)).toEqual([])
      await names(new RegExp(`WRONG  ${name} ${index + 1} `))
      await isSold(rest[0] ?? '')
      goOn()
      await recovers()
    },
    600_000,
  )
})

describe.each([
  ['PostgreSQL', () => servers.postgres.pid(), /WRONG {2}orders 1 +not ready: .*database/],
  ['RabbitMQ', () => servers.broker.pid(), /WRONG {2}broker /],
] as const)('%s that is stopped in the middle', (name, pidOf, named) => {
  it('holds up no request for two seconds, is named, and all goes on with it', async () => {
    await until(isWell, async () => (await operatorsView()).output, RECOVERED_MS)
    const before = await traffic(system.gateway_urls)
    stop(withChildren(pidOf()))
    const meanwhile = await traffic(system.gateway_urls)
    const { usual, worst } = report(name, before, meanwhile)
    await names(named)
    expect(worst.ms).toBeLessThan(LIMIT_MS + usual.ms)
    // Without the database the answer is that it is to be asked again; without the broker all is as ever.
    expect(failed(meanwhile).filter(({ status }) => name !== 'PostgreSQL' || status !== 503)).toEqual([])
    goOn()
    await recovers()
  }, 600_000)
})
