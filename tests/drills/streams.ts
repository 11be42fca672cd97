import { connect, type Socket } from 'node:net'
import { startProcesses } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { testBroker } from '@ponte/service-kit/testing'
import { call, createMerchant, startWorld } from '../world'
import { drill } from './drill'
import { type Line, print, verdict } from './table'

// Measures the cost of 5,000 open pages, each of an order of its own, to requests of the API.

const STREAMS = Number(process.env.BENCH_STREAMS ?? 5_000)
/** Long enough for some heartbeats, of which each asks about every watched order. */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 60)
/** The next heartbeat comes 15 s after the last question of the one before. */
const HEARTBEATS = Math.floor(SECONDS / 20)
const EVERY_MS = 25
const RATIO_MAX = 1.2
const AT_ONCE = 16
const UNLIMITED = {
  STREAMS_PER_ADDRESS_MAX: '100000',
  STREAMS_PER_MERCHANT_MAX: '100000',
}

drill(async started => {
  const world = started(await startWorld({ amqp: testBroker() }))
  started(await startProcesses(world.place, { 'api-gateway': UNLIMITED }))
  const { publicUrl } = world.place
  const { api_key } = await createMerchant(world, publicUrl, null)
  const order = () => call<OrderBody>(publicUrl, 'POST', '/api/v1/orders', api_key, { brl_amount: '150.00', expires_in: 3_600 })
  const ids: string[] = []
  while (ids.length < STREAMS) ids.push(...(await Promise.all(Array.from({ length: AT_ONCE }, order))).map(({ id }) => id))
  const list = () => call(publicUrl, 'GET', '/api/v1/orders?limit=20', api_key)
  await paced(5, [list, order])

  const alone = await paced(SECONDS, [list, order])
  const sockets: Socket[] = []
  const beats = new Array<number>(STREAMS).fill(0)
  for (const [n, id] of ids.slice(0, STREAMS).entries()) {
    const socket = await open(publicUrl, id)
    socket.on('data', data => {
      if (data.includes(': still here')) beats[n] = (beats[n] ?? 0) + 1
    })
    sockets.push(socket)
  }
  beats.fill(0)
  const beside = await paced(SECONDS, [list, order])
  const isOpen = sockets.filter(({ destroyed, readyState }) => !destroyed && readyState === 'open').length
  for (const socket of sockets) socket.destroy()

  const lines: Line[] = [
    { requests: 'alone', ...alone },
    { requests: `beside ${isOpen} streams`, ...beside },
  ]
  const fewest = Math.min(...beats)
  print(`Lists and new orders, ${1_000 / EVERY_MS} a second, beside live pages; one of each service, all on these cores`, lines, [
    `Heartbeats of a page meanwhile: ${fewest} to ${Math.max(...beats)}.`,
  ])
  const ratio = Math.round((beside['p99 ms'] / alone['p99 ms']) * 100) / 100
  verdict(
    ratio <= RATIO_MAX && isOpen === STREAMS && beside.failed === 0 && fewest >= HEARTBEATS,
    `p99 is ${ratio} times that without pages, ${RATIO_MAX} at most; ${isOpen} of ${STREAMS} stayed open, ${beside.failed} requests failed.`,
  )
})

/** Requests that begin at equal distances, whether or not those before are answered. */
async function paced(seconds: number, kinds: readonly (() => Promise<unknown>)[]) {
  const times: number[] = []
  const asked: Promise<void>[] = []
  let failed = 0
  const ends = performance.now() + seconds * 1_000
  for (let n = 0; performance.now() < ends; n++) {
    const began = performance.now()
    const answer = kinds[n % kinds.length]?.() ?? Promise.resolve()
    asked.push(
      answer.then(
        () => void times.push(performance.now() - began),
        () => void failed++,
      ),
    )
    await new Promise(resolve => setTimeout(resolve, EVERY_MS))
  }
  await Promise.all(asked)
  times.sort((a, b) => a - b)
  const at = (part: number) => Math.round((times[Math.floor(part * times.length)] ?? 0) * 10) / 10
  return { 'p50 ms': at(0.5), 'p99 ms': at(0.99), answered: times.length, failed }
}

/** Resolves when the present state has come. */
function open(url: string, orderId: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET /api/v1/checkout/${orderId}/stream HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\n\r\n`)
    })
    socket.once('data', data => (data.includes(' 200 ') ? resolve(socket) : reject(new Error(String(data)))))
    socket.once('error', reject)
  })
}
