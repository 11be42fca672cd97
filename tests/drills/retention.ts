import { ordersMigrations } from '@ponte/orders'
import {
  answerRetention,
  type Bus,
  openDatabase,
  outboxRelay,
  outboxRows,
  rabbitmqBus,
  silentLogger,
  until,
  uuidv7,
} from '@ponte/service-kit'
import { administer, testBroker, testDatabase } from '@ponte/service-kit/testing'
import { percentile } from '../bench/table'
import { drill } from './drill'
import { type Line, print, verdict } from './table'

// Measures the cost of retention to publishing: `--rows N` rows, or DRILL_ROWS, in each of outbox, inbox and answers of a database of orders, most of them
// old; 200 events a second, first while nothing is deleted, then while everything old is.

const asked = process.argv.indexOf('--rows')
const ROWS = Number(asked < 0 ? (process.env.DRILL_ROWS ?? 2_000_000) : process.argv[asked + 1])
/** p99 may grow by so much, or by so many milliseconds where it is small. */
const [SLOWER_MAX, SLOWER_MAX_MS] = [2, 10]
const SECONDS = Number(process.env.DRILL_SECONDS ?? 30)
const EVERY_MS = 5
const A_YEAR = 365
const BATCH = 500_000
const QUEUE = 'orders'
const TYPE = 'order.changed'

/** An id of the time `at`, as our own are. */
const idAt = `(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid`

drill(async () => {
  const home = await testDatabase(ordersMigrations)
  const database = openDatabase({ url: home.url, statementTimeoutMs: 600_000 })
  try {
    for (let filled = 0; filled < ROWS; filled += BATCH) {
      await fill(database, filled, Math.min(BATCH, ROWS - filled))
      console.log(`${(3 * Math.min(filled + BATCH, ROWS)).toLocaleString('en')} rows are there, ${Math.round(performance.now() / 1000)} s`)
    }
    await database.query('VACUUM ANALYZE outbox, inbox, idempotency_keys')
    // The filled rows are on the disk by now: their writing is not measured.
    await administer('CHECKPOINT')
    const broker = testBroker()
    await declareQueue(broker)
    const lines: Line[] = []
    for (const [name, days] of [
      ['nothing is deleted', A_YEAR],
      ['all that is old is deleted', undefined],
    ] as const)
      lines.push(await publish(database, openBus(broker), name, days))
    const { rows: left } = await database.query(
      'SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM inbox) + (SELECT count(*) FROM idempotency_keys) AS rows',
    )
    print(`Publishing 200 events a second beside ${(3 * ROWS).toLocaleString('en')} rows`, lines, [`${left[0]?.rows} rows are left.`])
    const [alone = 0, beside = 0] = lines.map(line => Number(line['p99 ms']))
    const isFelt = beside > Math.max(alone * SLOWER_MAX, alone + SLOWER_MAX_MS)
    verdict(!isFelt, `p99 from commit to reader is ${beside} ms while all that is old is deleted, ${alone} ms before.`)
  } finally {
    await database.stop?.()
    await home.drop()
  }
})

type Db = ReturnType<typeof openDatabase>
type Broker = ReturnType<typeof testBroker>

const openBus = (broker: Broker) => rabbitmqBus({ ...broker, topology: { [QUEUE]: [TYPE] } as never, logger: silentLogger })

/** Before the runs, so that none of them declares it. */
async function declareQueue(broker: Broker): Promise<void> {
  const bus = openBus(broker)
  await bus.start?.()
  await until(() => bus.accepts(), 'the queue is not declared')
  await bus.stop?.()
}

/** The oldest come first, as they do in life: so lie their rows on the disk. */
async function fill(database: Db, filled: number, rows: number): Promise<void> {
  const ages = (days: number) =>
    `SELECT now() - (1 - (${filled} + n) / ${ROWS}.0) * interval '${days} days' AS at FROM generate_series(1, ${rows}) AS n`
  await database.query(
    `INSERT INTO outbox (id, type, body, created_at, sent_at) SELECT ${idAt}, 'order.created', repeat('x', 600), at, at FROM (${ages(60)}) AS t`,
  )
  await database.query(`INSERT INTO inbox (event_id, received_at) SELECT ${idAt}, at FROM (${ages(90)}) AS t`)
  await database.query(
    `INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body, created_at)
     SELECT gen_random_uuid(), 'POST /api/v1/orders', gen_random_uuid(), md5('x'), 201, repeat('x', 600), at FROM (${ages(60)}) AS t`,
  )
}

/** One line: how long an event takes from its commit to its reader, while retention goes by this many days. */
async function publish(database: Db, bus: Bus, name: string, days: number | undefined): Promise<Line> {
  const count = async () =>
    Number(
      (
        await database.query("SELECT n_tup_del AS n FROM pg_stat_user_tables WHERE relname IN ('outbox', 'inbox', 'idempotency_keys')")
      ).rows.reduce((sum, { n }) => sum + Number(n), 0),
    )
  const delays: number[] = []
  const sentAt = new Map<string, number>()
  await bus.start?.()
  const reader = bus.consume(QUEUE, async ({ id }) => void delays.push(performance.now() - (sentAt.get(id) ?? performance.now())))
  await reader.start?.()
  const relay = outboxRelay(database, bus, silentLogger, days === undefined ? {} : { outboxDays: days, inboxDays: days })
  const before = await count()
  await relay.start?.()
  const answers = days === undefined ? answerRetention(database, silentLogger) : undefined
  await answers?.start?.()
  const end = performance.now() + SECONDS * 1000
  while (performance.now() < end) {
    const message = outboxRows([{ type: TYPE, data: { merchant_id: uuidv7(), order_id: uuidv7() } } as never], new Date(), null)
    for (const { id } of message) sentAt.set(id, performance.now())
    await database.commit({ events: message })
    relay.wake()
    await new Promise(resolve => setTimeout(resolve, EVERY_MS))
  }
  while (await relay.busy?.()) await new Promise(resolve => setTimeout(resolve, 50))
  for (const part of [answers, reader, relay, bus]) await part?.stop?.()
  await database.query('SELECT pg_stat_force_next_flush()')
  const ms = (share: number) => Math.round(percentile(delays, share) * 10) / 10
  return {
    while: name,
    events: delays.length,
    'p50 ms': ms(0.5),
    'p99 ms': ms(0.99),
    'at most ms': ms(1),
    'rows deleted': (await count()) - before,
  }
}
