import type { RecoveryFailure } from '@ponte/contracts'
import type { Database } from '@ponte/service-kit'
import type { RecoveryTerms } from '../../logs/recovered'
import { mapLeaseLoss, RELAY_LEASE_GUARD } from '../../store/lease'

export interface DueRecovery extends RecoveryTerms {
  recoveryId: string
  orderId: string
  /** Rehearsals that reverted. */
  failures: number
  /** Transactions that did. */
  reverted: number
  /** It was asked for a day ago. */
  isLate: boolean
}

const RETRY_S = 15
const WAIT_S = 300

const RELAYED = `relays.chain_id = $1 AND kind = 'recovery' AND order_ids && ARRAY[recovery.order_id] AND salt = recovery.token
  AND relays.created_at >= recovery.requested_at`
// Raw, because it looks at the relayer's transactions of each. One that is done is judged by the chain's own log. A transaction of an account that is no longer
// configured is not followed, so it is submitted anew: what was sent on already lets that revert in its rehearsal.
const IS_DUE = `chain_id = $1 AND block_number IS NULL AND failure IS NULL AND NOT is_final AND (retry_at IS NULL OR retry_at <= $2)
  AND NOT EXISTS (SELECT 1 FROM relays WHERE ${RELAYED} AND (outcome = 'done' OR outcome IS NULL AND sender = ANY($3)))`
const DUE = `
  SELECT recovery_id AS "recoveryId", order_id AS "orderId", token, memo, router, merchant, failures, requested_at <= $2::timestamptz - interval '1 day' AS "isLate",
    (SELECT count(*)::int FROM relays WHERE ${RELAYED} AND outcome = 'reverted') AS reverted
  FROM recoveries AS recovery WHERE ${IS_DUE} ORDER BY retry_at NULLS FIRST, requested_at LIMIT $4`
const HAS_DUE = `SELECT 1 FROM recoveries AS recovery WHERE ${IS_DUE} LIMIT 1`

// Raw, because they count in the database under the lease's guard.
const POSTPONE = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE recoveries SET failures = failures + CASE WHEN $5 THEN 1 ELSE 0 END,
    retry_at = $4::timestamptz + make_interval(secs => CASE WHEN $5 THEN ${RETRY_S} * power(2, least(failures, 8)) ELSE ${WAIT_S} END)
  WHERE chain_id = $1 AND recovery_id = $3`
// The listener publishes it, after a look whether the router did it all the same.
const FAIL = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE recoveries SET failure = $4, asked = true WHERE chain_id = $1 AND recovery_id = $3 AND block_number IS NULL`

export type DueRecoveryStore = ReturnType<typeof dueRecoveryStore>

export function dueRecoveryStore(database: Database, chainId: number) {
  return {
    /** Recoveries that none of these accounts has submitted, what was never tried first. */
    async due(at: Date, accounts: readonly string[], limit: number): Promise<DueRecovery[]> {
      return (await database.query<DueRecovery>({ name: 'recoveries-to-submit', text: DUE }, [chainId, at, accounts, limit])).rows
    },
    async hasDue(at: Date, accounts: readonly string[]): Promise<boolean> {
      return (await database.query({ name: 'recoveries-has-due', text: HAS_DUE }, [chainId, at, accounts])).rowCount !== 0
    },
    /** Tried again: what reverted later each time, what waits for gas or a budget in a while. Throws LeaseLostError. */
    async postpone(epoch: bigint, { recoveryId }: DueRecovery, isReverting: boolean, at: Date): Promise<void> {
      const values = [chainId, epoch, recoveryId, at, isReverting]
      await mapLeaseLoss(database.query({ name: 'recoveries-postpone', text: POSTPONE }, values))
    },
    /** Tried no more. Throws LeaseLostError. */
    async fail(epoch: bigint, { recoveryId }: DueRecovery, reason: RecoveryFailure): Promise<void> {
      await mapLeaseLoss(database.query({ name: 'recoveries-fail', text: FAIL }, [chainId, epoch, recoveryId, reason]))
    },
  }
}
