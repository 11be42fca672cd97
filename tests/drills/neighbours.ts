import { testBroker } from '@ponte/service-kit/testing'
import { type Load, load } from '../bench/load'
import { createMerchant, startReplicas, startWorld } from '../world'
import { drill } from './drill'
import { type Line, print, verdict } from './table'

// Measures the cost of one merchant's 150 requests in flight (BENCH_NOISY) to another merchant's requests, and its own service while it is alone.

const SECONDS = Number(process.env.BENCH_SECONDS ?? 15)
/** Each alone and beside in turn; the median counts. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const NOISY = Number(process.env.BENCH_NOISY ?? 150)
/** Highest p99 of a neighbour beside the merchant, by its p99 alone. */
const RATIO_MAX = 1.5
const NAMES = { GET: 'lists', POST: 'new orders' }
type Method = keyof typeof NAMES
const PAIRS = (['GET', 'POST'] as const).flatMap(noise => (['GET', 'POST'] as const).map(method => ({ noise, method })))

drill(async started => {
  const world = started(await startWorld({ amqp: testBroker() }))
  const replicas = started(await startReplicas(world.place, 1))
  const [noisy, neighbour] = [
    await createMerchant(world, replicas.gatewayUrl, null),
    await createMerchant(world, replicas.gatewayUrl, null),
  ]
  const shoot = (apiKey: string, method: Method, connections: number, seconds = SECONDS) =>
    load({
      url: `${replicas.gatewayUrl}/api/v1/orders${method === 'GET' ? '?limit=20' : ''}`,
      ...{ method, connections, seconds },
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${apiKey}` },
      ...(method === 'POST' ? { body: JSON.stringify({ brl_amount: '150.00' }) } : {}),
    })
  const round = async ({ noise, method }: (typeof PAIRS)[number]) => {
    const alone = await shoot(neighbour.api_key, method, 2)
    const noiseBeside = shoot(noisy.api_key, noise, NOISY, SECONDS + 2)
    const beside = await shoot(neighbour.api_key, method, 2)
    return { alone, beside, noiseBeside: await noiseBeside }
  }
  for (const { api_key } of [noisy, neighbour]) await shoot(api_key, 'POST', 8)
  const lines: Line[] = []
  for (const pair of PAIRS) {
    const noiseAlone = await shoot(noisy.api_key, pair.noise, NOISY)
    const rounds: Awaited<ReturnType<typeof round>>[] = []
    for (let count = 0; count < ROUNDS; count++) rounds.push(await round(pair))
    const middle = (of: (one: (typeof rounds)[number]) => number) => median(rounds.map(of))
    const aloneMs = middle(({ alone }) => alone.p99Ms)
    const besideMs = middle(({ beside }) => beside.p99Ms)
    lines.push({
      [`noisy, ${NOISY} in flight`]: NAMES[pair.noise],
      'neighbour, 2 in flight': NAMES[pair.method],
      'p50 alone ms': middle(({ alone }) => alone.p50Ms),
      'p99 alone ms': aloneMs,
      'p50 beside ms': middle(({ beside }) => beside.p50Ms),
      'p99 beside ms': besideMs,
      'p99 ratio': Math.round((besideMs / aloneMs) * 100) / 100,
      'neighbour alone, beside /s': perSecond(rounds.map(({ alone, beside }) => [alone, beside])),
      'noisy alone, beside /s': perSecond(rounds.map(({ noiseBeside }) => [noiseAlone, noiseBeside])),
      failed: rounds.reduce((sum, { beside }) => sum + beside.not2xx, 0),
    })
    console.log(JSON.stringify(lines.at(-1)))
  }
  print(`A merchant beside another that keeps ${NOISY} requests in flight; one replica of each service, all on these cores`, lines)
  const worst = Math.max(...lines.map(line => Number(line['p99 ratio'])))
  const failed = lines.reduce((sum, line) => sum + Number(line.failed), 0)
  verdict(
    worst <= RATIO_MAX && failed === 0,
    `p99 of a neighbour is ${worst} times its own alone, ${RATIO_MAX} at most; ${failed} of its requests failed.`,
  )
})

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const perSecond = (pairs: readonly (readonly [Load, Load])[]) =>
  ([0, 1] as const).map(index => Math.round(median(pairs.map(pair => pair[index].requestsPerS)))).join(', ')
