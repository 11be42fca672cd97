import { type Processes, startProcesses } from '@ponte/all-in-one'
import type { ExplanationBody, OrderBody, RecoveryListBody, RefundBody } from '@ponte/contracts'
import { type Fault, type FaultProxy, mined, startFaultProxy } from '@ponte/local-servers'
import { deployContracts, PAYMENT_RECEIVED_TOPIC, testUsdcAbi } from '@ponte/payment-router'
import { openDatabase, until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { Contract, Wallet } from 'ethers'
import { handIn, signFor } from '../siege/signature'
import { call, createMerchant, GASLESS, MERCHANT, pay, RELAYER, startWorld, units, type World } from '../world'

// The relayer dies by SIGKILL, as a process of its own, at each line between signing a transaction and writing down what became of it.

/** A listener that starts twice on a busy machine. */
const MOMENT_MS = 180_000

let world: World
let proxy: FaultProxy
let processes: Processes
let merchant: Awaited<ReturnType<typeof createMerchant>>
let foreign: Contract
beforeAll(async () => {
  world = await startWorld({ amqp: testBroker() })
  proxy = await startFaultProxy(world.chain.rpcUrl)
  processes = await startProcesses(world.place, {
    'chain-listener': { RPC_URLS: proxy.url, RELAYER_STUCK_MS: '3000' },
  })
  merchant = await createMerchant(world, world.place.publicUrl)
  const stranger = world.chain.wallet(7)
  const { usdcAddress } = await deployContracts(stranger, { feeBps: 100, feeReceiver: stranger.address })
  foreign = new Contract(usdcAddress, testUsdcAbi, stranger)
})
afterAll(async () => {
  await processes?.stop()
  await proxy?.stop()
  await world?.stop()
})

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

const order = () => ask<OrderBody>('/orders', { brl_amount: '150.00' })
const get = <T>(path: string) => call<T>(world.place.publicUrl, 'GET', `/api/v1${path}`, merchant.api_key)
const ask = <T>(path: string, body: object) => call<T>(world.place.publicUrl, 'POST', `/api/v1${path}`, merchant.api_key, body)
const usdcTo = async (address: string, amount: bigint) => mined(world.chain.mintUsdc(address, amount))

/** A thing that an account of ours pays gas for: how it starts, and what is there once, in the end. */
interface Way {
  account: string
  prepare(): Promise<{ start(): Promise<unknown>; endsOnce(): Promise<void> }>
}
const ways = {
  sweep: {
    account: RELAYER.address,
    async prepare() {
      const created = await order()
      const amount = units(created.usdc_amount)
      const payer = world.chain.wallet(7)
      await usdcTo(payer.address, amount)
      const start = () => mined(world.chain.transferUsdc(payer, created.payment.deposit_address ?? '', amount))
      return { start, endsOnce: () => expectPaidOnce(created) }
    },
  },
  signature: {
    account: GASLESS.address,
    async prepare() {
      const created = await order()
      const payer = Wallet.createRandom()
      await usdcTo(payer.address, units(created.usdc_amount))
      const body = await signFor(world, created, payer, units(created.usdc_amount))
      const start = () => until(async () => (await handIn(world, created, body)) === 202, 'the signature was not taken')
      return { created, start, endsOnce: () => expectPaidOnce(created) }
    },
  },
  refund: {
    account: GASLESS.address,
    async prepare() {
      const [paid, payee] = [await order(), Wallet.createRandom().address]
      await pay(world.chain, paid)
      await until(async () => (await read(paid)).status === 'paid', 'the order was not paid', 30_000)
      const wallet = world.chain.wallet(MERCHANT.privateKey)
      await usdcTo(wallet.address, 5_000_000n)
      const made = await ask<RefundBody>(`/orders/${paid.id}/refunds`, { amount: '5.00', payee_address: payee, reason: 'It came back' })
      if (!made.typed_data) throw new Error('There is nothing to sign.')
      const { domain, types, message } = made.typed_data
      const body = { valid_before: Number(message.validBefore), signature: await wallet.signTypedData(domain, types, message) }
      const status = async () => (await get<RefundBody>(`/refunds/${made.id}`)).status
      return {
        start: () => ask(`/refunds/${made.id}/signature`, body),
        async endsOnce() {
          await until(async () => (await status()) === 'confirmed', 'the money did not go back', 30_000)
          expect(await world.chain.balanceOf(payee)).toBe(5_000_000n)
        },
      }
    },
  },
  recovery: {
    account: RELAYER.address,
    async prepare() {
      const created = await order()
      const { hash } = await mined(foreign.getFunction('mint').send(created.payment.deposit_address, 5_000_000n))
      const found = async () => (await ask<ExplanationBody>(`/orders/${created.id}/explain`, { tx_hash: hash })).code === 'wrong_token'
      await until(found, 'the token was not found', 30_000)
      const destination = created.payment.merchant_address
      const held = (): Promise<bigint> => foreign.getFunction('balanceOf').staticCall(destination)
      const before = await held()
      const confirmed = async () => (await get<RecoveryListBody>(`/orders/${created.id}/recoveries`)).data[0]?.status === 'confirmed'
      return {
        start: () => ask(`/orders/${created.id}/recoveries`, { token_address: foreign.target, destination }),
        async endsOnce() {
          await until(confirmed, 'it was not recovered', 30_000)
          expect((await held()) - before).toBe(5_000_000n)
        },
      }
    },
  },
} satisfies Record<string, Way>

/** Paid once on the chain, and published once. */
async function expectPaidOnce(paid: OrderBody) {
  const { chain } = world
  await until(async () => (await read(paid)).status === 'paid', 'the order was not paid', 30_000)
  await until(() => toldPaid(paid) > 0, 'the merchant was not notified')
  // A transfer has paid; its sweep settles it.
  const isSettled = async () => (await read(paid)).payments?.every(({ settlement }) => settlement.status === 'settled') === true
  await until(isSettled, 'the payment was not settled', 30_000)
  const topics = [PAYMENT_RECEIVED_TOPIC, `0x${paid.memo}`]
  expect(await chain.provider.getLogs({ address: chain.routerAddress, topics, fromBlock: 0 })).toHaveLength(1)
  expect(await read(paid)).toMatchObject({ exception: null, received: paid.expected })
  expect(toldPaid(paid)).toBe(1)
}

/** By one transaction of ours, however often its relayer is killed meanwhile. */
async function onlyOnce({ account, prepare }: Way, happens: (start: () => Promise<unknown>) => Promise<void>): Promise<void> {
  const { start, endsOnce } = await prepare()
  const before = await world.chain.provider.getTransactionCount(account)
  await happens(start)
  await endsOnce()
  expect((await world.chain.provider.getTransactionCount(account)) - before).toBe(1)
}

describe.each(['sweep', 'signature', 'refund', 'recovery'] as const)('one %s goes out once, with the relayer killed', name => {
  const way = ways[name]

  it.each(moments)(
    '%s',
    async (_, at) => {
      await onlyOnce(way, async start => {
        const dead = dieing(at)
        await start()
        await dead
        await processes.start('chain-listener')
      })
    },
    MOMENT_MS,
  )

  it(
    'between signing a transaction and writing it down',
    async () => {
      await onlyOnce(way, async start => {
        const books = openDatabase({ url: world.place.databaseUrl('chain-listener'), poolSize: 2 })
        // A record of an earlier transaction would wait for the lock, and this one for it.
        const isLevel = async () => (await books.query('SELECT 1 FROM relays WHERE outcome IS NULL')).rowCount === 0
        await until(isLevel, 'an earlier transaction has no outcome', 30_000)
        const held = await books.pool.connect()
        try {
          await held.query('SET idle_in_transaction_session_timeout = 0')
          await held.query('BEGIN')
          await held.query('LOCK TABLE relays IN SHARE MODE')
          await start()
          const isWriting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO relays%'"
          await until(async () => (await books.query(isWriting)).rowCount !== 0, 'nothing was signed', 30_000)
          await processes.end('chain-listener', 'SIGKILL')
          await held.query('ROLLBACK')
        } finally {
          held.release(true)
          await books.stop?.()
        }
        await processes.start('chain-listener')
      })
    },
    MOMENT_MS,
  )
})

describe('one signature goes out once, with the relayer killed', () => {
  const { account, prepare } = ways.signature

  it(
    'between the record of the signature and that of its transaction',
    async () => {
      const { created, start, endsOnce } = await prepare()
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
        await start()
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
      await endsOnce()
      expect((await world.chain.provider.getTransactionCount(account)) - before).toBe(1)
    },
    MOMENT_MS,
  )

  it(
    'while nothing is mined, and again between a higher offer that is written down and its broadcast',
    async () => {
      const { provider } = world.chain
      const { start, endsOnce } = await prepare()
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
      await start()
      await sent
      const offered = dieing(kill => ({
        async whole(calls, response) {
          if (!calls.some(({ method, params }) => method === 'eth_sendRawTransaction' && params[0] !== first)) return false
          await kill()
          response.destroy()
          return true
        },
      }))
      // On a slow machine it offers more, and is killed, before it is asked whether it is ready.
      await Promise.all([offered, processes.start('chain-listener').catch(() => undefined)])
      await processes.start('chain-listener')
      await provider.send('evm_setIntervalMining', [1])
      await endsOnce()
      expect((await world.chain.provider.getTransactionCount(account)) - before).toBe(1)
    },
    MOMENT_MS,
  )
})
