import { randomUUID } from 'node:crypto'
import { serviceNames } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { askGateway, createMerchant, jsonRequest, pay, type Replicas, startReplicas, startWorld, type World } from '../../world'
import { systemContract } from './system-contract'

const CLIENTS = Number(process.env.PONTE_ROLLING_CLIENTS ?? 6)
/** Restarts go round until so many POSTs without an Idempotency-Key were sent. */
const KEYLESS_POSTS = Number(process.env.PONTE_ROLLING_POSTS ?? 1)
/** The long form ends with its POSTs, however slow the machine, or when none was answered for so long. */
const STALLED_MS = 180_000
const A_DAY_MS = 86_400_000

let world: World
let replicas: Replicas
beforeAll(async () => {
  world = await startWorld({ amqp: testBroker() })
  replicas = await startReplicas(world.place, 2, { LOG_LEVEL: 'warn' })
}, 300_000)
afterAll(async () => {
  await replicas?.stop()
  await world?.stop()
})

describe('two replicas of each of the five, on one PostgreSQL and one RabbitMQ', () =>
  systemContract(() => ({ world, gatewayUrl: replicas.gatewayUrl })))

it(
  'two replicas of each of the five, restarted one after the other under load, answer every request and notify of every payment',
  async () => {
    const { gatewayUrl } = replicas
    const merchant = await createMerchant(world, gatewayUrl)
    const answers = new Map<string, number>()
    const unexpected: string[] = []
    const paid: string[] = []
    const notified = new Set<string>()
    const slowest = { ms: 0, what: '' }
    let loaded = true
    let keyless = 0

    const ask = async (method: string, path: string, body?: object, key?: string) => {
      const since = Date.now()
      const response = await askGateway(gatewayUrl, path, jsonRequest(method, merchant.api_key, body, key))
      const text = await response.text()
      const what = `${method} ${path.split('?')[0]?.replace(/[0-9a-f-]{36}/, ':id')} ${response.status}`
      answers.set(what, (answers.get(what) ?? 0) + 1)
      if (Date.now() - since > slowest.ms) Object.assign(slowest, { ms: Date.now() - since, what })
      if (!response.ok) unexpected.push(`${what} ${text}`)
      return JSON.parse(text) as OrderBody
    }
    // The receiver keeps its latest thousand.
    const note = () => {
      for (const { signature_valid, body } of world.receiver.received) if (signature_valid) notified.add(JSON.parse(body).data.id)
    }
    const client = async () => {
      while (loaded) {
        const order = await ask('POST', '/api/v1/orders', { brl_amount: '10.00' })
        keyless += 1
        if (order.id) await ask('GET', `/api/v1/orders/${order.id}`)
        await ask('GET', '/api/v1/orders?limit=5')
        await new Promise(resolve => setImmediate(resolve))
      }
    }
    const payer = async () => {
      while (loaded) {
        const order = await ask('POST', '/api/v1/orders', { brl_amount: '20.00' }, randomUUID())
        await pay(world.chain, order)
        paid.push(order.id)
        if (paid.length % 100 === 0) note()
      }
    }

    const load = Promise.all([payer(), ...Array.from({ length: CLIENTS }, client)])
    const since = Date.now()
    const ends: { code: number | null; stopMs: number }[] = []
    // The first replica of all five at once, then the second: harder than one service after the other.
    let isDone = false
    const rounds = (async () => {
      do for (const index of [0, 1]) ends.push(...(await Promise.all(serviceNames.map(name => replicas.restart(name, index)))))
      while (keyless < KEYLESS_POSTS)
      isDone = true
    })()
    const answered = { posts: 0, at: Date.now() }
    const progresses = until(
      () => {
        if (keyless > answered.posts) Object.assign(answered, { posts: keyless, at: Date.now() })
        if (Date.now() - answered.at > STALLED_MS) throw new Error(`No POST was answered for ${STALLED_MS / 1000} s, after ${keyless}.`)
        return isDone
      },
      'the restarts do not end',
      A_DAY_MS,
    )
    try {
      await Promise.race([load, Promise.all([rounds, progresses])])
    } finally {
      loaded = false
    }
    await Promise.all([load, rounds])

    const missing = () => {
      note()
      return paid.filter(id => !notified.has(id))
    }
    await until(
      () => missing().length === 0,
      () => `${missing().length} of ${paid.length} payments were not notified`,
      Math.max(120_000, KEYLESS_POSTS * 100),
    )
    const total = [...answers.values()].reduce((sum, count) => sum + count, 0)
    const seconds = ((Date.now() - since) / 1000).toFixed(1)
    const slowestStop = Math.max(...ends.map(end => end.stopMs))
    console.log(
      `${total} requests, ${keyless} of them POSTs without a key, in ${seconds} s while ${ends.length} processes were replaced: ${unexpected.length} not answered as they should; ` +
        `slowest ${slowest.ms} ms (${slowest.what}); slowest stop ${slowestStop} ms; ${paid.length} payments, each notified`,
    )
    const why = unexpected.length > 0 ? replicas.logged().filter(line => line.includes('does not answer')) : []
    expect({ unexpected, why }).toEqual({ unexpected: [], why: [] })
    expect(ends.filter(end => end.code !== 0)).toEqual([])
    expect(paid.length).toBeGreaterThan(0)
  },
  KEYLESS_POSTS > 1 ? A_DAY_MS : 480_000,
)
