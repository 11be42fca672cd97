import type { OrderBody } from '@ponte/contracts'
import { type Fault, type FaultProxy, mined, startFaultProxy } from '@ponte/local-servers'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { call, createMerchant, type Processes, RELAYER, startProcesses, startWorld, units, type World } from '../world'

// The relayer dies by SIGKILL, as a process of its own, at each line between signing a sweep and writing down what became of it.

let world: World
let proxy: FaultProxy
let processes: Processes
let merchant: Awaited<ReturnType<typeof createMerchant>>
beforeAll(async () => {
  world = await startWorld({ amqp: testBroker() })
  proxy = await startFaultProxy(world.chain.rpcUrl)
  processes = await startProcesses(world.place, { 'chain-listener': { RPC_URLS: proxy.url } })
  merchant = await createMerchant(world, world.place.publicUrl)
}, 90_000)
afterAll(async () => {
  await processes?.stop()
  await proxy?.stop()
  await world?.stop()
}, 60_000)

const read = ({ id }: OrderBody) => call<OrderBody>(world.place.publicUrl, 'GET', `/api/v1/orders/${id}`, merchant.api_key)
const toldPaid = ({ id }: OrderBody) =>
  new Set(world.receiver.received.filter(({ body }) => body.includes('"order.paid"') && body.includes(id)).map(({ body }) => body)).size

/** What the proxy does at the fatal moment: it kills, once, and whoever asked hears nothing. */
function dieing(at: (kill: () => Promise<void>) => Fault): Promise<void> {
  return new Promise(dead => {
    const kill = async () => {
      proxy.set()
      await processes.end('chain-listener', 'SIGKILL')
      dead()
    }
    proxy.set(at(kill))
  })
}
const isSending = (calls: readonly { method: string }[]) => calls.some(({ method }) => method === 'eth_sendRawTransaction')

const moments: [string, (kill: () => Promise<void>) => Fault][] = [
  [
    'before a transaction that is written down is sent',
    kill => ({
      async whole(calls, response) {
        if (!isSending(calls)) return false
        await kill()
        response.destroy()
        return true
      },
    }),
  ],
  [
    'between the broadcast and its answer',
    kill => ({
      async whole(calls, response) {
        if (!isSending(calls)) return false
        for (const { method, params } of calls) await world.chain.provider.send(method, params)
        await kill()
        response.destroy()
        return true
      },
    }),
  ],
  [
    'between the receipt and the record of it',
    kill => ({
      async whole(calls, response) {
        const asked = calls.filter(({ method }) => method === 'eth_getTransactionReceipt')
        const receipts = await Promise.all(asked.map(({ method, params }) => world.chain.provider.send(method, params)))
        if (!receipts.some(receipt => receipt !== null)) return false
        await kill()
        response.destroy()
        return true
      },
    }),
  ],
]

describe('issue: one sweep and one payment, with the relayer killed', () => {
  it.each(moments)(
    '%s',
    async (_, at) => {
      const { chain } = world
      const order = await call<OrderBody>(world.place.publicUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
      const before = await chain.provider.getTransactionCount(RELAYER.address)
      const dead = dieing(at)
      const payer = chain.wallet(7)
      await mined(chain.mintUsdc(payer.address, units(order.usdc_amount)))
      await mined(chain.transferUsdc(payer, order.payment.deposit_address ?? '', units(order.usdc_amount)))
      await dead
      await processes.start('chain-listener')
      await until(async () => (await read(order)).status === 'paid', 'the order was not paid', 30_000)
      await until(() => toldPaid(order) > 0, 'the merchant was not told')
      // The transfer has paid; the sweep settles it.
      const isSettled = async () => (await read(order)).payments?.every(({ settlement }) => settlement.status === 'settled') === true
      await until(isSettled, 'the payment was not settled', 30_000)
      const topics = [PAYMENT_RECEIVED_TOPIC, `0x${order.memo}`]
      expect(await chain.provider.getLogs({ address: chain.routerAddress, topics, fromBlock: 0 })).toHaveLength(1)
      expect((await chain.provider.getTransactionCount(RELAYER.address)) - before).toBe(1)
      expect(await read(order)).toMatchObject({ exception: null, received: order.expected })
      expect(toldPaid(order)).toBe(1)
    },
    90_000,
  )
})
