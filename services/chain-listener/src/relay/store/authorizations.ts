import type { NewEvent } from '@ponte/contracts'
import { type Database, isUniqueViolation, outboxRows, type Statement } from '@ponte/service-kit'
import { mapLeaseLoss, RELAY_LEASE_GUARD } from '../../store/lease'

/** A payer's EIP-3009 signature for one order. Addresses are lower-case, times Unix seconds. */
export interface Authorization {
  orderId: string
  memo: string
  merchant: string
  router: string
  payer: string
  /** Another one for each payment of the same payer for the same order; 0x and 64 hex. */
  salt: string
  amountUnits: bigint
  validAfter: number
  validBefore: number
  signature: string
  /** A contract judges it. */
  wallet: boolean
  state: 'accepted' | 'submitted' | 'paid' | 'failed'
  txHash: string | null
  reason: string | null
  failures: number
  acceptedAt: Date
}

/** The payer has signed each of these at most once: the token takes no second signature with the same nonce. */
type Key = Pick<Authorization, 'memo' | 'payer' | 'salt'>

export type NewAuthorization = Omit<Authorization, 'state' | 'txHash' | 'reason' | 'failures' | 'acceptedAt'>

/** A state to publish: `attempt` counts the signatures of an order, `revision` the states of one. */
export type AuthorizationChange = Authorization & { attempt: number; revision: number }

interface Row {
  order_id: string
  memo: string
  merchant: string
  router: string
  payer: string
  salt: string
  units: string
  valid_after: string
  valid_before: string
  signature: string
  wallet: boolean
  state: Authorization['state']
  tx_hash: string | null
  reason: string | null
  failures: number
  created_at: Date
}

const COLUMNS = `order_id, memo, merchant, router, payer, salt, units::text, valid_after::text, valid_before::text, signature, wallet, state,
  tx_hash, reason, failures, created_at`

const OPEN = `SELECT 1 FROM authorizations WHERE chain_id = $1 AND order_id = $2 AND state IN ('accepted', 'submitted')`

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

const COUNT = 'SELECT count(*)::int AS count FROM authorizations WHERE chain_id = $1 AND order_id = $2'

// What an account signed that is not ours any more is followed by no line: it is looked at, and submitted, anew.
const ADOPT = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE authorizations SET state = 'accepted', reason = NULL, revision = revision + 1
  WHERE chain_id = $1 AND state = 'submitted' AND NOT EXISTS (
    SELECT 1 FROM relays WHERE relays.chain_id = $1 AND relays.outcome IS NULL AND relays.sender = ANY($3) AND relays.payer = authorizations.payer
      AND relays.salt = authorizations.salt AND authorizations.order_id = ANY(relays.order_ids))`

const REVERTED = "SELECT 1 FROM authorizations WHERE chain_id = $1 AND payer = $2 AND wallet AND reason = 'reverted' LIMIT 1"

// Two changes between two looks are published as the last of them.
const CHANGED = `SELECT ${COLUMNS}, order_attempt, revision FROM authorizations WHERE chain_id = $1 AND revision > published LIMIT 200`

const PUBLISHED: Statement = {
  name: 'authorizations-published',
  text: `
  UPDATE authorizations SET published = change.revision
  FROM unnest($memos::text[], $payers::text[], $salts::text[], $revisions::int[]) AS change (memo, payer, salt, revision)
  WHERE chain_id = $chain_id AND authorizations.memo = change.memo AND authorizations.payer = change.payer
    AND authorizations.salt = change.salt AND published < change.revision`,
}

const DUE = `
  SELECT ${COLUMNS} FROM authorizations
  WHERE chain_id = $1 AND state = 'accepted' AND (retry_at IS NULL OR retry_at <= $2) ORDER BY created_at LIMIT $3`

const SETTLE = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE authorizations SET state = $5, tx_hash = coalesce($6, tx_hash), reason = $7,
    revision = revision + CASE WHEN state = $5 THEN 0 ELSE 1 END,
    failures = CASE WHEN $5 = 'accepted' THEN failures + 1 ELSE failures END,
    retry_at = CASE WHEN $5 = 'accepted' THEN $8::timestamptz + make_interval(secs => least(300, power(2, least(failures, 8)))) END
  WHERE chain_id = $1 AND memo = $3 AND payer = $4 AND salt = $9`

