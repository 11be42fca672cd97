import { randomUUID } from 'node:crypto'
import { type ListDeliveries, type ListEvents, listDeliveries, listEvents, OVERVIEW_MAX, SEARCHED_MAX } from '@ponte/contracts'
import { type Database, openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { webhookDispatcherMigrations } from '../src'
import { openStore, PLANNER, type Store } from '../src/store'

const MANY = 20_000
const merchantId = randomUUID()
const endpointId = randomUUID()
const quiet = randomUUID()
/** Rows are stored a second apart. */
const FIRST = Date.parse('2026-11-20T00:00:00.000Z')
const stored = (n: number) => new Date(FIRST + n * 1_000).toISOString()
const idOf = (n: number) => `${n.toString(16).padStart(8, '0')}-0000-7000-8000-000000000000`

let database: Database
let store: Store
let drop: () => Promise<void>
/** Statements about deliveries and events since. */
let sent: { text: string; values: unknown[] }[] = []

beforeAll(async () => {
  const made = await testDatabase(webhookDispatcherMigrations)
  drop = made.drop
  database = openDatabase({ url: made.url, settings: PLANNER, statementTimeoutMs: 120_000 })
  const query = database.pool.query
  const listen = (first: { text?: string; values?: unknown[] }, ...rest: unknown[]) => {
    const values = first.values ?? (Array.isArray(rest[0]) ? rest[0] : [])
    if (first.text && /deliveries|events/.test(first.text) && !first.text.startsWith('EXPLAIN')) sent.push({ text: first.text, values })
    return Reflect.apply(query, database.pool, [first, ...rest])
  }
  Object.assign(database.pool, { query: listen })
  store = openStore(database)
  // The few rows that differ from the many are the oldest: a client that walks through the merchant's list meets them last.
  const rows = `
    SELECT n, at, type, status, id, CASE WHEN n <= 30 THEN id ELSE (left(id::text, -1) || '1')::uuid END AS event_id
    FROM (SELECT n, $2::timestamptz + n * interval '1 second' AS at, CASE WHEN n <= 30 THEN 'order.expired' ELSE 'order.paid' END AS type,
      CASE WHEN n <= 10 THEN 'pending' WHEN n <= 20 THEN 'dead' ELSE 'delivered' END AS status,
      (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid AS id FROM generate_series(1, $3::int) AS n) AS row`
  await database.query(
    `INSERT INTO deliveries (id, event_id, merchant_id, endpoint_id, event_type, status, attempts, next_attempt_at, dead_reason, created_at)
     SELECT id, event_id, $1::uuid, CASE WHEN id <> event_id THEN $4::uuid END, type, status, 1, CASE status WHEN 'pending' THEN now() END,
       CASE status WHEN 'dead' THEN 'attempts_exhausted' END, at FROM (${rows}) AS row`,
    [merchantId, stored(0), MANY, endpointId],
  )
  await database.query(
    `INSERT INTO events (id, merchant_id, merchant_version, type, body, waiting, occurred_at, created_at, sequence)
     SELECT event_id, $1::uuid, 1, type, '{}', false, at, at, n FROM (${rows}) AS row`,
    [merchantId, stored(0), MANY],
  )
  await database.query(
    `INSERT INTO endpoints (id, merchant_id, place, url, events, format, sealed_secret, created_at)
     VALUES ($1, $2, 1, 'https://shop.example', ARRAY['endpoint.test'], 'ponte', '', now())`,
    [endpointId, merchantId],
  )
  await database.query('VACUUM ANALYZE deliveries, events')
})
afterAll(async () => {
  await database.stop?.()
  await drop()
})

interface Node {
  'Node Type': string
  'Actual Rows': number
  'Rows Removed by Filter'?: number
  Plans?: Node[]
}
const all = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(all)]

/** The most rows that a step of what was sent has read, and whether one read a table whole. */
async function workOf(statements: typeof sent) {
  let most = 0
  for (const { text, values } of [...statements]) {
    const explained = await database.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values)
    const nodes = explained.rows.flatMap(row => row['QUERY PLAN'].flatMap(({ Plan }) => all(Plan)))
    most = Math.max(most, ...nodes.map(node => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)))
    expect(nodes.filter(node => node['Node Type'] === 'Seq Scan')).toEqual([])
  }
  return most
}

const SEEN_MAX = 60
const ENDED = SEARCHED_MAX + SEEN_MAX

