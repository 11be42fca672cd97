import { type OrderBody, webhookType } from '@ponte/contracts'
import { settle } from '@ponte/orders'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { call, type World } from '../test/system'
import type { Cluster } from './cluster'
import type { Ledger, Row } from './ledger'
import type { Traffic } from './traffic'

/** Looks from the outside and into each database, and names every difference. Nothing it finds is a matter of taste. */
export async function audit(world: World, cluster: Cluster, ledger: Ledger, traffic: Traffic): Promise<string[]> {
  return [
    ...(await paymentsAgainstChain(world, ledger)),
    ...(await ordersAgainstTheirFacts(ledger)),
    ...(await eventsAgainstStates(ledger)),
    ...(await webhooksAgainstEvents(ledger, traffic)),
    ...(await periodsOnce(ledger)),
    ...(await answersAreVisible(cluster, traffic)),
  ]
}

interface ChainPayment {
  id: string
  memo: string
  shareUnits: bigint
}

/** Every PaymentReceived of the canonical chain, identified as the listener does. */
async function paymentsOnChain(world: World): Promise<ChainPayment[]> {
  const logs = await world.chain.provider.getLogs({
    address: world.chain.routerAddress,
    topics: [PAYMENT_RECEIVED_TOPIC],
    fromBlock: 0,
    toBlock: 'latest',
  })
  const ordinals = new Map<string, number>()
  return logs.map(({ transactionHash, topics, data }) => {
    const ordinal = ordinals.get(transactionHash) ?? 0
    ordinals.set(transactionHash, ordinal + 1)
    return {
      id: `${world.chain.chainId}:${transactionHash}:${ordinal}`,
      memo: topics[1]?.slice(2) ?? '',
      shareUnits: BigInt(data.slice(0, 66)),
    }
  })
}

/** Invariant 1: each is exactly one confirmed payment, on its order or among the unmatched; to the unit. */
async function paymentsAgainstChain(world: World, ledger: Ledger): Promise<string[]> {
  const differences: string[] = []
  const recorded = new Map<string, Row[]>()
  for (const table of ['payments', 'unmatched_payments']) {
    for (const row of await ledger.query(
      'orders',
      `SELECT id, share_units, '${table}' AS place FROM ${table} WHERE status = 'confirmed'`,
    )) {
      recorded.set(String(row.id), [...(recorded.get(String(row.id)) ?? []), row])
    }
  }
  const onChain = await paymentsOnChain(world)
  for (const payment of onChain) {
    const rows = recorded.get(payment.id) ?? []
    recorded.delete(payment.id)
    if (rows.length !== 1) differences.push(`payment ${payment.id} of the chain is recorded ${rows.length} times`)
    else if (String(rows[0]?.share_units) !== String(payment.shareUnits))
      differences.push(`payment ${payment.id} is recorded with another amount`)
  }
  for (const id of recorded.keys()) differences.push(`payment ${id} is recorded as confirmed and is not on the chain`)
  const [sum] = await ledger.query('orders', 'SELECT coalesce(sum(received_units), 0)::text AS total FROM orders')
  const [apart] = await ledger.query(
    'orders',
    "SELECT coalesce(sum(share_units), 0)::text AS total FROM unmatched_payments WHERE status = 'confirmed'",
  )
  const total = onChain.reduce((all, payment) => all + payment.shareUnits, 0n)
  if (BigInt(String(sum?.total)) + BigInt(String(apart?.total)) !== total)
    differences.push(`orders received ${sum?.total} + ${apart?.total}, the chain says ${total}`)
  return differences
}

/** Every order is what the pure function makes of its facts. */
async function ordersAgainstTheirFacts(ledger: Ledger): Promise<string[]> {
  const differences: string[] = []
  const [cursor] = await ledger.query<{ confirmed_time: Date | null }>('orders', 'SELECT confirmed_time FROM chain_cursors')
  const payments = new Map<string, Row[]>()
  for (const row of await ledger.query('orders', 'SELECT * FROM payments')) {
    payments.set(String(row.order_id), [...(payments.get(String(row.order_id)) ?? []), row])
  }
  for (const row of await ledger.query('orders', 'SELECT * FROM orders')) {
    const terms = {
      expectedUnits: BigInt(String(row.expected_units)),
      expiresAt: row.expires_at as Date,
      cancelledAt: row.cancelled_at as Date | null,
      paidAt: row.paid_at as Date | null,
      supersededAt: (row.superseded_at ?? null) as Date | null,
      expiredAt: (row.expired_at ?? null) as Date | null,
      toldUnits: BigInt(String(row.told_units)),
    }
    const facts = (payments.get(String(row.id)) ?? []).map(payment => ({
      id: String(payment.id),
      revision: Number(payment.revision),
      status: payment.status as 'detected' | 'confirmed' | 'orphaned',
      shareUnits: BigInt(String(payment.share_units)),
      payerAddress: String(payment.payer_address),
      txHash: String(payment.tx_hash),
      blockNumber: BigInt(String(payment.block_number)),
      blockTime: payment.block_time as Date,
      replaces: (payment.replaces ?? []) as string[],
    }))
    const verdict = settle(terms, facts, cursor?.confirmed_time ?? null)
    // An expiry that is due but not yet swept is no difference.
    const lagging = verdict.status === 'expired' && ['pending', 'underpaid', 'confirming'].includes(String(row.status))
    if (!lagging && (verdict.status !== row.status || verdict.exception !== row.exception)) {
      differences.push(`order ${row.id} is ${row.status}/${row.exception}, its facts say ${verdict.status}/${verdict.exception}`)
    }
    if (verdict.receivedUnits !== BigInt(String(row.received_units)))
      differences.push(`order ${row.id} received ${row.received_units}, its facts say ${verdict.receivedUnits}`)
  }
  return differences
}

