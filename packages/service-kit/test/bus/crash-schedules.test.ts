import { startTcpProxy } from '@ponte/local-servers'
import { connect } from 'amqplib'
import {
  type Bus,
  consumer,
  type Database,
  memoryBus,
  openDatabase,
  outboxRelay,
  outboxRows,
  type Part,
  rabbitmqBus,
  type Statement,
  silentLogger,
  until,
} from '../../src'
import { testBroker, testDatabase } from '../../src/testing'

// The relay, the consumer, the bus and the database themselves are led through the steps of outbox and inbox: a process dies, or stands still while others go on, before and after each statement, publication and effect, and so does the next one.

const SCHEMA = `
  CREATE TABLE outbox (id uuid PRIMARY KEY, type text NOT NULL, body text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
    claimed_until timestamptz, sent_at timestamptz, merchant_id uuid);
  CREATE TABLE inbox (event_id uuid PRIMARY KEY, received_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE effects (event_id uuid NOT NULL)`
const EFFECT: Statement = { name: 'effect', text: 'INSERT INTO effects (event_id) VALUES ($event::uuid)' }
const ID = '01890a5d-ac96-774b-bcce-b302099a8057'
const EVENTS = 2

const POINTS = [
  ...(['before the claim', 'after the claim', 'before publishing', 'after the confirm'] as const),
  ...(['before marking', 'after marking', 'before the effect', 'before acknowledging'] as const),
]
type Point = (typeof POINTS)[number]
interface Fault {
  at: Point
  fate: 'dies' | 'stands still'
}
/** What befalls the first process and the one after it; the third is left in peace. */
type Schedule = readonly [Fault, Fault | null]

const schedules: Schedule[] = POINTS.flatMap(at =>
  (['dies', 'stands still'] as const).flatMap(fate =>
    [null, ...POINTS].map((second): Schedule => [{ at, fate }, second && { at: second, fate: 'dies' }]),
  ),
)

/** `npm run long -- crashes` leads RabbitMQ through all of them too; here, what befalls one process alone, and the second one where the first does. */
const onRabbitmq =
  process.env.PONTE_CRASH_SCHEDULES === 'all' ? schedules : schedules.filter(([first, second]) => second === null || second.at === first.at)

/** How a service uses the kit; each may be put wrong. */
interface Use {
  /** The inbox row is written with the effect. */
  hasInbox: boolean
  /** A publication is confirmed when each reader has committed. */
  waitsForConfirm: boolean
}
const RIGHT: Use = { hasInbox: true, waitsForConfirm: true }

const never = () => new Promise<never>(() => undefined)
/** Asked past the process, which may die meanwhile. */
const hasUnsent = async (database: Database) => (await database.query('SELECT FROM outbox WHERE sent_at IS NULL')).rows.length > 0

const hasEffects = (database: Database) => async () =>
  (await database.query('SELECT FROM outbox WHERE NOT EXISTS (SELECT FROM effects WHERE event_id = outbox.id)')).rows.length === 0

/** A play waits for the relay more than it works, so many are played at once. */
const STAGES = 8
const TOPOLOGY = { reader: ['order.changed'] }

/** The bus of one process, and what its death does to it. */
interface OwnBus {
  bus: Bus
  die(): void
  stop(): Promise<void>
}
/** Where the buses of a stage meet. */
interface Meeting {
  open(): Promise<OwnBus>
  /** Until the broker has noticed who is dead, and hands out again what they held. */
  noticed(living: () => number): Promise<void>
  stop(): Promise<void>
}

const inMemory = async (): Promise<Meeting> => ({
  async open() {
    const bus = memoryBus({ topology: TOPOLOGY, logger: silentLogger })
    return { bus, die: () => undefined, stop: async () => undefined }
  },
  noticed: async () => undefined,
  stop: async () => undefined,
})

/** RabbitMQ can lose a message on its way to a queue, and the connection is made anew three times so much later: within what a play waits. */
const CONFIRM_TIMEOUT_MS = 2_000

