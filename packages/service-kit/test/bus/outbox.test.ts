import {
  type Bus,
  consumer,
  type Database,
  type Loop,
  type Message,
  MessageTooLargeError,
  memoryBus,
  openDatabase,
  outboxAge,
  outboxRelay,
  outboxRows,
  silentLogger,
  until,
  uuidv7,
  uuidv7At,
} from '../../src'
import { testDatabase } from '../../src/testing'

const SCHEMA = `
  CREATE TABLE outbox (id uuid PRIMARY KEY, type text NOT NULL, body text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
    claimed_until timestamptz, sent_at timestamptz, merchant_id uuid);
  CREATE INDEX outbox_unsent ON outbox (created_at) WHERE sent_at IS NULL;
  CREATE TABLE inbox (event_id uuid PRIMARY KEY, received_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE effects (event_id uuid NOT NULL)`

const ID = '01890a5d-ac96-774b-bcce-b302099a8057'
const changed = { type: 'order.changed', data: { merchant_id: ID, order_id: ID } } as const

/** A bus of which the test names what happens to each publication. */
const scriptedBus = (publish: (message: Message) => Promise<void>, over: Partial<Bus> = {}): Bus => ({
  name: 'scripted',
  accepts: () => true,
  publish,
  announce: () => undefined,
  consume: () => ({ name: 'none' }),
  deadLetters: () => ({ count: async () => 0, list: async () => [], retry: async () => 0, discard: async () => 0 }),
  listen: () => ({ name: 'none' }),
  ...over,
})

