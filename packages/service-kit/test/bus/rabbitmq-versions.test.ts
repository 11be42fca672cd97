import { order, orderStatus } from '@ponte/contracts'
import { type Channel, type ChannelModel, connect } from 'amqplib'
import {
  type Bus,
  consumer,
  type Message,
  type Part,
  type Reactions,
  rabbitmqBus,
  silentLogger,
  type Topology,
  until,
  uuidv7,
} from '../../src'
import { rabbitmqDeadLetters } from '../../src/bus/rabbitmq-dead-letters'
import { declareTopology } from '../../src/bus/rabbitmq-topology'
import { testBroker } from '../../src/testing'

// Two versions on one broker: queues with other limits, types and values that only the newer one knows.

const broker = testBroker()
const topology = { reader: ['order.created', 'order.changed', 'newer.type'] }
const bodyOf = (type: string, data: object): Message => {
  const id = uuidv7()
  return { id, type, body: JSON.stringify({ id, type, occurred_at: new Date().toISOString(), data, trace: null }) }
}
let side: ChannelModel
let looking: Channel
const parts: Part[] = []

beforeAll(async () => {
  side = await connect(broker.url)
  looking = await side.createChannel()
})
afterEach(async () => {
  for (let part = parts.pop(); part; part = parts.pop()) await part.stop?.()
  for (const kind of ['', 'dead.', 'later.']) await looking.deleteQueue(`${broker.namespace}.${kind}reader`)
})
afterAll(async () => {
  await looking.deleteExchange(`${broker.namespace}.events`)
  await side.close()
})
const opened = async (types: Topology = topology): Promise<Bus> => {
  const bus = rabbitmqBus({ ...broker, topology: types, logger: silentLogger, handBackMs: 100 })
  parts.push(bus)
  await bus.start?.()
  await until(() => bus.accepts(), 'the bus never became ready')
  return bus
}
const reading = async (bus: Bus, reactions: Reactions) => {
  const part = consumer(bus, 'reader', reactions)
  parts.push(part)
  await part.start?.()
}
const anOrder = {
  ...{ object: 'order', id: uuidv7(), status: 'pending', exception: null, subscription_id: null, external_ref: null, description: null },
  ...{ metadata: {}, brl_amount: '1.00', usdc_amount: '1.000000', platform_fee: '0.010000', expected: '0.990000', received: '0.000000' },
  ...{ memo: 'ab'.repeat(32), tx_hash: null, paid_at: null, cancelled_at: null },
  quote: { rate: '5.420000', source: 'static', as_of: '2026-01-01T00:00:00.000Z', spread_bps: 0 },
  payment: {
    ...{ network: 'anvil', chain_id: 31337, token_address: `0x${'1'.repeat(40)}`, router_address: `0x${'2'.repeat(40)}` },
    ...{ merchant_address: `0x${'3'.repeat(40)}`, deposit_address: null, payment_uri: null, checkout_url: 'http://127.0.0.1/pay/1' },
  },
  ...{ expires_at: '2026-01-01T01:00:00.000Z', created_at: '2026-01-01T00:00:00.000Z' },
}
const created = (status: string) =>
  bodyOf('order.created', { merchant_id: uuidv7(), merchant_version: 1, order: { ...order.parse(anOrder), status } })

it('a queue that was declared with another delivery limit is used as it is: no version waits for ever for its own', async () => {
  const queue = `${broker.namespace}.reader`
  const settings = { 'x-queue-type': 'quorum', 'x-delivery-limit': 7 }
  await looking.assertQueue(queue, { durable: true, arguments: settings })
  const bus = await opened()
  const seen: string[] = []
  await reading(bus, { 'order.changed': async ({ id }) => void seen.push(id) })
  const sent = bodyOf('order.changed', { merchant_id: uuidv7(), order_id: uuidv7() })
  await bus.publish(sent)
  await until(() => seen.length === 1, 'the message never came')
  // The broker refuses the same declaration with another limit, so this one is still in force.
  await expect(looking.assertQueue(queue, { durable: true, arguments: settings })).resolves.toMatchObject({ queue })
})