it.each<[string, ListDeliveries, number, number?]>([
  ['no filter', {}, 21],
  ['no filter, deep', { starting_after: idOf(0x1000) }, 21],
  ['event_type', { event_type: 'order.expired' }, 21],
  ['event_type, deep', { event_type: 'order.expired', starting_after: idOf(8) }, 7],
  ['status=pending', { status: 'pending' }, 10],
  ['status=dead', { status: 'dead' }, 10],
  ['status=dead of a span', { status: 'dead', created_gte: stored(15) }, 6],
  ['status=in_flight', { status: 'in_flight' }, 0],
  ['event_id', { event_id: idOf(7) }, 1],
  ['created_gte, new', { created_gte: stored(MANY - 4) }, 5],
  ['created_lt, old', { created_lt: stored(6) }, 5],
  ['a span in the middle', { created_gte: stored(9_000), created_lt: stored(9_005) }, 5],
  ['a span in the middle, from a row on', { created_gte: stored(9_000), created_lt: stored(9_005), starting_after: idOf(9_002) }, 2],
  ['a span in the middle, up to a row', { created_gte: stored(9_000), created_lt: stored(9_005), ending_before: idOf(9_002) }, 2],
  ['a span that is empty', { created_gte: '2999-01-01T00:00:00.000Z' }, 0],
  ['an endpoint', { endpoint_id: endpointId }, 21],
  ['an endpoint and a status', { endpoint_id: endpointId, status: 'delivered' }, 21, ENDED],
  ['an endpoint of others', { endpoint_id: quiet }, 0],
  ['status=delivered', { status: 'delivered' }, 21, ENDED],
  ['the webhook_url', { endpoint_id: merchantId }, 0, ENDED],
  ['the webhook_url, deep', { endpoint_id: merchantId, starting_after: idOf(40) }, 21],
  ['an endpoint and a kind that it never had', { endpoint_id: endpointId, event_type: 'order.expired' }, 0, ENDED],
  ['a kind and a span without it', { event_type: 'order.expired', created_gte: stored(1_000) }, 0, ENDED],
])(
  'GET /deliveries with %s reads little more than it answers, or looks through a bounded number',
  async (_name, query, found, ...[max]) => {
    sent = []
    const { rows, searchedTo } = await store.deliveries.list(merchantId, listDeliveries.parse(query), 21)
    expect([rows.length, searchedTo !== null]).toEqual([found, max !== undefined && found < 21])
    expect(await workOf(sent)).toBeLessThanOrEqual(max ?? SEEN_MAX)
  },
)

it.each<[string, ListEvents, number, number?]>([
  ['no filter', {}, 21],
  ['type', { type: 'order.expired' }, 21],
  ['created_gte, new', { created_gte: stored(MANY - 4) }, 5],
  ['created_lt, old', { created_lt: stored(6) }, 5],
  ['a span in the middle', { created_gte: stored(9_000), created_lt: stored(9_005) }, 5],
  ['a type and a span without it', { type: 'order.expired', created_gte: stored(1_000) }, 0, ENDED],
])('GET /events with %s reads little more than it answers, or looks through a bounded number', async (_name, query, found, ...[max]) => {
  sent = []
  const { rows, searchedTo } = await store.events.list(merchantId, listEvents.parse(query), 21)
  expect([rows.length, searchedTo !== null]).toEqual([found, max !== undefined])
  expect(await workOf(sent)).toBeLessThanOrEqual(max ?? SEEN_MAX)
})

it('a pull of one kind looks through a bounded number of events, and goes on behind them', async () => {
  const work: number[] = []
  const found: number[] = []
  let looks = 0
  for (let after = 30, isEnded = true; isEnded; looks += 1) {
    sent = []
    const pulled = await store.events.after(merchantId, { after, type: 'order.expired' }, 21)
    work.push(await workOf(sent))
    found.push(...pulled.rows.map(({ sequence }) => Number(sequence)))
    after = pulled.lookedTo
    isEnded = pulled.isEnded
  }
  expect([found, looks]).toEqual([[], 4])
  expect(Math.max(...work)).toBeLessThanOrEqual(ENDED)
  const { rows } = await store.events.after(merchantId, { after: 25, type: 'order.expired' }, 21)
  expect(rows.map(({ sequence }) => Number(sequence))).toEqual([26, 27, 28, 29, 30])
})

it('a merchant without a row reads none of another', async () => {
  sent = []
  for (const query of [{}, { endpoint_id: endpointId }, { status: 'delivered' }] as const)
    expect(await store.deliveries.list(quiet, query, 21)).toEqual({ rows: [], searchedTo: null })
  for (const query of [{}, { type: 'order.paid' }, { created_gte: stored(1) }] as const)
    expect(await store.events.list(quiet, query, 21)).toEqual({ rows: [], searchedTo: null })
  expect(await workOf(sent)).toBeLessThanOrEqual(1)
})

it('a replay of a time range looks through a bounded number of events, and names where the next one begins', async () => {
  const starts: string[] = []
  for (let from: string | undefined = stored(1); from !== undefined; ) {
    starts.push(from)
    const range = { created_gte: from, created_lt: stored(MANY * 2), scope: 'undelivered' } as const
    const { replayed, nextAt } = await store.replays.range(merchantId, endpointId, range, 1_000, { retentionDays: 3_650, lookedAt: 5_000 })
    expect(replayed).toBe(0)
    from = nextAt?.toISOString()
  }
  expect(starts).toEqual([1, 5_001, 10_001, 15_001].map(stored))
})

it('an overview counts a bounded number of deliveries', async () => {
  await database.query("UPDATE deliveries SET status = 'pending', next_attempt_at = now() WHERE status = 'delivered'")
  sent = []
  expect(await store.deliveries.overview(merchantId)).toEqual({ pending: 0, retrying: OVERVIEW_MAX, delivered_24h: 0, dead_24h: 0 })
  expect(await workOf(sent)).toBeLessThanOrEqual(OVERVIEW_MAX + SEEN_MAX)
})
