import {
  type Event,
  type EventData,
  type EventType,
  type OrderBody,
  parseEvent,
  queuesReadBy,
  subscription,
  topology,
} from '@ponte/contracts'
import { type Bus, memoryBus, openDatabase, type Part, readConfig, signCaller, silentLogger, until, uuidv7 } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import request from 'supertest'
import { createSubscriptions, subscriptionsConfig, subscriptionsMigrations } from '../src'

export const TOKEN_SECRET = 'a-test-secret-of-at-least-32-characters'
export const PAYOUT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const merchantId = '01981f3c-0000-7000-8000-000000000001'
const ADDRESS = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

type Requested = Extract<Event, { type: 'subscription.charge_requested' }>['data']
export type System = Awaited<ReturnType<typeof startSubscriptions>>

/**
 * The real service, in as many replicas as asked, on a database of its own and the in-process bus. Orders and the dispatcher are the world
 * outside: what they receive is kept, and the test names what orders answers. The clock moves when the test moves it.
 */
export async function startSubscriptions(options: { replicas?: number; start?: string; env?: Record<string, string> } = {}) {
  const database = await testDatabase(subscriptionsMigrations)
  const bus: Bus = memoryBus({ topology, logger: silentLogger })
  const clock = { now: new Date(options.start ?? '2026-01-31T12:00:00.000Z') }
  const config = readConfig(subscriptionsConfig, {
    DATABASE_URL: database.url,
    AMQP_URL: 'amqp://unused',
    HOST: '127.0.0.1',
    PORT: '0',
    OPS_PORT: '0',
    GATEWAY_TOKEN_SECRET: TOKEN_SECRET,
    PUBLIC_URL: 'http://127.0.0.1:8080',
    SCHEDULER_MS: '20',
    ...options.env,
  })
  const world = worldOutside(bus, clock)
  const replicas: ReturnType<typeof createSubscriptions>[] = []
  const startReplica = async () => {
    const replica = createSubscriptions(config, { bus, logger: silentLogger, now: () => new Date(clock.now) })
    replicas.push(replica)
    await replica.start()
  }
  for (const part of world.parts) await part.start?.()
  for (let count = options.replicas ?? 1; count > 0; count -= 1) await startReplica()
  const sql = openDatabase({ url: database.url, poolSize: 2 })
  const url = (replica = 0) => `http://127.0.0.1:${replicas[replica]?.http.port()}`
  const busy = async () => (await Promise.all([bus, ...replicas].map(part => part.busy?.()))).some(Boolean)
  // Work can pass from a part that was asked late to one that was asked early: only twice idle is idle.
  const idle = () => until(async () => !(await busy()) && !(await busy()), 'the replicas are still busy')
  const call = (method: 'get' | 'post' | 'patch', path: string, body?: object, headers: Record<string, string> = {}, replica = 0) =>
    request(url(replica))
      [method](`/api/v1/subscriptions${path}`)
      .set({ ...asMerchant(), ...headers })
      .send(method === 'get' ? undefined : (body ?? {}))
  return {
    ...world,
    bus,
    clock,
    replicas,
    sql,
    url,
    idle,
    call,
    startReplica,
    /** All replicas end, as in an outage; what others publish meanwhile waits. */
    async stopReplicas() {
      for (const replica of replicas.splice(0)) await replica.stop()
    },
    async create(body: object = {}) {
      const answer = await call('post', '', { brl_amount: '49.90', ...body })
      return subscription.parse(answer.body)
    },
    get: async (id: string) => subscription.parse((await call('get', `/${id}`)).body),
    /** Moves the clock, never back, and waits until all that follows by itself has happened. */
    async moveTo(at: string | Date) {
      clock.now = new Date(at)
      await idle()
    },
    async stop() {
      for (const part of [...replicas, ...world.parts].reverse()) await part.stop?.()
      await sql.stop?.()
      await database.drop()
    },
  }
}

