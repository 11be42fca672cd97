import { testBroker } from '@ponte/service-kit/testing'
import { load } from '../bench/load'
import { createMerchant, startReplicas, startWorld } from '../world'
import { drill } from './drill'
import { type Line, print, verdict } from './table'

// What one merchant's 150 lists in flight cost another merchant's requests.

const SECONDS = Number(process.env.BENCH_SECONDS ?? 15)
const NOISY = 150
/** What a neighbour's p99 may become. */
const RATIO_MAX = 1.5
const UNLIMITED = { RATE_LIMIT_CALLER_PER_MINUTE: '100000000', RATE_LIMIT_ADDRESS_PER_MINUTE: '100000000' }

drill(async started => {
  const world = started(await startWorld({ amqp: testBroker() }))
  const replicas = started(await startReplicas(world.place, 1, UNLIMITED))
  const [noisy, neighbour] = [
    await createMerchant(world, replicas.gatewayUrl, null),
    await createMerchant(world, replicas.gatewayUrl, null),
  ]
  const shoot = (apiKey: string, method: 'GET' | 'POST', connections: number, seconds = SECONDS) =>
    load({
      url: `${replicas.gatewayUrl}/api/v1/orders${method === 'GET' ? '?limit=20' : ''}`,
      ...{ method, connections, seconds },
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${apiKey}` },
      ...(method === 'POST' ? { body: JSON.stringify({ brl_amount: '150.00' }) } : {}),
    })
  const lines: Line[] = []
  for (const { api_key } of [noisy, neighbour]) await shoot(api_key, 'POST', 8)
  for (const method of ['GET', 'POST'] as const) {
    const alone = await shoot(neighbour.api_key, method, 2)
    const noise = shoot(noisy.api_key, 'GET', NOISY, SECONDS + 2)
    const beside = await shoot(neighbour.api_key, method, 2)
    const { requestsPerS } = await noise
    lines.push({
      neighbour: method === 'GET' ? 'lists, 2 in flight' : 'makes orders, 2 in flight',
      'p50 alone ms': alone.p50Ms,
      'p99 alone ms': alone.p99Ms,
      'p50 beside ms': beside.p50Ms,
      'p99 beside ms': beside.p99Ms,
      'p99 ratio': Math.round((beside.p99Ms / alone.p99Ms) * 100) / 100,
      failed: beside.not2xx,
      'lists of the noisy one a second': Math.round(requestsPerS),
    })
  }
  print(`A merchant beside another that keeps ${NOISY} lists in flight; one replica of each service, all on these cores`, lines)
  const worst = Math.max(...lines.map(line => Number(line['p99 ratio'])))
  const failed = lines.reduce((sum, line) => sum + Number(line.failed), 0)
  verdict(
    worst <= RATIO_MAX && failed === 0,
    `p99 of a neighbour is ${worst} times its own alone, ${RATIO_MAX} at most; ${failed} of its requests failed.`,
  )
})