// Two payments of one payer for one order are distinguished by the transactions that the other signatures were paid in.
const PAID_BY = `
  SELECT tx_hash FROM payments
  WHERE chain_id = $1 AND memo = $2 AND payer = $3 AND merchant = $4 AND kind = 'router' AND state <> 'orphaned' AND NOT EXISTS (
    SELECT 1 FROM authorizations AS other WHERE other.chain_id = $1 AND other.memo = $2 AND other.payer = $3 AND other.salt <> $5
      AND other.tx_hash = payments.tx_hash)
  ORDER BY block_number DESC LIMIT 1`

export type AuthorizationStore = ReturnType<typeof authorizationStore>

export function authorizationStore(database: Database, chainId: number) {
  const find = async ({ memo, payer, salt }: Key): Promise<Authorization | undefined> => {
    const text = `SELECT ${COLUMNS} FROM authorizations WHERE chain_id = $1 AND memo = $2 AND payer = $3 AND salt = $4`
    const { rows } = await database.query<Row>({ name: 'authorizations-find', text }, [chainId, memo, payer, salt])
    return rows[0] && toAuthorization(rows[0])
  }
  return {
    find,
    /** Whether a signature for this order may still be mined. */
    async hasOpen(orderId: string): Promise<boolean> {
      return (await database.query({ name: 'authorizations-open', text: OPEN }, [chainId, orderId])).rowCount !== 0
    },
    /** How many signatures were taken for this order. */
    async count(orderId: string): Promise<number> {
      return (
        (await database.query<{ count: number }>({ name: 'authorizations-count', text: COUNT }, [chainId, orderId])).rows[0]?.count ?? 0
      )
    },
    /** Takes up what accounts submitted that are none of these. Throws LeaseLostError. */
    async adopt(epoch: bigint, accounts: readonly string[]): Promise<void> {
      await mapLeaseLoss(database.query({ name: 'authorizations-adopt', text: ADOPT }, [chainId, epoch, accounts]))
    },
    /** Whether a transaction of this contract wallet reverted on the chain, whatever it was for. */
    async hasReverted(payer: string): Promise<boolean> {
      return (await database.query({ name: 'authorizations-reverted', text: REVERTED }, [chainId, payer])).rowCount !== 0
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
      const { rows } = await database.query<Row & { order_attempt: number | null; revision: number }>(
        { name: 'authorizations-changed', text: CHANGED },
        [chainId],
      )
      return rows.map(row => ({ ...toAuthorization(row), attempt: row.order_attempt ?? 0, revision: row.revision }))
    },
    /** Publishes these changes; one that is published twice has the same revision. */
    async publish(changes: readonly AuthorizationChange[], events: readonly NewEvent[], at: Date): Promise<void> {
      const values = {
        chain_id: chainId,
        memos: changes.map(({ memo }) => memo),
        payers: changes.map(({ payer }) => payer),
        salts: changes.map(({ salt }) => salt),
        revisions: changes.map(({ revision }) => revision),
      }
      await database.commit({ events: outboxRows(events, at), write: PUBLISHED, values })
    },
    async due(at: Date, limit: number): Promise<Authorization[]> {
      return (await database.query<Row>({ name: 'authorizations-due', text: DUE }, [chainId, at, limit])).rows.map(toAuthorization)
    },
    /** What became of it; `accepted` means that it is tried again, later each time. Throws LeaseLostError. */
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
    async paidBy({ memo, merchant, payer, salt }: Key & { merchant: string }): Promise<string | undefined> {
      const values = [chainId, memo, payer, merchant, salt]
      return (await database.query<{ tx_hash: string }>({ name: 'authorizations-paid-by', text: PAID_BY }, values)).rows[0]?.tx_hash
    },
    async totals(): Promise<{ waiting: number; oldest: Date | null }> {
      const text = `SELECT count(*)::int AS waiting, min(created_at) AS oldest FROM authorizations WHERE chain_id = $1 AND state IN ('accepted', 'submitted')`
      const { rows } = await database.query<{ waiting: number; oldest: Date | null }>(text, [chainId])
      return rows[0] ?? { waiting: 0, oldest: null }
    },
  }
}

function toAuthorization(row: Row): Authorization {
  return {
    orderId: row.order_id,
    memo: row.memo,
    merchant: row.merchant,
    router: row.router,
    payer: row.payer,
    salt: row.salt,
    amountUnits: BigInt(row.units),
    validAfter: Number(row.valid_after),
    validBefore: Number(row.valid_before),
    signature: row.signature,
    wallet: row.wallet,
    state: row.state,
    txHash: row.tx_hash,
    reason: row.reason,
    failures: row.failures,
    acceptedAt: row.created_at,
  }
}
