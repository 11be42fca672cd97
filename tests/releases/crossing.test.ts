import { type EventType, eventTable, readEvent, topology } from '@ponte/contracts'
import { type Bus, consumer, type Part, type Reactions, rabbitmqBus, silentLogger, type Topology, until, uuidv7 } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { type Channel, type ChannelModel, connect } from 'amqplib'
import fc from 'fast-check'
import { commit, events, queues, schemas } from './before.json'
import { eventsOf } from './event-arbitrary'

// The release before and this one on one broker, both ways: its events, schemas and queues were recorded from its own code (npm run record-release).

const broker = testBroker()
const SAMPLES = 20
const SEED = 21
/** Of queues that are there: a broker refuses others. */
const SETTINGS = {
  ...{ 'x-queue-type': 'quorum', 'x-delivery-limit': 20, 'x-dead-letter-exchange': '' },
  ...{ 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' },
}
/** Of a release to come. */
const NEW_QUEUE = 'chain-listener.99'
type Queue = keyof typeof queues
const names = Object.keys(queues) as Queue[]
const typesOf = (queue: Queue): readonly string[] => queues[queue]
// Sampled ids come up more than once.
const recorded = events.map(event => ({ ...event, id: uuidv7() }))

/** Events that this release may publish, of the types in the queues of the release before. */
const published = [...new Set(names.flatMap(typesOf))]
  .flatMap(type => fc.sample(eventsOf(type as EventType), { seed: SEED, numRuns: SAMPLES }))
  .map(event => ({ ...event, id: uuidv7() }))

const parts: Part[] = []
let side: ChannelModel
let before: Channel
beforeAll(async () => {
  side = await connect(broker.url)
  before = await side.createChannel()
  await declareAsBefore()
})
afterAll(async () => {
  for (let part = parts.pop(); part; part = parts.pop()) await part.stop?.()
  for (const namespace of [broker.namespace, `${broker.namespace}.new`]) {
    for (const name of [...Object.keys(topology), NEW_QUEUE])
      for (const kind of ['', 'dead.', 'later.']) await before.deleteQueue(`${namespace}.${kind}${name}`)
    await before.deleteExchange(`${namespace}.events`)
  }
  await side.close()
})

/** Declared by a process of the release before when it connects; the broker refuses a queue that is there with other arguments. */
async function declareAsBefore(namespace = broker.namespace): Promise<void> {
  await before.assertExchange(`${namespace}.events`, 'topic', { durable: true })
  for (const name of names) {
    const queue = `${namespace}.${name}`
    const dead = `${namespace}.dead.${name}`
    await before.assertQueue(dead, { durable: true, arguments: { 'x-queue-type': 'quorum' } })
    await before.assertQueue(queue, { durable: true, arguments: { ...SETTINGS, 'x-dead-letter-routing-key': dead } })
    for (const type of typesOf(name)) await before.bindQueue(queue, `${namespace}.events`, type)
  }
}
async function openBus(namespace = broker.namespace, more: Topology = {}): Promise<Bus> {
  const bus = rabbitmqBus({ ...broker, namespace, topology: { ...topology, ...more }, logger: silentLogger })
  parts.push(bus)
  await bus.start?.()
  await until(() => bus.accepts(), 'the bus never became ready')
  return bus
}

it(`a queue of ${commit} has the same types: none is lost, and none comes that its readers do not know`, () => {
  for (const name of names) expect([name, [...topology[name]].sort()]).toEqual([name, [...typesOf(name)].sort()])
})

it('what the release before publishes is read by this one, and nothing of it is parked', async () => {
  const unread = events.flatMap(event => {
    try {
      const read = readEvent(event)
      return 'unknown' in read ? [read.unknown] : []
    } catch (error) {
      return [`${event.type}: ${error}`]
    }
  })
  expect(unread).toEqual([])

  const bus = await openBus()
  const handled = new Map<string, string[]>()
  for (const name of names) {
    const seen: string[] = []
    const reactions: Reactions = Object.fromEntries(
      Object.keys(eventTable).map(type => [type, async ({ id }: { id: string }) => void seen.push(id)]),
    )
    handled.set(name, seen)
    const part = consumer(bus, name, reactions)
    parts.push(part)
    await part.start?.()
  }
  for (const { id, type, ...rest } of recorded) {
    const body = Buffer.from(JSON.stringify({ id, type, ...rest }))
    before.publish(`${broker.namespace}.events`, type, body, { persistent: true, messageId: id, contentType: 'application/json' })
  }
  for (const name of names) {
    const wanted = recorded.filter(({ type }) => typesOf(name).includes(type)).map(({ id }) => id)
    await until(() => wanted.every(id => handled.get(name)?.includes(id)), `${name} did not read all that the release before published`)
    expect(handled.get(name)?.length).toBe(wanted.length)
    expect(await bus.deadLetters(name).count()).toBe(0)
  }
  for (let part = parts.pop(); part; part = parts.pop()) await part.stop?.()
})

it('a type that a release begins to read comes from publishers of the release before, with no command run', async () => {
  const bus = await openBus(broker.namespace, { [NEW_QUEUE]: ['order.cancelled'] })
  const seen: string[] = []
  const part = consumer(bus, NEW_QUEUE, { 'order.cancelled': async ({ id }) => void seen.push(id) })
  parts.push(part)
  await part.start?.()
  const cancelled = recorded.filter(({ type }) => type === 'order.cancelled').map(event => ({ ...event, id: uuidv7() }))
  expect(cancelled).not.toEqual([])
  for (const event of cancelled) {
    const properties = { persistent: true, messageId: event.id, contentType: 'application/json' }
    before.publish(`${broker.namespace}.events`, event.type, Buffer.from(JSON.stringify(event)), properties)
  }
  await until(() => cancelled.every(({ id }) => seen.includes(id)), 'its reader did not get what the release before published')
  for (let part = parts.pop(); part; part = parts.pop()) await part.stop?.()
})

it('what this release publishes is read by the release before: its schemas take all that comes to its queues', async () => {
  const bus = await openBus()
  const ajv = new Ajv2020({ strict: false })
  addFormats(ajv)
  const reads = new Map<string, ValidateFunction>(Object.entries(schemas).map(([type, schema]) => [type, ajv.compile(schema)]))
  const came = new Map<string, string[]>(names.map(name => [name, []]))
  const refused: string[] = []
  for (const name of names)
    await before.consume(`${broker.namespace}.${name}`, delivery => {
      if (!delivery) return
      const { id, type, data } = JSON.parse(delivery.content.toString('utf8'))
      const read = reads.get(type)
      if (!typesOf(name).includes(type) || !read?.(data)) refused.push(`${name} ${type} ${ajv.errorsText(read?.errors)}`)
      came.get(name)?.push(id)
      before.ack(delivery)
    })
  await Promise.all(published.map(event => bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })))
  for (const name of names) {
    const now: readonly string[] = topology[name]
    const wanted = published.filter(({ type }) => typesOf(name).includes(type) && now.includes(type)).map(({ id }) => id)
    await until(() => wanted.every(id => came.get(name)?.includes(id)), `${name} did not get all that this release published`)
  }
  expect([...new Set(refused)]).toEqual([])
})

it('on a new broker this release may come first: the release before declares what it finds', async () => {
  const namespace = `${broker.namespace}.new`
  await openBus(namespace)
  await expect(declareAsBefore(namespace)).resolves.toBeUndefined()
})
