import type { ServiceName } from '@ponte/all-in-one'
import { until } from '@ponte/service-kit'
import type { World } from '../world'
import { type Books, type Ledger, listenersOf, publishersOf } from './ledger'

const number = 'SELECT count(*)::int AS n FROM'

/** Messages on their way, by place: each answers a number. */
const OUTBOX: [string, string] = ['unsent events', `${number} outbox WHERE sent_at IS NULL`]
const OF_LISTENERS: [string, string][] = [
  ['deposits not swept', `${number} payables WHERE held_units > 0`],
  ['transactions of the relayer', `${number} relays WHERE outcome IS NULL`],
  ['signatures not mined', `${number} authorizations WHERE state NOT IN ('paid', 'failed')`],
  ['signed refunds not mined', `${number} refund_watches WHERE signature IS NOT NULL AND ended IS NULL`],
  ['recoveries not mined', `${number} recoveries WHERE block_number IS NULL AND failure IS NULL`],
  ['payout addresses with blocks not read', `${number} payouts JOIN coverage ON subject = address WHERE blocks <> '{(,)}'::int8multirange`],
  ['payments and sweeps not yet confirmed', `${number} payments WHERE state = 'detected'`],
]
const MOVING: [ServiceName, string, string][] = [
  ['webhook-dispatcher', 'events that wait for their merchant', `${number} events WHERE waiting`],
  ['webhook-dispatcher', 'deliveries not yet made', `${number} deliveries WHERE status = 'pending'`],
  ['orders', 'orders still confirming', `${number} orders WHERE status = 'confirming'`],
  ['orders', 'signed refunds whose end is not known', `${number} refunds JOIN refund_signatures ON refund_id = id WHERE ended IS NULL`],
  // A transaction that a reorg took away may be mined again long after its sender gave up on it.
  ['orders', 'unmatched payments not yet confirmed', `${number} unmatched_payments WHERE status = 'detected'`],
  ['orders', 'payments not yet confirmed', `${number} payments WHERE status = 'detected'`],
  [
    'orders',
    'payout addresses of which a listener is not asked',
    `${number} payout_spans AS span JOIN chain_cursors AS cursor USING (chain_id) WHERE asked_generation IS DISTINCT FROM cursor.generation`,
  ],
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
  const count = async (name: Books, what: string, sql: string) => note(`${what} of ${name}`, (await ledger.query(name, sql))[0]?.n)
  for (const publisher of publishersOf(world)) await count(publisher, ...OUTBOX)
  for (const [service, what, sql] of MOVING) await count(service, what, sql)
  for (const [index, listener] of listenersOf(world).entries()) {
    const chain = (index === 0 ? undefined : world.otherChains[index - 1]) ?? world.chain
    for (const [what, sql] of OF_LISTENERS) await count(listener, what, sql)
    const watched = new Set((await ledger.query(listener, 'SELECT order_id FROM payables')).map(({ order_id }) => order_id))
    const named = await ledger.query('orders', 'SELECT order_id FROM order_networks WHERE chain_id = $1', [chain.chainId])
    note(`orders that ${listener} has lost`, named.filter(({ order_id }) => !watched.has(order_id)).length)
    const [cursor] = await ledger.query(listener, 'SELECT scanned_number, announced_number FROM chain_cursor')
    note(`blocks that ${listener} has not scanned`, (await chain.provider.getBlockNumber()) - Number(cursor?.scanned_number ?? -1))
    const [known] = await ledger.query('orders', 'SELECT watermark FROM chain_cursors WHERE chain_id = $1', [chain.chainId])
    // Empty blocks are published once a second, and the chain goes on.
    const unknown = Number(cursor?.announced_number ?? -1) - Number(known?.watermark ?? -1)
    note(`blocks published by ${listener} that orders has not taken in`, unknown)
  }
  note('orders that are not watched in this generation', (await ledger.query('orders', UNWATCHED))[0]?.n)
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
      for (const listener of listenersOf(world))
        for (const table of ['payables', 'authorizations', 'refund_watches', 'recoveries'])
          await ledger.query(listener, `UPDATE ${table} SET retry_at = now() WHERE retry_at > now()`)
      left = await onItsWay(world, ledger)
      quietLooks = left.length === 0 ? quietLooks + 1 : 0
      if (quietLooks < 3) await new Promise(resolve => setTimeout(resolve, 400))
      return quietLooks >= 3
    },
    () => `After everything was healed there is still: ${left.join(', ')}.`,
    timeoutMs,
  )
}
