import type { Bus, Handler, Message, Part, QueuePart, Topology } from '../../src'
import { RetryableError, UnknownMessageError, until, uuidv7 } from '../../src'

export interface BusUnderTest {
  bus: Bus
  /** Resolves when these are in their queues. */
  queued(published: readonly Promise<void>[]): Promise<unknown>
  deadLetters(queue: string): Promise<Message[]>
  stop(): Promise<void>
}

/** A queue for each promise, so that no test sees another's messages, and two that share a type. */
const topology: Topology = {
  waiting: ['waiting.made'],
  left: ['both.made'],
  right: ['both.made'],
  retry: ['retry.made'],
  poison: ['poison.made'],
  parked: ['parked.made'],
  stopped: ['stopped.made'],
  shared: ['shared.made'],
  handover: ['handover.made'],
  received: ['received.made'],
  bounded: ['bounded.made'],
  roomy: ['roomy.made'],
  crowded: ['crowded.made'],
  twice: ['twice.made'],
  newer: ['newer.made'],
  turns: ['turns.made'],
}

export const message = (type: string, id: string = uuidv7()): Message => ({ id, type, body: JSON.stringify({ text: `${type} ${id}` }) })

const byId = (a: Message, b: Message) => (a.id < b.id ? -1 : 1)

const gate = () => {
  let open: () => void = () => undefined
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { open: () => open(), opened }
}

