import type { Database, Sql } from '@ponte/service-kit'

/** Writes orders of one merchant, one per second up to so many seconds ago, of every status; the rare ones are one in a thousand. */
export async function fillOrders(sql: Sql, merchantId: string, count: number, secondsAgo = 0): Promise<void> {
  await sql.query(
    `INSERT INTO orders (id, merchant_id, merchant_version, merchant_name, merchant_address, status, exception, subscription_id, external_ref,
       metadata, brl_centavos, usdc_units, fee_bps, fee_units, expected_units, tolerance_units, confirmed_units, notified_units, rate_micros, rate_source, rate_as_of,
       rate_spread_bps, memo, chain_id, token_address, router_address, deposit_address, tx_hash, expires_at, paid_at, settled_at, description, created_at)
     SELECT (substr(ms, 1, 8) || '-' || substr(ms, 9, 4) || '-7' || substr(hash, 1, 3) || '-8' || substr(hash, 4, 3) || '-' || substr(hash, 7, 12))::uuid,
       $1::uuid, 1, 'Many', '0x01', CASE WHEN n % 1000 = 0 THEN 'underpaid' WHEN n % 10 = 1 THEN 'expired' ELSE 'paid' END,
       CASE WHEN n % 1000 = 2 THEN 'overpaid' END, CASE WHEN n % 10 = 3 THEN ('00000000-0000-7000-8000-' || lpad((n % 500)::text, 12, '0'))::uuid END, 'REF-' || n % 5000,
       '{}', 100, 100, 100, 1, 99, 1, 0, 0, 5420000, 'static', made, 0, md5($1::uuid::text || n) || hash, 31337, '0x02', '0x03',
       '0x' || translate(substr(md5(hash), 1, 8) || hash, 'abcdef', '012345'),
       CASE WHEN n % 10 <> 1 THEN '0x' || hash || hash END, made + interval '30 minutes',
       CASE WHEN n % 10 <> 1 AND n % 1000 <> 0 THEN made END, made, CASE WHEN n % 1000 = 5 THEN 'Cesta de Pães ' || n ELSE 'Pedido ' || n END, made
     FROM (SELECT n, made, md5($1::uuid::text || 'h' || n) AS hash, lpad(to_hex((extract(epoch FROM made) * 1000)::bigint), 12, '0') AS ms
       FROM (SELECT n, date_trunc('milliseconds', now()) - ($3::int + n) * interval '1 second' AS made FROM generate_series(1, $2::int) AS n) AS spread) AS rows`,
    [merchantId, count, secondsAgo],
  )
  await sql.query(
    `INSERT INTO payments (id, order_id, kind, version, status, gross_units, payer_address, tx_hash, block_number, block_time, log_index)
     SELECT 'p' || id, id, 'router', 1, 'confirmed', 100, '0x09', tx_hash, 1, created_at, 0 FROM orders
     WHERE merchant_id = $1 AND tx_hash IS NOT NULL`,
    [merchantId],
  )
  await sql.query('ANALYZE orders, payments')
}

/** Every filter of the list with a value that some order has, and pages at the top, in the middle and at the end. */
export async function listQueries(sql: Sql, merchantId: string): Promise<Record<string, Record<string, string>>> {
  const at = async (share: number) => {
    const { rows } = await sql.query<{
      id: string
      created_at: Date
      memo: string
      tx_hash: string | null
      deposit_address: string | null
    }>(
      `SELECT id, created_at, memo, tx_hash, deposit_address FROM orders WHERE merchant_id = $1 AND tx_hash IS NOT NULL ORDER BY id DESC
       OFFSET (SELECT (count(*) * $2::float8)::int FROM orders WHERE merchant_id = $1 AND tx_hash IS NOT NULL) LIMIT 1`,
      [merchantId, share],
    )
    const [row] = rows
    if (!row) throw new Error('The merchant has no orders.')
    return { id: row.id, time: row.created_at.toISOString(), memo: row.memo, hash: row.tx_hash ?? '', address: row.deposit_address ?? '' }
  }
  const [middle, deep] = [await at(0.5), await at(0.95)]
  const { rows } = await sql.query<{ id: string }>(
    'SELECT subscription_id AS id FROM orders WHERE merchant_id = $1 AND subscription_id IS NOT NULL LIMIT 1',
    [merchantId],
  )
  return {
    'first page': {},
    'in the middle': { starting_after: middle.id },
    'near the end': { starting_after: deep.id },
    'backwards from near the end': { ending_before: deep.id },
    'created_lt, deep': { created_lt: deep.time },
    'created_gte and created_lt, middle': { created_gte: deep.time, created_lt: middle.time },
    'status, common': { status: 'paid' },
    'status, rare': { status: 'underpaid' },
    'status, rare, deep': { status: 'underpaid', starting_after: middle.id },
    'status and time, deep': { status: 'expired', created_lt: deep.time },
    exception: { exception: 'overpaid' },
    external_ref: { external_ref: 'REF-7' },
    subscription_id: { subscription_id: rows[0]?.id ?? merchantId },
    memo: { memo: middle.memo },
    tx_hash: { tx_hash: middle.hash },
    deposit_address: { deposit_address: middle.address },
    'paid_lt, middle': { paid_lt: middle.time },
    'paid_gte and paid_lt, in the middle': { paid_gte: deep.time, paid_lt: middle.time, starting_after: middle.id },
    'paid_lt, backwards': { paid_lt: middle.time, ending_before: deep.id },
  }
}

export interface Plan {
  scan: string
  index: string
  rowsRead: number
  rowsAnswered: number
  buffers: number
}

interface Node {
  'Node Type': string
  'Index Name'?: string
  'Actual Rows': number
  'Rows Removed by Filter'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Node[]
}

/** Explains the statements that `work` sends about lists of orders, each as it was sent. */
export async function plansOf(database: Database, work: () => Promise<unknown>): Promise<Plan[]> {
  // All pools are of one class; the one that the service made is not ours to reach.
  const pools = Object.getPrototypeOf(Object.getPrototypeOf(database.pool))
  const real = pools.query
  const sent: { text: string; values: unknown[] }[] = []
  pools.query = function (query: unknown, ...rest: unknown[]) {
    const { text, values } = query as { text?: string; values?: unknown[] }
    const given = values ?? (Array.isArray(rest[0]) ? rest[0] : [])
    if (text?.includes('FROM orders WHERE merchant_id = ANY')) sent.push({ text, values: given })
    return real.call(this, query, ...rest)
  }
  try {
    await work()
  } finally {
    pools.query = real
  }
  return Promise.all(
    sent.map(async ({ text, values }) => {
      const { rows } = await database.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
      const [explained] = rows[0]?.['QUERY PLAN'] ?? []
      if (!explained) throw new Error('No plan.')
      return summary(explained.Plan)
    }),
  )
}

function summary(top: Node): Plan {
  let leaf = top
  while (leaf.Plans?.[0]) leaf = leaf.Plans[0]
  return {
    scan: leaf['Node Type'],
    index: leaf['Index Name'] ?? '–',
    rowsRead: leaf['Actual Rows'] + (leaf['Rows Removed by Filter'] ?? 0),
    rowsAnswered: top['Actual Rows'],
    buffers: top['Shared Hit Blocks'] + top['Shared Read Blocks'],
  }
}
