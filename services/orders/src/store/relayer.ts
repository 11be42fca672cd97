import { type AuthorizationChanged, type DepositBlocked, parseUsdc } from '@ponte/contracts'
import type { Database, Statement } from '@ponte/service-kit'
import { authorizations } from './rows'

/** An event of the release before names no generation: it is of the one that is known. */
const generationOf = (incoming: string, known: string) => `coalesce(${incoming}, ${known})`
const isNewer = (known: string, incoming: string) => {
  const places = (generation: string, revision: string) => `(coalesce((${generation})::text, ''), ${revision})`
  return `${places(known, 'known.blocked_revision')} < ${places(generationOf(incoming, known), '$revision::int')}`
}

// Raw SQL because it commits with its event; the newest revision of the newest generation stands.
const BLOCKED: Statement = {
  name: 'deposit-blocked',
  text: `
  UPDATE order_networks AS known SET merchant_id = orders.merchant_id, blocked_reason = $reason, blocked_revision = $revision::int,
    blocked_generation = ${generationOf('$generation::uuid', 'known.blocked_generation')}
  FROM orders WHERE orders.id = $order_id::uuid AND known.order_id = orders.id AND known.chain_id = $chain_id::int
    AND ${isNewer('known.blocked_generation', '$generation::uuid')}`,
}

/** The relayer's reports about deposit addresses do not touch the order's row, which changes with its payments alone. */
export const depositStore = (database: Database) => ({
  async markBlocked({ chain_id, generation, order_id, reason, revision }: DepositBlocked, eventId: string): Promise<void> {
    await database.commit({
      inbox: [eventId],
      write: BLOCKED,
      values: { chain_id, generation: generation ?? null, order_id, reason, revision },
    })
  },
})

const COLUMNS = ['generation', 'order_id', 'attempt', 'revision', ...authorizations.columns]
const OF_FIRST = COLUMNS.filter(column => column !== 'chain_id')
const GENERATION = generationOf('EXCLUDED.generation', 'known.generation')
const stated = (table: string, columns: readonly string[], key: string, isMeant: string) => `
  INSERT INTO ${table} AS known (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM stated WHERE ${isMeant}
  ON CONFLICT (${key}) DO UPDATE SET generation = ${GENERATION}, ${columns
    .filter(column => !['generation', 'order_id', 'chain_id'].includes(column))
    .map(column => `${column} = EXCLUDED.${column}`)
    .join(', ')}
  WHERE (coalesce(known.generation::text, ''), known.attempt, known.revision) < (coalesce((${GENERATION})::text, ''), EXCLUDED.attempt, EXCLUDED.revision)`

// Raw SQL because it commits with its event; the newest attempt and revision of the newest generation stand.
const CHANGED: Statement = {
  name: 'authorization-changed',
  text: `
  WITH stated AS (
    SELECT incoming.*, coalesce(incoming.chain_id = orders.chain_id, true) AS is_first
    FROM json_populate_recordset(NULL::network_authorizations, $network_authorizations) AS incoming LEFT JOIN orders ON orders.id = order_id),
  of_first AS (${stated('authorizations', OF_FIRST, 'order_id', 'is_first')})
  ${stated('network_authorizations', COLUMNS, 'order_id, chain_id', 'NOT is_first')}`,
}

/** In another generation no deposit is blocked until the listener states it anew. */
export const UNBLOCKED_CTE = (begun: string) => `
  unblocked AS (
    UPDATE order_networks SET blocked_reason = NULL, blocked_generation = $generation::uuid, blocked_revision = 0
    WHERE chain_id = $chain_id::int AND blocked_reason IS NOT NULL AND (blocked_generation IS NULL OR blocked_generation < $generation::uuid)
      AND EXISTS (SELECT FROM ${begun}))`

/** A signature that the listener has not stated anew by the time at which it watches the order again was forgotten: it is not coming. */
export const UNSIGNED_CTE = (stated: string) => {
  const forgotten = (table: string) => `
    UPDATE ${table} AS known SET status = 'failed', reason = 'not_sent', generation = $generation::uuid, attempt = 0, revision = 0 FROM ${stated}, orders
    WHERE known.order_id = stated.order_id AND orders.id = stated.order_id AND through >= 0 AND known.status IN ('accepted', 'submitted')
      AND known.generation < $generation::uuid`
  return `
  unsigned AS (${forgotten('authorizations')} AND orders.chain_id = $chain_id::int),
  unsigned_there AS (${forgotten('network_authorizations')} AND known.chain_id = $chain_id::int)`
}

/** The relayer's reports about payers' signatures do not touch the order's row, which changes with its payments alone. */
export const authorizationStore = (database: Database) => ({
  async record(changed: AuthorizationChanged, eventId: string): Promise<void> {
    const row = { ...changed, gross_units: parseUsdc(changed.amount) }
    await database.commit({ inbox: [eventId], write: CHANGED, rows: { network_authorizations: [row] } })
  },
})