/** What both buses promise (docs/architecture.md#state-and-events). The same suite runs against each. */
export function busContract(name: string, open: (topology: Topology) => Promise<BusUnderTest>): void {
  describe(`the bus contract, kept by ${name}`, () => {
    let under: BusUnderTest
    const running = new Set<Part>()
    const consuming = async (queue: string, handler: Handler, prefetch?: number): Promise<QueuePart> => {
      const part = under.bus.consume(queue, handler, prefetch === undefined ? {} : { prefetch })
      running.add(part)
      await part.start?.()
      return part
    }
    const stopping = async (part: Part) => {
      running.delete(part)
      await part.stop?.()
    }
    beforeAll(async () => {
      under = await open(topology)
    })
    afterEach(async () => {
      await Promise.all([...running].map(stopping))
    })
    afterAll(() => under.stop())

    it('keeps a message that was published before its consumer started, byte for byte', async () => {
      const sent = { ...message('waiting.made'), body: '{"b": 1,  "a":"çãé ✓"}' }
      const published = under.bus.publish(sent)
      const seen: Message[] = []
      await consuming('waiting', async taken => void seen.push(taken))
      await published
      await until(() => seen.length === 1, 'the message never came')
      expect(seen).toEqual([sent])
    })

    it('handles merchants in turns: what one has sent before holds up no other', async () => {
      const { open, opened } = gate()
      const [busy, quiet] = [uuidv7(), uuidv7()]
      const handled: (string | null | undefined)[] = []
      let begun = 0
      const part = await consuming(
        'turns',
        async ({ merchantId }) => {
          begun += 1
          await opened
          handled.push(merchantId)
        },
        2,
      )
      const published = [...Array.from({ length: 12 }, () => busy), quiet].map(merchantId =>
        under.bus.publish({ ...message('turns.made'), merchantId }),
      )
      await under.queued(published)
      await until(async () => begun === 2 && (await part.waiting?.()) === 0, 'they were not taken')
      open()
      await Promise.all(published)
      await until(() => handled.length === 13, 'one was not handled')
      expect(handled.indexOf(quiet)).toBeLessThan(4)
    })

    it('gives every bound queue its own copy', async () => {
      const seen: string[] = []
      await consuming('left', async taken => void seen.push(`left ${taken.id}`))
      await consuming('right', async taken => void seen.push(`right ${taken.id}`))
      const sent = message('both.made')
      await under.bus.publish(sent)
      await until(() => seen.length === 2, 'a copy is missing')
      expect(seen.sort()).toEqual([`left ${sent.id}`, `right ${sent.id}`])
    })

    it('brings a message back for as long as its handler throws RetryableError, however often', async () => {
      let tries = 0
      await consuming('retry', async () => {
        if (++tries < 5) throw new RetryableError('not yet')
      })
      await under.bus.publish(message('retry.made'))
      await until(
        () => tries === 5,
        () => `only ${tries} tries`,
      )
      expect(await under.deadLetters('retry')).toEqual([])
    })

    it('parks poison in the dead letters after three tries, and lets the others pass', async () => {
      const tries = new Map<string, number>()
      const poison = message('poison.made')
      const good = Array.from({ length: 5 }, () => message('poison.made'))
      await consuming(
        'poison',
        async taken => {
          tries.set(taken.id, (tries.get(taken.id) ?? 0) + 1)
          if (taken.id === poison.id) throw new TypeError('cannot be read')
        },
        2,
      )
      await Promise.all([poison, ...good].map(each => under.bus.publish(each)))
      await until(async () => (await under.deadLetters('poison')).length === 1, 'the poison was not parked')
      await until(() => tries.size === 6, 'a good message is missing')
      expect(tries.get(poison.id)).toBe(3)
      expect(good.map(each => tries.get(each.id))).toEqual([1, 1, 1, 1, 1])
      expect((await under.deadLetters('poison'))[0]).toEqual(poison)
    })

    it('counts and lists what is parked, puts back those that are named, or all, and removes those that are named', async () => {
      let repaired = false
      const seen: string[] = []
      await consuming('parked', async ({ id }) => {
        if (!repaired) throw new TypeError('cannot be read')
        seen.push(id)
      })
      const sent = Array.from({ length: 4 }, () => message('parked.made'))
      const letters = under.bus.deadLetters('parked')
      await Promise.all(sent.map(each => under.bus.publish(each)))
      await until(async () => (await letters.count()) === 4, 'not all are parked')
      // However often they are looked at, they stay, as they came.
      for (let look = 0; look < 3; look++) expect((await letters.list(10)).toSorted(byId)).toEqual(sent.toSorted(byId))
      expect(await letters.list(2)).toHaveLength(2)
      repaired = true
      expect(await letters.retry(['unknown', sent[1]?.id ?? ''])).toBe(1)
      await until(() => seen.length === 1, 'the named one did not come back')
      expect(await letters.discard(['unknown', sent[2]?.id ?? ''])).toBe(1)
      expect([seen, await letters.count()]).toEqual([[sent[1]?.id], 2])
      expect(await letters.retry()).toBe(2)
      await until(() => seen.length === 3, 'the others did not come back')
      expect(await letters.count()).toBe(0)
    })

    it('gives back what a stopped consumer had in hand, and stop waits for the handler that runs', async () => {
      const entered = gate()
      const leave = gate()
      let finished = false
      const first = await consuming('stopped', async () => {
        entered.open()
        await leave.opened
        finished = true
        throw new RetryableError('the process was stopping')
      })
      const sent = message('stopped.made')
      const published = under.bus.publish(sent)
      await entered.opened
      const stopped = stopping(first)
      leave.open()
      await stopped
      expect(finished).toBe(true)
      const seen: string[] = []
      await consuming('stopped', async taken => void seen.push(taken.id))
      await published
      await until(() => seen.length === 1, 'the message was not given back')
      expect(seen).toEqual([sent.id])
    })

    it('shares one queue between two consumers, each message to one of them', async () => {
      const seen = { first: [] as string[], second: [] as string[] }
      const both = gate()
      const taking = (mine: 'first' | 'second') => async (taken: Message) => {
        seen[mine].push(taken.id)
        if (seen.first.length > 0 && seen.second.length > 0) both.open()
        await both.opened
      }
      await consuming('shared', taking('first'), 2)
      await consuming('shared', taking('second'), 2)
      const sent = Array.from({ length: 10 }, () => message('shared.made'))
      await Promise.all(sent.map(each => under.bus.publish(each)))
      await until(() => seen.first.length + seen.second.length === 10, 'a message is missing')
      expect([...seen.first, ...seen.second].sort()).toEqual(sent.map(each => each.id).sort())
    })

    it('hands over to the consumer that is left when one of two stops', async () => {
      const seen: string[] = []
      const entered = gate()
      await consuming('handover', async taken => void seen.push(taken.id), 1)
      const leaving = await consuming(
        'handover',
        async () => {
          entered.open()
          throw new RetryableError('never here')
        },
        1,
      )
      const sent = Array.from({ length: 6 }, () => message('handover.made'))
      const published = Promise.all(sent.map(each => under.bus.publish(each)))
      await entered.opened
      await stopping(leaving)
      await published
      const late = message('handover.made')
      await under.bus.publish(late)
      await until(
        () => seen.length >= 7,
        () => `only ${seen.length} of 7`,
      )
      expect(new Set(seen)).toEqual(new Set([...sent, late].map(each => each.id)))
    })

    it('refuses a message of a type that no queue takes, also while someone listens for it', async () => {
      const listener = under.bus.listen(['unread.type'], () => undefined)
      await expect(under.bus.publish(message('unread.type'))).rejects.toThrow('No queue is bound to unread.type.')
      await listener.start?.()
      await expect(under.bus.publish(message('unread.type'))).rejects.toThrow('No queue is bound to unread.type.')
      await listener.stop?.()
    })

    it('announces to every listener of a type, and to none that has stopped or listens for another; what is published is not announced', async () => {
      const received: string[] = []
      const hearing = async (who: string, types: string[]) => {
        const part = under.bus.listen(types, taken => void received.push(`${who} ${taken.body}`))
        await part.start?.()
        return part
      }
      const parts = [
        await hearing('a', ['live.changed', 'received.made']),
        await hearing('b', ['live.changed']),
        await hearing('c', ['other']),
      ]
      await consuming('received', async () => undefined)
      under.bus.announce({ id: uuidv7(), type: 'live.changed', body: '1' })
      await until(() => received.length === 2, 'an announcement is missing')
      await under.bus.publish({ id: uuidv7(), type: 'received.made', body: 'published' })
      under.bus.announce({ id: uuidv7(), type: 'received.made', body: '2' })
      await until(() => received.length === 3, 'an announcement is missing')
      await parts[0]?.stop?.()
      under.bus.announce({ id: uuidv7(), type: 'live.changed', body: '3' })
      await until(() => received.includes('b 3'), 'the second announcement is missing')
      expect(received.sort()).toEqual(['a 1', 'a 2', 'b 1', 'b 3'])
      await Promise.all(parts.slice(1).map(part => part.stop?.()))
    })

    it('handles at most `prefetch` messages at a time', async () => {
      let now = 0
      let most = 0
      let done = 0
      await consuming(
        'bounded',
        async () => {
          most = Math.max(most, ++now)
          await new Promise(resolve => setImmediate(resolve))
          now--
          done++
        },
        3,
      )
      await Promise.all(Array.from({ length: 20 }, () => under.bus.publish(message('bounded.made'))))
      await until(
        () => done === 20,
        () => `only ${done} of 20`,
      )
      expect(most).toBe(3)
    })

    it('lets others pass while messages wait to be tried again, even when these alone would fill the prefetch', async () => {
      const seen: string[] = []
      let ready = false
      await consuming(
        'roomy',
        async taken => {
          if (taken.body === 'early' && !ready) throw new RetryableError('waits for the key')
          if (taken.body === 'key') ready = true
          seen.push(taken.body)
        },
        2,
      )
      const early = Array.from({ length: 4 }, () => under.bus.publish({ ...message('roomy.made'), body: 'early' }))
      await under.bus.publish({ ...message('roomy.made'), body: 'key' })
      await Promise.all(early)
      await until(
        () => seen.length === 5,
        () => `only ${seen.length} of 5`,
      )
      expect(seen[0]).toBe('key')
    })

    it('lets fresh messages pass however many wait to be tried again, and loses none of these', async () => {
      const seen: string[] = []
      let ready = false
      await consuming(
        'crowded',
        async taken => {
          if (taken.body === 'early' && !ready) throw new RetryableError('waits for the key')
          if (taken.body === 'key') ready = true
          seen.push(taken.id)
        },
        2,
      )
      const early = Array.from({ length: 100 }, () => ({ ...message('crowded.made'), body: 'early' }))
      const published = early.map(each => under.bus.publish(each))
      const key = { ...message('crowded.made'), body: 'key' }
      await under.bus.publish(key)
      await Promise.all(published)
      await until(
        () => new Set(seen).size === 101,
        () => `only ${new Set(seen).size} of 101`,
      )
      expect(seen[0]).toBe(key.id)
      expect(await under.deadLetters('crowded')).toEqual([])
    })

    it('takes a message that is published again, at least once and without an error', async () => {
      const seen: string[] = []
      const sent = message('twice.made')
      const first = under.bus.publish(sent)
      const second = under.bus.publish(sent)
      await consuming('twice', async taken => void seen.push(taken.id))
      await Promise.all([first, second])
      await under.bus.publish(sent)
      await until(() => seen.length >= 2, 'the third publication was not delivered')
      expect(new Set(seen)).toEqual(new Set([sent.id]))
    })

    it('refuses to consume a queue that the topology does not know', () => {
      expect(() => under.bus.consume('unknown', async () => undefined)).toThrow('The topology has no queue unknown.')
    })

    it('counts what was handed back for a newer version as waiting, and is busy until it is handled', async () => {
      let isNewer = false
      const seen: string[] = []
      const part = await consuming('newer', async ({ id }) => {
        if (!isNewer) throw new UnknownMessageError('not known here')
        seen.push(id)
      })
      const busy = async () => under.bus.busy?.() === true || (await part.busy?.()) === true
      const sent = message('newer.made')
      const published = under.bus.publish(sent)
      await until(async () => (await part.waiting?.()) === 1 && (await busy()), 'it is not seen to wait')
      isNewer = true
      await until(async () => !(await busy()), 'the bus never became idle')
      await published
      expect([seen, await part.waiting?.()]).toEqual([[sent.id], 0])
    })

    it('is busy while a message is in hand, and idle after', async () => {
      const leave = gate()
      let entered = false
      const part = await consuming('waiting', async () => {
        entered = true
        await leave.opened
      })
      const published = under.bus.publish(message('waiting.made'))
      await until(() => entered, 'the message never came')
      const busy = async () => (await under.bus.busy?.()) === true || (await part.busy?.()) === true
      expect(await busy()).toBe(true)
      leave.open()
      await published
      await until(async () => !(await busy()), 'the bus never became idle')
    })
  })
}
