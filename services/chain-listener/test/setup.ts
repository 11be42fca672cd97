import { type Event, parseEvent, queuesReadBy, topology } from '@ponte/contracts'
import { type Bus, type Message, memoryBus, openDatabase, type Part, readConfig, silentLogger, until } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { chainListenerConfig, chainListenerMigrations, createChainListener, type Overrides } from '../src'

export const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

export type PaymentEvent = Extract<Event, { type: 'payment.detected' | 'payment.confirmed' | 'payment.orphaned' }>
export type Listening = Awaited<ReturnType<typeof startListener>>

export type NumberedEvent = Extract<Event, { type: `payment.${string}` | `sweep.${string}` | `deposit.${string}` }>

export const isPayment = (event: Event): event is PaymentEvent => event.type.startsWith('payment.')
const isNumbered = (event: Event): event is NumberedEvent => /^(payment|sweep|deposit)\./.test(event.type)

/** Whoever listens: keeps every event once, by its id, as an inbox would. */
export function collector(
  bus: Bus,
): Part & { events: Event[]; payments(): PaymentEvent[]; numbered(): NumberedEvent[]; types(): string[] } {
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
  const numbered = () => events.filter(isNumbered).toSorted((a, b) => a.data.sequence - b.data.sequence)
  const payments = () => numbered().filter(isPayment)
  return {
    name: 'the reader',
    start: both('start'),
    stop: both('stop'),
    events,
    payments,
    numbered,
    types: () => payments().map(event => event.type),
  }
}

/** What was published of the payments with a memo, without what is chance: whether one was seen before it was deep enough to be confirmed. */
export function statesOf({ published }: Listening, memo: string): string[] {
  const all = published.payments().filter(({ data }) => data.memo === memo)
  const passing = ({ type, data }: PaymentEvent, index: number) =>
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
