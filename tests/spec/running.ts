import { createHash, randomBytes } from 'node:crypto'
import { type AttentionItemBody, type ChainBlocks, type OrderBody, queuesReadBy, topology } from '@ponte/contracts'
import { createOrders, ordersConfig, ordersMigrations } from '@ponte/orders'
import { type Bus, memoryBus, openDatabase, rabbitmqBus, readConfig, signCaller, silentLogger, until, uuidv7 } from '@ponte/service-kit'
import { testBroker, testDatabase } from '@ponte/service-kit/testing'
import { differenceIn, EXPIRES, type Replica } from './replay'
import { type OrderOutcome, type Place, type Trace, txHashOf } from './traces'

export type BusKind = 'memory' | 'rabbitmq'

const TOKEN_SECRET = 'a-test-secret-of-at-least-32-characters'
const CHAIN_ID = 31_337
const ROUTER = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const SECOND = {
  ...{ network: 'polygon', chain_id: 137, token_address: `0x${'3c'.repeat(20)}`, router_address: ROUTER, deposit_factory: ROUTER },
  confirmations: 5,
}
const PAYOUT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const terms = { merchant_id: '01981f3c-0000-7000-8000-000000000001', version: 1, display_name: 'Padaria', payout_address: PAYOUT }
const authorization = () => `Bearer ${signCaller({ kind: 'merchant', terms }, { secrets: [TOKEN_SECRET], audience: 'orders' })}`

/** A bus on which the queues that this service does not read are read, and no more. */
export async function startBus(kind: BusKind, reader: 'orders' | 'subscriptions') {
  const broker = testBroker()
  const bus: Bus =
    kind === 'memory'
      ? memoryBus({ topology, logger: silentLogger })
      : rabbitmqBus({ url: broker.url, namespace: broker.namespace, topology, logger: silentLogger })
  await bus.start?.()
  await until(() => bus.accepts(), 'there is no broker')
  const mine = queuesReadBy(reader)
  const others = Object.keys(topology).flatMap(queue => (mine.includes(queue) ? [] : [bus.consume(queue, async () => undefined)]))
  for (const other of others) await other.start?.()
  return {
    bus,
    async stop() {
      for (const other of others) await other.stop?.()
      await bus.stop?.()
    },
  }
}

/**
 * The running service of orders on a database and a bus of its own. One run after the other is replayed into it, each with an order and with generations of
 * the listener's history that are newer than those before.
 */
