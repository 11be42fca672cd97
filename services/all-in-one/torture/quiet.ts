import { until } from '@ponte/service-kit'
import type { World } from '../test/system'
import type { Ledger } from './ledger'

const OUTBOXES = ['api-gateway', 'orders', 'subscriptions', 'chain-listener'] as const

/** What is still on its way, in words; empty when everything has arrived. */
async function onItsWay(world: World, ledger: Ledger): Promise<string[]> {
  const left: string[] = []
  const note = (name: string, count: unknown) => {
    if (Number(count) > 0) left.push(`${count} ${name}`)
  }
  for (const service of OUTBOXES) {
    const [row] = await ledger.query(service, 'SELECT count(*) AS n FROM outbox WHERE sent_at IS NULL')
    note(`unsent events of ${service}`, row?.n)
  }
  const [cursor] = await ledger.query('chain-listener', 'SELECT sequence, scanned_number, confirmed_number FROM chain_cursor')
  note('blocks not scanned', (await world.chain.provider.getBlockNumber()) - Number(cursor?.scanned_number ?? -1))
  const [known] = await ledger.query('orders', 'SELECT watermark FROM chain_cursors')
  note('payment events that orders has not taken in', Number(cursor?.sequence ?? 0) - Number(known?.watermark ?? 0))
  const [waiting] = await ledger.query('webhook-dispatcher', 'SELECT count(*) AS n FROM events WHERE waiting')
  note('events that wait for their merchant', waiting?.n)
  const [deliveries] = await ledger.query(
    'webhook-dispatcher',
    "SELECT count(*) AS n FROM deliveries WHERE status IN ('pending', 'in_flight')",
  )
  note('deliveries not yet made', deliveries?.n)
  const [confirming] = await ledger.query('orders', "SELECT count(*) AS n FROM orders WHERE status = 'confirming'")
  note('orders still confirming', confirming?.n)
  // A transaction that a reorg took away may be mined again long after its sender gave up on it.
  for (const table of ['payments', 'unmatched_payments']) {
    const [unconfirmed] = await ledger.query('orders', `SELECT count(*) AS n FROM ${table} WHERE status = 'detected'`)
    note(`${table} not yet confirmed`, unconfirmed?.n)
  }
  return left
}

/**
 * Waits until nothing moves any more. The retry table's hours are let pass at once: what waits for its next attempt is due now.
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
      await ledger.query('webhook-dispatcher', 'UPDATE lanes SET turn_at = now() WHERE turn_at > now()')
      left = await onItsWay(world, ledger)
      quietLooks = left.length === 0 ? quietLooks + 1 : 0
      if (quietLooks < 3) await new Promise(resolve => setTimeout(resolve, 400))
      return quietLooks >= 3
    },
    () => `After everything was healed there is still: ${left.join(', ')}.`,
    timeoutMs,
  )
}
