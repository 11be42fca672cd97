import type { RecoveryFailure, RecoveryObserved, RecoveryWatch } from '@ponte/contracts'
import { type Database, outboxRows, type Statement } from '@ponte/service-kit'
import type { RecoveryTerms } from '../logs/recovered'
import type { Confirmed } from '../store/confirmed'
import { mapLeaseLoss } from '../store/lease'

/** A recovery that is looked at, with what orders was last informed of. */
export interface Watched extends RecoveryTerms {
  recoveryId: string
  orderId: string
  watchFrom: number
  asked: boolean
  revision: number
  failure: RecoveryFailure | null
  ended: RecoveryEnd | null
}

/** The first log of it; the time in Unix seconds. */
export interface RecoveryEnd {
  txHash: string
  units: bigint
  blockNumber: number
  blockTime: number
}

/** As enough nodes have it at the confirmed block. */
export interface Observed {
  watched: Watched
  ended: RecoveryEnd | null
  /** No reorganisation that is followed reaches its end. */
  isFinal: boolean
}

interface Row extends Omit<Watched, 'ended'> {
  txHash: string | null
  units: string | null
  blockNumber: number | null
  blockTime: number | null
}

const IS_LATER = 'EXCLUDED.recovery_id > known.recovery_id'
const anew = (column: string, value: string) => `${column} = CASE WHEN ${IS_LATER} THEN ${value} ELSE known.${column} END`
// Raw SQL, because many are one insert. Of two for one token the later holds, in whichever order they come.
const ADD: Statement = {
  name: 'recoveries-add',
  text: `
  INSERT INTO recoveries AS known (chain_id, order_id, token, recovery_id, memo, router, merchant, watch_from, asked_at)
  SELECT chain_id, order_id, token, recovery_id, memo, router, merchant, watch_from, $at::timestamptz
  FROM json_populate_recordset(NULL::recoveries, $recoveries)
  ON CONFLICT (chain_id, order_id, token) DO UPDATE SET asked = true, asked_at = EXCLUDED.asked_at, is_final = false, recovery_id = EXCLUDED.recovery_id,
    ${anew('watch_from', 'EXCLUDED.watch_from')}, ${anew('requested_at', 'now()')}, ${anew('revision', '0')}, ${anew('failures', '0')},
    ${['retry_at', 'failure', 'tx_hash', 'units', 'block_number', 'block_time'].map(column => anew(column, 'NULL')).join(', ')}
  WHERE EXCLUDED.recovery_id >= known.recovery_id`,
}

// Looked at in every block once it was submitted, until its end is final; the rest when orders asks, because asking for a recovery costs a merchant nothing.
const IS_OPEN = `recoveries.chain_id = $1 AND NOT is_final AND asked_at > now() - interval '30 days' AND (asked OR block_number IS NOT NULL OR (failure IS NULL
  AND EXISTS (SELECT 1 FROM relays WHERE relays.chain_id = $1 AND kind = 'recovery' AND order_ids && ARRAY[order_id] AND salt = token)))`
const OPEN = `
  SELECT recovery_id AS "recoveryId", order_id AS "orderId", token, memo, router, merchant, watch_from::float8 AS "watchFrom", asked, revision, failure,
    tx_hash AS "txHash", units::text, block_number::float8 AS "blockNumber", block_time::float8 AS "blockTime"
  FROM recoveries WHERE ${IS_OPEN} AND recovery_id > $2 ORDER BY recovery_id LIMIT $3`
const DUE = `SELECT bool_or(asked) AS asked FROM recoveries WHERE ${IS_OPEN}`

