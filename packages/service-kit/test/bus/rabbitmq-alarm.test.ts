import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Rabbitmq, startRabbitmq } from '@ponte/local-servers'
import { type Bus, type Message, type Part, rabbitmqBus, silentLogger, UnknownMessageError, until, uuidv7 } from '../../src'

const topology = { first: ['first.made'], second: ['second.made'] }
const message = (type: string): Message => ({ id: uuidv7(), type, body: 'x'.repeat(1_000) })
const PREFETCH = 4
/** More than a consumer holds, so that draining needs its acknowledgements. */
const BACKLOG = 8 * PREFETCH * 4

let folder: string
let broker: Rabbitmq
const parts: Part[] = []
const starting = async <P extends Part>(part: P): Promise<P> => {
  parts.push(part)
  await part.start?.()
  return part
}
const openBus = async (namespace: string, lines: string[] = []): Promise<Bus> => {
  const warn = (text: string, fields?: object) => void lines.push(`${text} ${Reflect.get(Object(fields), 'step') ?? ''}`.trim())
  const bus = await starting(rabbitmqBus({ url: broker.url, namespace, topology, logger: { ...silentLogger, warn }, stepTimeoutMs: 2_000 }))
  await until(() => bus.accepts(), 'the broker takes no messages', 60_000)
  return bus
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-alarm-'))
  broker = await startRabbitmq(folder)
})
afterEach(async () => {
  for (let part = parts.pop(); part; part = parts.pop()) await part.stop?.()
})
afterAll(async () => {
  await broker.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('a broker under alarm', () => {
  it.each([
    ['memory', ['set_vm_memory_high_watermark', '0.000001'], ['set_vm_memory_high_watermark', '0.4']],
    ['disk', ['set_disk_free_limit', '100000GB'], ['set_disk_free_limit', '1MB']],
  ])('of its %s drains a backlog above the prefetch: acknowledgements have a connection of their own', async (name, raise, lower) => {
    const bus = await openBus(`alarm-${name}`)
    await Promise.all(Array.from({ length: BACKLOG }, () => bus.publish(message('first.made'))))
    await broker.control(...raise)
    try {
      // The broker blocks a connection when it publishes.
      await until(async () => {
        if (bus.accepts()) await Promise.race([bus.publish(message('second.made')).catch(() => undefined), new Promise(setImmediate)])
        return !bus.accepts()
      }, 'the alarm was not noticed')
      const seen = new Set<string>()
      const consumer = await starting(bus.consume('first', async taken => void seen.add(taken.id), { prefetch: PREFETCH }))
      await until(
        () => seen.size === BACKLOG,
        () => `${seen.size} of ${BACKLOG} were handled`,
      )
      await until(async () => (await consumer.busy?.()) === false, 'messages are left')
    } finally {
      await broker.control(...lower)
    }
    await until(() => bus.accepts(), 'the end of the alarm was not noticed')
    await bus.publish(message('first.made'))
  })
})

describe('a queue without a leader', () => {
  const member = (namespace: string, verb: string) =>
    broker.control('eval', `ra:${verb}(quorum_queues, {list_to_atom("%2F_${namespace}.first"), node()}).`)

  it('holds up neither publishing to others nor the log: the step has a deadline, and the consumer attaches when the leader is back', async () => {
    const namespace = 'leaderless'
    const first = await openBus(namespace)
    await first.publish(message('first.made'))
    for (let part = parts.pop(); part; part = parts.pop()) await part.stop?.()
    await member(namespace, 'stop_server')
    const lines: string[] = []
    const seen: string[] = []
    const bus = await openBus(namespace, lines)
    await starting(bus.consume('first', async taken => void seen.push(taken.id)))
    await bus.publish(message('second.made'))
    await until(
      () => lines.some(line => line.includes(`consume ${namespace}.first`)),
      () => `no deadline was logged: ${lines.join('; ')}`,
      30_000,
    )
    await bus.publish(message('second.made'))
    expect(seen).toEqual([])
    await member(namespace, 'restart_server')
    await until(() => seen.length === 1, 'the consumer was not attached', 60_000)
  })

  it('holds up nothing else while messages cannot be handed back', async () => {
    const lines: string[] = []
    const bus = await openBus('hung', lines)
    const hung = '{list_to_atom("%2F_hung.later.first"), node()}'
    await broker.control('eval', `sys:suspend(${hung}).`)
    try {
      await starting(bus.consume('first', () => Promise.reject(new UnknownMessageError('Unknown here.'))))
      await bus.publish(message('first.made'))
      await until(() => lines.some(line => line.includes('handed back')), 'the message was not handed back')
      await bus.publish(message('second.made'))
    } finally {
      await broker.control('eval', `sys:resume(${hung}).`)
    }
  })
})