describe('dead letters', () => {
  const dead = `${broker.namespace}.dead.reader`
  const waiting = async () => (await looking.checkQueue(dead)).messageCount
  /** Parks so many letters, and opens the bus' view of them. */
  const parked = async (count: number) => {
    const bus = await opened()
    const letters = Array.from({ length: count }, () => bodyOf('order.changed', {}))
    for (const { id, type, body } of letters) looking.sendToQueue(dead, Buffer.from(body), { persistent: true, messageId: id, type })
    await until(async () => (await waiting()) === count, 'they are not there')
    const view = bus.deadLetters('reader')
    await until(() => view.count().then(Boolean, () => false), 'there is no connection')
    return { letters, view }
  }

  it('stay as they are, in their order and without a copy, however often they are listed', async () => {
    const { letters, view } = await parked(60)
    for (let look = 1; look <= 25; look++) {
      expect(await view.list(3)).toEqual(letters.slice(0, 3))
      expect(await view.list(100)).toEqual(letters)
    }
    await until(async () => (await waiting()) === 60, 'one was lost or copied')
  })

  it('that were not chosen stay in their order too', async () => {
    const { letters, view } = await parked(6)
    const [first, second, third, fourth, fifth, sixth] = letters
    expect(await view.discard([second?.id ?? ''])).toBe(1)
    expect(await view.list(10)).toEqual([first, third, fourth, fifth, sixth])
    expect(await view.retry([fifth?.id ?? ''])).toBe(1)
    expect(await view.list(10)).toEqual([first, third, fourth, sixth])
    expect((await looking.checkQueue(`${broker.namespace}.reader`)).messageCount).toBe(1)
  })

  it('are all there, and none twice, after a process died while it listed them', async () => {
    const { letters, view } = await parked(400)
    const dying = await connect(broker.url)
    dying.on('error', () => undefined)
    // Answered by an error when the connection's heartbeat stays away, long after this test.
    const looked = rabbitmqDeadLetters({ queue: `${broker.namespace}.reader`, dead, model: () => dying }).list(400)
    looked.catch(() => undefined)
    await until(async () => (await waiting()) < 300, 'it holds none')
    Reflect.get(dying.connection, 'stream').destroy()
    await until(async () => (await waiting()) === 400, 'they did not come back')
    const byId = (a: Message, b: Message) => (a.id < b.id ? -1 : 1)
    expect((await view.list(400)).toSorted(byId)).toEqual(letters.toSorted(byId))
  })

  it('are put into the queue anew, in their order, before the broker would drop them for having been returned too often', async () => {
    const { letters } = await parked(3)
    const view = rabbitmqDeadLetters({ queue: `${broker.namespace}.reader`, dead, model: () => side, returnsMax: 2 })
    for (let look = 1; look <= 7; look++) expect(await view.list(10)).toEqual(letters)
    const got = await looking.get(dead)
    expect(got && Number(got.properties.headers?.['x-delivery-count'] ?? 0)).toBeLessThanOrEqual(2)
    if (got) looking.nack(got)
    await until(async () => (await waiting()) === 3, 'one was lost or copied')
  })
})

it('a message that ends every process that takes it is parked by the broker after 20 deliveries', async () => {
  const bus = await opened()
  await bus.publish(bodyOf('order.changed', {}))
  for (let taken = 0; taken <= 20; taken++) {
    const dying = await connect(broker.url)
    dying.on('error', () => undefined)
    const channel = await dying.createChannel()
    await new Promise(resolve => void channel.consume(`${broker.namespace}.reader`, resolve))
    Reflect.get(dying.connection, 'stream').destroy()
  }
  const parked = async () => (await looking.checkQueue(`${broker.namespace}.dead.reader`)).messageCount === 1
  await until(parked, 'it was not parked')
})

it('an order status of a newer version keeps no order from being watched', async () => {
  const newer = 'refunding'
  expect(orderStatus.safeParse(newer).success).toBe(false)
  const bus = await opened()
  const watched: string[] = []
  await reading(bus, { 'order.created': async ({ data }) => void watched.push(`${data.order.memo} ${data.order.status}`) })
  await bus.publish(created(newer))
  await until(() => watched.length === 1, 'the order was not read')
  expect(watched).toEqual([`${anOrder.memo} ${newer}`])
})

it('a type that a version does not know waits for one that does, beside the messages that are known, and none is parked', async () => {
  const bus = await opened()
  const seen: string[] = []
  await reading(bus, { 'order.changed': async ({ id }) => void seen.push(id) })
  const unknown = Array.from({ length: 200 }, () => bodyOf('newer.type', {}))
  const known = Array.from({ length: 20 }, () => bodyOf('order.changed', { merchant_id: uuidv7(), order_id: uuidv7() }))
  await Promise.all([...unknown, ...known].map(each => bus.publish(each)))
  await until(() => seen.length === 20, 'unknown messages hold up those that are known')
  expect(await bus.deadLetters('reader').count()).toBe(0)
  // The newer version takes the place of the older one.
  for (let part = parts.pop(); part; part = parts.pop()) await part.stop?.()
  const newer = await opened()
  const handled = new Set<string>()
  const part = newer.consume('reader', async ({ id }) => void handled.add(id))
  parts.push(part)
  await part.start?.()
  await until(() => unknown.every(({ id }) => handled.has(id)), 'a message was lost', 20_000)
  expect(await newer.deadLetters('reader').count()).toBe(0)
})

it('a type that a newer version begins to read comes from publishers that know of no such reader', async () => {
  const publisher = await opened({ other: ['order.cancelled'], reader: ['order.created'] })
  const newer = await opened({ reader: ['order.created', 'order.cancelled'] })
  const seen: string[] = []
  await reading(newer, { 'order.cancelled': async ({ id }) => void seen.push(id) })
  const data = { merchant_id: uuidv7(), merchant_version: 1, subscription_id: null, order: { id: uuidv7(), external_ref: null } }
  const message = bodyOf('order.cancelled', data)
  await publisher.publish(message)
  await until(() => seen.includes(message.id), 'the newer reader did not get it')
  for (const kind of ['', 'dead.', 'later.']) await looking.deleteQueue(`${broker.namespace}.${kind}other`)
})

it('what no queue is bound to is refused, so that its outbox keeps it', async () => {
  const bus = await opened()
  await expect(bus.publish(bodyOf('no.reader', {}))).rejects.toThrow('No queue is bound to no.reader.')
})

it('is given a deadline for the bindings of each queue, and none for those of all', async () => {
  const steps: string[] = []
  const step = <T>(name: string, work: Promise<T>): Promise<T> => {
    steps.push(name)
    return work
  }
  await declareTopology(side, broker.namespace, { reader: ['order.created', 'order.changed'], other: ['order.created'] }, step)
  for (const kind of ['', 'dead.', 'later.']) await looking.deleteQueue(`${broker.namespace}.${kind}other`)
  const bound = steps.filter(name => name.startsWith('bind'))
  expect(bound).toEqual([`bind the queue ${broker.namespace}.reader`, `bind the queue ${broker.namespace}.other`])
})
