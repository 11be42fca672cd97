import type { Database } from '@ponte/service-kit'
import type { LaneStep } from '../lanes/lane-steps'
import { byLane, type Claimed, type ClaimedRow } from './claim'
import { FINISH } from './finish-statement'
import { type Recipient, type RecipientRow, recipientOf } from './recipients'

export interface FinishedLane {
  recipient: Recipient
  /** Its written results: all, unless another worker wrote some. */
  written: number
  /** It was released and its turn has come again. */
  due: boolean
  claimed: Claimed[]
}

interface LaneRow extends RecipientRow {
  id: null
  written: number
  due: boolean
}

/** A step by the column names of the statement. An absent column is NULL, and most are absent when a delivery succeeded. */
const toRecord = ({ lane, results, remaining, next }: LaneStep) => ({
  endpoint_id: lane.endpointId,
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
    url: attempt?.url ?? undefined,
    request_headers: attempt?.requestHeaders ?? undefined,
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
      return byLane(rows).map(({ row, claimed }) => ({ recipient: recipientOf(row), written: row.written, due: row.due, claimed }))
    },
  }
}