describe('the outbox relay', () => {
  let home: Awaited<ReturnType<typeof testDatabase>>
  let database: Database
  const loops: Loop[] = []
  const starting = async (bus: Bus, over: Database = database, logger = silentLogger) => {
    const relay = outboxRelay(over, bus, logger)
    loops.push(relay)
    await relay.start?.()
    return relay
  }
  const write = async (count: number, data: { merchant_id: string; order_id: string } = changed.data) => {
    const events = outboxRows(
      Array.from({ length: count }, () => ({ ...changed, data })),
      new Date(),
    )
    await database.commit({ events })
    return events.map(({ id }) => id)
  }
  const unsent = async () => (await database.query('SELECT 1 FROM outbox WHERE sent_at IS NULL')).rowCount
  const endClaims = () => database.query("UPDATE outbox SET claimed_until = now() - interval '1 second'")

  beforeAll(async () => {
    home = await testDatabase()
    database = openDatabase({ url: home.url, poolSize: 10 })
    await database.query(SCHEMA)
  })
  afterEach(async () => {
    await Promise.all(loops.splice(0).map(loop => loop.stop?.()))
    await database.query('TRUNCATE outbox, inbox, effects')
  })
  afterAll(async () => {
    await database.stop?.()
    await home.drop()
  })

  it('gives each event its id, time and trace, and refuses one that breaks its schema before anything is written', () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const rows = outboxRows([changed, changed], new Date(0), trace)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2)
    expect(JSON.parse(rows[0]?.body ?? '')).toEqual({ id: rows[0]?.id, ...changed, occurred_at: '1970-01-01T00:00:00.000Z', trace })
    expect(() => outboxRows([{ type: 'order.changed', data: { merchant_id: 'nobody', order_id: ID } }], new Date())).toThrow()
  })

  it('publishes what the outbox holds, byte for byte, and marks it; is busy until then', async () => {
    const published: Message[] = []
    const ids = await write(450)
    const relay = await starting(scriptedBus(async message => void published.push(message)))
    expect(await relay.busy?.()).toBe(true)
    await until(async () => (await relay.busy?.()) === false, 'the relay is still busy')
    expect(published.map(message => message.id).sort()).toEqual([...ids].sort())
    const { rows } = await database.query('SELECT id, type, body, merchant_id AS "merchantId" FROM outbox WHERE id = $1', [
      published[0]?.id,
    ])
    expect(published[0]).toEqual(rows[0])
  })

  it('is woken by the commit', async () => {
    const published: string[] = []
    const relay = await starting(scriptedBus(async message => void published.push(message.id)))
    await until(async () => (await relay.busy?.()) === false, 'the relay did not rest')
    const startedAt = Date.now()
    const [id] = await write(1)
    relay.wake()
    await until(() => published.length === 1, 'nothing was published')
    expect(published).toEqual([id])
    expect(Date.now() - startedAt).toBeLessThan(400)
  })

  it('publishes each event once when two relays run at once', async () => {
    const published: string[] = []
    const bus = scriptedBus(async message => {
      await new Promise(resolve => setImmediate(resolve))
      published.push(message.id)
    })
    const ids = await write(1000)
    await Promise.all([starting(bus), starting(bus)])
    await until(async () => (await unsent()) === 0, 'some are unsent')
    expect(published.length).toBe(1000)
    expect(new Set(published)).toEqual(new Set(ids))
  })

  it('keeps events while the bus is down, and publishes them when it is back', async () => {
    let down = true
    const published: string[] = []
    const relay = await starting(
      scriptedBus(async message => {
        if (down) throw new Error('There is no connection to the broker.')
        published.push(message.id)
      }),
    )
    const ids = await write(3)
    relay.wake()
    await until(async () => (await database.query('SELECT 1 FROM outbox WHERE claimed_until IS NOT NULL')).rowCount === 3, 'not tried')
    expect(await outboxAge(database)).toBeGreaterThan(0)
    expect(published).toEqual([])
    down = false
    await until(async () => (await unsent()) === 0, 'some are unsent')
    expect(published.sort()).toEqual([...ids].sort())
    expect(await outboxAge(database)).toBe(0)
  })

  /** The database, counting claims. */
  function counted() {
    let claims = 0
    const over: Database = {
      ...database,
      query: ((text, values) => {
        if (String(text).includes('SKIP LOCKED')) claims += 1
        return database.query(text, values)
      }) as Database['query'],
    }
    return { over, claims: () => claims }
  }

  it('claims nothing while the bus takes nothing, and writes no log line', async () => {
    let up = false
    const published: string[] = []
    const lines: string[] = []
    const log = (text: string) => void lines.push(text)
    const { over, claims } = counted()
    const ids = await write(450)
    const bus = scriptedBus(async message => void published.push(message.id), { accepts: () => up })
    const relay = await starting(bus, over, { ...silentLogger, warn: log, error: log })
    for (let n = 0; n < 50; n += 1) {
      relay.wake()
      await until(async () => n > 1 || (await unsent()) === 450, 'some are sent')
    }
    expect([claims(), lines]).toEqual([0, []])
    up = true
    relay.wake()
    await until(async () => (await unsent()) === 0, 'some are unsent')
    expect(published.sort()).toEqual([...ids].sort())
  })

  it('backs off when the bus refuses, and logs one line a turn', async () => {
    const lines: string[] = []
    let tries = 0
    const { over, claims } = counted()
    await write(450)
    const refusing = () => {
      tries += 1
      return Promise.reject(new Error('The broker takes no messages now.'))
    }
    const relay = await starting(scriptedBus(refusing), over, { ...silentLogger, warn: text => void lines.push(text) })
    await until(() => lines.length > 0, 'no turn has ended')
    for (let n = 0; n < 50; n += 1) {
      relay.wake()
      await database.query('SELECT 1')
    }
    expect(lines).toEqual(Array.from({ length: claims() }, () => 'events stay in the outbox'))
    expect(claims()).toBeLessThan(4)
    expect(tries).toBe(claims() * 200)
  })

  it('tries an event that is too large for the bus again after minutes, and others at once', async () => {
    const [large] = await write(1)
    let tries = 0
    const relay = await starting(
      scriptedBus(async ({ id }) => {
        if (id !== large) return
        tries += 1
        throw new MessageTooLargeError(2, 1)
      }),
    )
    await until(() => tries === 1, 'it was not tried')
    await write(3)
    relay.wake()
    await until(async () => (await unsent()) === 1, 'the others stay')
    const { rows } = await database.query<{ waits: boolean }>(
      "SELECT claimed_until > now() + interval '5 minutes' AS waits FROM outbox WHERE sent_at IS NULL",
    )
    expect([rows, tries]).toEqual([[{ waits: true }], 1])
  })

  it('goes on after the bus refused a row whose body cannot be read', async () => {
    await database.query("INSERT INTO outbox (id, type, body) VALUES (gen_random_uuid(), 'order.changed', 'no event')")
    let tries = 0
    const refusing = scriptedBus(() =>
      ++tries === 1 ? Promise.reject(new Error('The broker did not confirm in time.')) : Promise.resolve(),
    )
    const relay = await starting(refusing)
    await until(() => tries === 1, 'it was not tried')
    await until(
      async () => {
        await endClaims()
        relay.wake()
        return (await unsent()) === 0
      },
      'it was not tried again',
      5_000,
    )
  })

  it('a relay that dies between publishing and marking: it is published again when the claim ends, and the inbox makes that harmless', async () => {
    const [id] = await write(1)
    const bus = memoryBus({ topology: { reader: ['order.changed'] }, logger: silentLogger })
    const handled: string[] = []
    const reader = consumer(bus, 'reader', {
      'order.changed': async event => {
        handled.push(event.id)
        await database.query('WITH received AS (INSERT INTO inbox (event_id) VALUES ($1)) INSERT INTO effects (event_id) VALUES ($1)', [
          event.id,
        ])
      },
    })
    await reader.start?.()
    // It can claim and publish, and is dead when it would mark.
    const dying: Database = {
      ...database,
      query: ((text, values) =>
        String(text).startsWith('UPDATE outbox SET sent_at')
          ? new Promise(() => undefined)
          : database.query(text, values)) as Database['query'],
    }
    const dead = outboxRelay(dying, bus, silentLogger)
    await dead.start?.()
    // Published again while it is in hand, it would join it.
    await until(async () => handled.length === 1 && !(await bus.busy?.()), 'it was not published')
    expect(await unsent()).toBe(1)
    await starting(bus)
    await endClaims()
    await until(async () => (await unsent()) === 0, 'it was not published again')
    await until(() => handled.length === 2, 'it was not handled again')
    expect(handled).toEqual([id, id])
    expect((await database.query('SELECT event_id FROM effects')).rows).toEqual([{ event_id: id }])
    await reader.stop?.()
    // Its turn never ends; what it would still do ends.
    void dead.stop?.()
  })

  it('one event that waits for its confirm holds up no other, and is marked when it comes, without being published twice', async () => {
    let confirm: () => void = () => undefined
    const tries: string[] = []
    const [slow] = await write(1)
    const relay = await starting(
      scriptedBus(message => {
        tries.push(message.id)
        if (message.id !== slow) return Promise.resolve()
        return new Promise(resolve => {
          confirm = resolve
        })
      }),
    )
    await until(() => tries.length === 1, 'the first was not published')
    const [quick] = await write(1)
    await until(() => tries.includes(quick ?? ''), 'the second was held up', 3_000)
    await endClaims()
    relay.wake()
    await until(async () => (await unsent()) === 1, 'the second was not marked')
    confirm()
    await until(async () => (await unsent()) === 0, 'the late confirm was not kept')
    expect(tries).toEqual([slow, quick])
  })

  it("publishes merchants' events in turns: one merchant's hundreds hold up no other's", async () => {
    await write(500)
    const [late] = await write(1, { merchant_id: uuidv7(), order_id: ID })
    const published: string[] = []
    const relay = await starting(scriptedBus(async ({ id }) => void published.push(id)))
    await until(
      async () => {
        relay.wake()
        return (await unsent()) === 0
      },
      () => `${published.length} were published`,
    )
    expect(published.indexOf(late ?? '')).toBeLessThan(200)
    expect(new Set(published).size).toBe(501)
  })

  it('claims no more than a bound while a reader is stuck, so that the memory bus does not take in the whole outbox', async () => {
    const bus = memoryBus({ topology: { reader: ['order.changed'] }, logger: silentLogger })
    const { over, claims } = counted()
    const ids = await write(600)
    let open: () => void = () => undefined
    const opened = new Promise<void>(resolve => {
      open = resolve
    })
    const handled = new Set<string>()
    const part = bus.consume('reader', async ({ id }) => {
      await opened
      handled.add(id)
    })
    await part.start?.()
    let turns = 0
    const accepts = () => {
      turns += 1
      return true
    }
    const relay = outboxRelay(over, { ...bus, accepts }, silentLogger, { unansweredMax: 200 })
    loops.push(relay)
    await relay.start?.()
    await until(() => {
      relay.wake()
      return turns > 4
    }, 'the relay makes no turns')
    const claimed = (await database.query('SELECT 1 FROM outbox WHERE claimed_until IS NOT NULL')).rowCount
    expect([claims(), claimed]).toEqual([1, 200])
    open()
    await until(async () => (await unsent()) === 0, 'some are unsent')
    expect(handled).toEqual(new Set(ids))
    await part.stop?.()
  })

  it('stops at once although a confirm is missing; the event stays', async () => {
    await write(1)
    let tried = false
    const relay = await starting(
      scriptedBus(() => {
        tried = true
        return new Promise(() => undefined)
      }),
    )
    await until(() => tried, 'it was not published')
    const startedAt = Date.now()
    await relay.stop?.()
    expect(Date.now() - startedAt).toBeLessThan(500)
    expect(await unsent()).toBe(1)
  })

  it('prunes what was sent 7 days and received 30 days ago, and nothing that is unsent', async () => {
    await write(1)
    const [old, fresh, waiting] = Array.from({ length: 3 }, () => uuidv7At(new Date(Date.now() - 40 * 86_400_000)))
    await database.query('INSERT INTO outbox (id, type, body) SELECT unnest($1::uuid[]), type, body FROM outbox', [[old, fresh, waiting]])
    await database.query('DELETE FROM outbox WHERE id <> ALL($1::uuid[])', [[old, fresh, waiting]])
    await database.query("UPDATE outbox SET sent_at = now() - interval '8 days' WHERE id = $1", [old])
    await database.query("UPDATE outbox SET sent_at = now() - interval '6 days' WHERE id = $1", [fresh])
    await database.query("UPDATE outbox SET created_at = now() - interval '90 days' WHERE id = $1", [waiting])
    await database.query("INSERT INTO inbox VALUES ($1, now() - interval '31 days'), ($2, now() - interval '29 days')", [old, fresh])
    await starting(scriptedBus(() => Promise.reject(new Error('down'))))
    const rowsOf = async (table: string) => (await database.query(`SELECT 1 FROM ${table}`)).rowCount
    await until(async () => (await rowsOf('inbox')) === 1 && (await rowsOf('outbox')) === 2, 'not all was pruned')
    const { rows } = await database.query<{ id: string }>('SELECT id FROM outbox ORDER BY id')
    expect(rows.map(row => row.id)).toEqual([fresh, waiting].sort())
    expect((await database.query('SELECT event_id FROM inbox')).rows).toEqual([{ event_id: fresh }])
  })
})
