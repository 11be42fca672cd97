import type { Audited } from '.'

/** Invariants 2 and 3: what was published once is published by exactly one event, nothing is published that did not happen, and every event had its effect. */
export async function eventsAgainstStates(audited: Audited): Promise<string[]> {
  return [...(await publishedOnce(audited)), ...(await copiesAgree(audited))]
}

async function publishedOnce({ ledger }: Audited): Promise<string[]> {
  const rows = await ledger.query(
    'orders',
    `SELECT o.id, o.status, o.paid_at IS NOT NULL AS paid, o.cancelled_at IS NOT NULL AS cancelled, o.notified_units > 0 AS short,
       (SELECT count(*) FROM outbox w WHERE w.type = 'deposit.watch' AND w.body::jsonb->'data'->'orders' @> jsonb_build_array(jsonb_build_object('order_id', o.id))) AS watched,
       count(*) FILTER (WHERE e.type = 'order.paid') AS published_paid,
       count(*) FILTER (WHERE e.type = 'order.expired') AS published_expired, count(*) FILTER (WHERE e.type = 'order.cancelled') AS published_cancelled,
       count(*) FILTER (WHERE e.type = 'order.underpaid') AS published_short
     FROM orders o LEFT JOIN outbox e ON e.body::jsonb->'data'->'order'->>'id' = o.id::text GROUP BY o.id`,
  )
  return rows.flatMap(row => {
    const miscounted = (name: string, actual: unknown, wanted: number) =>
      Number(actual) === wanted ? [] : [`order ${row.id} has ${actual} events ${name} instead of ${wanted}`]
    return [
      ...(Number(row.watched) > 0 ? [] : [`order ${row.id} was never sent to the listener`]),
      ...miscounted('order.paid', row.published_paid, row.paid ? 1 : 0),
      ...miscounted('order.cancelled', row.published_cancelled, row.cancelled ? 1 : 0),
      ...(Number(row.published_expired) > 1 ? [`order ${row.id} has ${row.published_expired} events order.expired`] : []),
      ...(row.status === 'expired' && !row.paid && Number(row.published_expired) !== 1
        ? [`order ${row.id} expired without its event`]
        : []),
      ...(row.short !== Number(row.published_short) > 0 ? [`order ${row.id} has ${row.published_short} events order.underpaid`] : []),
    ]
  })
}

/** A service's copy of another's data is as that one last published it. */
async function copiesAgree({ ledger }: Audited): Promise<string[]> {
  const differences: string[] = []
  const merchants = await ledger.query('api-gateway', 'SELECT id, version FROM merchants')
  for (const service of ['orders', 'webhook-dispatcher'] as const) {
    const copies = new Map((await ledger.query(service, 'SELECT id, version FROM merchants')).map(row => [row.id, row.version]))
    for (const { id, version } of merchants)
      if (copies.get(id) !== version) differences.push(`${service} has version ${copies.get(id)} of merchant ${id} instead of ${version}`)
  }
  const payables = new Set((await ledger.query('chain-listener', 'SELECT order_id FROM payables')).map(row => row.order_id))
  for (const { id } of await ledger.query('orders', 'SELECT id FROM orders'))
    if (!payables.has(id)) differences.push(`order ${id} is unknown to the listener: its deposit address is not watched`)
  return differences
}
