import { type ChainSweep, type DepositBlocked, type DepositSynced, parseUsdc } from '@ponte/contracts'
import { type Database, insertRows, type Statement } from '@ponte/service-kit'

const COUNTED = 'counted AS (INSERT INTO payment_sequences (chain_id, sequence) VALUES ($chain_id, $sequence) ON CONFLICT DO NOTHING)'

const SWEEP_COLUMNS = [
  'id',
  'revision',
  'status',
  'chain_id',
  'router_address',
  'token_address',
  'memo',
  'merchant_address',
  'deposit_address',
  'gross_units',
  'tx_hash',
  'block_number',
  'block_time',
  'log_index',
]

// Raw SQL because it commits with its event.
const SWEEP: Statement = {
  name: 'deposit-sweep',
  text: `
  WITH ${COUNTED}
  ${insertRows('sweeps', SWEEP_COLUMNS)}
  ON CONFLICT (id) DO UPDATE SET ${SWEEP_COLUMNS.slice(1)
    .map(column => `${column} = EXCLUDED.${column}`)
    .join(', ')}
  WHERE sweeps.revision < EXCLUDED.revision`,
}

// Raw SQL, with its event. The least sequence stands: from there on the address has been read ever since.
const SYNCED: Statement = {
  name: 'deposit-synced',
  text: `
  WITH ${COUNTED}
  INSERT INTO deposit_states AS known (order_id, synced_sequence) SELECT DISTINCT id, $sequence::int FROM unnest($order_ids::uuid[]) AS id ORDER BY id
  ON CONFLICT (order_id) DO UPDATE SET synced_sequence = EXCLUDED.synced_sequence
  WHERE known.synced_sequence IS NULL OR known.synced_sequence > EXCLUDED.synced_sequence`,
}

// Raw SQL because it commits with its event; the newest revision stands.
const BLOCKED: Statement = {
  name: 'deposit-blocked',
  text: `
  WITH ${COUNTED}
  INSERT INTO deposit_states AS known (order_id, merchant_id, blocked_reason, blocked_revision)
  VALUES ($order_id, (SELECT merchant_id FROM orders WHERE id = $order_id::uuid), $reason, $revision)
  ON CONFLICT (order_id) DO UPDATE SET merchant_id = EXCLUDED.merchant_id, blocked_reason = EXCLUDED.blocked_reason,
    blocked_revision = EXCLUDED.blocked_revision
  WHERE known.blocked_revision < EXCLUDED.blocked_revision`,
}

/** What the listener reports of deposit addresses. None of it touches the order's row, which changes with its payments alone. */
export function depositStore(database: Database) {
  return {
    async recordSweep(sweep: ChainSweep, status: 'confirmed' | 'orphaned', eventId: string): Promise<void> {
      const row = { ...sweep, id: sweep.sweep_id, status, gross_units: parseUsdc(sweep.amount) }
      const values = { chain_id: sweep.chain_id, sequence: sweep.sequence }
      await database.commit({ inbox: [eventId], write: SWEEP, rows: { sweeps: [row] }, values })
    },

    async markSynced({ chain_id, sequence, order_ids }: DepositSynced, eventId: string): Promise<void> {
      await database.commit({ inbox: [eventId], write: SYNCED, values: { chain_id, sequence, order_ids } })
    },

    async markBlocked({ chain_id, sequence, order_id, reason, revision }: DepositBlocked, eventId: string): Promise<void> {
      await database.commit({ inbox: [eventId], write: BLOCKED, values: { chain_id, sequence, order_id, reason, revision } })
    },
  }
}
