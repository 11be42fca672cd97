import { randomUUID } from 'node:crypto'
import { type ListDeliveries, listDeliveries } from '@ponte/contracts'
import { type Database, openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { webhookDispatcherMigrations } from '../src'
import { openStore, PLANNER, type Store } from '../src/store'

const MANY = 20_000
const merchantId = randomUUID()

let database: Database
let store: Store
let drop: () => Promise<void>
/** Lists of deliveries that were asked for since. */
let sent: { text: string; values: unknown[] }[] = []

beforeAll(async () => {
  const made = await testDatabase(webhookDispatcherMigrations)
  drop = made.drop
  database = openDatabase({ url: made.url, settings: PLANNER, statementTimeoutMs: 120_000 })
  const query = database.pool.query
  const listen = (first: { text?: string; values?: unknown[] }, ...rest: unknown[]) => {
    const values = first.values ?? (Array.isArray(rest[0]) ? rest[0] : [])
    if (first.text?.includes('"deliveries"')) sent.push({ text: first.text, values })
    return Reflect.apply(query, database.pool, [first, ...rest])
  }
  Object.assign(database.pool, { query: listen })
  store = openStore(database)
  // What few deliveries differ from the many are the oldest: a client that walks through the merchant's list meets them last.
  await database.query(
    `INSERT INTO deliveries (id, event_id, merchant_id, event_type, status, attempts, next_attempt_at, dead_reason)
     SELECT id, id, $1, CASE WHEN n <= 30 THEN 'order.expired' ELSE 'order.paid' END, status, 1, CASE status WHEN 'pending' THEN now() END,
       CASE status WHEN 'dead' THEN 'attempts_exhausted' END
     FROM (SELECT n, CASE WHEN n <= 10 THEN 'pending' WHEN n <= 20 THEN 'dead' ELSE 'delivered' END AS status,
       (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid AS id FROM generate_series(1, $2::int) AS n) AS row`,
    [merchantId, MANY],
  )
  await database.query('VACUUM ANALYZE deliveries')
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

it.each<[string, ListDeliveries, number]>([
  ['no filter', {}, 21],
  ['no filter, deep', { starting_after: '00001000-0000-7000-8000-000000000000' }, 21],
  ['event_type', { event_type: 'order.expired' }, 21],
  ['event_type, deep', { event_type: 'order.expired', starting_after: '00000008-0000-7000-8000-000000000000' }, 7],
  ['status=pending', { status: 'pending' }, 10],
  ['status=dead', { status: 'dead' }, 10],
  ['status=in_flight', { status: 'in_flight' }, 0],
  ['event_id', { event_id: '00000007-0000-7000-8000-000000000000' }, 1],
])('GET /deliveries with %s seeks in an index and reads little more than it answers', async (_name, query, found) => {
  sent = []
  const rows = await store.deliveries.list(merchantId, listDeliveries.parse(query), 21)
  expect([rows.length, sent.length]).toEqual([found, 1])
  for (const { text, values } of [...sent]) {
    const explained = await database.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values)
    const nodes = explained.rows.flatMap(row => row['QUERY PLAN'].flatMap(({ Plan }) => all(Plan)))
    const read = nodes.map(node => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0))
    expect({ read: Math.max(...read) > 60, whole: nodes.some(node => node['Node Type'] === 'Seq Scan') }).toEqual({
      read: false,
      whole: false,
    })
  }
})
