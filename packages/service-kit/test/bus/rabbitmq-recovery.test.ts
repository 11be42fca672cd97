import { startTcpProxy, type TcpProxy } from '@ponte/local-servers'
import { type Channel, type ChannelModel, connect } from 'amqplib'
import { type Bus, type Message, MessageTooLargeError, type Part, rabbitmqBus, silentLogger, until, uuidv7 } from '../../src'
import { testBroker } from '../../src/testing'
import { losingConfirms } from './lost-confirms'

const topology = { first: ['first.made', 'both.made'], second: ['second.made', 'both.made'] }
const LARGER_THAN_TAKEN = 129 * 2 ** 20
const message = (type: string): Message => ({ id: uuidv7(), type, body: '{}' })

describe('RabbitMQ behind a connection that is cut', () => {
  const broker = testBroker()
  let proxy: TcpProxy
  let connections = 0
  /** No confirm comes on the first so many connections. */
  let losing = 0
  let url: string
  let side: ChannelModel
  let looking: Channel
  const parts: Part[] = []
  const starting = async <P extends Part>(part: P): Promise<P> => {
    parts.push(part)
    await part.start?.()
    return part
  }
  const openBus = (): Bus => rabbitmqBus({ url, namespace: broker.namespace, topology, logger: silentLogger })
  const ready = (bus: Bus) => until(() => bus.accepts(), 'the bus never became ready')
  /** What the outbox relay does: try until it is confirmed. */
  const publishUntilTaken = async (bus: Bus, each: Message): Promise<void> => {
    for (;;) {
      const taken = await bus.publish(each).then(
        () => true,
        () => false,
      )
      if (taken) return
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }

  beforeAll(async () => {
    proxy = await startTcpProxy(
      () => [broker.url],
      () => {
        const mine = ++connections
        return losingConfirms(() => mine <= losing)
      },
    )
    url = proxy.through(broker.url)
    side = await connect(broker.url)
    looking = await side.createChannel()
  })
  afterEach(async () => {
    for (let part = parts.pop(); part; part = parts.pop()) await part.stop?.()
  })
  afterAll(async () => {
    for (const name of ['first', 'second', 'dead.first', 'dead.second']) await looking.deleteQueue(`${broker.namespace}.${name}`)
    await looking.deleteExchange(`${broker.namespace}.events`)
    await side.close()
    await proxy.stop()
  })

  it('loses nothing while the connection is cut again and again under load', async () => {
    const bus = await starting(openBus())
    const seen = new Set<string>()
    await starting(bus.consume('first', async taken => void seen.add(taken.id)))
    await ready(bus)
    const sent = Array.from({ length: 600 }, () => message('first.made'))
    let published = 0
    const publishing = Promise.all(
      Array.from({ length: 20 }, async (_, lane) => {
        for (const each of sent.filter((_, index) => index % 20 === lane)) {
          await publishUntilTaken(bus, each)
          published++
        }
      }),
    )
    for (const mark of [100, 250, 400]) {
      await until(() => published >= mark, `fewer than ${mark} were published`)
      proxy.cut()
    }
    await publishing
    await until(
      () => seen.size === 600,
      () => `only ${seen.size} of 600`,
    )
  })

  it('loses its connection once by a message that is larger than the broker takes, and refuses it by itself from then on', async () => {
    const bus = await starting(openBus())
    await ready(bus)
    const before = connections
    const large = { ...message('first.made'), body: 'x'.repeat(LARGER_THAN_TAKEN) }
    await expect(bus.publish(large)).rejects.toThrow()
    await until(() => connections > before && bus.accepts(), 'the bus did not connect again')
    const since = connections
    for (let n = 0; n < 3; n++) await expect(bus.publish(large)).rejects.toThrow(MessageTooLargeError)
    await bus.publish(message('first.made'))
    expect(connections).toBe(since)
  })

  it('starts while the broker refuses connections, is not ready, and serves once it answers', async () => {
    proxy.refuse(true)
    const bus = await starting(openBus())
    const seen: string[] = []
    await starting(bus.consume('first', async taken => void seen.push(taken.id)))
    expect(bus.accepts()).toBe(false)
    await expect(bus.publish(message('first.made'))).rejects.toThrow('There is no connection to the broker.')
    proxy.refuse(false)
    await ready(bus)
    const sent = message('first.made')
    await bus.publish(sent)
    await until(() => seen.includes(sent.id), 'the consumer was not attached')
  })

  it('rejects what was published and not confirmed when the connection went', async () => {
    const bus = await starting(openBus())
    await ready(bus)
    const outcomes = Promise.allSettled(Array.from({ length: 50 }, () => bus.publish(message('first.made'))))
    proxy.refuse(true)
    for (const outcome of await outcomes) {
      if (outcome.status === 'rejected') expect(String(outcome.reason)).toMatch(/closed|lost|confirm|ECONN/i)
    }
    await until(() => !bus.accepts(), 'the bus is still ready')
    proxy.refuse(false)
    await ready(bus)
    await bus.publish(message('first.made'))
  })

  it('gives up a connection on which no confirm comes any more, and logs it once', async () => {
    const lines: string[] = []
    const logger = { ...silentLogger, warn: (text: string) => void lines.push(text) }
    const bus = await starting(rabbitmqBus({ url, namespace: broker.namespace, topology, logger, confirmTimeoutMs: 100 }))
    await ready(bus)
    losing = connections
    await expect(bus.publish(message('first.made'))).rejects.toThrow('did not confirm in time')
    const publishing = publishUntilTaken(bus, message('first.made'))
    await until(() => connections > losing, 'no other connection was made', 5_000)
    await publishing
    expect(lines.filter(line => line.includes('leaves messages unanswered'))).toHaveLength(1)
  })

  it('answers a message only on the channel that delivered it: handled during a cut, it comes again', async () => {
    const bus = await starting(openBus())
    await looking.purgeQueue(`${broker.namespace}.first`).catch(() => undefined)
    const tries: string[] = []
    let release: () => void = () => undefined
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    await starting(
      bus.consume('first', async taken => {
        tries.push(taken.id)
        if (tries.length === 1) await held
      }),
    )
    await ready(bus)
    const sent = message('first.made')
    await bus.publish(sent)
    await until(() => tries.length === 1, 'the message never came')
    proxy.cut()
    await until(() => tries.length === 2, 'the message did not come again')
    release()
    const after = message('first.made')
    await publishUntilTaken(bus, after)
    await until(() => tries.includes(after.id), 'the channel did not survive')
    expect(tries.slice(0, 2)).toEqual([sent.id, sent.id])
    expect((await looking.checkQueue(`${broker.namespace}.dead.first`)).messageCount).toBe(0)
  })

  it('declares a queue again that was deleted, and consumes on, each of ten times', async () => {
    const bus = await starting(openBus())
    const seen: string[] = []
    await starting(bus.consume('second', async taken => void seen.push(taken.id)))
    await ready(bus)
    for (let round = 1; round <= 10; round++) {
      await looking.deleteQueue(`${broker.namespace}.second`)
      const sent = message('second.made')
      await publishUntilTaken(bus, sent)
      await until(
        () => seen.includes(sent.id),
        () => `the queue was not consumed again when it was deleted the ${round}. time`,
      )
    }
  })

  it('what a publisher sends while the queue is gone is refused, and comes once its reader has connected', async () => {
    const publisher = await starting(openBus())
    await ready(publisher)
    await looking.deleteQueue(`${broker.namespace}.second`)
    await expect(publisher.publish(message('second.made'))).rejects.toThrow('No queue is bound to second.made.')
    const seen: string[] = []
    const reader = await starting(openBus())
    await starting(reader.consume('second', async taken => void seen.push(taken.id)))
    const sent = message('second.made')
    await publishUntilTaken(publisher, sent)
    await until(() => seen.includes(sent.id), 'the message did not come')
  })

  it('listens again after a cut', async () => {
    const bus = await starting(openBus())
    const received: string[] = []
    await starting(bus.listen(['live.changed'], taken => void received.push(taken.body)))
    await ready(bus)
    proxy.cut()
    await until(() => !bus.accepts(), 'the cut was not noticed')
    await ready(bus)
    // Publishing is ready before the listeners are attached again, and no announcement waits for them.
    await until(() => {
      bus.announce({ id: uuidv7(), type: 'live.changed', body: 'again' })
      return received.includes('again')
    }, 'nothing was received after the cut')
  })
})
