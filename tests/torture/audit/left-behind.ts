import { serviceNames } from '@ponte/all-in-one'
import { topologyWith } from '@ponte/contracts'
import { connect } from 'amqplib'
import type { Servers } from '../cluster'
import type { Books } from '../ledger'
import type { Audited } from '.'

/** Empty once everything has arrived, by service. */
const EMPTY: Partial<Record<Books, Record<string, string>>> = {
  orders: {
    'confirmed ranges behind a gap': 'SELECT 1 FROM chain_cursors, unnest(advanced) AS blocks WHERE lower(blocks) > watermark',
    'orders named by dead letters': 'SELECT 1 FROM parked_memos',
    'charges that wait for a rate': "SELECT 1 FROM charges WHERE state = 'waiting'",
    'unmatched payments whose order exists': "SELECT 1 FROM unmatched_payments JOIN orders USING (memo) WHERE reason = 'unknown_memo'",
  },
  subscriptions: {
    'claims on subscriptions': 'SELECT 1 FROM subscriptions WHERE claimed_until > now()',
  },
  'chain-listener': {
    'transactions of the relayer without an outcome': 'SELECT 1 FROM relays WHERE outcome IS NULL',
    'deposits not swept': 'SELECT 1 FROM payables WHERE held_units > 0',
    'signatures neither mined nor refused': "SELECT 1 FROM authorizations WHERE state NOT IN ('paid', 'failed')",
  },
  'webhook-dispatcher': {
    'leased lanes': 'SELECT 1 FROM lanes WHERE lease_token IS NOT NULL AND turn_at > now()',
    'lanes that are due': 'SELECT 1 FROM lanes WHERE turn_at <= now()',
    'deliveries in flight': "SELECT 1 FROM lanes WHERE in_flight <> '{}'",
  },
}

/** No lane, lease, lock, outbox row or queue message is left. */
export async function leftBehind({ ledger, servers, chains, listeners }: Audited): Promise<string[]> {
  const differences: string[] = []
  const note = (count: number, what: string) => {
    if (count > 0) differences.push(`left behind: ${count} ${what}`)
  }
  for (const service of new Set([...serviceNames, ...listeners])) {
    const isListener = listeners.includes(service)
    const empty = EMPTY[isListener ? 'chain-listener' : service] ?? {}
    for (const [what, sql] of Object.entries(empty)) note((await ledger.query(service, sql)).length, what)
    const locks = await ledger.query(
      service,
      "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    )
    // The listener that scans holds one, and the one that relays.
    note(locks.length - (isListener ? 2 : 0), `advisory locks of ${service}`)
    const open =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%' AND state_change < now() - interval '5 seconds'"
    note((await ledger.query(service, open)).length, `open transactions of ${service}`)
  }
  for (const [queue, count] of await messagesIn(
    servers,
    chains.slice(1).map(({ chainId }) => chainId),
  ))
    note(count, `messages in ${queue}`)
  return differences
}

async function messagesIn(servers: Servers, others: readonly number[]): Promise<[string, number][]> {
  const connection = await connect(servers.broker.url)
  try {
    const channel = await connection.createChannel()
    const queues = Object.keys(topologyWith(others)).flatMap(name => [`ponte.${name}`, `ponte.dead.${name}`])
    const counts: [string, number][] = []
    for (const queue of queues) counts.push([queue, (await channel.checkQueue(queue)).messageCount])
    return counts
  } finally {
    await connection.close()
  }
}
