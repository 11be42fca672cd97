import { serviceNames, startProcesses } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { paymentRouterAbi } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { Interface, parseUnits, WebSocketProvider } from 'ethers'
import { call, createMerchant, PAYER, startNotingReceiver, startWorld, units, type World } from '../world'
import { cpuPerUnit, usage } from './cpu'
import { percentile, type Row, report } from './table'

// From a block being mined to the merchant's server holding the signed webhook: five processes, one confirmation, a WebSocket head.

const IDLE = Number(process.env.BENCH_IDLE ?? 60)
const BURST = Number(process.env.BENCH_BURST ?? 1000)
const PER_BLOCK = 40
const BLOCK_MS = 200

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
  const processes = await startProcesses(world.place)
  const receiver = await startNotingReceiver(() => performance.now())
  const heads = watchHeads(world)
  try {
    const merchant = await createMerchant(world, world.place.publicUrl, receiver.url)
    await prepare(world)
    const open = async (count: number) => {
      const orders: OrderBody[] = []
      const create = () => call<OrderBody>(world.place.publicUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '1.00' })
      for (let i = 0; i < count; i++) orders.push(await create())
      return { orders, signed: await signPayments(world, orders) }
    }
    /** Mines these payments in one block of their own; answers how long each took from there to its webhook. */
    const mineAndWait = async (orders: OrderBody[], signed: string[]) => {
      await broadcast(world, signed)
      await world.chain.mine()
      const block = await world.chain.provider.getBlock('latest')
      if (block?.transactions.length !== signed.length)
        throw new Error(`${block?.transactions.length} of ${signed.length} payments were mined.`)
      return orders.map(async ({ id }) => {
        await until(() => receiver.notifiedAt.has(id) && heads.seenAt.has(block.number), `order ${id} was not notified`, 60_000)
        return (receiver.notifiedAt.get(id) ?? Number.NaN) - (heads.seenAt.get(block.number) ?? Number.NaN)
      })
    }

    const quiet = await open(IDLE)
    const idle: number[] = []
    for (let i = 0; i < IDLE; i++)
      idle.push(...(await Promise.all(await mineAndWait(quiet.orders.slice(i, i + 1), quiet.signed.slice(i, i + 1)))))

    const many = await open(BURST)
    const pids = Object.fromEntries(serviceNames.map(name => [name, processes.pid(name)]))
    const before = usage(pids)
    const notified: Promise<number>[] = []
    const since = performance.now()
    for (let start = 0; start < BURST; start += PER_BLOCK) {
      const began = performance.now()
      const end = start + PER_BLOCK
      notified.push(...(await mineAndWait(many.orders.slice(start, end), many.signed.slice(start, end))))
      const rest = BLOCK_MS - (performance.now() - began)
      if (rest > 0) await new Promise(resolve => setTimeout(resolve, rest))
    }
    const seconds = (performance.now() - since) / 1000
    const busy = await Promise.all(notified)
    console.log('CPU milliseconds for one payment, from its block to its webhook')
    console.table(cpuPerUnit(before, usage(pids), BURST))
    const rows: Row[] = [
      row('idle, one payment at a time', idle),
      row(`${PER_BLOCK} payments in a block, ${(BURST / seconds).toFixed(0)} each second`, busy),
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

/** Signed before they are needed, so that signing takes nothing from what is measured. */
async function signPayments({ chain }: World, orders: readonly OrderBody[]): Promise<string[]> {
  const payer = chain.wallet(PAYER.privateKey)
  const router = new Interface(paymentRouterAbi)
  const nonce = await payer.getNonce()
  const fees = { maxFeePerGas: parseUnits('100', 'gwei'), maxPriorityFeePerGas: parseUnits('1', 'gwei') }
  return Promise.all(
    orders.map((order, index) =>
      payer.signTransaction({
        ...{ type: 2, chainId: chain.chainId, nonce: nonce + index, to: chain.routerAddress, gasLimit: 200_000, ...fees },
        data: router.encodeFunctionData('pay', [`0x${order.memo}`, order.payment.merchant_address, units(order.usdc_amount)]),
      }),
    ),
  )
}

async function broadcast({ chain }: World, signed: readonly string[]): Promise<void> {
  const calls = signed.map((transaction, id) => ({ jsonrpc: '2.0', id, method: 'eth_sendRawTransaction', params: [transaction] }))
  const answer = await fetch(chain.rpcUrl, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(calls) })
  const refused = ((await answer.json()) as { error?: object }[]).find(({ error }) => error)
  if (refused) throw new Error(`A payment was refused: ${JSON.stringify(refused)}`)
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
