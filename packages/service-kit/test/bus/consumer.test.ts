import {
  type Bus,
  consumer,
  createMetrics,
  type Message,
  memoryBus,
  outboxRows,
  type Reactions,
  silentLogger,
  until,
  uuidv7,
} from '../../src'

const ID = uuidv7()
const topology = { reader: ['order.changed', 'unknown.type', 'chain.advanced', 'authorization.changed'] }

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

  it('parks what is no JSON, no event, or breaks its schema', async () => {
    const reactions: Reactions = { 'order.changed': async () => undefined }
    const sound = JSON.parse(changed().body)
    const bodies = ['{not json', '{}', JSON.stringify({ ...sound, data: { merchant_id: 1 } })]
    const poison = bodies.map(body => ({ id: uuidv7(), type: 'order.changed', body }))
    await publish(reactions, ...poison)
    expect(dead.sort()).toEqual(poison.map(message => message.id).sort())
  })

  describe('to a newer version`s events', () => {
    const envelopeOf = (type: string, data: object) => ({
      id: uuidv7(),
      type,
      body: JSON.stringify({ id: uuidv7(), type, occurred_at: new Date().toISOString(), data, trace: null }),
    })
    const chain = { chain_id: 1, confirmed_block: 1, confirmed_time: '2026-01-01T00:00:00.000Z', head_block: 1, sequence: 0 }

    const signature = {
      ...{ chain_id: 1, order_id: ID, attempt: 0, revision: 1, payer_address: `0x${'1'.repeat(40)}`, amount: '1.000000' },
      ...{ valid_before: 1, tx_hash: null, reason: null },
    }
    const reactions: Reactions = { 'order.changed': async () => undefined, 'authorization.changed': async () => undefined }

    it.each([
      ['of an unknown type', () => ({ ...changed(), body: changed().body.replace('order.changed', 'unknown.type') })],
      ['without a reaction', () => envelopeOf('chain.advanced', chain)],
      ['with an unknown value', () => envelopeOf('authorization.changed', { ...signature, status: 'newer' })],
    ])('hands back what is %s, and parks it after a day', async (_, make) => {
      bus = memoryBus({ topology, logger: silentLogger, handBackMs: 1, onDeadLetter: (_queue, message) => void dead.push(message.id) })
      const part = consumer(bus, 'reader', reactions)
      const metrics = createMetrics('reader')
      part.observe?.(metrics)
      await part.start?.()
      const message = make()
      void bus.publish(message)
      const handedBack = new RegExp(
        `ponte_events_handled_total\\{type="${message.type}",outcome="unknown",service="reader"\\} ([3-9]|\\d\\d)`,
      )
      await until(async () => handedBack.test(await metrics.registry.metrics()), 'it did not come again')
      expect(dead).toEqual([])
      await part.stop?.()

      const old = { ...make(), handedBackAt: Date.now() - 86_400_001 }
      const again = consumer(bus, 'reader', reactions)
      await again.start?.()
      await bus.publish(old)
      expect(dead).toEqual([old.id])
      await again.stop?.()
    })
  })
})
