import { type Message, memoryBus, RetryableError, silentLogger, until } from '../../src'
import { busContract, message } from './bus-contract'

busContract('the memory bus', async topology => {
  const dead: { queue: string; message: Message }[] = []
  const bus = memoryBus({
    topology,
    logger: silentLogger,
    handBackMs: 200,
    onDeadLetter: (queue, parked) => void dead.push({ queue, message: parked }),
  })
  return {
    bus,
    queued: async () => undefined,
    deadLetters: async queue => dead.filter(each => each.queue === queue).map(each => each.message),
    stop: async () => undefined,
  }
})

describe('the memory bus, which keeps nothing on disk', () => {
  const open = () => memoryBus({ topology: { only: ['thing.made'] }, logger: silentLogger })

  it('resolves `publish` only when the handler has committed, so that a dying process leaves the message unsent in the outbox', async () => {
    const bus = open()
    let committed = false
    const published = bus.publish(message('thing.made')).then(() => committed)
    const part = bus.consume('only', async () => {
      await new Promise(resolve => setImmediate(resolve))
      committed = true
    })
    await part.start?.()
    expect(await published).toBe(true)
    await part.stop?.()
  })

  it('logs one line, and not one for each message, while a database is away', async () => {
    const lines: string[] = []
    const bus = memoryBus({ topology: { only: ['thing.made'] }, logger: { ...silentLogger, warn: text => void lines.push(text) } })
    const tries = new Map<string, number>()
    const part = bus.consume('only', async ({ id }) => {
      tries.set(id, (tries.get(id) ?? 0) + 1)
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    })
    await part.start?.()
    const startedAt = performance.now()
    for (let n = 0; n < 200; n += 1) void bus.publish(message('thing.made'))
    await until(() => tries.size === 200 && [...tries.values()].every(count => count >= 2), 'not all were tried twice')
    const seconds = (performance.now() - startedAt) / 1_000
    await part.stop?.()
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.length).toBeLessThanOrEqual(1 + seconds / 5)
  })

  it('does not resolve `publish` while no consumer runs, nor when the consumer gave the message back', async () => {
    const bus = open()
    let resolved = false
    void bus.publish(message('thing.made')).then(() => {
      resolved = true
    })
    const part = bus.consume('only', async () => {
      throw new RetryableError('never')
    })
    await part.start?.()
    await part.stop?.()
    await new Promise(resolve => setImmediate(resolve))
    expect(resolved).toBe(false)
    expect(await bus.busy?.()).toBe(true)
  })
})
