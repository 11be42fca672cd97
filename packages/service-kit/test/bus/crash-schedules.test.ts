import {
  type Bus,
  consumer,
  type Database,
  memoryBus,
  openDatabase,
  outboxRelay,
  outboxRows,
  type Part,
  type Statement,
  silentLogger,
  until,
} from '../../src'
import { testDatabase } from '../../src/testing'

// The walk of tests/explore/outbox.ts knows the steps of outbox and inbox by name. Here the relay, the consumer, the memory bus and the database themselves are
// led through them: a process dies, or stands still while others go on, before and after each statement, publication and effect, and so does the next one.

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

/** A play waits for the relay more than it works, so many are played at once. */
const STAGES = 8

describe('a crash between any two steps', () => {
  let stages: { database: Database; stop(): Promise<void> }[]
  beforeAll(async () => {
    stages = await Promise.all(
      Array.from({ length: STAGES }, async () => {
        const home = await testDatabase()
        const database = openDatabase({ url: home.url, poolSize: 10 })
        await database.query(SCHEMA)
        const stop = async () => {
          await database.stop?.()
          await home.drop()
        }
        return { database, stop }
      }),
    )
  }, 60_000)
  afterAll(() => Promise.all(stages.map(({ stop }) => stop())))

  /** One process: relay, bus and consumer, which the fault strikes together. What has died answers no more; what stands still goes on when it is released. */
  function processWith(database: Database, fault: Fault | null, { hasInbox, waitsForConfirm }: Use) {
    let isDead = false
    let hasStruck = false
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
    const own = memoryBus({ topology: { reader: ['order.changed'] }, logger: silentLogger })
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
    const isBusy = async () => own.busy?.() === true || (await relay.busy?.()) === true
    return {
      start: () => Promise.all(parts.map(part => part.start?.())),
      release,
      isResting: async () => isDead || !(await isBusy()),
      /** Whether there is nothing to wait for: the fault has struck, or never will. */
      hasEnded: async () => hasStruck || (!own.busy?.() && !(await hasUnsent(database))),
      async stop() {
        const stopped = Promise.all(parts.map(part => part.stop?.()))
        if (!isDead) await stopped
      },
    }
  }

  /** Plays a schedule until everything is at rest, and answers what must never be. */
  async function played(database: Database, [first, second]: Schedule, use: Use): Promise<string[]> {
    await database.query('TRUNCATE outbox, inbox, effects')
    const events = outboxRows(
      Array.from({ length: EVENTS }, () => ({ type: 'order.changed' as const, data: { merchant_id: ID, order_id: ID } })),
      new Date(),
    )
    await database.commit({ events })
    const processes: ReturnType<typeof processWith>[] = []
    for (const fault of [first, second, null]) {
      const one = processWith(database, fault, use)
      processes.push(one)
      await one.start()
      await until(one.hasEnded, `a process neither rests nor ${fault?.fate}`)
      // The claims of what is gone, or stands still for too long, end.
      await database.query("UPDATE outbox SET claimed_until = now() - interval '1 second' WHERE sent_at IS NULL")
    }
    for (const one of processes) one.release()
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
    const playOn = async ({ database }: { database: Database }) => {
      for (let schedule = left.shift(); schedule; schedule = left.shift())
        ended.push({ schedule, faults: await played(database, schedule, use) })
    }
    await Promise.all(stages.map(playOn))
    return ended
  }

  it(`leaves nothing unsent, and each event with its effect once, invariant 1 and invariant 2: ${schedules.length} schedules`, async () => {
    const ended = await allPlayed(schedules, RIGHT)
    expect(ended).toHaveLength(schedules.length)
    expect(ended.filter(({ faults }) => faults.length > 0)).toEqual([])
  }, 300_000)

  it.each([
    ['the effect is committed without an inbox row', { ...RIGHT, hasInbox: false }, 'an event has its effect twice'],
    ['what was handed to the bus counts as confirmed', { ...RIGHT, waitsForConfirm: false }, 'an event is lost'],
  ] as const)(
    'finds, put back: %s',
    async (_, use, fault) => {
      const alone = schedules.filter(([, second]) => second === null)
      const found = (await allPlayed(alone, use)).filter(({ faults }) => faults.includes(fault))
      expect(found).not.toEqual([])
    },
    150_000,
  )
})
