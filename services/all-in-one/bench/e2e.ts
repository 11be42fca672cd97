import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/payment-router/testing'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { WebSocketProvider } from 'ethers'
import { startProcesses } from '../test/processes'
import { call, createMerchant, PAYER, startWorld, units, type World } from '../test/system'
import { percentile, type Row, report } from './table'

// From a block being mined to the merchant's server holding the signed webhook: five processes, one confirmation, a WebSocket head.

const IDLE = Number(process.env.BENCH_IDLE ?? 60)
const BURST = Number(process.env.BENCH_BURST ?? 1000)
const PER_BLOCK = 40
const BLOCK_MS = 200

/** A receiver that only notes when each order was told. */
async function startReceiver() {
  const toldAt = new Map<string, number>()
  const server = createServer((req, res) => {
    let body = ''
    req.on('data', chunk => {
      body += chunk
    })
    req.on('end', () => {
      const id = /"id":"([0-9a-f-]{36})"/.exec(body)?.[1]
      if (id && body.includes('order.paid') && !toldAt.has(id)) toldAt.set(id, performance.now())
      res.end()
    })
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return { toldAt, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, stop: () => server.close() }
}

/** When each block's head was announced, by its number. */
function watchHeads(world: World) {
  const seenAt = new Map<number, number>()
  const provider = new WebSocketProvider(world.chain.wsUrl)
  provider.on('block', (number: number) => seenAt.set(number, performance.now()))
  return { seenAt, stop: () => provider.destroy() }
}

async function main(): Promise<void> {
  const world = await startWorld({ amqp: testBroker(), chain: { noMining: true } })
  await world.chain.mine()
  const unlimited = { RATE_LIMIT_CALLER_PER_MINUTE: '100000000', RATE_LIMIT_ADDRESS_PER_MINUTE: '100000000' }
  const processes = await startProcesses(world.place, { 'api-gateway': unlimited })
  const receiver = await startReceiver()
  const heads = watchHeads(world)
  try {
    const merchant = await createMerchant(world, world.place.publicUrl, receiver.url)
    const payer = world.chain.wallet(PAYER.privateKey)
    await prepare(world)
    const order = () => call<OrderBody>(world.place.publicUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '1.00' })
    const send = (o: OrderBody) =>
      world.chain.pay(payer, { memo: `0x${o.memo}`, merchant: o.payment.merchant_address, amount: units(o.usdc_amount) })
    const latency = async (o: OrderBody, tx: Awaited<ReturnType<typeof send>>) => {
      const { blockNumber } = await mined(tx)
      await until(() => receiver.toldAt.has(o.id) && heads.seenAt.has(blockNumber), `order ${o.id} was not told`, 60_000)
      return (receiver.toldAt.get(o.id) ?? Number.NaN) - (heads.seenAt.get(blockNumber) ?? Number.NaN)
    }

    const idle: number[] = []
    for (let i = 0; i < IDLE; i++) {
      const o = await order()
      const tx = await send(o)
      await world.chain.mine()
      idle.push(await latency(o, tx))
    }

    const orders: OrderBody[] = []
    for (let i = 0; i < BURST; i++) orders.push(await order())
    const sent: Promise<number>[] = []
    for (let start = 0; start < BURST; start += PER_BLOCK) {
      const began = performance.now()
      for (const o of orders.slice(start, start + PER_BLOCK)) {
        const tx = await send(o)
        sent.push(latency(o, tx))
      }
      await world.chain.mine()
      const rest = BLOCK_MS - (performance.now() - began)
      if (rest > 0) await new Promise(resolve => setTimeout(resolve, rest))
    }
    const busy = await Promise.all(sent)
    const rows: Row[] = [
      row('idle, one payment at a time', idle),
      row(`${PER_BLOCK} payments each block, at most ${(PER_BLOCK * 1000) / BLOCK_MS}/s`, busy),
    ]
    report('block mined to webhook received, one confirmation, WebSocket head (ms)', rows, [
      'Goals: idle p50 ≤ 50 ms; at 200/s p99 ≤ 500 ms.',
    ])
  } finally {
    heads.stop()
    receiver.stop()
    await processes.stop()
    await world.stop()
  }
}

async function prepare(world: World): Promise<void> {
  const payer = world.chain.wallet(PAYER.privateKey)
  const minting = await world.chain.mintUsdc(payer.address, 10n ** 15n)
  const paying = await world.chain.pay(payer, { memo: `0x${'01'.repeat(32)}`, merchant: payer.address, amount: 1n })
  await world.chain.mine()
  await Promise.all([mined(minting), mined(paying)])
}

const row = (name: string, all: number[]): Row => ({
  name,
  figures: { p50: [percentile(all, 0.5)], p90: [percentile(all, 0.9)], p99: [percentile(all, 0.99)], count: [all.length] },
})

main().catch(error => {
  console.error(error)
  process.exit(1)
})