/** Everyone else on the bus. Orders creates what is asked for unless it is down; no one pays unless the test makes them. */
function worldOutside(bus: Bus, clock: { now: Date }) {
  const received: Event[] = []
  const orders = new Map<string, Requested>()
  const publish = <T extends EventType>(type: T, data: Extract<Event, { type: T }>['data'], id = uuidv7()) => {
    const event = parseEvent({ id, type, occurred_at: clock.now.toISOString(), data, trace: null })
    return bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })
  }
  const state = { ordersDown: false }
  const waiting: Requested[] = []
  const createOrder = async (data: Requested) => {
    await publish('order.created', { merchant_id: data.terms.merchant_id, merchant_version: 1, order: orderBody(data, clock.now) })
  }
  const listen = (queue: string, handler: (event: Event) => Promise<void>): Part =>
    bus.consume(queue, async message => {
      const event = parseEvent(JSON.parse(message.body))
      if (!received.some(({ id }) => id === event.id)) received.push(event)
      await handler(event)
    })
  const owner = (id: string) => {
    const data = orders.get(id)
    if (!data) throw new Error(`Orders knows no order ${id}.`)
    return { data, owned: { merchant_id: data.terms.merchant_id, merchant_version: 1 } }
  }
  return {
    received,
    orders,
    publish,
    state,
    parts: [
      listen('orders', async event => {
        if (event.type !== 'subscription.charge_requested') return
        orders.set(event.data.order_id, event.data)
        if (state.ordersDown) waiting.push(event.data)
        else await createOrder(event.data)
      }),
      ...Object.keys(topology)
        .filter(queue => queue !== 'orders' && !queuesReadBy('subscriptions').includes(queue))
        .map(queue => listen(queue, async () => undefined)),
    ],
    of: <T extends EventType>(type: T) => received.filter((event): event is Extract<Event, { type: T }> => event.type === type),
    /** Orders publishes again that it created the order. */
    createAgain: (id: string) => createOrder(owner(id).data),
    async answerWaiting() {
      for (const data of waiting.splice(0)) await createOrder(data)
    },
    async ordersReturns() {
      state.ordersDown = false
      for (const data of waiting.splice(0)) await createOrder(data)
    },
    pay: (id: string, eventId?: string) => {
      const { data, owned } = owner(id)
      return publish('order.paid', { ...owned, order: paidData(data, clock.now) }, eventId)
    },
    /** Orders answers that it opens the order later, or never. */
    answer: (type: 'order.waiting' | 'order.refused', id: string, reason: string) => {
      const { data, owned } = owner(id)
      return publish(type, { ...owned, subscription_id: data.subscription_id, order_id: id, reason })
    },
    /** Orders shows the order otherwise from now on. */
    update: (id: string, revision: number, state: Partial<EventData<'order.updated'>['state']>) => {
      const { data, owned } = owner(id)
      const pending = {
        status: 'pending',
        exception: null,
        received: '0.000000',
        tx_hash: null,
        paid_at: null,
        cancelled_at: null,
      } as const
      const which = { subscription_id: data.subscription_id, order_id: id, revision }
      return publish('order.updated', { ...owned, ...which, state: { ...pending, payment_uri: null, ...state } })
    },
    /** Money is confirmed for an order that is not paid; `missing` reais are left. */
    receive: (id: string, missing: string, revision: number) => {
      const { data, owned } = owner(id)
      const order = paidData(data, clock.now)
      return publish('order.received', {
        ...owned,
        subscription_id: data.subscription_id,
        order_id: id,
        revision,
        missing_brl_amount: missing,
        order,
      })
    },
    merchant: (version: number, payoutAddress: string | null, tolerance?: string) =>
      publish('merchant.updated', {
        ...{ merchant_id: merchantId, version, display_name: 'Padaria Estrela', payout_address: payoutAddress },
        ...(tolerance === undefined ? {} : { payment_tolerance: tolerance }),
        ...{ webhook_url: null, sealed_webhook_secret: 'x', sealed_pending_webhook_secret: null },
        pending_webhook_secret_activates_at: null,
      }),
    close: (id: string, how: 'expired' | 'cancelled', eventId?: string) => {
      const { data, owned } = owner(id)
      const order = { id, external_ref: data.external_ref }
      return publish(`order.${how}`, { ...owned, subscription_id: data.subscription_id, order }, eventId)
    },
  }
}

const paidData = (data: Requested, at: Date) => ({
  id: data.order_id,
  subscription_id: data.subscription_id,
  external_ref: data.external_ref,
  brl_amount: data.brl_amount,
  usdc_amount: '9.206643',
  tx_hash: `0x${data.memo}`,
  memo: data.memo,
  paid_at: at.toISOString(),
})

const orderBody = (data: Requested, at: Date): OrderBody => ({
  object: 'order',
  id: data.order_id,
  status: 'pending',
  exception: null,
  subscription_id: data.subscription_id,
  external_ref: data.external_ref,
  description: data.description,
  metadata: data.metadata,
  brl_amount: data.brl_amount,
  usdc_amount: '9.206643',
  platform_fee: '0.092066',
  expected: '9.114577',
  received: '0.000000',
  memo: data.memo,
  tx_hash: null,
  quote: { rate: '5.420000', source: 'static', as_of: at.toISOString(), spread_bps: 0 },
  payment: {
    network: 'anvil',
    chain_id: 31337,
    token_address: ADDRESS,
    router_address: ADDRESS,
    merchant_address: PAYOUT,
    deposit_address: null,
    payment_uri: null,
    checkout_url: `http://127.0.0.1:8080/pay/${data.order_id}`,
  },
  expires_at: new Date(at.getTime() + data.expires_in * 1000).toISOString(),
  paid_at: null,
  cancelled_at: null,
  created_at: at.toISOString(),
})

/** The header that the gateway would send for this merchant. */
export function asMerchant(id = merchantId, payoutAddress: string | null = PAYOUT): { Authorization: string } {
  const terms = { merchant_id: id, version: 1, display_name: 'Padaria Estrela', payout_address: payoutAddress }
  return { Authorization: `Bearer ${signCaller({ kind: 'merchant', terms }, { secrets: [TOKEN_SECRET], audience: 'subscriptions' })}` }
}

export let system: Awaited<ReturnType<typeof startSubscriptions>>

/** The service for all tests of a file. */
export function runSubscriptions(...settings: Parameters<typeof startSubscriptions>): void {
  beforeAll(async () => {
    system = await startSubscriptions(...settings)
  })
  afterAll(() => system?.stop())
}