export async function startRunning(kind: BusKind) {
  const database = await testDatabase(ordersMigrations)
  const { bus, stop } = await startBus(kind, 'orders')
  const config = readConfig(ordersConfig, {
    ...{ DATABASE_URL: database.url, AMQP_URL: 'amqp://unused', HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0' },
    ...{ GATEWAY_TOKEN_SECRET: TOKEN_SECRET, PUBLIC_URL: 'http://127.0.0.1:8080', NETWORK: 'anvil', CHAIN_ID: String(CHAIN_ID) },
    ...{
      DEVELOPMENT_CHAIN: 'true',
      PONTE_MODE: 'development',
      TOKEN_ADDRESS: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
      PLATFORM_FEE_BPS: '100',
    },
    DEPOSIT_FACTORY: ROUTER,
    OTHER_NETWORKS: JSON.stringify([SECOND]),
    ...{ ROUTER_ADDRESS: ROUTER, RATE_STATIC: '5', BLOCK_TIME_AHEAD_MAX_S: '31536000' },
    EXPIRY_SWEEP_MS: '3600000',
  })
  const service = createOrders(config, { bus, logger: silentLogger })
  await service.start()
  const sql = openDatabase({ url: database.url, poolSize: 2 })
  const url = `http://127.0.0.1:${service.http.port()}/api/v1`
  const ask = async <T = OrderBody>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { Authorization: authorization(), 'Content-Type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as T
  }

  // What it has published by then is on its way, which is waited for by nothing that is compared.
  const deciding = service.parts.filter(({ name }) => name === 'expiry' || name === 'orders events')
  const isDeciding = async () => (await Promise.all(deciding.map(part => part.busy?.()))).some(Boolean)

  /** A new order, which a run is replayed into. */
  async function replica({ second }: Trace): Promise<{ replica: Replica; place: Place }> {
    // What was published of the run before: its notices are counted by reading all that is there.
    await sql.query('DELETE FROM outbox WHERE sent_at IS NOT NULL')
    // A network that is not followed is one that says nothing.
    const narrowed = second === 'offered' ? {} : { chain_ids: [CHAIN_ID] }
    const order = await ask('POST', '/orders', { brl_amount: '5.00', expires_in: 600, ...narrowed })
    const salt = randomBytes(8).toString('hex')
    const generations = new Map<number, string>()
    const ends = Date.parse(order.expires_at)
    const { payment } = order
    const place: Place = {
      ...{ orderId: order.id, memo: order.memo },
      chains: [payment, SECOND].map(({ chain_id, router_address, token_address }) => ({
        ...{
          chainId: chain_id,
          router: router_address.toLowerCase(),
          token: token_address.toLowerCase(),
          deposit: payment.deposit_address ?? PAYOUT.toLowerCase(),
        },
      })),
      merchant: payment.merchant_address.toLowerCase(),
      time: second => new Date(ends + (second - EXPIRES) * 1_000),
      generation: number => {
        // Made in their order, which is the order of their ids.
        for (let each = 1; each <= number; each++) if (!generations.has(each)) generations.set(each, uuidv7())
        return generations.get(number) ?? ''
      },
      hash: name => `0x${createHash('sha256').update(`${salt} ${name}`).digest('hex')}`,
    }
    let last: ChainBlocks | undefined
    const read = async (blocks: ChainBlocks) => {
      last = blocks
      const id = uuidv7()
      const body = JSON.stringify({ id, type: 'chain.blocks', occurred_at: new Date().toISOString(), data: blocks, trace: null })
      // As the outbox relay does: until it is confirmed. A connection may end while the runs of a batch are drawn.
      const isTaken = () =>
        bus.publish({ id, type: 'chain.blocks', body }).then(
          () => true,
          () => false,
        )
      await until(isTaken, 'the bus takes nothing')
      const isRead = async () => (await sql.query('SELECT 1 FROM inbox WHERE event_id = $1', [id])).rowCount === 1
      await until(isRead, 'orders does not read what was published')
      await until(async () => !(await isDeciding()) && !(await isDeciding()), 'orders does not come to rest')
    }
    return {
      place,
      replica: {
        read,
        async ask(what) {
          if (typeof what === 'string') {
            await ask('POST', `/orders/${order.id}/${what}`, what === 'accept' ? { reason: 'an exchange kept it' } : undefined)
            return
          }
          const { data } = await ask<{ data: AttentionItemBody[] }>('GET', '/attention?reason=unmatched&limit=100')
          const item = data.find(each => each.payment?.tx_hash === txHashOf(place, what.attach))
          await ask('POST', `/attention/${item?.id}/attach`, { order_id: order.id, reason: 'the payer chose it' })
          // The expiry looks when something was read.
          if (last) await read(last)
        },
        outcome: () => outcomeOf(order.id),
      },
    }
  }

  async function outcomeOf(id: string): Promise<OrderOutcome> {
    const { status, exception } = await ask('GET', `/orders/${id}`)
    const { rows } = await sql.query<{ type: string; count: number }>(
      "SELECT type, count(*)::int AS count FROM outbox WHERE body::jsonb->'data'->'order'->>'id' = $1 GROUP BY type",
      [id],
    )
    const counts = new Map(rows.map(row => [row.type, row.count]))
    const count = (type: string) => counts.get(type) ?? 0
    return {
      status,
      exception: exception ?? null,
      paid: count('order.paid'),
      expired: count('order.expired'),
      cancelled: count('order.cancelled'),
      underpaid: count('order.underpaid'),
    }
  }

  return {
    async difference(trace: Trace): Promise<string | null> {
      const { replica: order, place } = await replica(trace)
      return differenceIn(trace, place, order)
    },
    async stop() {
      await service.stop()
      await stop()
      await sql.stop?.()
      await database.drop()
    },
  }
}