/** One namespace of the broker. Who dies loses its connections without a goodbye and gets no other. */
async function onBroker(): Promise<Meeting> {
  const { url, namespace } = testBroker()
  const side = await connect(url)
  const looking = await side.createChannel()
  return {
    async open() {
      const proxy = await startTcpProxy(() => [url])
      const bus = rabbitmqBus({
        ...{ url: proxy.through(url), namespace, topology: TOPOLOGY, logger: silentLogger },
        confirmTimeoutMs: CONFIRM_TIMEOUT_MS,
      })
      return { bus, die: () => proxy.refuse(true), stop: proxy.stop }
    },
    async noticed(living) {
      const isNoticed = async () => (await looking.checkQueue(`${namespace}.reader`)).consumerCount === living()
      await until(isNoticed, 'the broker does not notice who is dead')
    },
    async stop() {
      for (const name of ['reader', 'dead.reader']) await looking.deleteQueue(`${namespace}.${name}`)
      await looking.deleteExchange(`${namespace}.events`)
      await side.close()
    },
  }
}

describe.each([
  ['in memory', inMemory, schedules],
  ['RabbitMQ', onBroker, onRabbitmq],
] as const)('a crash between any two steps, on %s', (_, meet, led) => {
  let stages: { database: Database; meeting: Meeting; stop(): Promise<void> }[]
  beforeAll(async () => {
    stages = await Promise.all(
      Array.from({ length: STAGES }, async () => {
        const home = await testDatabase()
        const database = openDatabase({ url: home.url, poolSize: 10 })
        await database.query(SCHEMA)
        const meeting = await meet()
        const stop = async () => {
          await meeting.stop()
          await database.stop?.()
          await home.drop()
        }
        return { database, meeting, stop }
      }),
    )
  })
  afterAll(() => Promise.all(stages.map(({ stop }) => stop())))

  /** One process: relay, bus and consumer, which the fault strikes together. What has died answers no more; what stands still goes on when it is released. */
  function processWith(database: Database, { bus: own, die, stop }: OwnBus, fault: Fault | null, { hasInbox, waitsForConfirm }: Use) {
    let isDead = false
    let hasStruck = false
    let perish: () => void = () => undefined
    const death = new Promise<void>(resolve => {
      perish = resolve
    })
    let release: () => void = () => undefined
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    let marked: () => void = () => undefined
    const afterMarking = new Promise<void>(resolve => {
      marked = resolve
    })
    const pass = async (at?: Point): Promise<void> => {
      if (isDead) await never()
      if (!fault || fault.at !== at || hasStruck) return
      hasStruck = true
      isDead = fault.fate === 'dies'
      if (isDead) {
        die()
        perish()
      }
      await (isDead ? never() : released)
    }
    const gated: Database = {
      ...database,
      query: (async (text, values) => {
        const sql = String(text)
        const about = sql.includes('RETURNING id, type, body') ? 'claim' : sql.startsWith('UPDATE outbox SET sent_at') ? 'marking' : null
        await pass(about === 'claim' ? 'before the claim' : about === 'marking' ? 'before marking' : undefined)
        const result = await database.query(text, values)
        await pass(about === 'claim' ? 'after the claim' : about === 'marking' ? 'after marking' : undefined)
        if (about === 'marking') marked()
        return result
      }) as Database['query'],
    }
    const bus: Bus = {
      ...own,
      async publish(message) {
        await pass('before publishing')
        if (waitsForConfirm) await own.publish(message)
        else void afterMarking.then(() => own.publish(message))
        await pass('after the confirm')
      },
    }
    const reader = consumer(own, 'reader', {
      'order.changed': async ({ id }) => {
        await pass('before the effect')
        await database.commit({ inbox: hasInbox ? [id] : [], write: EFFECT, values: { event: id } })
        await pass('before acknowledging')
      },
    })
    const relay = outboxRelay(gated, bus, silentLogger)
    const parts: Part[] = [own, reader, relay]
    // It may die while the broker is asked, and gets no answer then.
    const isReading = async () =>
      own.busy?.() === true ||
      (await Promise.resolve(reader.busy?.()).catch(error => {
        if (!isDead) throw error
        return false
      })) === true
    const isBusy = async () => (await isReading()) || (await relay.busy?.()) === true
    return {
      async start() {
        await own.start?.()
        await until(() => own.accepts(), 'there is no broker')
        await Promise.race([Promise.all([reader, relay].map(part => part.start?.())), death])
      },
      release,
      isResting: async () => isDead || !(await isBusy()),
      /** Whether there is nothing to wait for: the fault has struck, or never will. */
      hasEnded: async () => hasStruck || (!(await isReading()) && !(await hasUnsent(database))),
      waitsFor: async () => `${own.accepts() ? '' : 'a broker, '}${(await isReading()) ? 'its reader' : 'its outbox'}`,
      isLiving: () => !isDead,
      async stop() {
        const stopped = Promise.all(parts.map(part => part.stop?.()))
        await Promise.race([stopped, death])
        await stop()
      },
    }
  }

  /** Plays a schedule until everything is at rest, and answers what must never be. */
  async function played(
    { database, meeting }: { database: Database; meeting: Meeting },
    [first, second]: Schedule,
    use: Use,
  ): Promise<string[]> {
    await database.query('TRUNCATE outbox, inbox, effects')
    const events = outboxRows(
      Array.from({ length: EVENTS }, () => ({ type: 'order.changed' as const, data: { merchant_id: ID, order_id: ID } })),
      new Date(),
    )
    await database.commit({ events })
    const processes: ReturnType<typeof processWith>[] = []
    for (const fault of [first, second, null]) {
      const one = processWith(database, await meeting.open(), fault, use)
      processes.push(one)
      await one.start()
      await until(one.hasEnded, async () => `a process neither rests nor ${fault?.fate ?? 'ends'}: it waits for ${await one.waitsFor()}`)
      // The claims of what is gone, or stands still for too long, end.
      await database.query("UPDATE outbox SET claimed_until = now() - interval '1 second' WHERE sent_at IS NULL")
    }
    for (const one of processes) one.release()
    // One may die only now, by what another held until then.
    await meeting.noticed(() => processes.filter(one => one.isLiving()).length)
    // What is on its way to a reader stands in no queue.
    await until(hasEffects(database), 'an event is lost', 3_000).then(
      () => true,
      () => false,
    )
    for (const one of processes) await until(one.isResting, 'a process does not come to rest')
    await Promise.all(processes.map(one => one.stop()))
    const { rows } = await database.query<{ id: string; effects: number; is_sent: boolean }>(
      'SELECT id, (SELECT count(*)::int FROM effects WHERE event_id = outbox.id) AS effects, sent_at IS NOT NULL AS is_sent FROM outbox',
    )
    return rows.flatMap(({ effects, is_sent }) => [
      ...(effects > 1 ? ['an event has its effect twice'] : []),
      ...(effects === 0 ? ['an event is lost'] : []),
      ...(is_sent ? [] : ['an event is unsent']),
    ])
  }

  /** What each schedule ends with, many at once. */
  async function allPlayed(list: readonly Schedule[], use: Use) {
    const left = [...list]
    const ended: { schedule: Schedule; faults: string[] }[] = []
    const playOn = async (stage: { database: Database; meeting: Meeting }) => {
      for (let schedule = left.shift(); schedule; schedule = left.shift())
        ended.push({ schedule, faults: await played(stage, schedule, use) })
    }
    await Promise.all(stages.map(playOn))
    return ended
  }

  it(`leaves nothing unsent, and each event with its effect once, invariant 1 and invariant 2: ${led.length} schedules`, async () => {
    const ended = await allPlayed(led, RIGHT)
    expect(ended).toHaveLength(led.length)
    expect(ended.filter(({ faults }) => faults.length > 0)).toEqual([])
  }, 300_000)

  it.each([
    ['the effect is committed without an inbox row', { ...RIGHT, hasInbox: false }, 'an event has its effect twice'],
    ['what was handed to the bus counts as confirmed', { ...RIGHT, waitsForConfirm: false }, 'an event is lost'],
  ] as const)('finds, put back: %s', async (_, use, fault) => {
    const alone = schedules.filter(([, second]) => second === null)
    const found = (await allPlayed(alone, use)).filter(({ faults }) => faults.includes(fault))
    expect(found).not.toEqual([])
  })
})
