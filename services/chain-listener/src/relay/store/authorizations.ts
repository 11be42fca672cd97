import type { NewEvent } from '@ponte/contracts'
import { type Database, isUniqueViolation, outboxRows, type Statement } from '@ponte/service-kit'
import { GENERATION, GENERATION_GUARD, mapLeaseLoss, RELAY_LEASE_GUARD } from '../../store/lease'
import { type Authorization, type AuthorizationChange, authorizations, type NewAuthorization } from './authorization'
import { payerHistory } from './payer-history'

/** The payer has signed each of these at most once: the token takes no second signature with the same nonce. */
type Key = Pick<Authorization, 'memo' | 'payer' | 'salt'>

// Raw, because it is also a part of ACCEPT.
const OPEN = `SELECT 1 FROM authorizations WHERE chain_id = $1 AND order_id = $2 AND state IN ('accepted', 'submitted')`

// Raw, because whether another is open is decided by the insert itself.
// A signature that was paid or failed for good may be followed by another; one that may still be mined may not, whichever account signs. Two that come at
// once take the same number, and the second is refused by its unique index.
const ACCEPT = `
  INSERT INTO authorizations AS known
    (chain_id, memo, payer, order_id, merchant, router, units, valid_after, valid_before, signature, salt, state, attempt, order_attempt,
      wallet, created_at, revision)
  SELECT $1, $3, $4, $2, $5, $6, $7, $8, $9, $10, $11, 'accepted',
    (SELECT coalesce(max(attempt), 0) + 1 FROM authorizations WHERE chain_id = $1 AND memo = $3 AND payer = $4),
    (SELECT coalesce(max(order_attempt), 0) + 1 FROM authorizations WHERE chain_id = $1 AND order_id = $2), $12, $13, 1
  WHERE NOT EXISTS (${OPEN})
  ON CONFLICT (chain_id, memo, payer, salt) DO UPDATE SET units = EXCLUDED.units, valid_after = EXCLUDED.valid_after,
    valid_before = EXCLUDED.valid_before, signature = EXCLUDED.signature, state = 'accepted', tx_hash = NULL, reason = NULL, failures = 0,
    retry_at = NULL, created_at = EXCLUDED.created_at, attempt = EXCLUDED.attempt, order_attempt = EXCLUDED.order_attempt,
    wallet = EXCLUDED.wallet, revision = known.revision + 1
  WHERE known.state = 'failed' AND known.signature <> EXCLUDED.signature`

// Raw, as the numbers of ACCEPT are. A signature that takes the place of a failed one is one more.
const COUNT = 'SELECT coalesce(max(order_attempt), 0) AS count FROM authorizations WHERE chain_id = $1 AND order_id = $2'

// Raw, as COUNT is.
const LAST_FAILED = `
  SELECT salt FROM authorizations WHERE chain_id = $1 AND order_id = $2 AND payer = $3 AND state = 'failed'
  ORDER BY order_attempt DESC NULLS LAST LIMIT 1`

