import { type Message, memoryBus, RetryableError, silentLogger } from '../../src'
import { busContract, message } from './bus-contract'

busContract('the memory bus', async topology => {
  const dead: { queue: string; message: Message }[] = []
  const bus = memoryBus({ topology, logger: silentLogger, onDeadLetter: (queue, parked) => void dead.push({ queue, message: parked }) })
  return {
    bus,
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
