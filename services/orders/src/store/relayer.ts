import { type AuthorizationChanged, type DepositBlocked, parseUsdc } from '@ponte/contracts'
import { type Database, insertRows, type Statement } from '@ponte/service-kit'
import { authorizations } from './rows'

// Raw SQL because it commits with its event; the newest revision stands.
const BLOCKED: Statement = {
  name: 'deposit-blocked',
  text: `
  WITH elsewhere AS (
    UPDATE order_networks SET blocked_reason = $reason, blocked_revision = $revision::int
    WHERE order_id = $order_id::uuid AND chain_id = $chain_id::int AND blocked_revision < $revision::int)
  INSERT INTO deposit_states AS known (order_id, merchant_id, blocked_reason, blocked_revision)
  SELECT $order_id::uuid, (SELECT merchant_id FROM orders WHERE id = $order_id::uuid), $reason::text, $revision::int
  WHERE NOT EXISTS (SELECT FROM orders WHERE id = $order_id::uuid AND chain_id <> $chain_id::int)
  ON CONFLICT (order_id) DO UPDATE SET merchant_id = EXCLUDED.merchant_id, blocked_reason = EXCLUDED.blocked_reason,
    blocked_revision = EXCLUDED.blocked_revision
  WHERE known.blocked_revision < EXCLUDED.blocked_revision`,
}

/** The relayer's reports about deposit addresses do not touch the order's row, which changes with its payments alone. */
export const depositStore = (database: Database) => ({
  async markBlocked({ chain_id, order_id, reason, revision }: DepositBlocked, eventId: string): Promise<void> {
    await database.commit({ inbox: [eventId], write: BLOCKED, values: { chain_id, order_id, reason, revision } })
  },
})

const COLUMNS = ['order_id', 'attempt', 'revision', ...authorizations.columns]

// Raw SQL because it commits with its event; the newest attempt and revision stand.
const CHANGED: Statement = {
  name: 'authorization-changed',
  text: `
  ${insertRows('authorizations', COLUMNS)}
  ON CONFLICT (order_id) DO UPDATE SET ${COLUMNS.slice(1)
    .map(column => `${column} = EXCLUDED.${column}`)
    .join(', ')}
  WHERE (authorizations.attempt, authorizations.revision) < (EXCLUDED.attempt, EXCLUDED.revision)`,
}

/** The relayer's reports about payers' signatures do not touch the order's row, which changes with its payments alone. */
export const authorizationStore = (database: Database) => ({
  async record(changed: AuthorizationChanged, eventId: string): Promise<void> {
    const row = { ...changed, gross_units: parseUsdc(changed.amount) }
    await database.commit({ inbox: [eventId], write: CHANGED, rows: { authorizations: [row] } })
  },
})