// Raw, because it joins relays under the lease's guard.
// A line follows only its own account's transactions: those of another account before it are submitted anew.
const ADOPT = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE authorizations SET state = 'accepted', reason = NULL, revision = revision + 1
  WHERE chain_id = $1 AND state = 'submitted' AND NOT EXISTS (
    SELECT 1 FROM relays WHERE kind = 'authorization' AND relays.chain_id = $1 AND relays.outcome IS NULL AND relays.sender = ANY($3) AND relays.payer = authorizations.payer
      AND relays.salt = authorizations.salt AND authorizations.order_id = ANY(relays.order_ids))`

// Raw, because it compares two columns; a partial index finds the rows.
// Two changes between two looks are published as the last of them.
const CHANGED = `SELECT ${authorizations.select()}, order_attempt, revision, ${GENERATION} FROM authorizations WHERE chain_id = $1 AND revision > published LIMIT 200`

// Raw, because it writes many rows beside the outbox in one commit.
const PUBLISHED: Statement = {
  name: 'authorizations-published',
  text: `
  WITH ${GENERATION_GUARD}
  UPDATE authorizations SET published = change.revision
  FROM unnest($memos::text[], $payers::text[], $salts::text[], $revisions::int[]) AS change (memo, payer, salt, revision)
  WHERE chain_id = $chain_id AND authorizations.memo = change.memo AND authorizations.payer = change.payer
    AND authorizations.salt = change.salt AND published < change.revision`,
}

// Raw, because it is also a part of CLAIM.
const IS_DUE = "chain_id = $1 AND state = 'accepted' AND (retry_at IS NULL OR retry_at <= $2)"

// Raw, because window, turns and claim are one statement: two that claim at once must not wait for one another in between.
// Merchants take turns: one signature of each that waits, then a second of each. A merchant's turn comes round when it was served
// before every other that waits, or, for one that was not waiting, when its first came. A claim by a replica that leads no more changes turns alone.
// Within a merchant the oldest comes first; what failed comes behind what never did, until it is late, so that it cannot wait without end.
// One that waits for cheaper gas or for a refill has no reason and has not failed.
const CLAIM = `
  WITH waiting AS (
    SELECT memo, payer, salt, order_id, merchant, created_at, created_at <= $4 OR valid_before <= extract(epoch FROM $2::timestamptz) AS is_late,
      created_at > $4 AND reason IS NOT NULL AS has_failed
    FROM authorizations WHERE ${IS_DUE}
  ), queued AS (
    SELECT memo, payer, salt, created_at, payee, row_number() OVER (PARTITION BY payee ORDER BY has_failed, created_at, memo) AS place
    FROM (SELECT waiting.*, coalesce(payables.merchant_id::text, waiting.merchant) AS payee FROM waiting
      LEFT JOIN payables ON payables.chain_id = $1 AND payables.order_id = waiting.order_id
      WHERE is_late OR NOT $5) AS of_payee
  ), claimed AS (
    SELECT memo, payer, salt, payee, row_number() OVER (ORDER BY place, greatest(served_at, created_at), memo) AS turn
    FROM queued LEFT JOIN merchant_turns ON merchant_turns.chain_id = $1 AND merchant_turns.merchant = queued.payee
    ORDER BY turn LIMIT $3
  ), served AS (
    INSERT INTO merchant_turns (chain_id, merchant, served_at) SELECT DISTINCT $1::bigint, payee, $2::timestamptz FROM claimed
    ON CONFLICT (chain_id, merchant) DO UPDATE SET served_at = EXCLUDED.served_at
  )
  SELECT ${authorizations.select()} FROM authorizations JOIN (SELECT memo, payer, salt, turn FROM claimed) AS mine USING (memo, payer, salt)
  WHERE chain_id = $1 ORDER BY turn`

// Raw, because it counts in the database under the lease's guard.
const SETTLE = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE authorizations SET state = $5, tx_hash = coalesce($6, tx_hash), reason = $7,
    revision = revision + CASE WHEN state = $5 THEN 0 ELSE 1 END,
    failures = CASE WHEN $5 = 'accepted' THEN failures + 1 ELSE failures END,
    retry_at = CASE WHEN $5 = 'accepted' THEN $8::timestamptz + make_interval(secs => least(300, power(2, least(failures, 8)))) END
  WHERE chain_id = $1 AND memo = $3 AND payer = $4 AND salt = $9`

// Raw, because payments and authorisations have no relation in Prisma's schema.
// Two payments of one payer for one order are distinguished by their amounts, and by the transactions that the other signatures were paid in. One that is
// not confirmed may vanish, and the signature with it could be mined once more.
const PAID_BY = `
  SELECT tx_hash FROM payments
  WHERE chain_id = $1 AND memo = $2 AND payer = $3 AND merchant = $4 AND kind = 'router' AND amount = $6 AND state = 'confirmed' AND NOT EXISTS (
    SELECT 1 FROM authorizations AS other WHERE other.chain_id = $1 AND other.memo = $2 AND other.payer = $3 AND other.salt <> $5
      AND other.tx_hash = payments.tx_hash)
  ORDER BY block_number DESC LIMIT 1`

export type AuthorizationStore = ReturnType<typeof authorizationStore>

