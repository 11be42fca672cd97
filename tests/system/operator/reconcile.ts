import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type ServiceName, type System, startAll } from '@ponte/all-in-one'
import { type AttentionItemBody, type List, NO_MEMO, type OrderBody, type RefundBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { audit, type OpsUrls } from '../../audit'
import { type Ledger, openLedger } from '../../torture/ledger'
import { call, createMerchant, MERCHANT, PAYER, pay, startWorld, units, type World } from '../../world'

const program = join(__dirname, '../../../scripts/operate/reconcile.mjs')
const ATTACHED_MEMO = 'cd'.repeat(32)
let world: World
let system: System
let ledger: Ledger
let urls: OpsUrls
let returned: RefundBody
const made: Record<'paid' | 'other' | 'attached' | 'underpaid' | 'deposited' | 'cancelled' | 'unpaid', OrderBody> = {} as never

beforeAll(async () => {
  world = await startWorld()
  system = await startAll(world.place, {
    logger: world.logger,
    settings: {
      'chain-listener': { CHECKPOINT_BLOCKS: '5' },
      // Plants in the ledger stay as they are.
      orders: { RECONCILE_EVERY_S: '86400' },
    },
  })
  ledger = openLedger(world.place.databaseUrl)
  urls = system.opsUrls
  const merchant = await createMerchant(world, system.gatewayUrl)
  const post = <T = OrderBody>(path: string, body: object) => call<T>(system.gatewayUrl, 'POST', path, merchant.api_key, body)
  const order = () =>
    post('/api/v1/orders', { brl_amount: '150.00', external_ref: 'INV-1', description: 'bread', metadata: { table: '7' } })
  for (const kind of ['paid', 'other', 'attached', 'underpaid', 'deposited', 'cancelled', 'unpaid'] as const) made[kind] = await order()
  await pay(world.chain, made.paid)
  await pay(world.chain, made.other)
  await pay(world.chain, made.underpaid, units(made.underpaid.usdc_amount) / 2n)
  await pay(world.chain, { ...made.unpaid, memo: 'ab'.repeat(32) })
  await mined(world.chain.mintUsdc(PAYER.address, units(made.deposited.usdc_amount)))
  const payer = world.chain.wallet(PAYER.privateKey)
  await mined(world.chain.transferUsdc(payer, made.deposited.payment.deposit_address ?? '', units(made.deposited.usdc_amount)))
  await mined(world.chain.mintUsdc(PAYER.address, 7_000_001n))
  await mined(world.chain.transferUsdc(payer, MERCHANT.address, 7_000_001n))
  await post(`/api/v1/orders/${made.cancelled.id}/cancel`, {})
  await pay(world.chain, { ...made.attached, memo: ATTACHED_MEMO })
  await system.idle()
  const { data } = await call<List<AttentionItemBody>>(system.gatewayUrl, 'GET', '/api/v1/attention', merchant.api_key)
  const stray = data.find(({ payment }) => payment?.memo === ATTACHED_MEMO)
  await post(`/api/v1/attention/${stray?.id}/attach`, { order_id: made.attached.id, reason: 'The memo was typed wrong' })
  const back = { amount: '5', payee_address: PAYER.address, reason: 'It came back' }
  returned = await post<RefundBody>(`/api/v1/orders/${made.other.id}/refunds`, back)
  await call(system.gatewayUrl, 'POST', `/api/v1/refunds/${returned.id}/approve`, merchant.token, {})
  const { domain, types, message } = returned.typed_data ?? { domain: {}, types: {}, message: { validBefore: '0' } }
  const signature = await world.chain.wallet(MERCHANT.privateKey).signTypedData(domain, types, message)
  await post(`/api/v1/refunds/${returned.id}/signature`, { valid_before: Number(message.validBefore), signature })
  await system.idle()
  await ledger.query('orders', "INSERT INTO ptax_rates VALUES ('2026-11-27', 5378100)")
  // So deep that the listener does not look at it any more, and what is planted there stays.
  const [final] = await ledger.query(
    'chain-listener',
    "UPDATE refund_watches SET is_final = true WHERE ended = 'transferred' RETURNING refund_id",
  )
  if (!final) throw new Error('the refund has not gone back')
})

afterAll(async () => {
  await ledger?.stop()
  await system?.stop()
  await world?.stop()
})

async function reconcile(...args: string[]) {
  const env = {
    PATH: process.env.PATH,
    CHAIN_LISTENER_OPS_URL: urls['chain-listener'],
    ORDERS_OPS_URL: urls.orders,
    WEBHOOK_DISPATCHER_OPS_URL: urls['webhook-dispatcher'],
    API_GATEWAY_OPS_URL: urls['api-gateway'],
    SUBSCRIPTIONS_OPS_URL: urls.subscriptions,
  }
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const [code] = await once(child, 'close')
  return { code, output }
}

/** An hour later, so that what waits since a moment counts as late. */
const look = async () => (await audit(urls, { from: 0, to: undefined, now: Date.now() + 3_600_000 })).differences

interface Column {
  name: string
  type: string
}

const columnsOf = (service: ServiceName, table: string): Promise<(Column & Record<string, unknown>)[]> =>
  ledger.query(
    service,
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [table],
  )

/** Names a row of it also where the service has written the row since, which gives it another `ctid`. */
async function keyOf(service: ServiceName, table: string): Promise<string> {
  const rows = await ledger.query<{ name: string }>(
    service,
    'SELECT attname AS name FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY(indkey) WHERE indrelid = $1::regclass AND indisprimary',
    [table],
  )
  return `ROW(${rows.map(({ name }) => `${table}.${name}`).join()})::text`
}

/** Another value of the same type, such as a slip or a hand would leave there. */
function otherValue({ name, type }: Column): string {
  if (type === 'boolean') return `NOT ${name}`
  if (type.startsWith('timestamp')) return `coalesce(${name}, now()) + interval '1 day'`
  if (type === 'jsonb') return `'{"planted": "7"}'`
  if (type === 'bytea') return `set_byte(${name}, length(${name}) - 3, 33)`
  if (/int|numeric/.test(type)) return `coalesce(${name}, 0) + 1`
  const flipped = `CASE WHEN right(${name}::text, 1) = '1' THEN left(${name}::text, -1) || '2' ELSE left(${name}::text, -1) || '1' END`
  return type === 'uuid' ? `coalesce((${flipped})::uuid, gen_random_uuid())` : `coalesce(${flipped}, '0xplanted')`
}

/** PostgreSQL's class of what a constraint refuses. */
const CONSTRAINT = /^23/

/** A hand with the right to write can do without the triggers by which a table refuses changes. */
const GUARDED = ['entries', 'market_rates', 'ptax_rates']

async function unguarded<T>(service: ServiceName, table: string, change: () => Promise<T>): Promise<T> {
  if (!GUARDED.includes(table)) return change()
  await ledger.query(service, `ALTER TABLE ${table} DISABLE TRIGGER USER`)
  try {
    return await change()
  } finally {
    await ledger.query(service, `ALTER TABLE ${table} ENABLE TRIGGER USER`)
  }
}

const planted = (...plant: Parameters<typeof plantedIn>): Promise<string[]> => unguarded(plant[0], plant[1], () => plantedIn(...plant))
const deleted = (...plant: Parameters<typeof deletedFrom>): Promise<string[]> => unguarded(plant[0], plant[1], () => deletedFrom(...plant))

/** Differences found while a column of one row holds another value; then it is put back. */
async function plantedIn(
  service: ServiceName,
  table: string,
  column: Column,
  where: string,
  value = otherValue(column),
): Promise<string[]> {
  const key = await keyOf(service, table)
  const change = ledger.query<{ place: string; was: string | null }>(
    service,
    `UPDATE ${table} SET ${column.name} = ${value} FROM (SELECT ctid AS found, ${column.name}::text AS was FROM ${table} WHERE ${where} LIMIT 1) AS old
     WHERE ${table}.ctid = found RETURNING ${key} AS place, was`,
  )
  const refused = (error: unknown) => {
    // Nothing to be found: the schema does not allow it.
    if (!CONSTRAINT.test(String(Reflect.get(Object(error), 'code')))) throw error
    return undefined
  }
  const rows = await change.catch(refused)
  if (rows === undefined) return ['refused by the schema']
  const [row] = rows
  if (!row) throw new Error(`${table} has no row where ${where}`)
  try {
    return await look()
  } finally {
    await ledger.query(service, `UPDATE ${table} SET ${column.name} = $2::text::${column.type} WHERE ${key} = $1`, [row.place, row.was])
    // A row never gets another transaction, so that no trigger takes back what was booked of the planted one.
    if (service === 'orders' && column.name === 'tx_hash')
      await ledger.query(service, 'SELECT book(ARRAY(SELECT DISTINCT tx_hash FROM entries))')
  }
}

/** Differences found while a row is gone. */
async function deletedFrom(service: ServiceName, table: string, where: string): Promise<string[]> {
  await ledger.query(service, `CREATE TABLE planted AS SELECT * FROM ${table} WHERE ${where}`)
  await ledger.query(service, `DELETE FROM ${table} WHERE ${where}`)
  try {
    return await look()
  } finally {
    await ledger.query(service, `INSERT INTO ${table} SELECT * FROM planted`)
    await ledger.query(service, 'DROP TABLE planted')
  }
}

/** Differences found after some statements, until they are undone. */
async function during(service: ServiceName, change: readonly string[], undo: readonly string[]): Promise<string[]> {
  for (const sql of change) await ledger.query(service, sql)
  const found = await look()
  for (const sql of undo) await ledger.query(service, sql)
  return found
}

interface Audited {
  service: ServiceName
  table: string
  /** A row that another may stand for. */
  where: () => string
  /** Columns that no fact states anything about, and why. */
  unaudited: Record<string, string>
  /** Where the general change would be no lie. */
  values?: Record<string, string>
}

const standing = (where: string) => `(merchant_id, sequence) IN (SELECT merchant_id, sequence FROM standing_entries WHERE ${where})`
const OWN_WORK = 'the work list of the service, not its books'
const BACK = 'where a payer goes afterwards, which nothing else records'
const NOTED = 'what the merchant has noted beside it, which moves no money'
const ONCE = 'stated once, when the order was made, and moves no money'
const LATEST = 'by which statement of the listener the row came to be, which is compared itself'
const STAMP = 'when the row was written, which nothing else records'
const audited: Audited[] = [
  {
    ...{ service: 'orders', table: 'orders', where: () => `id = '${made.paid.id}'` },
    unaudited: {
      ...{ version: 'counts writes', success_url: BACK, cancel_url: BACK, created_at: STAMP },
      // A subscription's order has them in its order.created too.
      ...{ description: ONCE, metadata: ONCE, rate_source: ONCE, rate_as_of: ONCE, rate_spread_bps: ONCE },
      ...{ handled_at: NOTED, handled_by: NOTED, handled_facts: NOTED, handled_blocked: NOTED, handled_note: NOTED },
      // Bounded alone: an order may be made with one of its own.
      tolerance_units: 'asked for with the order',
    },
    // No payment points to this one.
    values: { status: "'underpaid'", exception: "'overpaid'" },
  },
  {
    ...{ service: 'orders', table: 'payments', where: () => `order_id = '${made.paid.id}'` },
    unaudited: { generation: LATEST, version: LATEST },
    values: { order_id: '', status: "'detected'", kind: "'transfer'" },
  },
  {
    ...{ service: 'orders', table: 'sweeps', where: () => 'true', unaudited: { generation: LATEST, version: LATEST } },
    values: { status: "'orphaned'" },
  },
  {
    service: 'orders',
    table: 'unmatched_payments',
    where: () => "kind = 'router'",
    unaudited: { generation: LATEST, version: LATEST },
    values: { status: "'detected'", kind: "'transfer'", reason: "'wrong_chain'" },
  },
  {
    ...{ service: 'orders', table: 'attachments', where: () => 'true' },
    unaudited: { reason: NOTED, attached_by: NOTED, attached_at: NOTED },
  },
  {
    ...{ service: 'orders', table: 'refunds', where: () => `id = '${returned.id}'` },
    unaudited: {
      ...{
        reason: NOTED,
        requested_by: NOTED,
        created_at: STAMP,
        known_at: STAMP,
        known_block: LATEST,
        asked_at: OWN_WORK,
      },
      ...{
        approved_by: 'another member; which one stands in the audit log of another database, as who asked does',
        watch_from: 'the listener looks from some blocks before it on',
        generation: 'of one that has not ended it is asked about again',
      },
    },
    values: { ended: "'cancelled'" },
  },
  {
    ...{ service: 'orders', table: 'refund_signatures', where: () => 'signature IS NOT NULL' },
    unaudited: { seen_at: STAMP },
  },
  {
    ...{ service: 'orders', table: 'order_networks', where: () => `order_id = '${made.paid.id}'` },
    unaudited: { watched_version: LATEST, asked_generation: OWN_WORK, asked_at: OWN_WORK },
    values: { watched_through: '-1', blocked_reason: "'token_paused'" },
  },
  {
    ...{ service: 'orders', table: 'outbox', where: () => `type = 'order.paid' AND body LIKE '%${made.paid.id}%'` },
    unaudited: { created_at: STAMP, claimed_until: OWN_WORK, merchant_id: OWN_WORK },
    // One that the relay may claim would be sent again before it is looked for.
    values: { type: "'order.expired'", body: "replace(body, 'INV-1', 'INV-2')", sent_at: "NULL, claimed_until = 'infinity'" },
  },
  {
    ...{ service: 'orders', table: 'entries', where: () => standing(`kind = 'payment' AND order_id = '${made.paid.id}'`) },
    unaudited: { booked_at: STAMP },
    values: { sequence: '999999', kind: "'direct'" },
  },
  {
    // Differences of the plants before.
    ...{ service: 'orders', table: 'entries', where: () => 'reverses IS NOT NULL' },
    unaudited: { booked_at: STAMP },
    values: { sequence: '999999', kind: "'direct'" },
  },
  { ...{ service: 'orders', table: 'ledgers', where: () => 'sequence > 0' }, unaudited: {} },
  { ...{ service: 'orders', table: 'entry_sums', where: () => 'units > 0' }, unaudited: {}, values: { kind: "'accepted'" } },
  { ...{ service: 'orders', table: 'entry_day_sums', where: () => 'units > 0' }, unaudited: {}, values: { kind: "'accepted'" } },
  { ...{ service: 'orders', table: 'market_rates', where: () => 'true' }, unaudited: {} },
  { ...{ service: 'orders', table: 'ptax_rates', where: () => 'true' }, unaudited: {}, values: { day: 'day + 1' } },
  {
    ...{ service: 'orders', table: 'payout_addresses', where: () => 'payout_address IS NOT NULL' },
    unaudited: {},
    values: { merchant_version: '999999' },
  },
  {
    ...{ service: 'orders', table: 'payout_spans', where: () => 'generation IS NOT NULL' },
    unaudited: { asked_generation: OWN_WORK, asked_from: 'of which it is asked for; the listener may look from some blocks before it on' },
  },
  {
    ...{ service: 'chain-listener', table: 'payouts', where: () => 'true' },
    unaudited: { published_generation: OWN_WORK, published_until: OWN_WORK, published_at: OWN_WORK },
  },
  {
    ...{ service: 'chain-listener', table: 'payments', where: () => `memo = '${made.paid.memo}'`, unaudited: { seen_at: STAMP } },
    values: { state: "'orphaned'", kind: "'transfer'" },
  },
  {
    ...{ service: 'chain-listener', table: 'payables', where: () => `memo = '${made.paid.memo}'` },
    unaudited: {
      ...{ moved_at: OWN_WORK, doubted: OWN_WORK, held_units: OWN_WORK, held_since: OWN_WORK },
      ...{ failures: OWN_WORK, retry_at: OWN_WORK, answered: 'a higher one states no less than what is asked' },
      asked: 'a higher one is answered by the listener at its next look, and then agrees',
      watch_from: 'goes by the age of the order where orders knew no head, as here',
    },
    // A higher one would be published, and agree again.
    values: { blocked_reason: "'token_paused'", blocked_revision: '-1' },
  },
  {
    ...{ service: 'chain-listener', table: 'refund_watches', where: () => `refund_id = '${returned.id}'` },
    unaudited: {
      ...{ asked: OWN_WORK, asked_at: OWN_WORK, is_final: OWN_WORK, signed_at: OWN_WORK, failures: OWN_WORK, retry_at: OWN_WORK },
      watch_from: 'from where its end was looked for, which was found',
    },
    values: { ended: "'cancelled'" },
  },
  {
    ...{ service: 'chain-listener', table: 'checkpoints', where: () => 'payments > 0', unaudited: {} },
    values: { routers: "array_append(routers, '0xplanted')" },
  },
  {
    ...{ service: 'webhook-dispatcher', table: 'events', where: () => `type = 'order.paid'` },
    unaudited: { trace: 'names a trace', created_at: STAMP },
    values: { type: "'order.expired'" },
  },
  {
    ...{ service: 'webhook-dispatcher', table: 'deliveries', where: () => `status = 'delivered'` },
    unaudited: { id: 'names nothing else', losses: OWN_WORK, tries: OWN_WORK, created_at: STAMP, last_error: 'a text for people' },
    values: {
      ...{
        status: "'dead'",
        last_http_status: '500',
        last_error_code: "'timeout'",
        dead_reason: "'attempts_exhausted'",
        delivered_at: 'NULL',
      },
      ...{ attempts: '9', event_type: "'order.expired'" },
    },
  },
]

describe('npm run reconcile', () => {
  it('finds nothing where there is nothing, names how much it looked at, and ends with 0', async () => {
    const { code, output } = await reconcile()
    expect(output).toMatch(/: 7 payments, 2 of them settle nothing/)
    expect(output).toContain('7 orders')
    expect(output).toContain('The chain and the books agree.')
    expect(code).toBe(0)
    expect((await reconcile('--from-block', '0', '--to-block', '1')).output).toContain('Blocks 0 to 1: 0 payments')
    expect(await look()).toEqual([])
  })

  it('names what is wrong with how it was asked', async () => {
    expect(await reconcile('--from-block', 'genesis')).toMatchObject({ code: 1, output: expect.stringContaining('A block is a number') })
    expect(await reconcile('--from-block', '999999')).toMatchObject({ code: 1, output: expect.stringContaining('not confirmed yet') })
  })

  it('names another value in every column of every table that the books are made of', async () => {
    const missed: string[] = []
    let count = 0
    let refused = 0
    for (const { service, table, where, unaudited, values = {} } of audited) {
      const columns = await columnsOf(service, table)
      expect(columns.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(unaudited)))
      for (const column of columns.filter(({ name }) => !(name in unaudited))) {
        // The key of an order with payments cannot change.
        const row = table === 'orders' && column.name === 'id' ? `id = '${made.unpaid.id}'` : where()
        const value = table === 'payments' && column.name === 'order_id' ? `'${made.other.id}'` : values[column.name]
        const found = await planted(service, table, column, row, value)
        if (found[0] === 'refused by the schema') {
          refused++
          continue
        }
        count++
        if (found.length === 0) missed.push(`${service} ${table}.${column.name}`)
      }
    }
    process.stdout.write(`reconcile: ${count - missed.length} of ${count} planted columns named, ${refused} refused by the schema\n`)
    expect(missed).toEqual([])
    expect(await look()).toEqual([])
  }, 400_000)

  it('names a row that is gone from any of them', async () => {
    const rows: [ServiceName, string, string][] = [
      ['orders', 'orders', `id = '${made.unpaid.id}'`],
      ['orders', 'payments', `order_id = '${made.paid.id}'`],
      ['orders', 'sweeps', 'true'],
      ['orders', 'unmatched_payments', 'true'],
      ['orders', 'attachments', 'true'],
      ['orders', 'order_networks', `order_id = '${made.paid.id}'`],
      ['orders', 'refunds', `id = '${returned.id}'`],
      ['orders', 'refund_signatures', 'signature IS NOT NULL'],
      ['orders', 'refund_signatures', 'signature IS NULL'],
      ['orders', 'entries', standing("kind = 'fee'")],
      ['orders', 'entries', standing("kind = 'direct'")],
      ['orders', 'entries', 'reverses IS NOT NULL AND sequence = (SELECT max(sequence) FROM entries WHERE reverses IS NOT NULL)'],
      ['orders', 'entries', 'sequence = (SELECT max(sequence) FROM entries)'],
      ['orders', 'ledgers', 'sequence > 0'],
      ['orders', 'entry_sums', 'units > 0'],
      ['orders', 'entry_day_sums', 'units > 0'],
      ['orders', 'payout_addresses', 'true'],
      ['orders', 'payout_spans', 'true'],
      ['orders', 'outbox', `type = 'order.paid' AND body LIKE '%${made.paid.id}%'`],
      ['orders', 'outbox', `type = 'deposit.watch' AND body LIKE '%${made.unpaid.id}%'`],
      ['chain-listener', 'payments', `memo = '${made.paid.memo}'`],
      ['chain-listener', 'payments', `memo = '${NO_MEMO}'`],
      ['chain-listener', 'payouts', 'true'],
      ['chain-listener', 'payables', `memo = '${made.unpaid.memo}'`],
      ['chain-listener', 'checkpoints', 'payments > 0'],
      ['chain-listener', 'refund_watches', `refund_id = '${returned.id}'`],
      ['webhook-dispatcher', 'events', "type = 'order.paid'"],
      ['webhook-dispatcher', 'deliveries', 'true'],
    ]
    const missed: string[] = []
    for (const [service, table, where] of rows) if ((await deleted(service, table, where)).length === 0) missed.push(`${service} ${table}`)
    process.stdout.write(`reconcile: ${rows.length - missed.length} of ${rows.length} deleted rows named\n`)
    expect(missed).toEqual([])
  }, 200_000)

  it('fault: names an unpaid order set to paid, payments exchanged or moved, and another transaction', async () => {
    const id = (order: OrderBody) => `id = '${order.id}'`
    const exchange = `UPDATE payments SET order_id = CASE order_id WHEN '${made.paid.id}' THEN '${made.other.id}'::uuid ELSE '${made.paid.id}'::uuid END
      WHERE order_id IN ('${made.paid.id}', '${made.other.id}')`
    const lies: [string, string[], string[]][] = [
      [
        'an unpaid order set to paid',
        [`UPDATE orders SET status = 'paid', paid_at = now() WHERE ${id(made.unpaid)}`],
        [`UPDATE orders SET status = 'pending', paid_at = NULL WHERE ${id(made.unpaid)}`],
      ],
      ['payments of two orders exchanged', [exchange], [exchange]],
      [
        'a payment moved to another order',
        [`UPDATE payments SET order_id = '${made.unpaid.id}' WHERE order_id = '${made.paid.id}'`],
        [`UPDATE payments SET order_id = '${made.paid.id}' WHERE order_id = '${made.unpaid.id}'`],
      ],
      [
        'a paid order with the transaction of another',
        [`UPDATE orders SET tx_hash = (SELECT tx_hash FROM orders WHERE ${id(made.other)}) WHERE ${id(made.paid)}`],
        [`UPDATE orders SET tx_hash = (SELECT tx_hash FROM payments WHERE order_id = '${made.paid.id}') WHERE ${id(made.paid)}`],
      ],
      [
        'a cancelled order opened again',
        [`UPDATE orders SET status = 'pending', cancelled_at = NULL WHERE ${id(made.cancelled)}`],
        [
          `UPDATE orders SET status = 'cancelled', cancelled_at = (SELECT (body::json->>'occurred_at')::timestamptz FROM outbox WHERE type = 'order.cancelled') WHERE ${id(made.cancelled)}`,
        ],
      ],
      [
        'an order expired before its time',
        [`UPDATE orders SET status = 'expired', expired_at = now() WHERE ${id(made.unpaid)}`],
        [`UPDATE orders SET status = 'pending', expired_at = NULL WHERE ${id(made.unpaid)}`],
      ],
      [
        'an order made cheaper with all its sums',
        [
          `UPDATE orders SET usdc_units = usdc_units / 2, expected_units = expected_units / 2, fee_units = fee_units / 2 WHERE ${id(made.unpaid)}`,
        ],
        [
          `UPDATE orders SET usdc_units = ${units(made.unpaid.usdc_amount)}, expected_units = ${units(made.unpaid.expected)}, fee_units = ${units(made.unpaid.platform_fee)} WHERE ${id(made.unpaid)}`,
        ],
      ],
    ]
    const missed: string[] = []
    for (const [name, change, undo] of lies) if ((await during('orders', change, undo)).length === 0) missed.push(name)
    expect(missed).toEqual([])
    expect(await look()).toEqual([])
  })

  it('fault: names an entry that is invented, or changed in number, amount or owner with all its sums', async () => {
    const of = standing(`kind = 'direct'`)
    const copy = (columns: string, where = of) => `
      INSERT INTO entries SELECT (json_populate_record(entry, json_build_object('sequence', (SELECT max(sequence) + 1 FROM entries), ${columns}))).*
      FROM entries AS entry WHERE ${where}`
    const counted = (by: number) => `UPDATE ledgers SET sequence = sequence + ${by} WHERE sequence > 0`
    const gone = 'DELETE FROM entries WHERE sequence = (SELECT max(sequence) FROM entries)'
    const sums = (by: number) =>
      ['entry_sums', 'entry_day_sums'].map(table => `UPDATE ${table} SET units = units + ${by} WHERE kind = 'direct'`)
    const lies: [string, string[], string[]][] = [
      ['one twice', [copy("'reason', NULL"), counted(1)], [gone, counted(-1)]],
      ['one of no payment', [copy("'tx_hash', '0xfeed', 'units', 1"), counted(1)], [gone, counted(-1)]],
      [
        'more than came',
        [`UPDATE entries SET units = units + 5 WHERE ${of}`, ...sums(5)],
        [`UPDATE entries SET units = units - 5 WHERE ${of}`, ...sums(-5)],
      ],
      ['taken back without a reason', [copy("'reverses', entry.sequence, 'units', -entry.units"), counted(1)], [gone, counted(-1)]],
    ]
    const missed: string[] = []
    await unguarded('orders', 'entries', async () => {
      for (const [name, change, undo] of lies) {
        const found = await during('orders', change, undo)
        if (!found.some(each => each.includes('entries: '))) missed.push(name)
      }
    })
    expect(missed).toEqual([])
    expect(await look()).toEqual([])
  })

  it('fault: a rate is not changed without going round the database, which refuses it', async () => {
    for (const table of ['market_rates', 'ptax_rates'])
      for (const change of [`UPDATE ${table} SET rate_micros = rate_micros + 1`, `DELETE FROM ${table}`])
        await expect(ledger.query('orders', change)).rejects.toThrow('rates are never changed')
    expect(await look()).toEqual([])
  })

  it('fault: names a return for which both books have another block than the chain', async () => {
    const tables = [
      ['orders', 'refunds'],
      ['chain-listener', 'refund_watches'],
    ] as const
    const move = async (by: number) => {
      for (const [service, table] of tables)
        await ledger.query(service, `UPDATE ${table} SET block_number = block_number + ${by} WHERE ended = 'transferred'`)
    }
    await move(1)
    const found = await look()
    await move(-1)
    expect(found).toEqual([expect.stringContaining(`returns: refund ${returned.id}: the listener has`)])
    expect(await look()).toEqual([])
  })

  it('ends with 1 and names what it found', async () => {
    await ledger.query('orders', `UPDATE orders SET status = 'underpaid' WHERE id = '${made.paid.id}'`)
    const { code, output } = await reconcile()
    expect([code, output]).toEqual([1, expect.stringMatching(new RegExp(`^DIFFERENCE {2}status: order ${made.paid.id}`, 'm'))])
  })
})
