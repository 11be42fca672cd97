import { type AuthorizationChanged, type DepositBlocked, parseUsdc } from '@ponte/contracts'
import { type Database, insertRows, type Statement } from '@ponte/service-kit'
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

const COLUMNS = ['order_id', 'attempt', 'revision', ...authorizations.columns]
const GENERATION = generationOf('EXCLUDED.generation', 'authorizations.generation')

// Raw SQL because it commits with its event; the newest attempt and revision of the newest generation stand.
const CHANGED: Statement = {
  name: 'authorization-changed',
  text: `
  ${insertRows('authorizations', ['generation', ...COLUMNS])}
  ON CONFLICT (order_id, chain_id) DO UPDATE SET generation = ${GENERATION}, ${COLUMNS.slice(1)
    .map(column => `${column} = EXCLUDED.${column}`)
    .join(', ')}
  WHERE (coalesce(authorizations.generation::text, ''), authorizations.attempt, authorizations.revision)
    < (coalesce((${GENERATION})::text, ''), EXCLUDED.attempt, EXCLUDED.revision)`,
}

/** In another generation no deposit is blocked until the listener states it anew. */
export const UNBLOCKED_CTE = (begun: string) => `
  unblocked AS (
    UPDATE order_networks SET blocked_reason = NULL, blocked_generation = $generation::uuid, blocked_revision = 0
    WHERE chain_id = $chain_id::int AND blocked_reason IS NOT NULL AND (blocked_generation IS NULL OR blocked_generation < $generation::uuid)
      AND EXISTS (SELECT FROM ${begun}))`

/** A signature that the listener has not stated anew by the time at which it watches the order again was forgotten: it is not coming. */
export const UNSIGNED_CTE = (stated: string) => `
  unsigned AS (
    UPDATE authorizations SET status = 'failed', reason = 'not_sent', generation = $generation::uuid, attempt = 0, revision = 0 FROM ${stated}
    WHERE authorizations.order_id = stated.order_id AND authorizations.chain_id = $chain_id::int AND through >= 0
      AND authorizations.status IN ('accepted', 'submitted') AND authorizations.generation < $generation::uuid)`

/** The relayer's reports about payers' signatures do not touch the order's row, which changes with its payments alone. */
export const authorizationStore = (database: Database) => ({
  async record(changed: AuthorizationChanged, eventId: string): Promise<void> {
    const row = { ...changed, gross_units: parseUsdc(changed.amount) }
    await database.commit({ inbox: [eventId], write: CHANGED, rows: { authorizations: [row] } })
  },
})