export function authorizationStore(database: Database, chainId: number) {
  const find = async ({ memo, payer, salt }: Key): Promise<Authorization | undefined> => {
    const text = `SELECT ${authorizations.select()} FROM authorizations WHERE chain_id = $1 AND memo = $2 AND payer = $3 AND salt = $4`
    const { rows } = await database.query({ name: 'authorizations-find', text }, [chainId, memo, payer, salt])
    return rows[0] && authorizations.parse(rows[0])
  }
  return {
    ...payerHistory(database, chainId),
    find,
    /** Whether a signature for this order may still be mined. */
    async hasOpen(orderId: string): Promise<boolean> {
      return (await database.query({ name: 'authorizations-open', text: OPEN }, [chainId, orderId])).rowCount !== 0
    },
    async count(orderId: string): Promise<number> {
      return (
        (await database.query<{ count: number }>({ name: 'authorizations-count', text: COUNT }, [chainId, orderId])).rows[0]?.count ?? 0
      )
    },
    /** The salt of the last signature of this payer for this order that failed. */
    async lastFailedSalt({ orderId, payer }: Pick<Authorization, 'orderId' | 'payer'>): Promise<string | undefined> {
      const query = { name: 'authorizations-last-failed', text: LAST_FAILED }
      return (await database.query<{ salt: string }>(query, [chainId, orderId, payer])).rows[0]?.salt
    },
    /** Takes up what accounts submitted that are none of these. Throws LeaseLostError. */
    async adopt(epoch: bigint, accounts: readonly string[]): Promise<void> {
      await mapLeaseLoss(database.query({ name: 'authorizations-adopt', text: ADOPT }, [chainId, epoch, accounts]))
    },
    /** Keeps a signature unless another for the same order may still be mined; answers what is kept under its salt. */
    async accept(wanted: NewAuthorization, at: Date): Promise<Authorization | undefined> {
      const { memo, payer, salt, orderId, merchant, router, amountUnits, validAfter, validBefore, signature, wallet } = wanted
      try {
        await database.query({ name: 'authorizations-accept', text: ACCEPT }, [
          ...[chainId, orderId, memo, payer, merchant, router, amountUnits, validAfter, validBefore, signature, salt, wallet, at],
        ])
      } catch (error) {
        const taken = ['authorizations_attempt', 'authorizations_order_attempt'].some(index => isUniqueViolation(error, index))
        if (!taken) throw error
      }
      return find(wanted)
    },
    /** Changes of state that are not published yet. */
    async changed(): Promise<AuthorizationChange[]> {
      const changed = { name: 'authorizations-changed', text: CHANGED }
      const { rows } = await database.query<{ order_attempt: number | null; revision: number; generation: string | null }>(changed, [
        chainId,
      ])
      return rows.map(row => ({
        ...authorizations.parse(row),
        attempt: row.order_attempt ?? 0,
        revision: row.revision,
        generation: row.generation,
      }))
    },
    /** Publishes these changes; one that is published twice has the same revision. Throws LeaseLostError where another generation has begun since they were read. */
    async publish(changes: readonly AuthorizationChange[], events: readonly NewEvent[], at: Date): Promise<void> {
      const values = {
        ...{ chain_id: chainId, generation: changes[0]?.generation ?? null },
        memos: changes.map(({ memo }) => memo),
        payers: changes.map(({ payer }) => payer),
        salts: changes.map(({ salt }) => salt),
        revisions: changes.map(({ revision }) => revision),
      }
      await mapLeaseLoss(database.commit({ events: outboxRows(events, at), write: PUBLISHED, values }))
    },
    async hasDue(at: Date): Promise<boolean> {
      const text = `SELECT 1 FROM authorizations WHERE ${IS_DUE} LIMIT 1`
      return (await database.query({ name: 'authorizations-due', text }, [chainId, at])).rowCount !== 0
    },
    /** The next that are to be submitted, merchants in turn. What was accepted by `lateBy` is late; with `onlyLate`, only that or what is over. */
    async claim(at: Date, limit: number, { lateBy, onlyLate }: { lateBy: Date; onlyLate: boolean }): Promise<Authorization[]> {
      const values = [chainId, at, limit, lateBy, onlyLate]
      return (await database.query({ name: 'authorizations-claim', text: CLAIM }, values)).rows.map(authorizations.parse)
    },
    /** `accepted` means that it is tried again, later each time. Throws LeaseLostError. */
    async settle(
      epoch: bigint,
      of: Key,
      end: { state: Authorization['state']; txHash?: string | null; reason?: string | null },
      at: Date,
    ): Promise<void> {
      await mapLeaseLoss(
        database.query({ name: 'authorizations-settle', text: SETTLE }, [
          ...[chainId, epoch, of.memo, of.payer, end.state, end.txHash ?? null, end.reason ?? null, at, of.salt],
        ]),
      )
    },
    /** The transaction in which this signature was paid through a router, as far as the scan has read. */
    async paidBy({
      memo,
      merchant,
      payer,
      salt,
      amountUnits,
    }: Key & Pick<Authorization, 'merchant' | 'amountUnits'>): Promise<string | undefined> {
      const values = [chainId, memo, payer, merchant, salt, amountUnits]
      return (await database.query<{ tx_hash: string }>({ name: 'authorizations-paid-by', text: PAID_BY }, values)).rows[0]?.tx_hash
    },
    async totals(): Promise<{ waiting: number; oldest: Date | null }> {
      const text = `SELECT count(*)::int AS waiting, min(created_at) AS oldest FROM authorizations WHERE chain_id = $1 AND state IN ('accepted', 'submitted')`
      const { rows } = await database.query<{ waiting: number; oldest: Date | null }>(text, [chainId])
      return rows[0] ?? { waiting: 0, oldest: null }
    },
  }
}
