import type { Database } from '@ponte/service-kit'
import type { LaneStep } from '../lanes'
import { byLane, type Claimed, type ClaimedRow, type Endpoint, endpointOf } from './claim'
import { FINISH } from './finish-statement'

export interface FinishedLane {
  endpoint: Endpoint
  /** How many of its results were written: all, unless another worker wrote some. */
  written: number
  /** It was released and its turn has come again. */
  due: boolean
  claimed: Claimed[]
}

interface LaneRow {
  id: null
  merchant_id: string
  written: number
  due: boolean
  webhook_url: string | null
  sealed_secret: string
}

/** A step by the column names of the statement. An absent column is NULL, and most are absent when a delivery succeeded. */
const toRecord = ({ lane, results, remaining, next }: LaneStep) => ({
  merchant_id: lane.merchantId,
  token: lane.token,
  known: [...remaining, ...results.map(({ id }) => id)],
  remaining,
  ...('want' in next ? { want: next.want, release: false } : { release: true, slow: next.slow, fail_streak: next.failStreak }),
  results: results.map(({ id, verdict, attempt, error }) => ({
    id,
    status: verdict.status,
    attempts: verdict.attempts,
    losses: verdict.losses,
    delay_s: verdict.delayS ?? undefined,
    dead_reason: verdict.deadReason ?? undefined,
    outcome: attempt?.outcome,
    http_status: attempt?.httpStatus ?? undefined,
    error_code: attempt?.errorCode ?? undefined,
    error: error ?? undefined,
    snippet: attempt?.snippet ?? undefined,
    duration_ms: attempt?.durationMs,
  })),
})

export function resultStore(database: Database) {
  return {
    /** Writes results and takes the lanes' next steps; resolves to the lanes whose lease still stood. */
    async finish(steps: readonly LaneStep[]): Promise<FinishedLane[]> {
      const { rows } = await database.commit<LaneRow | ClaimedRow>({
        write: FINISH,
        values: { steps: JSON.stringify(steps.map(toRecord)) },
      })
      return byLane(rows).map(({ row, claimed }) => ({ endpoint: endpointOf(row), written: row.written, due: row.due, claimed }))
    },
  }
}
