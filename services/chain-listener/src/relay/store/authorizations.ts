import { type Database, isUniqueViolation } from '@ponte/service-kit'
import { LEASE_GUARD, mapLeaseLoss } from '../../store/lease'

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
  state: 'accepted' | 'submitted' | 'paid' | 'failed'
  txHash: string | null
  reason: string | null
  failures: number
}

/** The payer has signed each of these at most once: the token takes no second signature with the same nonce. */
type Key = Pick<Authorization, 'memo' | 'payer' | 'salt'>

export type NewAuthorization = Omit<Authorization, 'state' | 'txHash' | 'reason' | 'failures'>

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
  state: Authorization['state']
  tx_hash: string | null
  reason: string | null
  failures: number
}

const COLUMNS = `order_id, memo, merchant, router, payer, salt, units::text, valid_after::text, valid_before::text, signature, state, tx_hash, reason, failures`

const OF_PAYER = 'chain_id = $1 AND memo = $2 AND payer = $3'
const OPEN = `SELECT 1 FROM authorizations WHERE ${OF_PAYER} AND state IN ('accepted', 'submitted')`

// A signature that was paid or failed for good may be followed by another; one that may still be mined may not. Two that come at once take
// the same number, and the second is refused by its unique index.
const ACCEPT = `
  INSERT INTO authorizations AS known
    (chain_id, memo, payer, order_id, merchant, router, units, valid_after, valid_before, signature, salt, state, attempt)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'accepted',
    (SELECT coalesce(max(attempt), 0) + 1 FROM authorizations WHERE ${OF_PAYER})
  WHERE NOT EXISTS (${OPEN})
  ON CONFLICT (chain_id, memo, payer, salt) DO UPDATE SET units = EXCLUDED.units, valid_after = EXCLUDED.valid_after,
    valid_before = EXCLUDED.valid_before, signature = EXCLUDED.signature, state = 'accepted', tx_hash = NULL, reason = NULL, failures = 0,
    retry_at = NULL, created_at = now(), attempt = EXCLUDED.attempt
  WHERE known.state = 'failed' AND known.signature <> EXCLUDED.signature`

const DUE = `
  SELECT ${COLUMNS} FROM authorizations
  WHERE chain_id = $1 AND state = 'accepted' AND (retry_at IS NULL OR retry_at <= $2) ORDER BY created_at LIMIT $3`

const SETTLE = `
  WITH ${LEASE_GUARD}
  UPDATE authorizations SET state = $5, tx_hash = coalesce($6, tx_hash), reason = $7,
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
    const text = `SELECT ${COLUMNS} FROM authorizations WHERE ${OF_PAYER} AND salt = $4`
    const { rows } = await database.query<Row>({ name: 'authorizations-find', text }, [chainId, memo, payer, salt])
    return rows[0] && toAuthorization(rows[0])
  }
  return {
    find,
    /** Whether a signature of this payer for this memo may still be mined. */
    async hasOpen({ memo, payer }: Omit<Key, 'salt'>): Promise<boolean> {
      return (await database.query({ name: 'authorizations-open', text: OPEN }, [chainId, memo, payer])).rowCount !== 0
    },
    /** Keeps a signature unless another of the same payer for the same memo may still be mined; answers what is kept under its salt. */
    async accept(wanted: NewAuthorization): Promise<Authorization | undefined> {
      const { memo, payer, salt, orderId, merchant, router, amountUnits, validAfter, validBefore, signature } = wanted
      try {
        await database.query({ name: 'authorizations-accept', text: ACCEPT }, [
          ...[chainId, memo, payer, orderId, merchant, router, amountUnits, validAfter, validBefore, signature, salt],
        ])
      } catch (error) {
        if (!isUniqueViolation(error, 'authorizations_attempt')) throw error
      }
      return find(wanted)
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
    state: row.state,
    txHash: row.tx_hash,
    reason: row.reason,
    failures: row.failures,
  }
}
