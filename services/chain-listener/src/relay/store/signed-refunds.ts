import type { Database } from '@ponte/service-kit'
import type { ReturnTerms } from '../../logs/nonce-end'
import { mapLeaseLoss, RELAY_LEASE_GUARD } from '../../store/lease'

/** A refund with the signature of the merchant's wallet; `validBefore` is in Unix seconds. */
export interface SignedRefund extends ReturnTerms {
  refundId: string
  orderId: string
  validBefore: number
  signature: string
}

/** A signature with less time left may expire before it is mined, at our cost. */
const LEAST_S = 30
const RETRY_MAX_S = 300

/** A reorganisation may have taken away, for a moment, what the wallet was to pay with. */
const REVERTED_MAX = 3

// Raw, because it joins the relayer's transactions of each. A wallet with too little waits for its confirmed refill; a transaction that is done is judged by
// the chain's own log. A transaction of an account that is no longer configured is not followed, so the refund is submitted anew: the token takes a nonce once.
const IS_DUE = `chain_id = $1 AND signature IS NOT NULL AND ended IS NULL AND NOT is_final
  AND (published_balance IS NULL OR published_balance >= units) AND valid_before > extract(epoch FROM $2::timestamptz) + ${LEAST_S}
  AND (retry_at IS NULL OR retry_at <= $2)
  AND (SELECT count(*) FILTER (WHERE outcome = 'done' OR outcome IS NULL AND sender = ANY($3)) = 0
      AND count(*) FILTER (WHERE outcome = 'reverted') < ${REVERTED_MAX} FROM relays
    WHERE relays.chain_id = $1 AND kind = 'refund' AND order_ids && ARRAY[refund.order_id] AND salt = refund.nonce
      AND relays.created_at >= refund.signed_at)`
const DUE = `
  SELECT refund_id AS "refundId", order_id AS "orderId", from_address AS "fromAddress", payee, units::text, nonce, valid_before::float8 AS "validBefore", signature
  FROM refund_watches AS refund
  WHERE ${IS_DUE} ORDER BY retry_at NULLS FIRST, signed_at LIMIT $4`
const HAS_DUE = `SELECT 1 FROM refund_watches AS refund WHERE ${IS_DUE} LIMIT 1`

// Raw, because it counts in the database under the lease's guard.
const POSTPONE = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE refund_watches SET failures = failures + 1,
    retry_at = $4::timestamptz + make_interval(secs => least(${RETRY_MAX_S}, power(2, least(failures, 16))))
  WHERE chain_id = $1 AND refund_id = $3`

export type SignedRefundStore = ReturnType<typeof signedRefundStore>

export function signedRefundStore(database: Database, chainId: number) {
  return {
    /** Refunds due for submission that none of these accounts has submitted, oldest signature first. */
    async due(at: Date, accounts: readonly string[], limit: number): Promise<SignedRefund[]> {
      const query = { name: 'signed-refunds-due', text: DUE }
      const { rows } = await database.query<Omit<SignedRefund, 'units'> & { units: string }>(query, [chainId, at, accounts, limit])
      return rows.map(row => ({ ...row, units: BigInt(row.units) }))
    },
    async hasDue(at: Date, accounts: readonly string[]): Promise<boolean> {
      return (await database.query({ name: 'signed-refunds-has-due', text: HAS_DUE }, [chainId, at, accounts])).rowCount !== 0
    },
    /** Tried again, later each time. Throws LeaseLostError. */
    async postpone(epoch: bigint, { refundId }: Pick<SignedRefund, 'refundId'>, at: Date): Promise<void> {
      await mapLeaseLoss(database.query({ name: 'signed-refunds-postpone', text: POSTPONE }, [chainId, epoch, refundId, at]))
    },
  }
}
