import { startCrashableServers } from '@ponte/local-servers'
import { ordersMigrations } from '@ponte/orders'
import { migrate, openDatabase, outboxRelay, rabbitmqBus, silentLogger, until } from '@ponte/service-kit'
import { drill } from './drill'
import { print, verdict } from './table'

// A broker that is away while 100,000 events are committed, or DRILL_EVENTS, and comes back: what the relays of two replicas log and write meanwhile, and how long it takes
// until each event was published and read. What does not come within the time allowed ends the drill, with what the outbox and the broker held then.

const EVENTS = Number(process.env.DRILL_EVENTS ?? 100_000)
/** Limit for everything after the broker's return. */
const SECONDS_MAX = 120
const AWAY_MS = 20_000
const NOTED_MS = 3_000
const BATCH = 1_000
const QUEUE = 'orders'
const TYPE = 'order.changed'
/** A kilobyte is about what an order is as an event. */
const BODY = JSON.stringify({ data: { filling: 'x'.repeat(1_000) } })
const COMMIT = `INSERT INTO outbox (id, type, body, created_at) SELECT gen_random_uuid(), '${TYPE}', '${BODY}', now() FROM generate_series(1, $1) RETURNING id`

drill(async started => {
  const servers = started(await startCrashableServers(['orders']))
  const url = servers.postgres.url('orders')
  await migrate(url, ordersMigrations)
  const database = openDatabase({ url, statementTimeoutMs: 60_000 })
  started({ stop: async () => database.stop?.() })
  const lines: string[] = []
  const log = (text: string, fields?: object) => void lines.push([text, Reflect.get(Object(fields), 'error')].filter(Boolean).join(': '))
  const logger = { ...silentLogger, info: () => undefined, warn: log, error: log }
  const replica = async () => {
    const bus = rabbitmqBus({ url: servers.broker.url, namespace: 'ponte', topology: { [QUEUE]: [TYPE] } as never, logger })
    await bus.start?.()
    const relay = outboxRelay(database, bus, logger)
    await relay.start?.()
    started({ stop: async () => bus.stop?.() })
    started({ stop: async () => relay.stop?.() })
    return bus
  }
  const [bus] = [await replica(), await replica()]
  const read = new Map<string, number>()
  const reader = bus.consume(QUEUE, async ({ id }) => void read.set(id, (read.get(id) ?? 0) + 1))
  await reader.start?.()
  started({ stop: async () => reader.stop?.() })
  await until(() => bus.accepts(), 'the broker takes no messages', 60_000)

  // RabbitMQ notes on disk which queues it has a moment after declaring them. Killed before, it begins the last one anew, without a leader: that is not what is measured here.
  await new Promise(resolve => setTimeout(resolve, NOTED_MS))
  await servers.broker.crash()
  await until(() => !bus.accepts(), 'the absence was not noticed', 60_000)
  const updates = async () => {
    await database.query('SELECT pg_stat_force_next_flush()')
    return Number((await database.query("SELECT n_tup_upd AS n FROM pg_stat_user_tables WHERE relname = 'outbox'")).rows[0]?.n)
  }
  const ids = new Set<string>()
  const [linesBefore, updatesBefore, since] = [lines.length, await updates(), performance.now()]
  while (ids.size < EVENTS || performance.now() < since + AWAY_MS) {
    if (ids.size === EVENTS) await new Promise(resolve => setTimeout(resolve, 100))
    else for (const { id } of (await database.query<{ id: string }>(COMMIT, [Math.min(BATCH, EVENTS - ids.size)])).rows) ids.add(id)
  }
  const away = (performance.now() - since) / 1000
  const [linesAway, updatesAway] = [lines.length - linesBefore, (await updates()) - updatesBefore]

  const linesAbsent = lines.length
  await servers.broker.start()
  const returned = performance.now()
  while (read.size < EVENTS && performance.now() < returned + SECONDS_MAX * 1_000) await new Promise(resolve => setTimeout(resolve, 20))
  const seconds = (performance.now() - returned) / 1000
  const doubled = [...read.values()].filter(count => count > 1).length
  print('A broker that is away, two replicas of the relay, one reader', [
    {
      events: EVENTS,
      'away s': Math.round(away),
      'lines logged meanwhile': linesAway,
      'rows updated meanwhile': updatesAway,
      read: read.size,
      'after s': Math.round(seconds * 10) / 10,
      'a second': Math.round(read.size / seconds),
      'read twice': doubled,
    },
  ])
  const logged = new Map<string, number>()
  for (const line of lines.slice(linesAbsent)) logged.set(line, (logged.get(line) ?? 0) + 1)
  for (const [line, times] of logged) console.log(`after the return, ${times} times: ${line}`)
  if (read.size < EVENTS) {
    const ask = (...args: string[]) => servers.broker.control(...args).catch(error => String(error))
    const { rows } = await database.query(
      'SELECT count(*)::int AS unsent, count(claimed_until)::int AS claimed FROM outbox WHERE sent_at IS NULL',
    )
    console.log('outbox', rows[0])
    console.log('members of the queues:', await ask('eval', 'ets:tab2list(ra_state).'))
    console.log(await ask('list_channels', 'name', 'messages_unconfirmed', 'messages_unacknowledged', '--timeout', '10'))
    console.log(await ask('list_queues', 'name', 'state', 'messages_ready', 'messages_unacknowledged', '--timeout', '10'))
  }
  // A line a second of each replica: its connections are tried again and again.
  const isQuiet = updatesAway === 0 && linesAway <= 2 * away
  verdict(
    read.size === EVENTS && isQuiet,
    `${read.size} of ${EVENTS} events were read within ${Math.round(seconds)} s of the broker's return, ${SECONDS_MAX} at most; meanwhile ${linesAway} lines and ${updatesAway} updates.`,
  )
})
