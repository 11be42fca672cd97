import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { createMerchant, startServed, startWorld, type World } from '../../world'

// A replica that is stopped in the middle (SIGSTOP) takes every connection and answers nothing, as one whose machine hangs does.

let world: World
beforeAll(async () => {
  world = await startWorld({ amqp: testBroker() })
})
afterAll(() => world?.stop())

const LIMIT_MS = 2_000
const SPAN_MS = 6_000

interface Answered {
  kind: string
  status: number
  code?: string
  ms: number
}

it('holds up no request for two seconds, is left out, and is asked again once it answers', async () => {
  const unlimited = { RATE_LIMIT_CALLER_PER_MINUTE: '1000000', RATE_LIMIT_ADDRESS_PER_MINUTE: '1000000' }
  const system = await startServed(world, 'orders=2', unlimited)
  const [gatewayUrl = ''] = system.gateway_urls
  try {
    const { api_key: key } = await createMerchant(world, gatewayUrl)
    const ask = async (kind: string, method: string, headers: Record<string, string> = {}): Promise<Answered> => {
      const since = performance.now()
      const answer = await fetch(`${gatewayUrl}/api/v1/orders`, {
        method,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
        ...(method === 'POST' ? { body: JSON.stringify({ brl_amount: '10.00' }) } : {}),
        signal: AbortSignal.timeout(60_000),
      })
      const { code } = (await answer.json()) as { code?: string }
      return { kind, status: answer.status, ms: performance.now() - since, ...(code === undefined ? {} : { code }) }
    }
    const clients = [
      () => ask('read', 'GET'),
      () => ask('keyed write', 'POST', { 'Idempotency-Key': randomUUID() }),
      () => ask('write', 'POST'),
      () => ask('read', 'GET'),
    ]
    const traffic = async () => {
      const answers: Answered[] = []
      const end = performance.now() + SPAN_MS
      const client = async (one: () => Promise<Answered>) => {
        while (performance.now() < end) {
          answers.push(await one())
          await pause(20)
        }
      }
      await Promise.all(clients.map(client))
      return answers
    }
    const slowest = (answers: Answered[]) => Math.max(...answers.map(({ ms }) => ms))
    const before = await traffic()
    expect(before.filter(({ status }) => status >= 300)).toEqual([])

    const { pid: stopped } = system.replica('orders', 1)
    process.kill(stopped, 'SIGSTOP')
    const meanwhile = await traffic()
    // The machine's own worst time, with nothing stopped, is not ours.
    expect(slowest(meanwhile)).toBeLessThan(LIMIT_MS + slowest(before))
    const failed = meanwhile.filter(({ status }) => status >= 300)
    // Whether a write without a key had its effect is not known.
    expect(failed.filter(({ kind, code }) => kind !== 'write' || code !== 'service_unavailable')).toEqual([])
    expect(failed.length).toBeLessThanOrEqual(2)
    expect(meanwhile.length).toBeGreaterThan(20)
    const silent = async () => {
      const text = await (await fetch(`${system.replica('api-gateway').ops_url}/metrics`)).text()
      return Number(/^ponte_owner_replicas_silent\{.*\} (\d+)$/m.exec(text)?.[1])
    }
    expect(await silent()).toBe(1)

    process.kill(stopped, 'SIGCONT')
    await until(async () => (await silent()) === 0, 'it is not asked again', 20_000)
    expect((await traffic()).filter(({ status }) => status >= 300)).toEqual([])
  } finally {
    expect(await system.stop()).toBe(0)
  }
}, 240_000)
