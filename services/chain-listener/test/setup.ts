import { type BlockPayment, type BlockSweep, type Event, parseEvent, paymentId, queuesReadBy, topology } from '@ponte/contracts'
import { type Bus, type Message, memoryBus, openDatabase, type Part, readConfig, silentLogger, until } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { chainListenerConfig, chainListenerMigrations, createChainListener, type Overrides } from '../src'

export const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

export type Listening = Awaited<ReturnType<typeof startListener>>
export type BlocksEvent = Extract<Event, { type: 'chain.blocks' }>

/** Facts of `chain.blocks`, in the order of versions. */
export type Fact =
  | { type: `payment.${'detected' | 'confirmed' | 'orphaned'}`; data: BlockPayment & { payment_id: string } }
  | { type: 'sweep.confirmed' | 'sweep.orphaned'; data: BlockSweep & { payment_id: string } }
  | { type: 'watched'; data: { order_id: string; through: number } }
export type PaymentFact = Extract<Fact, { type: `payment.${string}` }>
export type Advanced = NonNullable<BlocksEvent['data']['advanced']>

const isBlocks = (event: Event): event is BlocksEvent => event.type === 'chain.blocks'
const isPaymentFact = (fact: Fact): fact is PaymentFact => fact.type.startsWith('payment.')

/** Reads statements as orders does: the newest of each payment holds, and what stands in a block that is gone is orphaned. */
export function factsOf(events: readonly Event[]): Fact[] {
  const facts: Fact[] = []
  const last = new Map<string, Exclude<Fact, { type: 'watched' }>>()
  const learn = (fact: Exclude<Fact, { type: 'watched' }>) => {
    if (last.get(fact.data.payment_id)?.type === fact.type) return
    last.set(fact.data.payment_id, fact)
    facts.push(fact)
  }
  const inOrder = events
    .filter(isBlocks)
    .toSorted((a, b) =>
      a.data.generation < b.data.generation ? -1 : a.data.generation > b.data.generation ? 1 : a.data.version - b.data.version,
    )
  for (const { data } of inOrder) {
    for (const fact of [...last.values()]) {
      if (!data.gone.includes(fact.data.block_hash)) continue
      if (isPaymentFact(fact)) learn({ type: 'payment.orphaned', data: fact.data })
      else learn({ type: 'sweep.orphaned', data: fact.data })
    }
    for (const payment of data.payments) {
      const payment_id = paymentId(data.chain_id, payment)
      learn({ type: payment.is_confirmed ? 'payment.confirmed' : 'payment.detected', data: { ...payment, payment_id } })
    }
    for (const sweep of data.sweeps) learn({ type: 'sweep.confirmed', data: { ...sweep, payment_id: paymentId(data.chain_id, sweep) } })
    for (const watched of data.watched) facts.push({ type: 'watched', data: watched })
  }
  return facts
}

/** Keeps every event once, by its id, as an inbox would. */
export function collector(bus: Bus): Part & {
  events: Event[]
  blocks(): BlocksEvent['data'][]
  facts(): Fact[]
  payments(): PaymentFact[]
  advanced(): Advanced[]
  types(): string[]
} {
  const events: Event[] = []
  const ids = new Set<string>()
  const take = async (message: Message) => {
    const event = parseEvent(JSON.parse(message.body))
    if (ids.has(event.id)) return
    ids.add(event.id)
    events.push(event)
  }
  const queues = queuesReadBy('orders').map(queue => bus.consume(queue, take))
  const both = (step: 'start' | 'stop') => async () => {
    for (const queue of queues) await queue[step]?.()
  }
  const facts = () => factsOf(events)
  const payments = () => facts().filter(isPaymentFact)
  const blocks = () => events.filter(isBlocks).map(({ data }) => data)
  return {
    name: 'the reader',
    start: both('start'),
    stop: both('stop'),
    events,
    blocks,
    facts,
    payments,
    advanced: () => blocks().flatMap(({ advanced }) => advanced ?? []),
    types: () => payments().map(event => event.type),
  }
}

/** Statements about a memo's payments, without chance: whether one was seen before it was deep enough to be confirmed. */
export function statesOf({ published }: Listening, memo: string): string[] {
  const all = published.payments().filter(({ data }) => data.memo === memo)
  const passing = ({ type, data }: PaymentFact, index: number) =>
    type === 'payment.detected' && all.slice(index + 1).find(next => next.data.payment_id === data.payment_id)?.type === 'payment.confirmed'
  return all.filter((event, index) => !passing(event, index)).map(({ type }) => type.replace('payment.', ''))
}

export interface ListenerSettings {
  rpcUrls: string | readonly string[]
  router: string
  env?: Record<string, string>
  given?: Overrides & { published?: ReturnType<typeof collector> }
  databaseUrl?: string
}

/** The real service, on a database of its own unless one is given. */
export async function startListener({ rpcUrls, router, env = {}, given = {}, databaseUrl }: ListenerSettings) {
  const own = databaseUrl === undefined ? await testDatabase(chainListenerMigrations) : undefined
  const url = databaseUrl ?? own?.url ?? ''
  const bus = given.bus ?? memoryBus({ topology, logger: silentLogger })
  // A collector that is given outlives this listener, as the services that read its events do.
  const { published = collector(bus), ...rest } = given
  await published.start?.()
  const config = readConfig(chainListenerConfig, {
    DATABASE_URL: url,
    DATABASE_POOL: '6',
    AMQP_URL: 'amqp://unused',
    HOST: '127.0.0.1',
    OPS_PORT: '0',
    CHAIN_ID: '31337',
    RPC_URLS: typeof rpcUrls === 'string' ? rpcUrls : rpcUrls.join(','),
    ROUTER_ADDRESSES: router,
    TOKEN_ADDRESS: TOKEN,
    // Most tests watch a contract that emits whatever it is asked to.
    DEVELOPMENT_CHAIN: 'true',
    PONTE_MODE: 'development',
    VERIFY_DEPLOYMENT: 'false',
    CONFIRMATIONS: '1',
    // Mining many blocks at once runs ahead of the clock, a second for each.
    BLOCK_TIME_AHEAD_MAX_S: '31536000',
    POLL_MS: '50',
    ADVANCE_EVERY_MS: '20',
    RPC_TIMEOUT_MS: '1500',
    LEADER_SILENCE_MS: '4000',
    ...env,
  })
  const listener = createChainListener(config, { logger: silentLogger, ...rest, bus })
  await listener.start()
  const sql = openDatabase({ url, poolSize: 2 })
  return {
    listener,
    bus,
    published,
    sql,
    databaseUrl: url,
    // Under load a block a second is more than the scan and the relayer settle in.
    idle: () => listener.idle(45_000),
    payments: async () => (await sql.query('SELECT * FROM payments ORDER BY block_number, log_index')).rows,
    cursor: async () => (await sql.query('SELECT * FROM chain_cursor')).rows[0],
    fetch: (path: string) => fetch(`http://127.0.0.1:${listener.ops.port()}${path}`),
    until,
    async stop() {
      await listener.stop()
      if (!given.published) await published.stop?.()
      await sql.stop?.()
      await own?.drop()
    },
  }
}
