import { SPECIFIED_EVENTS, webhookType } from '@ponte/contracts'
import type { Ledger } from '../ledger'
import type { Traffic } from '../traffic'
import type { Audited } from '.'

/** Every event for a merchant reached the dispatcher once, and the merchant's server at least once, signed. */
export async function webhooksAgainstEvents({ ledger, traffic }: Audited): Promise<string[]> {
  return [...(await eventsAgainstDispatcher(ledger)), ...(await deliveriesAgainstReceivers(ledger, traffic))]
}

async function eventsAgainstDispatcher(ledger: Ledger): Promise<string[]> {
  const published = [
    // A subscription's order that is paid is published as subscription.charged, and not as order.paid.
    ...(await ledger.query(
      'orders',
      `SELECT e.id, e.type, e.type = 'order.paid' AND o.subscription_id IS NOT NULL AS silent
       FROM outbox e LEFT JOIN orders o ON o.id::text = e.body::jsonb->'data'->'order'->>'id'`,
    )),
    ...(await ledger.query('subscriptions', 'SELECT id, type, false AS silent FROM outbox')),
    // A refund is a change that the account's owners are informed of.
    ...(await ledger.query('api-gateway', 'SELECT id, type, false AS silent FROM outbox')),
  ].filter(({ type }) => type === 'order.payment_unmatched' || webhookType.safeParse(type).success)
  const kept = new Set((await ledger.query('webhook-dispatcher', 'SELECT id FROM events')).map(row => row.id))
  const known = new Set(published.map(({ id }) => id))
  return [
    ...published
      .filter(({ id, silent }) => silent === kept.has(id))
      .map(
        ({ id, type, silent }) =>
          `event ${id} (${type}) is ${silent ? 'sent to the merchant and must not be' : 'unknown to the dispatcher'}`,
      ),
    ...[...kept].filter(id => !known.has(id)).map(id => `the dispatcher keeps event ${id}, which was not published`),
  ]
}

async function deliveriesAgainstReceivers(ledger: Ledger, traffic: Traffic): Promise<string[]> {
  const differences: string[] = []
  const rows = await ledger.query(
    'webhook-dispatcher',
    `SELECT e.id, e.type, e.merchant_id, convert_from(e.body, 'UTF8') AS body, d.status, d.last_error_code, d.attempts
     FROM events e LEFT JOIN deliveries d ON d.event_id = e.id WHERE e.type IN (${SPECIFIED_EVENTS.map(type => `'${type}'`).join(', ')})`,
  )
  const taken = new Map(traffic.merchants.map(({ body, receiver }) => [body.id, receiver.taken]))
  for (const row of rows) {
    const about = `event ${row.id} (${row.type})`
    if (row.status !== 'delivered')
      differences.push(`${about} is ${row.status ?? 'not to be delivered'} after ${row.attempts} attempts (${row.last_error_code})`)
    else if (!taken.get(String(row.merchant_id))?.has(String(row.body)))
      differences.push(`${about} is called delivered, and its receiver never got those bytes with a valid signature`)
  }
  for (const { body, receiver } of traffic.merchants)
    if (receiver.counts.forged > 0) differences.push(`merchant ${body.id} got ${receiver.counts.forged} webhooks with a wrong signature`)
  return differences
}