/** Invariants 2 and 3: what was told once is told by exactly one event, and nothing is told that did not happen. */
async function eventsAgainstStates(ledger: Ledger): Promise<string[]> {
  const rows = await ledger.query(
    'orders',
    `SELECT o.id, o.status, o.paid_at IS NOT NULL AS paid,
       count(*) FILTER (WHERE e.type = 'order.created') AS created, count(*) FILTER (WHERE e.type = 'order.paid') AS told_paid,
       count(*) FILTER (WHERE e.type = 'order.expired') AS told_expired, count(*) FILTER (WHERE e.type = 'order.cancelled') AS told_cancelled
     FROM orders o LEFT JOIN outbox e ON e.body::jsonb->'data'->'order'->>'id' = o.id::text GROUP BY o.id`,
  )
  return rows.flatMap(row => {
    const said = (name: string, actual: unknown, wanted: number) =>
      Number(actual) === wanted ? [] : [`order ${row.id} has ${actual} events ${name} instead of ${wanted}`]
    return [
      ...said('order.created', row.created, 1),
      ...said('order.paid', row.told_paid, row.paid ? 1 : 0),
      ...said('order.cancelled', row.told_cancelled, row.status === 'cancelled' ? 1 : 0),
      ...(Number(row.told_expired) > 1 ? [`order ${row.id} has ${row.told_expired} events order.expired`] : []),
      ...(row.status === 'expired' && !row.paid && Number(row.told_expired) !== 1 ? [`order ${row.id} expired without its event`] : []),
    ]
  })
}

/** Every event for a merchant reached the dispatcher once, and the merchant's server at least once, signed. */
async function webhooksAgainstEvents(ledger: Ledger, traffic: Traffic): Promise<string[]> {
  const differences: string[] = []
  const published = [
    ...(await ledger.query('orders', 'SELECT id, type, body::jsonb->$1->>$2 AS subscription_id FROM outbox', ['data', 'subscription_id'])),
    ...(await ledger.query('subscriptions', 'SELECT id, type, NULL AS subscription_id FROM outbox')),
  ]
  const orders = new Map(
    (await ledger.query('orders', 'SELECT id, subscription_id FROM orders')).map(row => [String(row.id), row.subscription_id]),
  )
  const paid = await ledger.query(
    'orders',
    "SELECT id, body::jsonb->'data'->'order'->>'id' AS order_id FROM outbox WHERE type = 'order.paid'",
  )
  const silent = new Set(paid.filter(row => orders.get(String(row.order_id)) !== null).map(row => String(row.id)))
  const kept = new Set((await ledger.query('webhook-dispatcher', 'SELECT id FROM events')).map(row => String(row.id)))
  for (const { id, type } of published) {
    if (!webhookType.safeParse(type).success) continue
    if (silent.has(String(id)) === kept.has(String(id)))
      differences.push(
        `event ${id} (${type}) is ${kept.has(String(id)) ? 'told to the merchant and must not be' : 'unknown to the dispatcher'}`,
      )
  }
  const undelivered = await ledger.query(
    'webhook-dispatcher',
    "SELECT id, status, last_error_code FROM deliveries WHERE status NOT IN ('delivered', 'dead')",
  )
  for (const row of undelivered) differences.push(`delivery ${row.id} is ${row.status} (${row.last_error_code})`)
  const delivered = await ledger.query(
    'webhook-dispatcher',
    "SELECT d.id, d.merchant_id, convert_from(e.body, 'UTF8') AS body FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.status = 'delivered'",
  )
  const got = new Map(
    traffic.merchants.map(({ body, receiver }) => [
      body.id,
      new Set(receiver.received.filter(webhook => webhook.signature_valid).map(webhook => webhook.body)),
    ]),
  )
  for (const row of delivered)
    if (!got.get(String(row.merchant_id))?.has(String(row.body)))
      differences.push(`delivery ${row.id} is called delivered, and its receiver never got those bytes`)
  for (const { body, receiver } of traffic.merchants) {
    const forged = receiver.received.filter(webhook => !webhook.signature_valid).length
    if (forged > 0) differences.push(`merchant ${body.id} got ${forged} webhooks with a wrong signature`)
  }
  return differences
}

/** No period is charged twice, and each charge counted was told once. */
async function periodsOnce(ledger: Ledger): Promise<string[]> {
  const rows = await ledger.query(
    'subscriptions',
    `SELECT s.id, s.charges_done, (SELECT count(*) FROM charges c WHERE c.subscription_id = s.id AND c.status = 'paid') AS paid,
       (SELECT count(*) FROM outbox e WHERE e.type = 'subscription.charged' AND e.body::jsonb->'data'->>'subscription_id' = s.id::text) AS told
     FROM subscriptions s`,
  )
  return rows
    .filter(row => Number(row.charges_done) !== Number(row.paid) || Number(row.charges_done) !== Number(row.told))
    .map(row => `subscription ${row.id} counts ${row.charges_done} charges, has ${row.paid} paid periods and told ${row.told}`)
}

/** Every order that the API answered with 2xx is there, with the memo it was answered with. */
async function answersAreVisible(cluster: Cluster, traffic: Traffic): Promise<string[]> {
  const differences: string[] = []
  for (const { order, merchant } of traffic.answered.values()) {
    try {
      const read = await call<OrderBody>(cluster.gatewayUrls[0] ?? '', 'GET', `/api/v1/orders/${order.id}`, merchant.body.api_key)
      if (read.memo !== order.memo) differences.push(`order ${order.id} has another memo than it was answered with`)
    } catch (error) {
      differences.push(`order ${order.id} was answered and is not there: ${error instanceof Error ? error.message : error}`)
    }
  }
  return differences
}
