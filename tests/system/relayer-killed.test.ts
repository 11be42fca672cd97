import type { OrderBody } from '@ponte/contracts'
import { type Fault, type FaultProxy, mined, startFaultProxy } from '@ponte/local-servers'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { openDatabase, until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { Wallet } from 'ethers'
import { handIn, signFor } from '../siege/signature'
import { call, createMerchant, GASLESS, type Processes, RELAYER, startProcesses, startWorld, units, type World } from '../world'

// The relayer dies by SIGKILL, as a process of its own, at each line between signing a transaction and writing down what became of it.

let world: World
let proxy: FaultProxy
let processes: Processes
let merchant: Awaited<ReturnType<typeof createMerchant>>
beforeAll(async () => {
  world = await startWorld({ amqp: testBroker() })
  proxy = await startFaultProxy(world.chain.rpcUrl)
  processes = await startProcesses(world.place, {
    'chain-listener': { RPC_URLS: proxy.url, RELAYER_STUCK_MS: '3000' },
  })
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

/** At the fatal moment the proxy kills, once, and the caller receives nothing. */
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

const order = () => call<OrderBody>(world.place.publicUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })

/** Each way to pay, with the account that pays for its gas. */
const ways: Record<'sweep' | 'signature', { account: string; pay(order: OrderBody): Promise<unknown> }> = {
  sweep: {
    account: RELAYER.address,
    async pay({ payment, usdc_amount }) {
      const payer = world.chain.wallet(7)
      await mined(world.chain.mintUsdc(payer.address, units(usdc_amount)))
      await mined(world.chain.transferUsdc(payer, payment.deposit_address ?? '', units(usdc_amount)))
    },
  },
  signature: {
    account: GASLESS.address,
    async pay(of) {
      const payer = Wallet.createRandom()
      await mined(world.chain.mintUsdc(payer.address, units(of.usdc_amount)))
      const body = await signFor(world, of, payer, units(of.usdc_amount))
      await until(async () => (await handIn(world, of, body)) === 202, 'the signature was not taken')
    },
  },
}

/** Paid once on the chain, published once, by one transaction of ours. */
async function expectOnce(paid: OrderBody, account: string, before: number) {
  const { chain } = world
  await until(async () => (await read(paid)).status === 'paid', 'the order was not paid', 30_000)
  await until(() => toldPaid(paid) > 0, 'the merchant was not notified')
  // A transfer has paid; its sweep settles it.
  const isSettled = async () => (await read(paid)).payments?.every(({ settlement }) => settlement.status === 'settled') === true
  await until(isSettled, 'the payment was not settled', 30_000)
  const topics = [PAYMENT_RECEIVED_TOPIC, `0x${paid.memo}`]
  expect(await chain.provider.getLogs({ address: chain.routerAddress, topics, fromBlock: 0 })).toHaveLength(1)
  expect((await chain.provider.getTransactionCount(account)) - before).toBe(1)
  expect(await read(paid)).toMatchObject({ exception: null, received: paid.expected })
  expect(toldPaid(paid)).toBe(1)
}

describe.each(['sweep', 'signature'] as const)('issue: one %s and one payment, with the relayer killed', way => {
  const { account, pay } = ways[way]

  it.each(moments)(
    '%s',
    async (_, at) => {
      const created = await order()
      const before = await world.chain.provider.getTransactionCount(account)
      const dead = dieing(at)
      await pay(created)
      await dead
      await processes.start('chain-listener')
      await expectOnce(created, account, before)
    },
    90_000,
  )

  it('between signing a transaction and writing it down', async () => {
    const created = await order()
    const before = await world.chain.provider.getTransactionCount(account)
    const books = openDatabase({ url: world.place.databaseUrl('chain-listener'), poolSize: 2 })
    // A record of an earlier transaction would wait for the lock, and this one for it.
    const isLevel = async () => (await books.query('SELECT 1 FROM relays WHERE outcome IS NULL')).rowCount === 0
    await until(isLevel, 'an earlier transaction has no outcome', 30_000)
    const held = await books.pool.connect()
    try {
      await held.query('SET idle_in_transaction_session_timeout = 0')
      await held.query('BEGIN')
      await held.query('LOCK TABLE relays IN SHARE MODE')
      await pay(created)
      const isWriting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO relays%'"
      await until(async () => (await books.query(isWriting)).rowCount !== 0, 'nothing was signed', 30_000)
      await processes.end('chain-listener', 'SIGKILL')
      await held.query('ROLLBACK')
    } finally {
      held.release(true)
      await books.stop?.()
    }
    await processes.start('chain-listener')
    await expectOnce(created, account, before)
  }, 90_000)
})

describe('one signature and one payment, with the relayer killed', () => {
  const { account, pay } = ways.signature

  it('between the record of the signature and that of its transaction', async () => {
    const created = await order()
    const before = await world.chain.provider.getTransactionCount(account)
    const books = openDatabase({ url: world.place.databaseUrl('chain-listener'), poolSize: 2 })
    const held = await books.pool.connect()
    try {
      await held.query('SET idle_in_transaction_session_timeout = 0')
      let isLocked = false
      proxy.set({
        async whole(calls) {
          const asked = isLocked ? [] : calls.filter(({ method }) => method === 'eth_getTransactionReceipt')
          const receipts = await Promise.all(asked.map(({ method, params }) => world.chain.provider.send(method, params)))
          if (!isLocked && receipts.some(receipt => receipt !== null)) {
            isLocked = true
            await held.query('BEGIN')
            await held.query('LOCK TABLE relays IN SHARE MODE')
          }
          return false
        },
      })
      await pay(created)
      const isFinishing = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE relays SET outcome%'"
      await until(async () => (await books.query(isFinishing)).rowCount !== 0, 'nothing was recorded', 30_000)
      const { rows } = await books.query('SELECT state FROM authorizations WHERE order_id = $1', [created.id])
      expect(rows).toEqual([{ state: 'paid' }])
      await processes.end('chain-listener', 'SIGKILL')
      await held.query('ROLLBACK')
    } finally {
      proxy.set()
      held.release(true)
      await books.stop?.()
    }
    await processes.start('chain-listener')
    await expectOnce(created, account, before)
  }, 90_000)

  it('while nothing is mined, and again between a higher offer that is written down and its broadcast', async () => {
    const { provider } = world.chain
    const created = await order()
    const before = await provider.getTransactionCount(account)
    let first: unknown
    const sent = dieing(kill => ({
      async whole(calls, response) {
        if (!isSending(calls)) return false
        await provider.send('evm_setAutomine', [false])
        await provider.send('evm_setIntervalMining', [0])
        for (const { method, params } of calls) {
          if (method === 'eth_sendRawTransaction') first = params[0]
          await provider.send(method, params)
        }
        await kill()
        response.destroy()
        return true
      },
    }))
    await pay(created)
    await sent
    const offered = dieing(kill => ({
      async whole(calls, response) {
        if (!calls.some(({ method, params }) => method === 'eth_sendRawTransaction' && params[0] !== first)) return false
        await kill()
        response.destroy()
        return true
      },
    }))
    await processes.start('chain-listener')
    await offered
    await processes.start('chain-listener')
    await provider.send('evm_setIntervalMining', [1])
    await expectOnce(created, account, before)
  }, 90_000)
})