// Raw SQL: observed under the lease's guard, with the events about them. A question or a failure that came meanwhile is published by the next look.
const PUBLISH: Statement = {
  name: 'recoveries-publish',
  text: `
  WITH lease AS (UPDATE chain_cursor SET epoch = CASE WHEN epoch = $epoch AND generation = $generation::uuid THEN epoch END WHERE chain_id = $chain_id)
  UPDATE recoveries AS known SET asked = known.failure IS DISTINCT FROM incoming.failure, revision = incoming.revision, tx_hash = incoming.tx_hash,
    units = incoming.units, block_number = incoming.block_number, block_time = incoming.block_time, is_final = incoming.is_final
  FROM json_populate_recordset(NULL::recoveries, $recoveries) AS incoming
  WHERE known.chain_id = $chain_id AND known.recovery_id = incoming.recovery_id AND known.revision = incoming.revision - 1`,
}
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

export function recoveryStore(database: Database, chainId: number) {
  return {
    /** Takes these up; what is known already is answered for once more. */
    async add({ recoveries }: RecoveryWatch, eventId: string, at: Date): Promise<void> {
      const rows = recoveries.map(one => ({
        ...{ chain_id: chainId, order_id: one.order_id, recovery_id: one.recovery_id, memo: one.memo, watch_from: one.watch_from },
        ...{
          token: one.token_address.toLowerCase(),
          router: one.router_address.toLowerCase(),
          merchant: one.merchant_address.toLowerCase(),
        },
      }))
      await database.commit({ inbox: [eventId], write: ADD, rows: { recoveries: rows }, values: { at } })
    },

    /** Whether any are looked at, and any are asked for. */
    async due(): Promise<{ isAny: boolean; isAsked: boolean }> {
      const { rows } = await database.query<{ asked: boolean | null }>({ name: 'recoveries-due', text: DUE }, [chainId])
      const asked = rows[0]?.asked ?? null
      return { isAny: asked !== null, isAsked: asked === true }
    },

    async open(after: string | null, limit: number): Promise<Watched[]> {
      const { rows } = await database.query<Row>({ name: 'recoveries-open', text: OPEN }, [chainId, after ?? FIRST_ID, limit])
      return rows.map(({ txHash, units, blockNumber, blockTime, ...row }) => {
        const isEnded = txHash !== null && units !== null && blockNumber !== null && blockTime !== null
        return { ...row, ended: isEnded ? { txHash, units: BigInt(units), blockNumber, blockTime } : null }
      })
    },

    /** Informs orders of these, as of a confirmed block. Throws LeaseLostError. */
    async publish(
      epoch: bigint,
      { generation }: Confirmed,
      observed: readonly Observed[],
      checksum: (address: string) => string,
      at: Date,
    ): Promise<void> {
      const data = observed.map(each => toStatement(each, generation, chainId, checksum))
      const rows = observed.map(({ watched, ended, isFinal }) => ({
        ...{ recovery_id: watched.recoveryId, revision: watched.revision + 1, failure: watched.failure, is_final: isFinal },
        ...{ tx_hash: ended?.txHash ?? null, units: ended?.units ?? null },
        ...{ block_number: ended?.blockNumber ?? null, block_time: ended?.blockTime ?? null },
      }))
      const events = outboxRows(
        data.map(each => ({ type: 'recovery.observed', data: each }) as const),
        at,
      )
      const values = { chain_id: chainId, epoch, generation }
      await mapLeaseLoss(database.commit({ events, write: PUBLISH, rows: { recoveries: rows }, values }))
    },
  }
}

const toStatement = (
  { watched, ended }: Observed,
  generation: string,
  chainId: number,
  checksum: (address: string) => string,
): RecoveryObserved => ({
  chain_id: chainId,
  generation,
  revision: watched.revision + 1,
  recovery_id: watched.recoveryId,
  order_id: watched.orderId,
  token_address: checksum(watched.token),
  end: ended && {
    tx_hash: ended.txHash,
    block_number: ended.blockNumber,
    block_time: new Date(ended.blockTime * 1_000).toISOString(),
    units: String(ended.units),
  },
  failure_code: ended ? null : watched.failure,
})
