import { type Bus, consumer, type Message, memoryBus, outboxRows, type Reactions, silentLogger, uuidv7 } from '../../src'

const ID = uuidv7()
const topology = { reader: ['order.changed', 'unknown.type', 'chain.advanced'] }

describe('a queue`s reactions', () => {
  const dead: string[] = []
  let bus: Bus
  beforeEach(() => {
    dead.length = 0
    bus = memoryBus({ topology, logger: silentLogger, onDeadLetter: (_, message) => void dead.push(message.id) })
  })
  const changed = (): Message => {
    const [message] = outboxRows([{ type: 'order.changed', data: { merchant_id: ID, order_id: ID } }], new Date())
    if (!message) throw new Error('There is no outbox row.')
    return message
  }
  const publish = async (reactions: Reactions, ...messages: Message[]) => {
    const part = consumer(bus, 'reader', reactions)
    await part.start?.()
    await Promise.all(messages.map(message => bus.publish(message)))
    await part.stop?.()
  }

  it('gets the parsed event', async () => {
    const seen: unknown[] = []
    const sent = changed()
    await publish({ 'order.changed': async event => void seen.push(event) }, sent)
    expect(seen).toEqual([JSON.parse(sent.body)])
  })

  it('is done with an event that is already in the inbox, after one try', async () => {
    let tries = 0
    const duplicate = Object.assign(new Error('duplicate key'), { code: '23505', constraint: 'inbox_pkey' })
    await publish(
      {
        'order.changed': async () => {
          tries++
          throw duplicate
        },
      },
      changed(),
    )
    expect([tries, dead]).toEqual([1, []])
  })

  it('does not take another unique key for the inbox', async () => {
    const sent = changed()
    const other = Object.assign(new Error('duplicate key'), { code: '23505', constraint: 'orders_pkey' })
    await publish({ 'order.changed': () => Promise.reject(other) }, sent)
    expect(dead).toEqual([sent.id])
  })

  it('waits out a database that cannot be asked', async () => {
    let tries = 0
    await publish(
      {
        'order.changed': async () => {
          if (++tries < 5) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
        },
      },
      changed(),
    )
    expect([tries, dead]).toEqual([5, []])
  })

  it('parks what is no JSON, no known type, breaks its schema, or has no reaction', async () => {
    const reactions: Reactions = { 'order.changed': async () => undefined }
    const sound = JSON.parse(changed().body)
    const bodies = [
      '{not json',
      '{}',
      JSON.stringify({ ...sound, type: 'unknown.type' }),
      JSON.stringify({ ...sound, data: { merchant_id: 1 } }),
    ]
    const poison = bodies.map(body => ({ id: uuidv7(), type: 'order.changed', body }))
    const chain = { chain_id: 1, confirmed_block: 1, confirmed_time: '2026-01-01T00:00:00.000Z', head_block: 1, sequence: 0 }
    const noReaction = { id: uuidv7(), type: 'chain.advanced', body: JSON.stringify({ ...sound, type: 'chain.advanced', data: chain }) }
    await publish(reactions, ...poison, noReaction)
    expect(dead.sort()).toEqual([...poison, noReaction].map(message => message.id).sort())
  })
})
