import type { ServiceName } from '@ponte/all-in-one'
import { until } from '@ponte/service-kit'
import type { World } from '../world'
import { type Ledger, publishers } from './ledger'

const number = 'SELECT count(*)::int AS n FROM'

/** Messages on their way, by place: each answers a number. */
const MOVING: [ServiceName, string, string][] = [
  ...publishers.map((service): [ServiceName, string, string] => [service, 'unsent events', `${number} outbox WHERE sent_at IS NULL`]),
  ['webhook-dispatcher', 'events that wait for their merchant', `${number} events WHERE waiting`],
  ['webhook-dispatcher', 'deliveries not yet made', `${number} deliveries WHERE status = 'pending'`],
  ['orders', 'orders still confirming', `${number} orders WHERE status = 'confirming'`],
  ['chain-listener', 'deposits not swept', `${number} payables WHERE held_units > 0`],
  ['chain-listener', 'transactions of the relayer', `${number} relays WHERE outcome IS NULL`],
  ['chain-listener', 'signatures not mined', `${number} authorizations WHERE state NOT IN ('paid', 'failed')`],
  ['chain-listener', 'signed refunds not mined', `${number} refund_watches WHERE signature IS NOT NULL AND ended IS NULL`],
  ['chain-listener', 'recoveries not mined', `${number} recoveries WHERE block_number IS NULL AND failure IS NULL`],
  ['orders', 'signed refunds whose end is not known', `${number} refunds JOIN refund_signatures ON refund_id = id WHERE ended IS NULL`],
  // A transaction that a reorg took away may be mined again long after its sender gave up on it.
  ['orders', 'unmatched payments not yet confirmed', `${number} unmatched_payments WHERE status = 'detected'`],
  ['orders', 'payments not yet confirmed', `${number} payments WHERE status = 'detected'`],
  [
    'orders',
    'payout addresses of which the listener is not asked',
    `${number} payout_spans AS span JOIN chain_cursors AS cursor USING (chain_id) WHERE asked_generation IS DISTINCT FROM cursor.generation`,
  ],
  [
    'chain-listener',
    'payout addresses with blocks not read',
    `${number} payouts JOIN coverage ON subject = address WHERE blocks <> '{(,)}'::int8multirange`,
  ],
  ['chain-listener', 'payments and sweeps not yet confirmed', `${number} payments WHERE state = 'detected'`],
]

// A listener that was put back finds out by the next echo of orders, within a minute.
const UNWATCHED = `
  SELECT count(*)::int AS n FROM order_networks AS network JOIN chain_cursors AS cursor USING (chain_id)
  WHERE network.watched_generation IS DISTINCT FROM cursor.generation`

async function onItsWay(world: World, ledger: Ledger): Promise<string[]> {
  const left: string[] = []
  const note = (name: string, count: unknown) => {
    if (Number(count) > 0) left.push(`${count} ${name}`)
  }
  for (const [service, name, sql] of MOVING) note(`${name} of ${service}`, (await ledger.query(service, sql))[0]?.n)
  const watched = new Set((await ledger.query('chain-listener', 'SELECT order_id FROM payables')).map(({ order_id }) => order_id))
  const orders = await ledger.query('orders', 'SELECT id FROM orders')
  note('orders that the listener has lost', orders.filter(({ id }) => !watched.has(id)).length)
  note('orders that are not watched in this generation', (await ledger.query('orders', UNWATCHED))[0]?.n)
  const [cursor] = await ledger.query('chain-listener', 'SELECT scanned_number, announced_number FROM chain_cursor')
  note('blocks not scanned', (await world.chain.provider.getBlockNumber()) - Number(cursor?.scanned_number ?? -1))
  const [known] = await ledger.query('orders', 'SELECT watermark FROM chain_cursors')
  // Empty blocks are published once a second, and the chain goes on.
  note('published blocks that orders has not taken in', Number(cursor?.announced_number ?? -1) - Number(known?.watermark ?? -1))
  return left
}

/**
 * Waits until nothing moves any more. The hours of the retry table and the minutes of the relayer's are let pass at once: what waits for its next attempt is due now.
 */
export async function untilQuiet(world: World, ledger: Ledger, timeoutMs: number): Promise<void> {
  let left: string[] = []
  let quietLooks = 0
  await until(
    async () => {
      await ledger.query(
        'webhook-dispatcher',
        "UPDATE deliveries SET next_attempt_at = now() WHERE status = 'pending' AND next_attempt_at > now()",
      )
      await ledger.query('webhook-dispatcher', 'UPDATE lanes SET turn_at = now() WHERE turn_at > now() AND lease_token IS NULL')
      await ledger.query('chain-listener', 'UPDATE payables SET retry_at = now() WHERE retry_at > now()')
      await ledger.query('chain-listener', 'UPDATE authorizations SET retry_at = now() WHERE retry_at > now()')
      await ledger.query('chain-listener', 'UPDATE refund_watches SET retry_at = now() WHERE retry_at > now()')
      await ledger.query('chain-listener', 'UPDATE recoveries SET retry_at = now() WHERE retry_at > now()')
      left = await onItsWay(world, ledger)
      quietLooks = left.length === 0 ? quietLooks + 1 : 0
      if (quietLooks < 3) await new Promise(resolve => setTimeout(resolve, 400))
      return quietLooks >= 3
    },
    () => `After everything was healed there is still: ${left.join(', ')}.`,
    timeoutMs,
  )
}
